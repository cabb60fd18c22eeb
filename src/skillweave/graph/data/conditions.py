"""Conditions in the data form: a mapping with exactly one kind of condition (spec 3.1)."""

from collections.abc import Callable, Mapping

from skillweave.errors import InvalidGraph
from skillweave.graph.conditions import (
    AllOf,
    AtIteration,
    Condition,
    Guarded,
    HistoryMin,
    Intent,
    Keywords,
    Predicate,
    Regex,
    UserContains,
)
from skillweave.graph.data.bounds import DEEPEST_ALL, MOST_ITEMS
from skillweave.graph.data.guards import read_guard, write_guard
from skillweave.graph.data.shape import (
    inside,
    require_count,
    require_known_keys,
    require_list,
    require_mapping,
    require_text,
    require_texts,
    shown,
    wrong,
)
from skillweave.graph.lexicon import expression

FLAGS = "imsu"
"""What an expression's flags are made of."""

CONDITION_FORM = "write a mapping with one kind of condition, such as {keywords: [refund]}"
_COMPANIONS: Mapping[str, tuple[str, ...]] = {"regex": ("flags",), "intent": ("examples",)}
"""Keys that stand beside a kind and mean nothing without it."""


def read_condition(value: Mapping[str, object] | Condition, place: str) -> Condition:
    """The condition at that place; one that is a Condition already is checked in the same way.

    Raises InvalidGraph naming the place, the rule and the fix.
    """
    _require_bounded(value, place)
    return _read(value, place)


def write_condition(condition: Condition, place: str = "") -> dict[str, object]:
    """The condition as plain data; raises InvalidGraph for code, which data cannot carry."""
    _require_bounded(condition, place)
    return _write(condition, place)


def read_expression(value: Mapping[str, object], place: str) -> Regex:
    """`{regex, flags}`, where only an expression may stand."""
    require_known_keys(value, ("regex", "flags"), place)
    if "regex" not in value:
        raise wrong(place, "there is no expression", "write {regex: EXPRESSION}")
    return _read_regex(value, place)


def write_expression(regex: Regex) -> dict[str, object]:
    """The expression as plain data."""
    return {"regex": regex.source, **({"flags": regex.flags} if regex.flags else {})}


def _read(value: object, place: str) -> Condition:
    if isinstance(value, Predicate):
        return value
    if isinstance(value, AllOf):
        return AllOf(tuple(_read(member, _member(place, number)) for number, member in enumerate(value.members)))
    if isinstance(value, _VALUES):
        value = _write(value, place)
    return _read_data(value, place)


def _read_data(value: object, place: str) -> Condition:
    data = require_mapping(value, place, CONDITION_FORM)
    kind = _kind_of(data, place)
    return READERS[kind](data, place)


def _kind_of(data: Mapping[str, object], place: str) -> str:
    kinds = [key for key in data if key in READERS]
    if len(kinds) > 1:
        named = " and ".join(kinds)
        raise wrong(place, f"it has {named} in one condition", "put each into a condition of its own under `all`")
    companions = _COMPANIONS.get(kinds[0], ()) if kinds else ()
    if not kinds:
        stray = next((kind for kind, beside in _COMPANIONS.items() for key in beside if key in data), None)
        if stray is not None:
            raise wrong(place, f"`{_COMPANIONS[stray][0]}` stands without `{stray}`", f"add `{stray}`")
        if not data:
            raise wrong(place, "the condition is empty", CONDITION_FORM)
        require_known_keys(data, tuple(READERS), place)
    require_known_keys(data, (*kinds, *companions), place)
    return kinds[0]


def _read_keywords(data: Mapping[str, object], place: str) -> Condition:
    return Keywords(require_texts(data["keywords"], inside(place, "keywords"), "write a list of words or phrases"))


def _read_regex(data: Mapping[str, object], place: str) -> Regex:
    source = require_text(data["regex"], inside(place, "regex"), "write a regular expression")
    regex = Regex(source, _read_flags(data["flags"], inside(place, "flags")) if "flags" in data else "")
    try:
        expression(regex)
    except InvalidGraph as error:
        where = inside(place, "regex")
        raise InvalidGraph(f"{where}: {error}", place=where) from error
    return regex


