"""Pairs of terms of which one implies the other, or that may hold together."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from skillweave.graph.checkup.terms import Expression, Phrases, Terms, disjoint, implies, stands_in
from skillweave.text.search import MatchMode, compile_automaton

MOST_PAIRS = 30_000
"""Pairs of routes or of entries that are compared one by one, of each kind; about a second at worst."""
Phrase: TypeAlias = tuple[str, MatchMode]
Key: TypeAlias = Hashable
"""A key under which terms are kept, and under which everything that implies them looks."""
_BARE = "bare"
_MOST_POINTS = 64


@dataclass(slots=True, eq=False)
class Budget:
    """How many pairs may still be compared in this checkup."""

    left: int = MOST_PAIRS
    is_spent: bool = False

    def take(self) -> bool:
        """Whether one more pair may be compared; from the first that may not on, the budget is spent."""
        if not self.left:
            self.is_spent = True
            return False
        self.left -= 1
        return True


def first_implied(all_terms: Sequence[Terms | None], budget: Budget) -> Iterator[int | None]:
    """For each of the terms (None: never holds) the first earlier ones that it implies; an index finds candidates."""
    inside = _phrases_inside(all_terms)
    kept: defaultdict[Key, list[int]] = defaultdict(list)
    for position, terms in enumerate(all_terms):
        if terms is None:
            yield None
            continue

        def crowd(keys: Iterable[Key]) -> int:
            return sum(len(kept.get(key, ())) for key in keys)

        candidates = {found for key in _looked_up(terms, inside, crowd) for found in kept.get(key, ())}
        yield _first(sorted(candidates), budget, lambda one, other: implies(other, one), all_terms, terms)
        for key in min(_keepable(terms), key=crowd):
            kept[key].append(position)


def first_together(
    all_terms: Sequence[Terms | None], budget: Budget, concerns: Callable[[int, int], bool]
) -> Iterator[int | None]:
    """For each of the terms, the first earlier ones that may hold too and that it `concerns`; None if none."""
    tools = [None if terms is None else terms.tools for terms in all_terms]
    for later, terms in enumerate(all_terms):
        if terms is None:
            yield None
            continue
        own = tools[later]
        # Most routes wait for a tool of their own, which costs next to nothing to see.
        apart = (own is not None and other is not None and own.isdisjoint(other) for other in tools)
        earlier = (place for place, no in zip(range(later), apart, strict=False) if not no and concerns(place, later))
        yield _first(earlier, budget, lambda one, other: not disjoint(one, other), all_terms, terms)


def _first(
    candidates: Iterable[int],
    budget: Budget,
    fits: Callable[[Terms, Terms], bool],
    all_terms: Sequence[Terms | None],
    terms: Terms,
) -> int | None:
    """The first candidate that fits the terms; None once the budget is spent."""
    for candidate in candidates:
        other = all_terms[candidate]
        if other is not None and not budget.take():
            return None
        if other is not None and fits(other, terms):
            return candidate
    return None


def _keepable(terms: Terms) -> Iterator[Sequence[Key]]:
    """Sets of keys: terms that are kept under all keys of one set are found by all terms that imply them."""
    listed = [[(place, point) for point in points] for place, points in _points(terms)]
    if listed:
        yield from listed
        return
    for need in terms.needs:
        if isinstance(need, Phrases):
            yield list(need.phrases) or [_BARE]
        elif isinstance(need, Expression) and need.in_tool:
            yield [_BARE]  # which the name of a tool implies too
        else:
            yield [need]
    if not terms.needs:
        yield [next(iter(terms.values), _BARE)]


def _looked_up(
    terms: Terms, inside: Mapping[Phrase, Sequence[Phrase]], crowd: Callable[[Iterable[Key]], int]
) -> Iterator[Key]:
    """All keys under which terms that these imply may stand; of several phrases, one is enough to look under."""
    yield _BARE
    yield from terms.values
    yield from ((place, min(points)) for place, points in _points(terms))
    for need in terms.needs:
        if isinstance(need, Phrases):
            yield from min((inside[phrase] for phrase in need.phrases), key=crowd, default=())
        else:
            yield need


def _points(terms: Terms) -> Iterator[tuple[Key, frozenset[Any]]]:
    """The places with few values, each with its values."""
    for place, values in terms.values.items():
        if values.listed is not None and len(values.listed) <= _MOST_POINTS:
            yield place, values.listed


def _phrases_inside(all_terms: Iterable[Terms | None]) -> Mapping[Phrase, Sequence[Phrase]]:
    """For each phrase, the phrases that every message with it contains too; the phrase itself is one of them."""
    needs = (need for terms in all_terms if terms for need in terms.needs)
    phrases = dict.fromkeys(phrase for need in needs if isinstance(need, Phrases) for phrase in need.phrases)
    searched = [phrase for phrase in phrases if phrase[0]]
    automaton = compile_automaton(searched)

    def found_in(phrase: Phrase) -> Iterator[Phrase]:
        for number in automaton.search(phrase[0]).spans:
            found = searched[number]
            if found != phrase and stands_in(found, phrase):
                yield found

    return {phrase: [phrase, *found_in(phrase)] for phrase in phrases}
