"""Limits, scales, suppressed codes of the checkup, and what picks the entry, in the data form (spec 3)."""

from collections.abc import Mapping

from skillweave.frozen import FrozenDict
from skillweave.graph.declared import ANY, EntryPick, Limits
from skillweave.graph.guards import Scales
from skillweave.graph.scoring import DEFAULT_POLICIES, Scorer, scorer_named
from skillweave.graph.shape import (
    LONGEST_LABEL,
    MOST_ITEMS,
    MOST_SKILLS,
    hint,
    inside,
    is_null,
    require_count,
    require_id,
    require_known_keys,
    require_mapping,
    require_number,
    require_text,
    require_texts,
    shown,
    wrong,
)
from skillweave.text.embedding import Embedder

LIMIT_KEYS = ("visits", "iterations")
VISIT_KEYS = ("per_skill", "per_run")

_LIMIT_FORM = "write {visits: 3, iterations: 20}"
_VISITS = "write a number, or {per_skill: 3, per_run: 20}"
PICKS = (EntryPick.DECLARATION.value, *DEFAULT_POLICIES, EntryPick.READ.value)
POLICY_KEYS = ("temperature", "min_score", "margin")
PICK_KEYS = ("by", *POLICY_KEYS)
_PICK_FORM = f"write one of {', '.join(PICKS)}, or {{by: lexical, margin: 0.5}}"


def read_limits(value: object, place: str) -> Limits:
    """`{visits, iterations}`; visits are of each skill, or `{per_skill, per_run}`. Raises InvalidGraph."""
    data = require_mapping(value, place, _LIMIT_FORM)
    require_known_keys(data, LIMIT_KEYS, place)
    each, of, run = _visits(data["visits"], inside(place, "visits")) if "visits" in data else (None, {}, None)
    iterations = require_count(data["iterations"], inside(place, "iterations"), 1) if "iterations" in data else None
    return Limits(each, FrozenDict(of), run, iterations)


def write_limits(limits: Limits) -> dict[str, object]:
    """The limits as plain data."""
    per_skill: object = limits.visits
    if limits.visits_of:
        per_skill = {**({} if limits.visits is None else {ANY: limits.visits}), **limits.visits_of}
    data: dict[str, object] = {}
    if limits.visits_of or limits.all_visits is not None:
        given = {"per_skill": per_skill, "per_run": limits.all_visits}
        data["visits"] = {key: value for key, value in given.items() if value is not None}
    elif per_skill is not None:
        data["visits"] = per_skill
    if limits.iterations is not None:
        data["iterations"] = limits.iterations
    return data


def read_scales(value: object, place: str) -> Scales:
    """The scales: for each field its words, the lowest first, each once. Raises InvalidGraph."""
    data = require_mapping(value, place, "write {risk: [low, medium, high]}")
    _require_few(data, place, MOST_ITEMS)
    return FrozenDict({_named(field, place): _scale(words, inside(place, field)) for field, words in data.items()})


def read_suppressed(value: object, place: str) -> Mapping[str, str]:
    """The suppressed codes of the checkup, each with the reason. Raises InvalidGraph."""
    data = require_mapping(value, place, "write {CODE: REASON}")
    _require_few(data, place, MOST_ITEMS)
    fix = "say why it is no problem here"
    return FrozenDict(
        {_named(code, place): require_text(why, inside(place, code), fix, LONGEST_LABEL) for code, why in data.items()}
    )


def _visits(value: object, place: str) -> tuple[int | None, dict[str, int], int | None]:
    if not isinstance(value, Mapping):
        return require_count(value, place, 1), {}, None
    data = require_mapping(value, place, _VISITS)
    require_known_keys(data, VISIT_KEYS, place)
    if not data:
        raise wrong(place, "it limits nothing", _VISITS)
    run = require_count(data["per_run"], inside(place, "per_run"), 1) if "per_run" in data else None
    if "per_skill" not in data:
        return None, {}, run
    each, of = _per_skill(data["per_skill"], inside(place, "per_skill"))
    return each, of, run


