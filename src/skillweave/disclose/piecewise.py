"""Which of many pieces fit behind a text: by the sum of their tokens, then the whole is counted (decision 0003)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skillweave.disclose.block import Priced

NOTHING = Priced("", 0, "")
"""What pieces stand behind where there is no text yet."""


@dataclass(frozen=True, slots=True)
class Room:
    """Tokens: what the whole text may have, and what may come to the text that is there already."""

    whole: int
    more: int

    def holds(self, whole: int, base: int) -> bool:
        """Whether a text of so many tokens, `base` of which were there before, has room."""
        return whole <= self.whole and whole - base <= self.more


@dataclass(frozen=True, slots=True)
class Fitted:
    """The pieces that fit, by place, the text with them, and what each of the others would have added."""

    places: tuple[int, ...]
    text: Priced
    refused: dict[int, int]


def fit_pieces(
    base: Priced,
    pieces: Sequence[str],
    room: Room,
    count: Callable[[str], int],
    whole: Callable[[Sequence[int]], Priced],
    head: str = "",
) -> Fitted:
    """The pieces with room behind the line `head`; `whole` renders those, and what is too much is taken back."""
    # What a line break at the end of the last piece costs, which is only there when another piece follows.
    last, tokens, opening = base.text, base.tokens, f"{head}\n" if head else ""
    chosen: list[int] = []
    refused: dict[int, int] = {}
    breaks = _line_break(last, count)
    for place, piece in enumerate(pieces):
        more = breaks + count(opening + piece)
        if not room.holds(tokens + more, base.tokens):
            refused[place] = more
            continue
        chosen.append(place)
        tokens, last = tokens + more, opening + piece
        breaks, opening = _line_break(last, count), ""
    text, kept = _that_fits(base, chosen, room, whole)
    taken_back = {place: _line_break(base.text, count) + count(pieces[place]) for place in chosen[kept:]}
    return Fitted(tuple(chosen[:kept]), text, dict(sorted({**refused, **taken_back}.items())))


def _line_break(text: str, count: Callable[[str], int]) -> int:
    return count(f"{text}\n") - count(text) if text else 0


def _that_fits(
    base: Priced, chosen: Sequence[int], room: Room, whole: Callable[[Sequence[int]], Priced]
) -> tuple[Priced, int]:
    """The text with as many of the chosen as have room once the whole is counted, and how many these are."""
    text, fitting, too_many = base, 0, len(chosen) + 1
    tried = len(chosen)
    while tried > fitting:
        longer = whole(chosen[:tried])
        if room.holds(longer.tokens, base.tokens):
            text, fitting = longer, tried
        else:
            too_many = tried
        tried = (fitting + too_many) // 2
    return text, fitting
