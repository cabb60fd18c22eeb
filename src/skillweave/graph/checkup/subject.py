"""The graph under checkup, with what several checks look up in it and how findings call its parts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple, TypedDict

from skillweave.errors import nearest_names
from skillweave.graph.checkup.pairs import Budget
from skillweave.graph.checkup.terms import OnTool, Part, Terms, bounds_of, parts_of, parts_of_route, terms_of
from skillweave.graph.compiled import CompiledGraph, compile_graph, decisions_of, wired_ids
from skillweave.graph.declared import ANY, Decide, Declared, Entry, EntryPick, GraphSkill, Route
from skillweave.graph.guards import FieldTest
from skillweave.graph.wording import named

_MOST_GUESSES = 20


def way(route: Route) -> str:
    """The route by its ends, and its label where it has one."""
    from_ = "any skill" if route.from_ == ANY else named(route.from_)
    label = f" ({named(route.label)})" if route.label else ""
    return f"the route from {from_} to {named(route.to)}{label}"


def said(part: Part) -> str:
    """A part of a condition as it was declared, on one line."""
    try:
        match part:
            case FieldTest():
                text = str(part)
            case OnTool(regex):
                text = f"on_tool /{regex.source}/"
            case _:
                key, value = next(iter(part.write("").items()))
                text = f"{key} {value}"
    except ValueError:  # Python refuses to write out a number of thousands of digits
        text = "a comparison with a very long number"
    return named(" ".join(text.split()))


class Guesses:
    """Remedies for misspelled names; each name is looked up once, and no more than 20 names, since it is slow."""

    def __init__(self) -> None:
        self._found: dict[tuple[str, str], str] = {}

    def fix(self, name: str, known: Iterable[str], among: str, otherwise: str) -> str:
        """The remedy: write the nearest known name, or `otherwise`; `among` is a name for the set of known names."""
        key = (among, name)
        if key not in self._found and len(self._found) < _MOST_GUESSES:
            self._found[key] = next(iter(nearest_names(name, known)), "")
        near = self._found.get(key)
        return f"Write {named(near)}." if near else otherwise


class Spot(TypedDict, total=False):
    """The fields by which a problem says where it is."""

    skill: str
    from_: str
    to: str


class Wording(NamedTuple):
    """How findings speak of a declaration: its name, what never happens to it, where it is, the skill it leads to."""

    name: str
    never: str
    spot: Spot
    skill: str | None


@dataclass(frozen=True, eq=False)
class Declaration:
    """An entry, a route or a decision, with everything that has to hold for it."""

    source: Entry | Route | Decide

    @property
    def wording(self) -> Wording:
        """How findings speak of it."""
        match self.source:
            case Entry(skill):
                return Wording(f"the entry {named(skill)}", "never begins", {"skill": skill}, skill)
            case Route(from_, to):
                return Wording(way(self.source), "never fires", {"from_": from_, "to": to}, to)
            case Decide(then=then, label=label):
                name = f"the decision {named(label)}" if label else "a decision of the tree"
                leaf = then if isinstance(then, str) else None
                return Wording(name, "never holds", {} if leaf is None else {"skill": leaf}, leaf)

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """Everything that has to hold for it, one part after the other."""
        source = self.source
        return tuple(parts_of_route(source) if isinstance(source, Route) else parts_of(source.condition))


@dataclass(frozen=True, eq=False)
class Subject:
    """One declared graph; lives for one checkup. `known_tools` are the host's own, None when not stated."""

    declared: Declared
    known_tools: frozenset[str] | None = None
    guesses: Guesses = field(default_factory=Guesses)
    shadow_pairs: Budget = field(default_factory=Budget)
    clash_pairs: Budget = field(default_factory=Budget)
    entry_pairs: Budget = field(default_factory=Budget)

    @cached_property
    def skills(self) -> Mapping[str, GraphSkill]:
        """The declared skills by id, the first of each."""
        found: dict[str, GraphSkill] = {}
        for skill in self.declared.skills:
            found.setdefault(skill.id, skill)
        return found

    @cached_property
    def wired(self) -> Mapping[str, None]:
        """The skills that entries, routes and the tree name, in that order."""
        return dict.fromkeys(one for one in wired_ids(self.declared) if one != ANY)

    @cached_property
    def ids(self) -> Mapping[str, None]:
        """All skills: the declared ones, then those that are only wired."""
        return {**dict.fromkeys(self.skills), **self.wired}

    @cached_property
    def own(self) -> Mapping[str, object]:
        """The skills of the graph: those that are listed, or else all that are named."""
        return self.skills if self.declared.listed else self.ids

    @cached_property
    def entries(self) -> Sequence[Declaration]:
        """The entries in the order of declaration."""
        return list(map(Declaration, self.declared.entries))

    @cached_property
    def routes(self) -> Sequence[Declaration]:
        """The routes in the order of declaration."""
        return list(map(Declaration, self.declared.routes))

    @cached_property
    def decisions(self) -> Sequence[Declaration]:
        """The decisions of the tree from its root."""
        return list(map(Declaration, decisions_of(self.declared.tree)))

    @property
    def declarations(self) -> Iterator[Declaration]:
        """Everything that has conditions."""
        return chain(self.entries, self.routes, self.decisions)

    @cached_property
    def route_terms(self) -> Mapping[int, Terms]:
        """What each route that can fire by itself requires, by its position."""
        scales = self.declared.scales
        return {
            position: terms_of(self.routes[position].parts, scales, bounds_of(route))
            for position, route in enumerate(self.declared.routes)
            if route.is_deterministic
        }

    @cached_property
    def entry_terms(self) -> Sequence[Terms | None]:
        """What each entry requires, None for one without a condition."""
        scales = self.declared.scales
        return [
            None if entry.condition is None else terms_of(self.entries[position].parts, scales)
            for position, entry in enumerate(self.declared.entries)
        ]

    @cached_property
    def routes_from(self) -> Mapping[str, list[tuple[int, Route]]]:
        """By skill, and for ANY, the routes with their positions in the order of declaration."""
        found: dict[str, list[tuple[int, Route]]] = {}
        for position, route in enumerate(self.declared.routes):
            found.setdefault(route.from_, []).append((position, route))
        return found

    @cached_property
    def compiled(self) -> CompiledGraph | None:
        """The entries made ready to be tried, None where one of their conditions cannot be compiled."""
        entries = replace(self.declared, skills=(), routes=(), tree=None, default=None)
        try:
            return compile_graph(entries, digest="")
        except ValueError:  # a broken expression, or an empty phrase
            return None

    @property
    def in_order(self) -> bool:
        """Whether the conversation begins at the first entry that may: no scorer and no model chooses."""
        return self.declared.pick is EntryPick.DECLARATION

    @property
    def has_scorer(self) -> bool:
        """Whether a scorer judges entries and intents."""
        return not isinstance(self.declared.pick, EntryPick)
