"""How far to the right everything stands: under and over what it is joined to, boxes apart from each other."""

from collections.abc import Sequence
from itertools import accumulate, pairwise

from skillweave.graph.drawing.layout.rows import Rows
from skillweave.graph.drawing.layout.settling import settled

_WORK = 240_000
_MOST_ROUNDS = 16
_STRAIGHT = 8.0
_LOOSE = 0.01


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
    for _ in range(min(_MOST_ROUNDS, max(2, _WORK // (1 + sum(map(len, pulls)))))):
        for row, distances in (*downwards, *reversed(downwards)):
            _pull(row, distances, pulls, middles)
    return middles


def _pulls(rows: Rows, number: int) -> list[tuple[int, float]]:
    """What it is joined to, and how strongly: arrows want to go straight through their bends."""
    joined = (*rows.above[number], *rows.below[number])
    return [(one, _STRAIGHT if min(number, one) >= rows.boxes else 1.0) for one in joined]


def _pull(
    row: Sequence[int], gaps: Sequence[float], pulls: Sequence[Sequence[tuple[int, float]]], middles: list[float]
) -> None:
    """Move everything in the row towards what it is joined to."""
    wanted, weights = [], []
    for number in row:
        weight = sum(pull for _, pull in pulls[number])
        pulled = sum(pull * middles[one] for one, pull in pulls[number])
        wanted.append(pulled / weight if weight else middles[number])
        weights.append(weight or _LOOSE)
    for number, middle in zip(row, settled(wanted, weights, gaps), strict=True):
        middles[number] = middle
