"""Entries in the data form (spec 3.1)."""

from collections.abc import Mapping

from skillweave.graph.conditions import Condition
from skillweave.graph.data.bounds import LONGEST_LABEL, MOST_ITEMS
from skillweave.graph.data.conditions import CONDITION_FORM, read_condition, write_condition
from skillweave.graph.data.shape import (
    inside,
    require_flag,
    require_id,
    require_known_keys,
    require_list,
    require_mapping,
    require_text,
    require_texts,
    wrong,
)
from skillweave.graph.declared import Entry

ENTRY_KEYS = ("skill", "match", "when", "label", "examples", "base")

_FORM = "write {skill: ID}, with `match` for a condition"


def read_entry(value: object, place: str) -> Entry:
    """The entry at that place; `match` and `when` are two names of its condition. Raises InvalidGraph."""
    data = require_mapping(value, place, _FORM)
    require_known_keys(data, ENTRY_KEYS, place)
    if "skill" not in data:
        raise wrong(place, "the entry has no `skill`", _FORM)
    if "match" in data and "when" in data:
        raise wrong(place, "`match` and `when` are the same and both stand here", "put both conditions under `all`")
    key = "when" if "when" in data else "match"
    return Entry(
        skill=require_id(data["skill"], inside(place, "skill")),
        condition=read_condition_data(data[key], inside(place, key)) if key in data else None,
        examples=_examples(data.get("examples", ()), inside(place, "examples")),
        label=read_label(data, place),
        base="base" in data and require_flag(data["base"], inside(place, "base")),
    )


def write_entry(entry: Entry, place: str) -> dict[str, object]:
    """The entry as plain data; raises InvalidGraph for a condition that is code."""
    data: dict[str, object] = {"skill": entry.skill}
    if entry.condition is not None:
        data["match"] = write_condition(entry.condition, inside(place, "match"))
    if entry.label is not None:
        data["label"] = entry.label
    if entry.examples:
        data["examples"] = list(entry.examples)
    if entry.base:
        data["base"] = True
    return data


def read_condition_data(value: object, place: str) -> Condition:
    """A condition that is data: code stands in Python only."""
    return read_condition(require_mapping(value, place, CONDITION_FORM), place)


def read_label(data: Mapping[str, object], place: str) -> str | None:
    """The label of an entry, a route or a decision, None without one."""
    if "label" not in data:
        return None
    return require_text(data["label"], inside(place, "label"), "write a few words, or remove the key", LONGEST_LABEL)


def _examples(value: object, place: str) -> tuple[str, ...]:
    fix = "write a list of phrases that begin here"
    if isinstance(value, list | tuple) and not value:
        return ()
    return require_texts(require_list(value, place, fix, MOST_ITEMS), place, fix)
