"""Folding text so that spellings of one word are equal, with the way back to the original characters (spec 2.2)."""

import re
import unicodedata
from bisect import bisect_right
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import accumulate

CHUNK = 512
"""Text is folded in pieces of about so many characters: a span is mapped back within one piece only, and a long run of
combining marks, which normalisation sorts in quadratic time, costs no more than a piece's square."""
LONGEST_CLUSTER = 64
"""A character with more marks than this is cut, so that a message made of marks alone still ends."""

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text and its folded form; `original` has lone surrogates replaced, so it is valid and as long as the input.

    `folded_starts` and `original_starts` are where the pieces begin, empty when both texts have the same positions.
    """

    original: str
    text: str
    folded_starts: tuple[int, ...] = ()
    original_starts: tuple[int, ...] = ()
    _origins: dict[int, list[tuple[int, int]]] = field(default_factory=dict, repr=False, compare=False)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original characters that a non-empty stretch of the folded text came from, whole clusters."""
        if not self.folded_starts:
            return start, end
        return self._origin(start)[0], self._origin(end - 1)[1]

    def _origin(self, position: int) -> tuple[int, int]:
        piece = bisect_right(self.folded_starts, position) - 1
        origins = self._origins.get(piece)
        if origins is None:
            begin = self.original_starts[piece]
            after = self.original_starts[piece + 1] if piece + 1 < len(self.original_starts) else len(self.original)
            last = self.folded_starts[piece + 1] if piece + 1 < len(self.folded_starts) else len(self.text)
            folded = last - self.folded_starts[piece]
            origins = self._origins[piece] = _origins_of(self.original[begin:after], begin, folded)
        return origins[min(position - self.folded_starts[piece], len(origins) - 1)]


def fold(text: str) -> str:
    """The folded form: NFD, casefold, NFKC, casefold, NFKC; white space becomes spaces, lone surrogates U+FFFD."""
    return _with_spaces(text.lower()) if text.isascii() else fold_message(text).text


def fold_message(text: str) -> Folded:
    """The folded form together with the way back to the original; linear in the length of the text."""
    if text.isascii():
        return Folded(text, _with_spaces(text.lower()))
    original = _SURROGATE.sub("\ufffd", text)
    starts = tuple(_pieces(original))
    ends = (*starts[1:], len(original))
    folded = [_fold_piece(original[start:end]) for start, end in zip(starts, ends, strict=True)]
    offsets = accumulate((len(piece) for piece in folded[:-1]), initial=0)
    return Folded(original, "".join(folded), tuple(offsets), starts)


def _fold_piece(piece: str) -> str:
    folded = unicodedata.normalize("NFD", piece).casefold()
    folded = unicodedata.normalize("NFKC", folded).casefold()
    return _with_spaces(unicodedata.normalize("NFKC", folded))


def _with_spaces(text: str) -> str:
    for space in "\n\t\r\v\f":  # several times faster than `translate` on text that is not ASCII
        text = text.replace(space, " ")
    return text


def _pieces(text: str) -> list[int]:
    starts = [0]
    while (start := starts[-1] + CHUNK) < len(text):
        limit = min(start + LONGEST_CLUSTER, len(text))
        while start < limit and _extends(text[start]):
            start += 1
        if start == len(text):
            break
        starts.append(start)
    return starts


def _origins_of(piece: str, begin: int, folded: int) -> list[tuple[int, int]]:
    """For each of the piece's `folded` characters, the cluster of the original text that it came from."""
    if len(piece) == folded and not any(map(_extends, set(piece))):  # one for one: most text that is not ASCII
        return list(zip(range(begin, begin + folded), range(begin + 1, begin + folded + 1), strict=True))
    starts = [0]
    for position in range(1, len(piece)):
        if not _extends(piece[position]) or position - starts[-1] >= LONGEST_CLUSTER:
            starts.append(position)
    origins: list[tuple[int, int]] = []
    for start, end in zip(starts, [*starts[1:], len(piece)], strict=True):
        origins.extend([(begin + start, begin + end)] * len(_fold_cached(piece[start:end])))
    return origins


@lru_cache(maxsize=8192)
def _fold_cached(piece: str) -> str:
    return _fold_piece(piece)


def _extends(character: str) -> bool:
    """Whether normalisation may join the character with the one before: marks, and the parts of Hangul syllables."""
    if character < "\u0300":
        return False
    return (
        unicodedata.category(character)[0] == "M"
        or "\u1160" <= character <= "\u11ff"
        or "\u3133" <= character <= "\u318e"
        or "\ud7b0" <= character <= "\ud7fb"
        or "\uff9e" <= character <= "\uffdc"
    )
