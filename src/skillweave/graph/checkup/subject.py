"""The graph under checkup, with what several checks look up in it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from skillweave.graph.checkup.budget import Budget
from skillweave.graph.checkup.declarations import Declaration
from skillweave.graph.checkup.terms import Terms, bounds_of, terms_of
from skillweave.graph.checkup.wording import Guesses
from skillweave.graph.compiled import Compiled, compile_graph, wired_ids
from skillweave.graph.declared import ANY, Declared, EntryPick, GraphSkill, Route
from skillweave.graph.lexicon import decisions_of


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
        """What each route that can fire by itself asks for, by its position."""
        scales = self.declared.scales
        return {
            position: terms_of(self.routes[position].parts, scales, bounds_of(route))
            for position, route in enumerate(self.declared.routes)
            if route.is_deterministic
        }

    @cached_property
    def entry_terms(self) -> Sequence[Terms | None]:
        """What each entry asks for, None for one without a condition."""
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
    def compiled(self) -> Compiled | None:
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
