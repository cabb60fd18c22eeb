"""Limits, scales and suppressed codes in the data form (spec 3.1, 3.2, 3.5)."""

from collections.abc import Mapping

from skillweave.frozen import FrozenDict
from skillweave.graph.data.bounds import LONGEST_LABEL, MOST_ITEMS, MOST_SKILLS
from skillweave.graph.data.shape import (
    inside,
    require_count,
    require_id,
    require_known_keys,
    require_mapping,
    require_text,
    require_texts,
    wrong,
)
from skillweave.graph.declared import ANY, Limits
from skillweave.graph.scales import Scales

LIMIT_KEYS = ("visits", "iterations")
VISIT_KEYS = ("per_skill", "per_run")

_FORM = "write {visits: 3, iterations: 20}"
_VISITS = "write a number, or {per_skill: 3, per_run: 20}"


def read_limits(value: object, place: str) -> Limits:
    """`{visits, iterations}`; visits are of each skill, or `{per_skill, per_run}`. Raises InvalidGraph."""
    data = require_mapping(value, place, _FORM)
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
    """By field its words, the lowest first; a word stands once in a scale. Raises InvalidGraph."""
    data = require_mapping(value, place, "write {risk: [low, medium, high]}")
    _require_few(data, place, MOST_ITEMS)
    return FrozenDict({_named(field, place): _scale(words, inside(place, field)) for field, words in data.items()})


def write_scales(scales: Scales) -> dict[str, object]:
    """The scales as plain data."""
    return {field: list(words) for field, words in scales.items()}


def read_suppressed(value: object, place: str) -> Mapping[str, str]:
    """By code of the checkup the reason why it is not reported. Raises InvalidGraph."""
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
        raise wrong(place, f"the word {twice[:60]!r} stands twice", "keep it in its one place")
    return scale


def _named(name: str, place: str) -> str:
    return require_text(name, place, "give the key a name", LONGEST_LABEL)


def _require_few(data: Mapping[str, object], place: str, most: int) -> None:
    if len(data) > most:
        raise wrong(place, f"it has {len(data):,} keys, and {most:,} are allowed", "shorten it")