def _read_flags(value: object, place: str) -> str:
    if not isinstance(value, str) or set(value) - set(FLAGS) or len(set(value)) < len(value):
        raise wrong(place, f"it is {shown(value)}", f"write letters of {FLAGS!r}, each once")
    return str(value)


def _read_contains(data: Mapping[str, object], place: str) -> Condition:
    return UserContains(
        require_text(data["user_contains"], inside(place, "user_contains"), "write the text to look for")
    )


def _read_history(data: Mapping[str, object], place: str) -> Condition:
    return HistoryMin(require_count(data["history_min"], inside(place, "history_min"), 0))


def _read_iteration(data: Mapping[str, object], place: str) -> Condition:
    return AtIteration(require_count(data["iteration"], inside(place, "iteration"), 1))


def _read_all(data: Mapping[str, object], place: str) -> Condition:
    members = require_list(data["all"], inside(place, "all"), "write a list of conditions")
    return AllOf(tuple(_read_data(member, _member(place, number)) for number, member in enumerate(members)))


def _read_intent(data: Mapping[str, object], place: str) -> Condition:
    examples: tuple[str, ...] = ()
    if "examples" in data:
        examples = require_texts(data["examples"], inside(place, "examples"), "write phrases that mean the intent")
    return Intent(require_text(data["intent"], inside(place, "intent"), "name what the user wants"), examples)


def _read_guarded(data: Mapping[str, object], place: str) -> Condition:
    return Guarded(read_guard(data["guard"], inside(place, "guard")))


READERS: Mapping[str, Callable[[Mapping[str, object], str], Condition]] = {
    "keywords": _read_keywords,
    "regex": _read_regex,
    "user_contains": _read_contains,
    "history_min": _read_history,
    "iteration": _read_iteration,
    "all": _read_all,
    "intent": _read_intent,
    "guard": _read_guarded,
}
"""Every kind of condition by its key."""

_VALUES = (Keywords, Regex, UserContains, HistoryMin, AtIteration, Intent, Guarded)


def _write(condition: object, place: str) -> dict[str, object]:
    match condition:
        case Keywords(words):
            return {"keywords": list(words)}
        case Regex():
            return write_expression(condition)
        case UserContains(text):
            return {"user_contains": text}
        case HistoryMin(messages):
            return {"history_min": messages}
        case AtIteration(iteration):
            return {"iteration": iteration}
        case AllOf(members):
            return {"all": [_write(member, _member(place, number)) for number, member in enumerate(members)]}
        case Intent(intent, examples):
            return {"intent": intent, **({"examples": list(examples)} if examples else {})}
        case Guarded(guard):
            return {"guard": write_guard(guard, inside(place, "guard"))}
        case Predicate():
            rule = f"the condition is code ({condition.name[:60]}), which data cannot carry"
            raise wrong(place, rule, "say it with keywords, regex or guard, or keep this graph in Python")
        case _:
            raise wrong(place, f"it is {shown(condition)}, which is no condition", CONDITION_FORM)


def _member(place: str, number: int) -> str:
    return inside(inside(place, "all"), number)


def _require_bounded(value: object, place: str) -> None:
    """Refuse `all` that is nested too deeply or has too many members; walked level by level, as it may be deep."""
    level, depth, seen = [value], 0, 0
    while level := [member for one in level for member in _members(one)]:
        depth += 1
        seen += len(level)
        if depth > DEEPEST_ALL:
            raise wrong(place, f"`all` is nested deeper than {DEEPEST_ALL} levels", "put the conditions into one list")
        if seen > MOST_ITEMS:
            raise wrong(place, f"`all` has more than {MOST_ITEMS:,} conditions", "split the entry or route")


def _members(value: object) -> list[object]:
    if isinstance(value, AllOf):
        return list(value.members)
    members = value.get("all") if isinstance(value, Mapping) else None
    return list(members) if isinstance(members, list | tuple) else []
