"""All words and expressions of a graph, compiled once, so that a message is searched for them in one pass."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeAlias, TypeGuard

from skillweave.errors import InvalidGraph
from skillweave.graph.conditions import Condition, Keywords, Regex, UserContains, leaves_of
from skillweave.graph.declared import Decide, Declared, TreeNode
from skillweave.graph.tree_nodes import nodes_of
from skillweave.text.folding import fold
from skillweave.text.search import Automaton, BrokenPattern, MatchMode, Pattern, compile_automaton, compile_flagged

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
