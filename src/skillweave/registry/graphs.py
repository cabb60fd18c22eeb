"""Which skill graph counts when several sources bring one, and what of it outlives a broken edit (spec 1.2 and 1.3).

Here a graph is data: what it means is read above.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TypeAlias

from skillweave.diagnostics import Diagnostic, Location, Severity, has_errors
from skillweave.formats.codes import GRAPH
from skillweave.formats.identity import namespaced
from skillweave.registry.precedence import Precedence
from skillweave.registry.source import Loaded
from skillweave.skill import Skill, is_skill_id

Graph: TypeAlias = Mapping[str, object]
_Rename: TypeAlias = Callable[[object], object]

_ID_FIELD = "current_skill_id"
"""The field of a guard that holds a skill's id."""
_DEEPEST = 200
"""Levels of a tree that may be read at all."""


@dataclass(frozen=True, slots=True)
class Brought:
    """The graph of one source and where it stands, with the source's name and skills."""

    source: str
    skills: Sequence[Skill]
    graph: Graph | None
    location: Location | None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The graph that counts, None where no source has one, where it stands, and a finding for every other one."""

    graph: Graph | None = None
    location: Location | None = None
    findings: tuple[Diagnostic, ...] = ()


def choose_graph(brought: Iterable[Brought], precedence: Precedence) -> Chosen:
    """The graph of the first source that has one; with namespaces its ids are those of its own source's skills."""
    having = [one for one in brought if one.graph is not None]
    if not having:
        return Chosen()
    first, *others = having
    graph = first.graph
    if graph is not None and precedence is Precedence.NAMESPACE:
        graph = _renamed(graph, _ids_in_namespace(first))
    return Chosen(graph, first.location, tuple(_ignored(one, first) for one in others))


def last_good_graph(
    before: tuple[Graph | None, Location | None], loaded: Loaded
) -> tuple[Graph | None, Location | None, tuple[Diagnostic, ...]]:
    """What the source brings now; where its graph cannot be read, the one that was there before, with a finding."""
    graph, location = before
    if graph is None or loaded.graph is not None or not _unreadable(loaded):
        return loaded.graph, loaded.graph_location, ()
    return graph, location, (_kept(location),)


def _unreadable(loaded: Loaded) -> bool:
    nothing_at_all = not loaded.skills and has_errors(loaded.diagnostics)
    return nothing_at_all or any(found.code == GRAPH.name for found in loaded.diagnostics)


def _kept(location: Location | None) -> Diagnostic:
    return Diagnostic(
        "kept-last-good",
        Severity.WARNING,
        "the skill graph can no longer be read; its last good version stays in use",
        "mend the error reported for it, or delete it",
        location=location,
    )


def _ignored(other: Brought, first: Brought) -> Diagnostic:
    return Diagnostic(
        "graph-ignored",
        Severity.WARNING,
        f"the skill graph of source {other.source!r} is ignored: source {first.source!r}, which comes before it, has "
        "one, and a conversation is in one graph",
        "name the source first whose graph is meant, or make one graph of the two",
        location=other.location or Location(other.source),
    )


def _ids_in_namespace(brought: Brought) -> Mapping[str, str]:
    """The ids that skills have in their namespace; one that becomes too long is left out there, and has none."""
    ids = {skill.id: namespaced(brought.source, skill.id) for skill in brought.skills}
    return {skill_id: renamed for skill_id, renamed in ids.items() if is_skill_id(renamed)}


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