def _per_skill(value: object, place: str) -> tuple[int | None, dict[str, int]]:
    if not isinstance(value, Mapping):
        return require_count(value, place, 1), {}
    data = require_mapping(value, place, _VISITS)
    if not data:
        raise wrong(place, "it limits no skill", "write {ID: 3}; `*` stands for every other skill")
    _require_few(data, place, MOST_SKILLS)
    of = {name: require_count(most, inside(place, name), 1) for name, most in data.items()}
    each = of.pop(ANY, None)
    return each, {require_id(name, place): most for name, most in of.items()}


def _scale(words: object, place: str) -> tuple[str, ...]:
    scale = require_texts(words, place, "write a list of words, the lowest first")
    if len(set(scale)) < len(scale):
        twice = next(word for word in scale if scale.count(word) > 1)
        raise wrong(place, f"the word {twice[:60]!r} appears twice", "keep it in its one place")
    return scale


def _named(name: str, place: str) -> str:
    return require_text(name, place, "give the key a name", LONGEST_LABEL)


def _require_few(data: Mapping[str, object], place: str, most: int) -> None:
    if len(data) > most:
        raise wrong(place, f"it has {len(data):,} keys, and {most:,} are allowed", "shorten it")


def read_pick(value: object, place: str, embedder: Embedder | None = None) -> EntryPick | Scorer:
    """What chooses the entry; `embedding` judges with the embedder. Raises InvalidGraph."""
    if isinstance(value, str):
        return _picked(_name(value, place), {}, embedder)
    data = require_mapping(value, place, _PICK_FORM)
    require_known_keys(data, PICK_KEYS, place)
    if "by" not in data:
        raise wrong(place, "there is no `by`", _PICK_FORM)
    name = _name(data["by"], inside(place, "by"))
    idle = next((key for key in POLICY_KEYS if key in data), None)
    if idle is not None and name not in DEFAULT_POLICIES:
        raise wrong(place, f"`{idle}` means nothing where no scorer chooses", "remove it, or pick by a scorer")
    return _picked(name, _policy(data, place), embedder)


def write_pick(pick: EntryPick | Scorer, place: str) -> object:
    """What picks the entry as data, the bare name if nothing else is set. Raises InvalidGraph for a host's scorer."""
    if isinstance(pick, EntryPick):
        return pick.value
    name = built_in_name(pick)
    if name is None:
        fix = f"pick by one of {', '.join(PICKS)}, or keep this graph in Python"
        raise wrong(place, f"the scorer {pick.name[:60]!r} is code, which data cannot carry", fix)
    usual = DEFAULT_POLICIES[name]
    policy = {key: getattr(pick.policy, key) for key in POLICY_KEYS}
    unusual = {key: value for key, value in policy.items() if value != getattr(usual, key)}
    return {"by": name, **unusual} if unusual else name


def built_in_name(scorer: Scorer) -> str | None:
    """The name of a built-in scorer in the data form, None for any other scorer."""
    return next((name for name in DEFAULT_POLICIES if type(scorer) is type(scorer_named(name))), None)


def _picked(name: str, policy: Mapping[str, float | None], embedder: Embedder | None) -> EntryPick | Scorer:
    return scorer_named(name, policy, embedder) if name in DEFAULT_POLICIES else EntryPick(name)


def _name(value: object, place: str) -> str:
    name = require_text(value, place, _PICK_FORM)
    if name not in PICKS:
        raise wrong(place, f"nothing picks by {shown(name)}", f"{hint(name, PICKS)}{_PICK_FORM}")
    return name


def _policy(data: Mapping[str, object], place: str) -> dict[str, float | None]:
    given: dict[str, float | None] = {}
    for key in POLICY_KEYS:
        if key not in data:
            continue
        value, here = data[key], inside(place, key)
        if is_null(value) and key != "temperature":
            given[key] = None
            continue
        number = require_number(value, here)
        if key == "temperature" and number <= 0:
            raise wrong(here, f"it is {shown(number)}", "write a number above 0")
        if key == "margin" and number < 0:
            raise wrong(here, f"it is {shown(number)}", "write 0 or more")
        given[key] = float(number)
    return given
