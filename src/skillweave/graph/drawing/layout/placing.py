"""The whole layout: ranks, rows, columns, then the height of every row and the way of every arrow."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from skillweave.graph.drawing.layout.columns import columns_of
from skillweave.graph.drawing.layout.ranks import ranks_of
from skillweave.graph.drawing.layout.rows import Rows, rows_of
from skillweave.graph.drawing.layout.sizes import Box, Tie
from skillweave.graph.drawing.layout.straightening import straighten
from skillweave.graph.drawing.layout.untangling import untangle
from skillweave.graph.drawing.layout.ways import HEAD, Levels, Point, Way, ways_of

_GAP = 16.0
_LABEL_GAP = 22.0
_STEEPNESS = 0.09
_WIDEST_GAP = 60.0


@dataclass(frozen=True, slots=True)
class Layout:
    """The middles of the boxes, the ways of the ties, and the room of it all, whose upper left corner is 0, 0."""

    middles: tuple[Point, ...]
    ways: tuple[Way, ...]
    width: float
    height: float


def layout_of(boxes: Sequence[Box], ties: Sequence[Tie], top: int) -> Layout:
    """Where everything goes: ties lead downwards as far as cycles allow, the first `top` boxes may stand at the top.

    No box or label meets another one, and no arrow meets a box or label that is not its own, but for the longest
    arrows of drawings with very many of them. No tie may lead to its own source.
    """
    rows = rows_of([box.room for box in boxes], ties, ranks_of(len(boxes), ties, top))
    untangle(rows)
    columns = columns_of(rows)
    straighten(rows, boxes, columns)
    leftmost = min((x - room.left for x, room in zip(columns, rows.rooms, strict=True)), default=0.0)
    columns = [x - leftmost for x in columns]
    levels = _levels(rows, columns)
    return Layout(
        middles=tuple((columns[box], levels.middle(rows.row_of[box])) for box in range(len(boxes))),
        ways=ways_of(boxes, ties, rows, columns, levels),
        width=max((x + room.right for x, room in zip(columns, rows.rooms, strict=True)), default=0.0),
        height=levels.bottoms[-1],
    )


def _levels(rows: Rows, columns: Sequence[float]) -> Levels:
    """The top and the bottom of each row; rows stand further apart where arrows go far to the side."""
    heights = [max((rows.rooms[one].height for one in row), default=0.0) for row in rows.rows]
    tops, bottoms = [0.0], heights[:1]
    for row, (height, next_height) in enumerate(pairwise(heights)):
        ways = [abs(columns[one] - columns[other]) for one in rows.rows[row] for other in rows.below[one]]
        gap = _LABEL_GAP if height and next_height else _GAP
        gap = min(_WIDEST_GAP, max(gap, HEAD + gap / 2 + max(ways, default=0.0) * _STEEPNESS))
        tops.append(bottoms[-1] + gap)
        bottoms.append(tops[-1] + next_height)
    return Levels(tops, bottoms)
