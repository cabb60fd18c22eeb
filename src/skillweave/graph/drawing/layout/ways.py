"""The way of every arrow through the rows between its ends."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from skillweave.graph.drawing.layout.ports import ports_of
from skillweave.graph.drawing.layout.rows import Rows
from skillweave.graph.drawing.layout.sizes import Box, Tie

Point: TypeAlias = tuple[float, float]

HEAD = 8.0
"""The length of an arrow's head; the last piece of its way, upright, is at least as long."""


@dataclass(frozen=True, slots=True)
class Way:
    """An arrow's points from border to border: an upright piece, a bend, an upright piece, and so on by turns.

    `label` is the middle of its label, None without one.
    """

    points: tuple[Point, ...]
    label: Point | None


@dataclass(frozen=True, slots=True)
class Levels:
    """How far down each row begins and ends."""

    tops: Sequence[float]
    bottoms: Sequence[float]

    def middle(self, row: int) -> float:
        """Where the boxes and labels of the row have their middles."""
        return (self.tops[row] + self.bottoms[row]) / 2


def ways_of(
    boxes: Sequence[Box], ties: Sequence[Tie], rows: Rows, columns: Sequence[float], levels: Levels
) -> tuple[Way, ...]:
    """The way of each tie: upright through the rows, to the side between them."""
    ports = ports_of(boxes, ties, rows, columns)
    ways = []
    for tie, chain, (leaving, arriving) in zip(ties, rows.chains, ports, strict=True):
        down = rows.row_of[tie.source] < rows.row_of[tie.target]
        begin = _side(boxes, rows, columns, levels, tie.source, leaving, below=down)
        end = _side(boxes, rows, columns, levels, tie.target, arriving, below=not down)
        between = [
            (columns[one], y)
            for one in chain
            for y in (levels.tops[rows.row_of[one]], levels.bottoms[rows.row_of[one]])
        ]
        labels = [(columns[one], levels.middle(rows.row_of[one])) for one in chain if rows.rooms[one].height]
        points = (*begin, *(between if down else reversed(between)), *reversed(end))
        ways.append(Way(points, labels[0] if labels else None))
    return tuple(ways)


def _side(
    boxes: Sequence[Box], rows: Rows, columns: Sequence[float], levels: Levels, box: int, x: float, *, below: bool
) -> tuple[Point, Point]:
    """The point on the border of the box, and the one a head's length outside of its row."""
    row = rows.row_of[box]
    far = boxes[box].height / 2 - boxes[box].slope * abs(x - columns[box])
    if below:
        return (x, levels.middle(row) + far), (x, levels.bottoms[row] + HEAD)
    return (x, levels.middle(row) - far), (x, levels.tops[row] - HEAD)
