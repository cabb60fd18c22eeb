"""Known words that an unknown one may stand for: a slip of the keyboard, or the same word in another language."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from skillweave.text.words import plain_word

LEAST = 0.6
"""Two words are near from this part of shared letters, in threes or from their beginning."""
MOST = 2
"""So many near words stand in for an unknown one."""
SHORTEST = 4
LONGEST = 40
_BASE = 28


@dataclass(frozen=True, slots=True, eq=False)
class NearWords:
    """Words by the threes of letters in them: three `t` is in the words `owners[starts[t]:starts[t + 1]]`."""

    words: tuple[str, ...]
    sizes: NDArray[np.int64]
    starts: NDArray[np.int64]
    owners: NDArray[np.int64]

    def of(self, word: str) -> list[tuple[str, float]]:
        """The words nearest to one, with how near each is, nearest first; none for what is not a plain word."""
        plain = plain_word(word)
        if not _fits(plain) or not self.words:
            return []
        threes = _threes(plain)
        hits = np.concatenate([self.owners[self.starts[three] : self.starts[three + 1]] for three in threes])
        shared = np.bincount(hits, minlength=len(self.words))
        alike = 2 * shared / (self.sizes + len(threes))
        # A shared beginning counts too; where it is long enough, so are the threes that are shared.
        worth = (alike >= LEAST / 2).nonzero()[0]
        found: list[tuple[float, str]] = []
        for place in worth.tolist():
            other = self.words[place]
            begun = _begun_alike(plain, other) / max(len(plain), len(other))
            near = max(float(alike[place]), begun)
            if near >= LEAST:
                found.append((near, other))
        found.sort(key=lambda each: (-each[0], each[1]))
        return [(other, near) for near, other in found[:MOST]]


def build_near_words(words: Iterable[str]) -> NearWords:
    """Make plain words of four or more letters findable by others."""
    kept = tuple(sorted(word for word in words if _fits(word)))
    lengths = np.array([len(word) for word in kept], dtype=np.int64)
    # As `_threes` has them: 0 before each word, 27 behind it, and so one place more for each than it has letters.
    letters = np.frombuffer("".join(f"`{word}{{" for word in kept).encode(), dtype=np.uint8).astype(np.int64) - 96
    codes = (letters[:-2] * _BASE + letters[1:-1]) * _BASE + letters[2:]
    ends = (lengths + 2).cumsum()
    owners = np.repeat(np.arange(len(kept)), lengths)
    first_places = np.repeat(ends - lengths - 2, lengths)
    within = np.arange(len(owners)) - np.repeat(lengths.cumsum() - lengths, lengths)
    threes, owners = np.divmod(np.unique(codes[first_places + within] * len(kept) + owners), max(1, len(kept)))
    starts = np.concatenate([[0], np.bincount(threes, minlength=_BASE**3).cumsum()])
    return NearWords(kept, np.bincount(owners, minlength=len(kept)), starts, owners)


def _fits(word: str) -> bool:
    return SHORTEST <= len(word) <= LONGEST and word.isascii() and word.isalpha()


def _begun_alike(one: str, other: str) -> int:
    """How many letters two words have in common at their beginning."""
    for place, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return place
    return min(len(one), len(other))


@lru_cache(maxsize=4096)
def _threes(word: str) -> tuple[int, ...]:
    numbers = [0, *(ord(letter) - 96 for letter in word), 27]
    return tuple(
        {a * _BASE * _BASE + b * _BASE + c for a, b, c in zip(numbers, numbers[1:], numbers[2:], strict=False)}
    )
