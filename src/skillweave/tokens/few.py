"""Counting a few texts without building the whole encoder, which takes longer than they do."""

import re
from collections.abc import Callable, Mapping
from functools import cache
from unicodedata import category

from skillweave.tokens.ranks import VOCABULARIES, ranks_of

FEW_CHARACTERS = 400_000
"""Of so much text a process counts each piece here; then the encoder, 0.15 s to build, is the quicker way."""
LONGEST_PIECE = 300
"""Characters of a piece that is merged here: the time grows with the square of its length."""
_BEYOND_LATIN = re.compile(r"[^\x00-\u024f]")


class FewTexts:
    """Exact counts for the first, short texts of a process; `split` cuts a text into pieces to merge."""

    def __init__(self, split: Callable[[str], list[str]], ranks: Mapping[bytes, int]) -> None:
        self._split = split
        self._ranks = ranks
        self._known: dict[str, int] = {}
        self._left = FEW_CHARACTERS

    def count(self, text: str) -> int | None:
        """Tokens of the text; None where it is for the encoder: it is long or odd, or much was counted before."""
        if self._left < len(text) or not _settled(text):
            return None
        self._left -= len(text)
        known = self._known
        total = 0
        for piece in self._split(text):
            tokens = known.get(piece)
            if tokens is None:
                if len(piece) > LONGEST_PIECE:
                    return None
                tokens = known[piece] = merged(piece.encode(), self._ranks)
            total += tokens
        return total


@cache
def few_texts(encoding: str) -> FewTexts:
    """The one counter of few texts in that vocabulary."""
    import regex

    return FewTexts(regex.compile(VOCABULARIES[encoding].split).findall, ranks_of(encoding))


def merged(piece: bytes, ranks: Mapping[bytes, int]) -> int:
    """How many tokens are left of a piece when its neighbours of the lowest joint rank are merged again and again."""
    if piece in ranks:
        return 1
    bounds = list(range(len(piece) + 1))
    joint = [ranks.get(piece[start : start + 2]) for start in bounds[:-2]]
    while (best := min((rank for rank in joint if rank is not None), default=None)) is not None:
        place = joint.index(best)
        del bounds[place + 1], joint[place]
        if place < len(joint):
            joint[place] = ranks.get(piece[bounds[place] : bounds[place + 2]])
        if place:
            joint[place - 1] = ranks.get(piece[bounds[place - 1] : bounds[place + 1]])
    return len(bounds) - 1


def _settled(text: str) -> bool:
    """Whether every table of Unicode agrees about the letters: newer ones know more, and half a pair is none."""
    if text.isascii():
        return True
    return all(category(letter) not in {"Cn", "Cs"} for letter in set(_BEYOND_LATIN.findall(text)))
