"""How far to the right everything stands: under what it is joined to, apart from its neighbours, arrows straight."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import inf
from typing import TypeAlias

from skillweave.graph.drawing.rows import Box, Rows

_WORK = 240_000
_MOST_ROUNDS = 16
_STRAIGHT = 8.0
_LOOSE = 0.01
_Pulls: TypeAlias = tuple[float, Sequence[tuple[int, float]]]
"""How strongly something is pulled, and by what how strongly."""
_TIMES = 2
"""What has moved may leave room for what could not."""


def settled(
    wanted: Sequence[float],
    weights: Sequence[float],
    gaps: Sequence[float],
    lowest: float = -inf,
    highest: float = inf,
) -> list[float]:
    """The positions nearest to the wanted ones (least weighted squares) that are at least so far apart, in order.

    `gaps` are the distances to the one before, the first of them 0; all lies between `lowest` and `highest`, which
    are far enough apart. Neighbours that push each other away move as one block (isotonic regression).
    """
    sums: list[float] = []
    masses: list[float] = []
    counts: list[int] = []
    offset = 0.0
    for want, weight, gap in zip(wanted, weights, gaps, strict=True):
        offset += gap
        total, mass, count = weight * (want - offset), weight, 1
        while sums and sums[-1] * mass > total * masses[-1]:
            total, mass, count = total + sums.pop(), mass + masses.pop(), count + counts.pop()
        sums.append(total)
        masses.append(mass)
        counts.append(count)
    positions: list[float] = []
    at = 0.0
    for total, mass, count in zip(sums, masses, counts, strict=True):
        place = max(lowest, min(highest - offset, total / mass))
        for _ in range(count):
            at += gaps[len(positions)]
            positions.append(place + at)
    return positions


def columns_of(rows: Rows) -> list[float]:
    """The horizontal middle of everything.

    The number of rounds shrinks with the size of the drawing, so that the time does not grow out of hand.
    """
    gaps = [[0.0, *(rows.apart(*pair) for pair in pairwise(row))][: len(row)] for row in rows.rows]
    middles = [0.0] * len(rows.rooms)
    for row, distances in zip(rows.rows, gaps, strict=True):
        for number, middle in zip(row, accumulate(distances), strict=True):
            middles[number] = middle
    pulls = [_pulls(rows, number) for number in range(len(rows.rooms))]
    downwards = list(zip(rows.rows, gaps, strict=True))
    for _ in range(min(_MOST_ROUNDS, max(2, _WORK // (1 + sum(len(joined) for _, joined in pulls))))):
        for row, distances in (*downwards, *reversed(downwards)):
            _pull(row, distances, pulls, middles)
    return middles


def _pulls(rows: Rows, number: int) -> _Pulls:
    """What it is joined to, and how strongly: an arrow is pulled straight through its bends."""
    near = (*rows.above[number], *rows.below[number])
    joined = [(one, _STRAIGHT if min(number, one) >= rows.boxes else 1.0) for one in near]
    return sum([pull for _, pull in joined]), joined


def _pull(row: Sequence[int], gaps: Sequence[float], pulls: Sequence[_Pulls], middles: list[float]) -> None:
    """Move everything in the row towards what it is joined to."""
    wanted, weights = [], []
    for number in row:
        weight, joined = pulls[number]
        pulled = sum([pull * middles[one] for one, pull in joined])
        wanted.append(pulled / weight if weight else middles[number])
        weights.append(weight or _LOOSE)
    for number, middle in zip(row, settled(wanted, weights, gaps), strict=True):
        middles[number] = middle


def straighten(rows: Rows, boxes: Sequence[Box], columns: list[float]) -> None:
    """Give the bends and the label of each arrow one column for as long as there is room, then the next column.

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
