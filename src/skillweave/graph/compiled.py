"""All words and expressions of a graph, compiled once, so that a message is searched for them in one pass."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, TypeGuard

from skillweave.errors import InvalidGraph
from skillweave.graph.conditions import Condition, Intent, Keywords, Regex, UserContains, leaves_of
from skillweave.graph.declared import ANY, Decide, Declared, Entry, EntryPick, Route, TreeNode, leaf_ids, nodes_of
from skillweave.graph.move import MoveContext
from skillweave.text.automaton import Automaton, MatchMode, compile_automaton
from skillweave.text.folding import fold
from skillweave.text.patterns import BrokenPattern, Pattern, compile_flagged

Phrase: TypeAlias = tuple[str, MatchMode]
"""Folded text, and how it has to stand in the message."""
Phrased: TypeAlias = Keywords | UserContains
"""The conditions that look for phrases."""


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    """What the conditions of a graph look for; safe to share between threads.

    `sought` has for a condition its phrases by the numbers under which the automaton reports them, each with the words
    that were declared; `patterns` are the expressions, those that are searched in the names of tools among them.
    """

    automaton: Automaton
    sought: Mapping[Phrased, tuple[tuple[int, str], ...]]
    patterns: Mapping[Regex, Pattern]


def compile_lexicon(declared: Declared) -> Lexicon:
    """The lexicon of a graph; linear in the length of its phrases.

    Raises InvalidGraph for a broken expression, for phrases that are none, and for what is no condition.
    """
    numbers: dict[Phrase, int] = {}
    sought: dict[Phrased, tuple[tuple[int, str], ...]] = {}
    patterns = {route.on_tool: expression(route.on_tool) for route in declared.routes if _is_regex(route.on_tool)}
    for condition in conditions_of(declared):
        _require_condition(condition)
        if isinstance(condition, Regex):
            patterns[condition] = expression(condition)
        elif isinstance(condition, Keywords | UserContains):
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


def phrases_of(condition: Condition) -> Iterable[Phrase]:
    """The folded phrases that the condition looks for, with the way in which they have to stand in the message."""
    if isinstance(condition, Keywords):
        return [(spaced(word), MatchMode.WORD) for word in condition.words]
    if isinstance(condition, UserContains):
        return [(fold(condition.text), MatchMode.SUBSTRING)]
    return []


def spaced(text: str) -> str:
    """The folded text with one space between two words."""
    return " ".join(fold(text).split())


@lru_cache(maxsize=4096)
def expression(regex: Regex) -> Pattern:
    """The compiled expression; raises InvalidGraph for one that the linear-time engine refuses."""
    try:
        return compile_flagged(regex.source, regex.flags)
    except BrokenPattern as error:
        raise InvalidGraph(f"the expression {regex.source[:100]!r} cannot be used: {error}. {error.fix}") from error


def _is_regex(on_tool: str | Regex | None) -> TypeGuard[Regex]:
    return isinstance(on_tool, Regex)


def _require_condition(condition: object) -> None:
    if not isinstance(condition, Condition):
        raise InvalidGraph(
            f"a condition is {repr(condition)[:60]}, a {type(condition).__name__}; give a value of "
            "skillweave.graph.conditions, code as Predicate(code)"
        )


def _require_phrases(words: object) -> None:
    """Data cannot say what is refused here, Python can."""
    if not isinstance(words, tuple) or not words:
        raise InvalidGraph(f"keywords are {repr(words)[:60]}; give a tuple of words or phrases")
    for word in words:
        if not isinstance(word, str) or not word.strip():
            raise InvalidGraph(f"{repr(word)[:60]} cannot be looked for in a message; give words that are not blank")


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
