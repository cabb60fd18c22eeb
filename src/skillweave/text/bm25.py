"""A BM25 index over documents of numbered words: bm25s builds it, a few array operations search it."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
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

    weights: "NDArray[np.float32]"
    documents: "NDArray[np.int32]"
    starts: "array[int]"
    size: int

    def frequencies(self) -> "array[int]":
        """In how many documents each word stands."""
        return array("i", np.diff(self.starts).tolist())

    def look_up(self, words: Sequence[int]) -> Postings:
        """Return all that the index holds about the words; takes time linear in what is found."""
        starts, documents, weights = self.starts, self.documents, self.weights
        spans = [(starts[word], starts[word + 1]) for word in words]
        return Postings(
            np.concatenate([documents[start:end] for start, end in spans], dtype=np.int64),
            np.concatenate([weights[start:end] for start, end in spans], dtype=np.float64),
            np.array([end - start for start, end in spans]).cumsum(),
            self.size,
        )


def build_bm25(documents: Sequence["array[int]"], vocabulary: int, *, length_weight: float) -> Bm25:
    """An index over documents given as numbers of words below `vocabulary`.

    `length_weight` is BM25's b: 0 ignores the length of a document, 1 divides by it.
    """
    if not any(documents):
        starts = array("q", bytes(8 * (vocabulary + 1)))
        return Bm25(np.zeros(0, dtype=np.float32), np.zeros(0, dtype=np.int32), starts, len(documents))
    from bm25s import BM25

    builder = BM25(k1=K1, b=length_weight, method="lucene", backend="numpy", csc_backend="numpy")
    built = builder.build_index_from_ids(list(range(vocabulary)), documents, show_progress=False)
    return Bm25(built["data"], built["indices"], array("q", built["indptr"].tolist()), len(documents))
