"""A picture with a place for everything: the wired ends in layers, those that no arrow joins in rows beneath."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt

from skillweave.graph.drawing.figures import Caption, Figure, caption_of, figures_of
from skillweave.graph.drawing.layout.placing import layout_of
from skillweave.graph.drawing.layout.sizes import Room, Tie
from skillweave.graph.drawing.layout.ways import Point, Way
from skillweave.graph.drawing.picture import EndKind, Picture

_BETWEEN = 26.0
_NARROWEST = 560.0


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
