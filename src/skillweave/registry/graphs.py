"""Which skill graph counts when several sources bring one (spec 1.2 and 1.3). Here it is mere data."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.formats.identity import namespaced
from skillweave.registry.merging import Precedence
from skillweave.registry.source import Loaded
from skillweave.skill import is_skill_id

Graph: TypeAlias = Mapping[str, object]

_ID_FIELD = "current_skill_id"
"""The field of a guard that holds a skill's id."""
_IDS = frozenset(("skill", "from", "to", "tree", "then", "else", "default"))
"""Keys of a graph's data under which a text is a skill's id."""
_WITH_IDS = frozenset(("entries", "routes", "match", "when", "if", "all", "limits", "visits"))
"""Keys under which ids stand somewhere inside."""
_DEEPEST = 200
"""Levels of a tree that may be read at all."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The graph that counts, None where no source has one, where it stands, and a finding for every other one."""

    graph: Graph | None = None
    location: Location | None = None
    findings: tuple[Diagnostic, ...] = ()


def choose_graph(sources: Iterable[tuple[str, Loaded]], precedence: Precedence) -> Chosen:
    """The graph of the first source that has one, with ids in its namespace; `sources` are names with content."""
    having = [(source, loaded) for source, loaded in sources if loaded.graph is not None]
    if not having:
        return Chosen()
    (first, loaded), *others = having
    graph = loaded.graph
    if graph is not None and precedence is Precedence.NAMESPACE:
        ids = {skill.id: namespaced(first, skill.id) for skill in loaded.skills}
        # An id that becomes too long is left out there, and has none.
        graph = _renamed(graph, {skill_id: renamed for skill_id, renamed in ids.items() if is_skill_id(renamed)})
    return Chosen(graph, loaded.graph_location, tuple(_ignored(other, first, one) for other, one in others))


def _ignored(other: str, first: str, loaded: Loaded) -> Diagnostic:
    return Diagnostic(
        "graph-ignored",
        Severity.WARNING,
        f"the skill graph of source {other!r} is ignored: source {first!r}, which comes before it, has one, and a "
        "conversation is in one graph",
        "name the source first whose graph is meant, or make one graph of the two",
        location=loaded.graph_location or Location(other),
    )


def _renamed(graph: Graph, ids: Mapping[str, str]) -> Graph:
    """The graph with other ids of its skills, wherever one stands; other data is left as it is."""
    return MappingProxyType({key: _of_key(key, value, ids, 0) for key, value in graph.items()})


def _of_key(key: str, value: object, ids: Mapping[str, str], depth: int) -> object:
    if key in _IDS and isinstance(value, str):
        return ids.get(value, value)
    if key == "skills":
        return _skills(value, ids)
    if key == "per_skill" and isinstance(value, Mapping):
        return MappingProxyType({ids.get(skill_id, skill_id): most for skill_id, most in value.items()})
    if key == "guard" and isinstance(value, Mapping):
        return MappingProxyType({name: _compared(it, ids) if name == _ID_FIELD else it for name, it in value.items()})
    return _inside(value, ids, depth) if key in _IDS | _WITH_IDS else value


def _inside(value: object, ids: Mapping[str, str], depth: int) -> object:
    if depth < _DEEPEST and isinstance(value, list | tuple):
        return tuple(_inside(one, ids, depth + 1) for one in value)
    if depth < _DEEPEST and isinstance(value, Mapping):
        return MappingProxyType({key: _of_key(key, inner, ids, depth + 1) for key, inner in value.items()})
    return value


def _skills(value: object, ids: Mapping[str, str]) -> object:
    if not isinstance(value, list | tuple):
        return value
    return tuple(
        MappingProxyType({**one, "id": _named(one["id"], ids)})
        if isinstance(one, Mapping) and "id" in one
        else _named(one, ids)
        for one in value
    )


def _compared(value: object, ids: Mapping[str, str]) -> object:
    """An id, or a list or mapping of them, as a guard compares it."""
    if isinstance(value, Mapping):
        return MappingProxyType({operator: _compared(inner, ids) for operator, inner in value.items()})
    return tuple(_named(one, ids) for one in value) if isinstance(value, list | tuple) else _named(value, ids)


def _named(value: object, ids: Mapping[str, str]) -> object:
    return ids.get(value, value) if isinstance(value, str) else value
