"""Conditions, guards and what a route says about a tool, in the data form (spec 3.1)."""

from collections.abc import Callable, Iterator, Mapping

from skillweave.errors import InvalidGraph, nearest_names
from skillweave.frontmatter import Plain, resolved
from skillweave.graph.compiled import expression
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
from skillweave.graph.guards import LISTED, FieldTest, Guard, Op, Scalar
from skillweave.graph.shape import (
    DEEPEST_ALL,
    LONGEST_LABEL,
    LONGEST_PHRASE,
    MOST_ITEMS,
    inside,
    is_finite,
    require_count,
    require_known_keys,
    require_list,
    require_mapping,
    require_text,
    require_texts,
    shown,
    wrong,
)

_GUARD_FORM = "write comparisons such as {risk: {gte: high}}"
_OPERATORS = tuple(op.value for op in Op)


def read_guard(value: object, place: str) -> Guard:
    """The guard at that place; one that is a Guard already is checked in the same way.

    Whether values of these types can be compared is the checkup's to say. Raises InvalidGraph for a wrong shape.
    """
    if isinstance(value, Guard):
        value = write_guard(value, place)
    fields = require_mapping(value, place, _GUARD_FORM)
    if not fields:
        raise wrong(place, "the guard compares nothing", _GUARD_FORM)
    if len(fields) > MOST_ITEMS:
        raise wrong(place, f"the guard has {len(fields):,} fields, and {MOST_ITEMS:,} are allowed", "shorten it")
    return Guard(tuple(test for field, tests in fields.items() for test in _read_tests(field, tests, place)))


def write_guard(guard: Guard, place: str = "") -> dict[str, object]:
    """The guard as plain data.

    Raises InvalidGraph for what the form has no place for: one comparison of one field twice.
    """
    data: dict[str, dict[str, object]] = {}
    for test in guard.tests:
        tests = data.setdefault(test.field, {})
        if test.op.value in tests:
            rule = f"the guard compares {test.field[:60]!r} with {test.op.value!r} twice"
            raise wrong(place, rule, "keep one of them, or put the other into a condition of its own under `all`")
        tests[test.op.value] = list(test.value) if isinstance(test.value, tuple) else test.value
    return dict(data)


def _read_tests(field: str, tests: object, place: str) -> Iterator[FieldTest]:
    require_text(field, place, "name the field that is compared", LONGEST_LABEL)
    here = inside(place, field)
    mapping = require_mapping(tests, here, _GUARD_FORM)
    if not mapping:
        raise wrong(here, "the field is compared with nothing", _GUARD_FORM)
    for operator, value in mapping.items():
        if operator not in _OPERATORS:
            near = nearest_names(operator, _OPERATORS)
            guess = f"did you mean {near[0]!r}? " if near else ""
            fix = f"{guess}the operators are {', '.join(_OPERATORS)}"
            raise wrong(here, f"{operator[:60]!r} is no operator", fix)
        op = Op(operator)
        at = inside(here, operator)
        yield FieldTest(field, op, _read_list(value, at) if op in LISTED else _read_scalar(value, at))


def _read_list(value: object, place: str) -> tuple[Scalar, ...]:
    items = require_list(value, place, "write a list such as [success, partial]")
    return tuple(_read_scalar(item, inside(place, number)) for number, item in enumerate(items))


def _read_scalar(value: object, place: str) -> Scalar:
    if isinstance(value, Plain):
        value = resolved(value)
    if isinstance(value, str):
        if len(value) > LONGEST_PHRASE:
            rule = f"the text has {len(value):,} characters, and {LONGEST_PHRASE:,} are allowed"
            raise wrong(place, rule, "compare with a shorter one")
        return str(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int | float) and is_finite(value):
        return value
    rule = f"it is {shown(value)}, which a field is not compared with"
    raise wrong(place, rule, "write text, a finite number, true, false or null")


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


_TOOL = "write a tool's name, or {regex: EXPRESSION}"
_STATUS = "write a status such as success, or a list of them"


def read_on_tool(value: object, place: str) -> str | Regex:
    """A tool's name as it stands, or an expression that is searched in it; raises InvalidGraph."""
    if isinstance(value, Regex):
        value = write_expression(value)
    if isinstance(value, Mapping):
        return read_expression(value, place)
    if not isinstance(value, str):
        raise wrong(place, f"it is {shown(value)}, and a tool is expected", _TOOL)
    return require_text(value, place, _TOOL)


def write_on_tool(on_tool: str | Regex) -> object:
    """The same as plain data."""
    return write_expression(on_tool) if isinstance(on_tool, Regex) else on_tool


def read_on_status(value: object, place: str) -> tuple[str, ...]:
    """The statuses that do, one or several; whether there are such statuses is the checkup's to say."""
    if isinstance(value, str):
        return (require_text(value, place, _STATUS),)
    return require_texts(list(value) if isinstance(value, set | frozenset) else value, place, _STATUS)


def write_on_status(statuses: tuple[str, ...]) -> object:
    """The same as plain data, a single one without a list."""
    return statuses[0] if len(statuses) == 1 else list(statuses)
