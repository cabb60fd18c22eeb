"""Positions on a line: as close to where things want to be as their order and their distances allow."""

from collections.abc import Sequence
from math import inf


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
