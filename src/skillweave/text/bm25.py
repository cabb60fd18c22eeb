"""A BM25 index over documents of numbered words."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias

import numpy as np

if TYPE_CHECKING:  # 20 ms of types that nothing looks at while it runs
    from numpy.typing import NDArray

K1 = 1.5
"""How soon repeating a word stops to count."""

Scores: TypeAlias = "NDArray[np.float64]"
Numbers: TypeAlias = "NDArray[np.int64]"


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """What an index of `size` documents holds about some words, word after word: `documents` with the weight there.

    `ends` says where each word's documents end. Wide numbers, since counting would otherwise convert them every time.
    """

    documents: Numbers
    weights: Scores
    ends: Numbers
    size: int

    def scores(self) -> Scores:
        """The BM25 score of every document."""
        return np.bincount(self.documents, weights=self.weights, minlength=self.size).astype(np.float64, copy=False)

    def words_in(self, documents: Sequence[int]) -> list[Numbers]:
        """Return for each document which of the looked-up words it has, as ascending places in the list of words."""
        asked = np.zeros(self.size, dtype=np.bool_)
        asked[documents] = True
        hits = asked[self.documents].nonzero()[0]
        hits = hits[self.documents[hits].argsort(kind="stable")]
        found, words = self.documents[hits], self.ends.searchsorted(hits, side="right")
        firsts, lasts = found.searchsorted(documents), found.searchsorted(documents, side="right")
        return [words[first:last] for first, last in zip(firsts.tolist(), lasts.tolist(), strict=True)]


@dataclass(frozen=True, slots=True, eq=False)
class Bm25:
    """Documents by number, words by number; word `w` stands in `documents[starts[w]:starts[w + 1]]`, ascending."""

    weights: Scores
    documents: Numbers
    starts: Sequence[int]
    size: int

    def look_up(self, words: Sequence[int]) -> Postings:
        """Return all that the index holds about the words; takes time linear in what is found."""
        spans = [slice(self.starts[word], self.starts[word + 1]) for word in words]
        return Postings(
            np.concatenate([self.documents[span] for span in spans]),
            np.concatenate([self.weights[span] for span in spans]),
            np.array([span.stop - span.start for span in spans]).cumsum(),
            self.size,
        )


def build_bm25(documents: Sequence[Sequence[int]], vocabulary: int, *, length_weight: float) -> Bm25:
    """An index over documents given as numbers of words below `vocabulary`, with the weights of Lucene's BM25.

    `length_weight` is BM25's b: 0 ignores the length of a document, 1 divides by it.
    """
    size, lengths = len(documents), np.array([len(words) for words in documents], dtype=np.int64)
    standing = np.fromiter(chain.from_iterable(documents), dtype=np.int64) * size + np.arange(size).repeat(lengths)
    pairs, times = np.unique(standing, return_counts=True)
    words, rows = np.divmod(pairs, size)
    found = np.bincount(words, minlength=vocabulary)
    rarity = np.log(1 + (size - found + 0.5) / (found + 0.5))
    slowness = K1 * (1 - length_weight + length_weight * size * lengths / max(1, lengths.sum()))
    weights = rarity[words] * times / (times + slowness[rows])
    return Bm25(weights, rows, (0, *found.cumsum().tolist()), size)
