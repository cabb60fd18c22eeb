"""In which order things stand in their rows, so that few arrows cross."""

from bisect import bisect_left, bisect_right, insort
from collections.abc import Sequence

from skillweave.graph.drawing.layout.rows import Rows

_WORK = 100_000
_MOST_SWEEPS = 24


def untangle(rows: Rows) -> None:
    """Order every row by where its neighbours stand, down and up by turns, and keep the order with fewest crossings.

    The number of sweeps shrinks with the size of the drawing, so that the time does not grow out of hand.
    """
    _begin(rows)
    joined = sum(map(len, rows.below))
    best, fewest = _copy(rows.rows), _crossings(rows)
    for sweep in range(min(_MOST_SWEEPS, max(2, _WORK // (joined + 1)))):
        if not fewest:
            break
        if sweep % 2:
            _sweep(rows.rows[-2::-1], rows.below, _places(rows))
        else:
            _sweep(rows.rows[1:], rows.above, _places(rows))
        _swap(rows)
        crossings = _crossings(rows)
        if crossings < fewest:
            best, fewest = _copy(rows.rows), crossings
    rows.rows = best


def _begin(rows: Rows) -> None:
    """Put everything in the order in which walks down from the top, from left to right, come upon it."""
    place: dict[int, int] = {}
    for start in (number for row in rows.rows for number in row):
        waiting = [start]
        while waiting:
            number = waiting.pop()
            if number not in place:
                place[number] = len(place)
                waiting += reversed(rows.below[number])
    for row in rows.rows:
        row.sort(key=place.__getitem__)


def _sweep(in_turn: Sequence[list[int]], neighbours: Sequence[Sequence[int]], places: list[int]) -> None:
    """Sort each row by the mean place of its neighbours; what has none wants to stay where it is."""
    for row in in_turn:
        wanted = {
            number: sum(places[one] for one in neighbours[number]) / len(neighbours[number])
            if neighbours[number]
            else places[number]
            for number in row
        }
        row.sort(key=wanted.__getitem__)
        for place, number in enumerate(row):
            places[number] = place


def _swap(rows: Rows) -> None:
    """Let two that stand side by side change places where that saves crossings."""
    places = _places(rows)
    for row in rows.rows:
        near = {
            number: (
                sorted(places[one] for one in rows.above[number]),
                sorted(places[one] for one in rows.below[number]),
            )
            for number in row
        }
        for place in range(len(row) - 1):
            left, right = row[place], row[place + 1]
            as_is = sum(map(_inversions, near[left], near[right]))
            if as_is and sum(map(_inversions, near[right], near[left])) < as_is:
                row[place], row[place + 1] = right, left
        for place, number in enumerate(row):
            places[number] = place


def _crossings(rows: Rows) -> int:
    places, crossings = _places(rows), 0
    for row in rows.rows:
        ends: list[int] = []
        for number in row:
            found = sorted(places[one] for one in rows.below[number])
            crossings += sum(len(ends) - bisect_right(ends, place) for place in found)
            for place in found:
                insort(ends, place)
    return crossings


def _inversions(left: Sequence[int], right: Sequence[int]) -> int:
    return sum(bisect_left(right, place) for place in left)


def _places(rows: Rows) -> list[int]:
    places = [0] * len(rows.rooms)
    for row in rows.rows:
        for place, number in enumerate(row):
            places[number] = place
    return places


def _copy(rows: Sequence[Sequence[int]]) -> list[list[int]]:
    return [list(row) for row in rows]
