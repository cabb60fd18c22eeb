"""Which terms can hold at the same moment as earlier ones; those with other exact values are never looked at."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from heapq import merge

from skillweave.graph.checkup.budget import Budget
from skillweave.graph.checkup.disjoint import disjoint
from skillweave.graph.checkup.terms import Place, Terms
from skillweave.graph.checkup.values import Point

_MOST_PLACES = 8
"""Places that are indexed: the tool, the status, and what most guards ask for."""


def first_together(
    wholes: Sequence[Terms | None], budget: Budget, concerns: Callable[[int, int], bool]
) -> Iterator[int | None]:
    """For each of the terms the place of the first before it that may hold at once with it; None for none.

    Terms that are None take no part, and pairs (earlier, later) that do not concern anybody are left out.
    """
    index = _Index(_common_places(wholes))
    for position, terms in enumerate(wholes):
        if terms is None:
            yield None
            continue
        points = {place: terms.points[place] for place in index.places if place in terms.points}
        yield _first(index.near(points), position, wholes, budget, concerns)
        index.add(position, points)


def _first(
    candidates: Iterable[int],
    position: int,
    wholes: Sequence[Terms | None],
    budget: Budget,
    concerns: Callable[[int, int], bool],
) -> int | None:
    terms, before = wholes[position], None
    for candidate in candidates:
        other = wholes[candidate]
        if candidate == before or other is None or terms is None:
            continue
        if not budget.take():
            return None
        if concerns(candidate, position) and not disjoint(other, terms):
            return candidate
        before = candidate
    return None


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
        """Positions in order, some perhaps twice, that are not disjoint by the place that leaves the fewest."""
        choices = [
            [self._open[place], *(self._by_point.get((place, point), []) for point in found)]
            for place, found in points.items()
        ]
        return merge(*min([[self._all], *choices], key=lambda lists: sum(map(len, lists))))


def _common_places(wholes: Iterable[Terms | None]) -> list[Place]:
    counted = Counter(place for terms in wholes if terms for place in terms.points)
    return [place for place, _ in counted.most_common(_MOST_PLACES)]
