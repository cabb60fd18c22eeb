"""The ends of a picture with their text in lines and the room that they take; text is measured without a font."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category, east_asian_width

from skillweave.graph.drawing.picture import Arrow, End, EndKind

_NARROW = frozenset(" !'()*,-./:;I[\\]`fijlrt{|}")
_NARROW_WIDTH = 0.38
_CAPITAL = 0.78
_OTHER = 0.62
_OTHER_SCRIPT = 0.75
_FIRST_OTHER_SCRIPT = 0x0530
_WIDE = 1.05
_EMOJI = 1.35
_FIRST_EMOJI = 0x1F000
_WORDS = re.compile(r"[^-_/.:,;|&=+()\s]*(?:[-_/.:,;|&=+()]|\s+|$)")
"""A piece of text at whose end a line may break."""
TEXT = 13.0
LINE = 17.0
SMALL_TEXT = 11.0
SMALL_LINE = 14.0
LOOP = 24.0
"""So far a loop reaches out of the right border of its box."""
_LOOP_ROOM = 22.0
_WIDEST_TEXT = 170.0
_WIDEST_DECISION = 120.0
_WIDEST_LABEL = 150.0
_MOST_LINES = 3
_SIDE = 14.0
_HEIGHT = 38.0
_NARROWEST = 66.0
_CORNER = 10.0
_BESIDE_LABEL = 8.0


def width_of(text: str, size: float) -> float:
    """About how many pixels the text takes in a sans-serif font of that size, rather more than less."""
    return size * sum(map(_em, text))


def wrapped(text: str, size: float, widest: float, most: int) -> tuple[str, ...]:
    """The text in at most so many lines of at most that width; what does not fit is cut with an ellipsis."""
    lines = [""]
    for word in _WORDS.findall(text.strip()):
        for part in (word,) if width_of(word.rstrip(), size) <= widest else word:
            if width_of(f"{lines[-1]}{part}".rstrip(), size) <= widest:
                lines[-1] += part
            else:
                lines.append(part)
    lines = [line.strip() for line in lines if line.strip()]
    if len(lines) > most:
        last = lines[most - 1]
        while last and width_of(f"{last}…", size) > widest:
            last = last[:-1]
        lines[most - 1 :] = [f"{last.rstrip()}…"]
    return tuple(lines)


@lru_cache(maxsize=4096)
def _em(char: str) -> float:
    if char in _NARROW:
        return _NARROW_WIDTH
    if category(char) in {"Mn", "Me", "Cf"}:
        return 0.0
    if ord(char) >= _FIRST_EMOJI:
        return _EMOJI
    width = east_asian_width(char)
    if width in "WF" or (width == "A" and not char.isalnum()):
        return _WIDE
    if ord(char) < _FIRST_OTHER_SCRIPT:
        return _CAPITAL if char.isupper() or char in "mw%@" else _OTHER
    return _OTHER_SCRIPT


@dataclass(frozen=True, slots=True)
class Caption:
    """A label in lines, with the room that it takes; no lines and no room without one."""

    lines: tuple[str, ...]
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Loop:
    """An arrow, by its number, that leads back to its own box; `below` is how far under the box's middle it does."""

    arrow: int
    caption: Caption
    below: float


@dataclass(frozen=True, slots=True)
class Figure:
    """A box, a diamond or a pill with its loops."""

    end: End
    lines: tuple[str, ...]
    width: float
    height: float
    loops: tuple[Loop, ...] = ()

    @property
    def beside(self) -> float:
        """How far its loops and their labels reach out of its right border."""
        return max((LOOP + loop.caption.width for loop in self.loops), default=0.0)

    @property
    def reach(self) -> float:
        """How far to either side of its middle arrows meet its upper and lower border."""
        if self.end.kind is EndKind.PREDICATE:
            return self.width / 4
        return self.width / 2 - (self.height / 2 if self.end.kind in (EndKind.START, EndKind.ANY) else _CORNER)

    def border(self, aside: float) -> float:
        """How far above and below the middle its border is, so far to the side."""
        return self.height / 2 - (abs(aside) * self.height / self.width if self.end.kind is EndKind.PREDICATE else 0.0)


def caption_of(label: str) -> Caption:
    """The lines of a label at an arrow."""
    lines = wrapped(label, SMALL_TEXT, _WIDEST_LABEL, _MOST_LINES)
    if not lines:
        return Caption((), 0.0, 0.0)
    width = max(width_of(line, SMALL_TEXT) for line in lines)
    return Caption(lines, width + _BESIDE_LABEL, len(lines) * SMALL_LINE + 2)


def figures_of(ends: Sequence[End], arrows: Sequence[Arrow]) -> list[Figure]:
    """A figure for every end, in their order."""
    loops: dict[int, list[tuple[int, Caption]]] = {}
    for number, arrow in enumerate(arrows):
        if arrow.source == arrow.target:
            loops.setdefault(arrow.source, []).append((number, caption_of(arrow.label)))
    return [_figure(end, _stacked(loops.get(place, ()))) for place, end in enumerate(ends)]


def _figure(end: End, loops: tuple[Loop, ...]) -> Figure:
    decides = end.kind is EndKind.PREDICATE
    lines = wrapped(end.label, TEXT, _WIDEST_DECISION if decides else _WIDEST_TEXT, _MOST_LINES)
    width = max(width_of(line, TEXT) for line in lines)
    height = len(lines) * LINE
    looped = 2 * max((loop.below + _room(loop.caption) / 2 for loop in loops), default=0.0)
    if decides:
        return Figure(end, lines, max(_NARROWEST, 2 * width + _SIDE), max(2 * height + _SIDE, looped), loops)
    return Figure(end, lines, max(_NARROWEST, width + 2 * _SIDE), max(_HEIGHT, height + _SIDE, looped), loops)


def _stacked(loops: Sequence[tuple[int, Caption]]) -> tuple[Loop, ...]:
    top = -sum(_room(caption) for _, caption in loops) / 2
    stacked = []
    for number, caption in loops:
        stacked.append(Loop(number, caption, top + _room(caption) / 2))
        top += _room(caption)
    return tuple(stacked)


def _room(caption: Caption) -> float:
    return max(_LOOP_ROOM, caption.height)
