"""Which skill graph counts when several sources bring one (spec 1.2 and 1.3). Here it is mere data."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.formats.identity import namespaced
from skillweave.registry.merging import Precedence
from skillweave.registry.source import Loaded
from skillweave.skill import is_skill_id

Graph: TypeAlias = Mapping[str, object]
_Rename: TypeAlias = Callable[[object], object]

_ID_FIELD = "current_skill_id"
"""The field of a guard that holds a skill's id."""
_DEEPEST = 200
"""Levels of a tree that may be read at all."""


@dataclass(frozen=True, slots=True)
class Chosen:
    """The graph that counts, None where no source has one, where it stands, and a finding for every other one."""

    graph: Graph | None = None
    location: Location | None = None
    findings: tuple[Diagnostic, ...] = ()


def choose_graph(sources: Iterable[tuple[str, Loaded]], precedence: Precedence) -> Chosen:
    """The graph of the first source that has one; with namespaces its ids are those of its own source's skills.

    `sources` are the sources' names with what is in use of each, in order.
    """
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
    renaming = _Renaming(ids)
    return _with(
        graph,
        {
            "skills": renaming.each(renaming.skill),
            "entries": renaming.each(renaming.entry),
            "routes": renaming.each(renaming.route),
            "tree": renaming.tree,
            "default": renaming.name,
            "limits": renaming.limits,
        },
    )


def _with(data: Graph, parts: Mapping[str, _Rename]) -> Graph:
    return MappingProxyType({key: parts[key](value) if key in parts else value for key, value in data.items()})


@dataclass(frozen=True, slots=True)
class _Renaming:
    """A method for each kind of thing that an id stands in; what is of another shape stays as it is."""

    ids: Mapping[str, str]

    def name(self, value: object) -> object:
        return self.ids.get(value, value) if isinstance(value, str) else value

    def each(self, rename: _Rename) -> _Rename:
        return lambda items: tuple(map(rename, items)) if isinstance(items, list | tuple) else items

    def skill(self, data: object) -> object:
        return self._inside(data, {"id": self.name}) if isinstance(data, Mapping) else self.name(data)

    def entry(self, data: object) -> object:
        return self._inside(data, {"skill": self.name, "match": self.condition, "when": self.condition})

    def route(self, data: object) -> object:
        ends = {"from": self.name, "to": self.name}
        return self._inside(data, {**ends, "when": self.condition, "guard": self.guard})

    def condition(self, data: object, depth: int = 0) -> object:
        if depth == _DEEPEST:
            return data
        members = self.each(lambda member: self.condition(member, depth + 1))
        return self._inside(data, {"guard": self.guard, "all": members})

    def guard(self, data: object) -> object:
        return self._inside(data, {_ID_FIELD: self._comparison})

    def tree(self, node: object, depth: int = 0) -> object:
        if not isinstance(node, Mapping) or depth == _DEEPEST:
            return self.name(node)

        def branch(child: object) -> object:
            return self.tree(child, depth + 1)

        return self._inside(node, {"if": self.condition, "then": branch, "else": branch})

    def limits(self, data: object) -> object:
        return self._inside(data, {"visits": lambda visits: self._inside(visits, {"per_skill": self._per_skill})})

    def _inside(self, data: object, parts: Mapping[str, _Rename]) -> object:
        return _with(data, parts) if isinstance(data, Mapping) else data

    def _comparison(self, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        return MappingProxyType({op: self.each(self.name)(self.name(value)) for op, value in data.items()})

    def _per_skill(self, data: object) -> object:
        if not isinstance(data, Mapping):
            return data
        return MappingProxyType({self.name(skill_id): most for skill_id, most in data.items()})
