"""A graph made ready to be moved in: who leads where, in which order it is asked (spec 3.2)."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skillweave.graph.conditions import Intent, leaves_of
from skillweave.graph.context import MoveContext
from skillweave.graph.declared import ANY, Declared, Entry, EntryPick, Route
from skillweave.graph.lexicon import Lexicon, Phrased, compile_lexicon, conditions_of, spaced
from skillweave.graph.tree import leaf_ids


@dataclass(frozen=True, slots=True, eq=False)
class Compiled:
    """The declared graph with its indexes; frozen, safe to share between threads.

    `wired` are all skills of the wiring and `entries` those that it begins with, both in order and once each.
    `routes_from` and `any_routes` have the deterministic routes in the order in which they are asked, `successors` the
    targets of all routes of a skill, and of ANY; `base` has the base entries by skill. `alone` are the positions of the
    entries that have to be judged one by one, `by_phrase` those of the others by a phrase without which they do not
    hold.
    """

    declared: Declared
    digest: str
    wired: Mapping[str, None]
    entries: Mapping[str, None]
    routes_from: Mapping[str, tuple[Route, ...]]
    any_routes: tuple[Route, ...]
    successors: Mapping[str, Mapping[str, None]]
    base: Mapping[str, tuple[Entry, ...]]
    never: frozenset[str]
    lexicon: Lexicon
    alone: tuple[int, ...]
    by_phrase: Mapping[int, tuple[int, ...]]
    intents_from: Mapping[str, tuple[Intent, ...]]

    @property
    def has_scorer(self) -> bool:
        """Whether a scorer chooses the entry."""
        return not isinstance(self.declared.pick, EntryPick)


def compile_graph(declared: Declared, digest: str) -> Compiled:
    """The indexes of a graph; raises InvalidGraph for a broken expression."""
    lexicon = compile_lexicon(declared)
    alone, by_phrase = _entry_index(declared.entries, lexicon)
    return Compiled(
        declared=declared,
        digest=digest,
        wired=dict.fromkeys(wired_ids(declared)),
        entries=dict.fromkeys(entry.skill for entry in declared.entries),
        routes_from=_asked(route for route in declared.routes if route.from_ != ANY),
        any_routes=_asked(route for route in declared.routes if route.from_ == ANY).get(ANY, ()),
        successors=_successors(declared.routes),
        base=_base(declared.entries),
        never=frozenset(map(spaced, declared.never_routes)),
        lexicon=lexicon,
        alone=alone,
        by_phrase=by_phrase,
        intents_from=_intents(declared.routes),
    )


def needs_scoring(compiled: Compiled, context: MoveContext) -> bool:
    """Whether what a scorer says would count at this moment: entries at the start, else the intents of ways onward."""
    if compiled.declared.tree is not None or context.current not in compiled.wired:
        return compiled.has_scorer
    return bool(compiled.intents_from.get(context.current or "") or compiled.intents_from.get(ANY))


def wired_ids(declared: Declared) -> Iterable[str]:
    """The skills that entries, routes and the tree name, in that order; a listed skill beside them is not wired."""
    for entry in declared.entries:
        yield entry.skill
    for route in declared.routes:
        yield from (end for end in (route.from_, route.to) if end != ANY)
    yield from leaf_ids(declared.tree, declared.default)


def all_intents(declared: Declared) -> tuple[Intent, ...]:
    """Every intent of the graph, once each."""
    return tuple(dict.fromkeys(leaf for leaf in conditions_of(declared) if isinstance(leaf, Intent)))


def _base(entries: Iterable[Entry]) -> Mapping[str, tuple[Entry, ...]]:
    by_skill: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        if entry.base:
            by_skill[entry.skill].append(entry)
    return {skill: tuple(own) for skill, own in by_skill.items()}


def _asked(routes: Iterable[Route]) -> Mapping[str, tuple[Route, ...]]:
    by_source: defaultdict[str, list[Route]] = defaultdict(list)
    for route in routes:
        if route.is_deterministic:
            by_source[route.from_].append(route)
    return {source: tuple(sorted(own, key=lambda route: -route.priority)) for source, own in by_source.items()}


def _successors(routes: Iterable[Route]) -> Mapping[str, Mapping[str, None]]:
    targets: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for route in routes:
        targets[route.from_][route.to] = None
    return dict(targets)


def _intents(routes: Iterable[Route]) -> Mapping[str, tuple[Intent, ...]]:
    found: defaultdict[str, dict[Intent, None]] = defaultdict(dict)
    for route in routes:
        for leaf in leaves_of(route.condition):
            if isinstance(leaf, Intent):
                found[route.from_][leaf] = None
    return {source: tuple(intents) for source, intents in found.items()}


def _entry_index(entries: Iterable[Entry], lexicon: Lexicon) -> tuple[tuple[int, ...], Mapping[int, tuple[int, ...]]]:
    alone: list[int] = []
    by_phrase: defaultdict[int, list[int]] = defaultdict(list)
    for position, entry in enumerate(entries):
        phrased = next((leaf for leaf in leaves_of(entry.condition) if isinstance(leaf, Phrased)), None)
        if phrased is None:
            alone.append(position)
        else:
            for number in dict.fromkeys(number for number, _ in lexicon.sought[phrased]):
                by_phrase[number].append(position)
    return tuple(alone), {number: tuple(positions) for number, positions in by_phrase.items()}
