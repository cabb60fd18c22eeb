"""Where everything in a drawing goes: rows, columns, the way of every arrow; numbers only, no format (spec 3.6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import isqrt
from typing import TypeAlias

from skillweave.graph.drawing.columns import columns_of, settled, straighten
from skillweave.graph.drawing.figures import Caption, Figure, caption_of, figures_of
from skillweave.graph.drawing.picture import EndKind, Picture
from skillweave.graph.drawing.rows import Box, Room, Rows, Tie, ranks_of, rows_of, untangle

_APART = 16.0
Point: TypeAlias = tuple[float, float]
HEAD = 8.0
"""The length of an arrow's head; the last piece of its way, upright, is at least as long."""
_GAP = 16.0
_LABEL_GAP = 22.0
_STEEPNESS = 0.09
_WIDEST_GAP = 60.0
_BETWEEN = 26.0
_NARROWEST = 560.0


def ports_of(
    boxes: Sequence[Box], ties: Sequence[Tie], rows: Rows, columns: Sequence[float]
) -> list[tuple[float, float]]:
    """For each tie where it leaves its source and where it arrives at its target, from left to right.

    On each side of a box its arrows stand in the order of what they come from, as straight under it as there is room.
    """
    ports = [[0.0, 0.0] for _ in ties]
    sides: dict[tuple[int, bool], list[tuple[float, int, int]]] = {}
    for number, tie in enumerate(ties):
        down = rows.row_of[tie.source] < rows.row_of[tie.target]
        chain = rows.chains[number] if down else rows.chains[number][::-1]
        sides.setdefault((tie.source, down), []).append((columns[chain[0]], number, 0))
        sides.setdefault((tie.target, not down), []).append((columns[chain[-1]], number, 1))
    for (box, below), arrows in sides.items():
        arrows.sort()
        reach, middle = boxes[box].reach(below=below), columns[box]
        apart = min(_APART, 2 * reach / max(1, len(arrows) - 1))
        wanted = [x for x, _, _ in arrows]
        gaps = [0.0, *[apart] * (len(arrows) - 1)]
        places = settled(wanted, [1.0] * len(arrows), gaps, middle - reach, middle + reach)
        for (_, number, end), place in zip(arrows, places, strict=True):
            ports[number][end] = place
    return [(leaving, arriving) for leaving, arriving in ports]


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


@dataclass(frozen=True, slots=True)
class Wire:
    """An arrow by its number, with its label and its way; loops are part of their figures."""

    arrow: int
    caption: Caption
    way: Way


@dataclass(frozen=True, slots=True)
class Arranged:
    """Figures, each with its middle, and wires, in a room whose upper left corner is 0, 0."""

    figures: tuple[Figure, ...]
    middles: tuple[Point, ...]
    wires: tuple[Wire, ...]
    width: float
    height: float


def arranged(picture: Picture) -> Arranged:
    """The picture with a place for everything; the same picture is always arranged in the same way."""
    figures = figures_of(picture.ends, picture.arrows)
    numbers = [number for number, arrow in enumerate(picture.arrows) if arrow.source != arrow.target]
    joined = {end for number in numbers for end in _ends(picture, number)} | {0}
    wired = [place for place in range(len(figures)) if place in joined]
    position = {place: number for number, place in enumerate(wired)}
    captions = [caption_of(picture.arrows[number].label) for number in numbers]
    ties = []
    for number, caption in zip(numbers, captions, strict=True):
        source, target = _ends(picture, number)
        ties.append(Tie(position[source], position[target], Room.around(caption.width, caption.height)))
    top = sum(1 for place in wired if picture.ends[place].kind in (EndKind.START, EndKind.ANY))
    layout = layout_of([figures[place].box for place in wired], ties, top)
    wires = tuple(map(Wire, numbers, captions, layout.ways))
    lone = [place for place in range(len(figures)) if place not in joined]
    beneath, width, height = _in_lines([figures[place] for place in lone], layout.width, layout.height)
    middles = dict(zip([*wired, *lone], [*layout.middles, *beneath], strict=True))
    ordered = tuple(middles[place] for place in range(len(figures)))
    return Arranged(tuple(figures), ordered, wires, width, height)


def _ends(picture: Picture, number: int) -> tuple[int, int]:
    return picture.arrows[number].source, picture.arrows[number].target


def _in_lines(figures: Sequence[Figure], width: float, height: float) -> tuple[list[Point], float, float]:
    """The middles of boxes in a grid under a drawing of that size, and the size of all of it."""
    if not figures:
        return [], width, height
    across = max(figure.box.room.left + figure.box.room.right for figure in figures) + _BETWEEN
    down = max(figure.height for figure in figures) + _BETWEEN
    columns = max(int((max(width, _NARROWEST) + _BETWEEN) / across), isqrt(len(figures)), 1)
    top = height + 2 * _BETWEEN
    middles = [
        (place % columns * across + figure.box.room.left, top + place // columns * down + figure.height / 2)
        for place, figure in enumerate(figures)
    ]
    rows = -(-len(figures) // columns)
    return middles, max(width, min(columns, len(figures)) * across - _BETWEEN), top + rows * down - _BETWEEN
