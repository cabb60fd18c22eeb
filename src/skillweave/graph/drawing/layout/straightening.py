"""Long arrows made straight: as few shifts to the side as their neighbours leave room for."""

from collections.abc import Sequence
from math import inf

from skillweave.graph.drawing.layout.rows import Rows
from skillweave.graph.drawing.layout.sizes import Box

_TIMES = 2
"""What has moved may leave room for what could not."""


def straighten(rows: Rows, boxes: Sequence[Box], columns: list[float]) -> None:
    """Give the bends and the label of each arrow one column for as long as nothing stands in the way, then the next.

    The two ends count too: an arrow that can lead straight from box to box does.
    """
    place = {number: (row, at) for row in rows.rows for at, number in enumerate(row)}
    for chain in _TIMES * sorted(rows.chains, key=len, reverse=True):
        upper, lower = rows.above[chain[0]], rows.below[chain[-1]]
        if not upper or not lower:
            continue
        spans = [
            _side(columns, upper[0], boxes[upper[0]].below),
            *(_room(rows, columns, *place[number]) for number in chain),
            _side(columns, lower[0], boxes[lower[0]].above),
        ]
        for first, last, lowest, highest in _runs(spans):
            members = chain[max(0, first - 1) : last - 1]
            if members:
                mean = sum(columns[one] for one in members) / len(members)
                for one in members:
                    columns[one] = min(max(mean, lowest), highest)


def _side(columns: Sequence[float], box: int, reach: float) -> tuple[float, float]:
    return columns[box] - reach, columns[box] + reach


def _room(rows: Rows, columns: Sequence[float], row: Sequence[int], at: int) -> tuple[float, float]:
    """How far the one at that place of its row can move to the left and to the right."""
    lowest = columns[row[at - 1]] + rows.apart(row[at - 1], row[at]) if at else -inf
    highest = columns[row[at + 1]] - rows.apart(row[at], row[at + 1]) if at + 1 < len(row) else inf
    return lowest, highest


def _runs(spans: Sequence[tuple[float, float]]) -> list[tuple[int, int, float, float]]:
    """The longest stretches, one after the other, whose spans have something in common, each with that."""
    runs = []
    first, lowest, highest = 0, -inf, inf
    for number, (low, high) in enumerate(spans):
        if max(lowest, low) > min(highest, high):
            runs.append((first, number, lowest, highest))
            first, lowest, highest = number, low, high
        else:
            lowest, highest = max(lowest, low), min(highest, high)
    runs.append((first, len(spans), lowest, highest))
    return runs
