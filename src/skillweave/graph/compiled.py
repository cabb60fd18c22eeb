"""A graph with the indexes that moves use: what leads where, in which order, what messages are searched for."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeVar

from skillweave.errors import InvalidGraph
from skillweave.graph.conditions import (
    Condition,
    Intent,
    Keywords,
    Lexicon,
    Phrase,
    Phrased,
    Regex,
    expression,
    intents_of,
    leaves_of,
    phrases_of,
    spaced,
)
from skillweave.graph.declared import ANY, Decide, Declared, Entry, EntryPick, Route, TreeNode, leaf_ids, nodes_of
from skillweave.graph.move import MoveContext
from skillweave.text.search import Pattern, compile_automaton

_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


@dataclass(frozen=True, slots=True, eq=False)
class CompiledGraph:
    """The declared graph with its indexes; frozen, safe to share between threads.

    Routes stand in the order in which they are asked, deterministic ones only; `successors` has the targets of all.
    `by_phrase` has the entries that need a phrase by its number, `without_phrase` the others.
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
    without_phrase: tuple[int, ...]
    by_phrase: Mapping[int, tuple[int, ...]]
    intents_from: Mapping[str, tuple[Intent, ...]]
    has_scorer: bool


def compile_graph(declared: Declared, digest: str) -> CompiledGraph:
    """The indexes of a graph; raises InvalidGraph for a broken expression."""
    lexicon = compile_lexicon(declared)
    needed = [_needed_phrases(entry, lexicon) for entry in declared.entries]
    asked = sorted((route for route in declared.routes if route.is_deterministic), key=lambda route: -route.priority)
    routes_from = _grouped((route.from_, route) for route in asked)
    targets = _grouped((route.from_, route.to) for route in declared.routes)
    intents = _grouped((route.from_, leaf) for route in declared.routes for leaf in intents_of(route.condition))
    return CompiledGraph(
        declared=declared,
        digest=digest,
        wired=dict.fromkeys(wired_ids(declared)),
        entries=dict.fromkeys(entry.skill for entry in declared.entries),
        any_routes=routes_from.pop(ANY, ()),
        routes_from=routes_from,
        successors={source: dict.fromkeys(found) for source, found in targets.items()},
        base=_grouped((entry.skill, entry) for entry in declared.entries if entry.base),
        never=frozenset(map(spaced, declared.never_routes)),
        lexicon=lexicon,
        without_phrase=tuple(position for position, phrases in enumerate(needed) if phrases is None),
        by_phrase=_grouped((phrase, position) for position, phrases in enumerate(needed) for phrase in phrases or ()),
        intents_from={source: tuple(dict.fromkeys(found)) for source, found in intents.items()},
        has_scorer=not isinstance(declared.pick, EntryPick),
    )


def needs_scoring(compiled: CompiledGraph, context: MoveContext) -> bool:
    """Whether a scorer has to be asked at this moment: for the entry at the start, else for the intents of routes."""
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


def compile_lexicon(declared: Declared) -> Lexicon:
    """The lexicon of a graph, in linear time. Raises InvalidGraph for bad expressions, phrases and conditions."""
    numbers: dict[Phrase, int] = {}
    sought: dict[Hashable, tuple[tuple[int, str], ...]] = {}
    searched = (route.on_tool for route in declared.routes)
    patterns: dict[Hashable, Pattern] = {regex: expression(regex) for regex in searched if isinstance(regex, Regex)}
    for condition in conditions_of(declared):
        _require_condition(condition)
        if isinstance(condition, Regex):
            patterns[condition] = expression(condition)
        elif isinstance(condition, Phrased):
            words = condition.words if isinstance(condition, Keywords) else (condition.text,)
            _require_phrases(words)
            found = (numbers.setdefault(phrase, len(numbers)) for phrase in phrases_of(condition))
            sought[condition] = tuple(zip(found, words, strict=True))
    return Lexicon(compile_automaton(numbers), sought, patterns)


def conditions_of(declared: Declared) -> Iterator[Condition]:
    """Every condition that is no `all`: of the entries, of the routes, then of the tree from its root."""
    for entry in declared.entries:
        yield from leaves_of(entry.condition)
    for route in declared.routes:
        yield from leaves_of(route.condition)
    for decision in decisions_of(declared.tree):
        yield from leaves_of(decision.condition)


def decisions_of(tree: TreeNode | None) -> Iterator[Decide]:
    """The inner nodes of a tree, depth first, once each."""
    yield from (node for node in nodes_of(tree) if isinstance(node, Decide))


def _grouped(pairs: Iterable[tuple[_Key, _Value]]) -> dict[_Key, tuple[_Value, ...]]:
    found: defaultdict[_Key, list[_Value]] = defaultdict(list)
    for key, value in pairs:
        found[key].append(value)
    return {key: tuple(values) for key, values in found.items()}


def _needed_phrases(entry: Entry, lexicon: Lexicon) -> Iterable[int] | None:
    """The phrases of which one has to be in the message for the entry to hold; None where it may hold without any."""
    phrased = next((leaf for leaf in leaves_of(entry.condition) if isinstance(leaf, Phrased)), None)
    return None if phrased is None else dict.fromkeys(number for number, _ in lexicon.sought[phrased])


def _require_condition(condition: object) -> None:
    if not isinstance(condition, Condition):
        raise InvalidGraph(
            f"a condition is {repr(condition)[:60]}, a {type(condition).__name__}; give a value of "
            "skillweave.graph.conditions, code as Predicate(code)"
        )


def _require_phrases(words: object) -> None:
    """Refuse phrases that only Python code can declare: data with them is refused where it is read."""
    if not isinstance(words, tuple) or not words:
        raise InvalidGraph(f"keywords are {repr(words)[:60]}; give a tuple of words or phrases")
    for word in words:
        if not isinstance(word, str) or not word.strip():
            raise InvalidGraph(f"{repr(word)[:60]} cannot be looked for in a message; give words that are not blank")
