"""Which skills this turn calls for, ranked and with evidence; knows nothing of what was given before (spec 2)."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillweave.select.candidates import Candidate, Rejected, Selection
    from skillweave.select.index import SkillIndex, build_index
    from skillweave.select.matchers import MatchContext, Matcher, Matchers, Prepared, PreparingMatcher, prepare_matchers
    from skillweave.select.selection import find_matchers, matcher_names, select

_HOMES = {
    "Candidate": "candidates",
    "MatchContext": "matchers",
    "Matcher": "matchers",
    "Matchers": "matchers",
    "Prepared": "matchers",
    "PreparingMatcher": "matchers",
    "Rejected": "candidates",
    "Selection": "candidates",
    "SkillIndex": "index",
    "build_index": "index",
    "find_matchers": "selection",
    "matcher_names": "selection",
    "prepare_matchers": "matchers",
    "select": "selection",
}

__all__ = [
    "Candidate",
    "MatchContext",
    "Matcher",
    "Matchers",
    "Prepared",
    "PreparingMatcher",
    "Rejected",
    "Selection",
    "SkillIndex",
    "build_index",
    "find_matchers",
    "matcher_names",
    "prepare_matchers",
    "select",
]


def __getattr__(name: str) -> object:
    """Load a name at its first use, since reading a Selection needs none of the search engines."""
    if name not in _HOMES:
        raise AttributeError(f"module 'skillweave.select' has no attribute {name!r}; it has {', '.join(__all__)}")
    value: object = getattr(import_module(f"skillweave.select.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
