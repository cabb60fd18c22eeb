"""Pairs of terms of which one implies the other, or that may hold together: found by indexes, not all with all."""

from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from heapq import merge
from typing import TypeAlias

from skillweave.graph.checkup.terms import Expression, Phrases, Place, Terms, disjoint, implies, stands_in
from skillweave.graph.checkup.values import Point
from skillweave.text.search import MatchMode, compile_automaton

MOST_PAIRS = 100_000
"""Pairs of routes or of entries that are compared one by one, of each kind; about 0.2 s at worst."""
Phrase: TypeAlias = tuple[str, MatchMode]
Key: TypeAlias = Hashable
"""A key under which terms are kept, and under which everything that implies them looks."""
_IN_TOOL = "in tool"
_BARE = "bare"
_MOST_PLACES = 8
"""Places that are indexed: the tool, the status, and what most guards ask for."""


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
    """For each of the terms the position of the first earlier ones that they imply; None where there are none.

    Terms that never hold are to be given as None.
    """
    inside = _phrases_inside(all_terms)
    kept: defaultdict[Key, list[int]] = defaultdict(list)
    for position, terms in enumerate(all_terms):
        if terms is None:
            yield None
            continue

        def crowd(keys: Iterable[Key]) -> int:
            return sum(len(kept.get(key, ())) for key in keys)

        candidates = merge(*(kept[key] for key in _looked_up(terms, inside, crowd) if key in kept))
        yield _first(candidates, budget, partial(_is_implied, all_terms, terms))
        for key in min(_keepable(terms), key=crowd):
            kept[key].append(position)


def _first(candidates: Iterable[int], budget: Budget, fits: Callable[[int], bool]) -> int | None:
    """The first candidate that fits; one may stand there twice in a row. None once the budget is spent."""
    before = None
    for candidate in candidates:
        if candidate == before:
            continue
        if not budget.take():
            return None
        if fits(candidate):
            return candidate
        before = candidate
    return None


def _is_implied(all_terms: Sequence[Terms | None], terms: Terms, candidate: int) -> bool:
    other = all_terms[candidate]
    return other is not None and implies(terms, other)


def _keepable(terms: Terms) -> Iterator[Sequence[Key]]:
    """Sets of keys: terms that are kept under all keys of one set are found by all terms that imply them."""
    if terms.points:
        yield from ([(place, point) for point in points] for place, points in terms.points.items())
        return
    for need in terms.needs:
        if isinstance(need, Phrases):
            yield list(need.phrases) or [_BARE]
        else:
            yield [need, _IN_TOOL] if isinstance(need, Expression) and need.in_tool else [need]
    if not terms.needs:
        yield [next(iter(terms.values), _BARE)]


def _looked_up(
    terms: Terms, inside: Mapping[Phrase, Sequence[Phrase]], crowd: Callable[[Iterable[Key]], int]
) -> Iterator[Key]:
    """All keys under which terms may be kept that these imply.

    What is implied by one of several phrases is implied by each of them, so that one of them is enough to look under.
    """
    yield _BARE
    if terms.tools is not None:
        yield _IN_TOOL
    yield from terms.values
    yield from ((place, min(points)) for place, points in terms.points.items())
    for need in terms.needs:
        if isinstance(need, Phrases):
            yield from min((inside[phrase] for phrase in need.phrases), key=crowd, default=())
        else:
            yield need


def _phrases_inside(all_terms: Iterable[Terms | None]) -> Mapping[Phrase, Sequence[Phrase]]:
    """For each phrase, the phrases that every message with it contains too; the phrase itself is one of them."""
    needs = (need for terms in all_terms if terms for need in terms.needs)
    phrases = dict.fromkeys(phrase for need in needs if isinstance(need, Phrases) for phrase in need.phrases)
    searched = [phrase for phrase in phrases if phrase[0]]
    automaton = compile_automaton(searched)
    return {
        phrase: [
            phrase,
            *(
                found
                for number in automaton.find(phrase[0])
                if (found := searched[number]) != phrase and stands_in(found, phrase)
            ),
        ]
        for phrase in phrases
    }


def first_together(
    all_terms: Sequence[Terms | None], budget: Budget, concerns: Callable[[int, int], bool]
) -> Iterator[int | None]:
    """For each of the terms the position of the first earlier ones that may hold at the same time; None for none.

    Terms that are None take no part, and pairs (earlier, later) that do not concern anybody are left out.
    """
    index = _Index(_common_places(all_terms))
    for position, terms in enumerate(all_terms):
        if terms is None:
            yield None
            continue
        points = {place: terms.points[place] for place in index.places if place in terms.points}
        yield _first(index.near(points), budget, partial(_may_meet, all_terms, position, concerns))
        index.add(position, points)


def _may_meet(
    all_terms: Sequence[Terms | None], later: int, concerns: Callable[[int, int], bool], earlier: int
) -> bool:
    one, other = all_terms[earlier], all_terms[later]
    return one is not None and other is not None and concerns(earlier, later) and not disjoint(one, other)


class _Index:
    """Positions by the values that a place may have, and, by place, those that may have any."""

    def __init__(self, places: Sequence[Place]) -> None:
        self.places = places
        self._all: list[int] = []
        self._open: dict[Place, list[int]] = {place: [] for place in places}
        self._by_point: defaultdict[tuple[Place, Point], list[int]] = defaultdict(list)

    def add(self, position: int, points: Mapping[Place, Sequence[Point]]) -> None:
        self._all.append(position)
        for place in self.places:
            if place not in points:
                self._open[place].append(position)
            for point in points.get(place, ()):
                self._by_point[place, point].append(position)

    def near(self, points: Mapping[Place, Sequence[Point]]) -> Iterable[int]:
        """Positions in order, some perhaps twice, that share a value: looked up by the place that leaves the fewest."""
        choices = [
            [self._open[place], *(self._by_point.get((place, point), []) for point in found)]
            for place, found in points.items()
        ]
        return merge(*min([[self._all], *choices], key=lambda lists: sum(map(len, lists))))


def _common_places(all_terms: Iterable[Terms | None]) -> list[Place]:
    counted = Counter(place for terms in all_terms if terms for place in terms.points)
    return [place for place, _ in counted.most_common(_MOST_PLACES)]
