"""A BM25 index over documents of numbered words: bm25s builds it, a few array operations search it."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

K1 = 1.5
"""How soon repeating a word stops to count."""

Scores: TypeAlias = NDArray[np.float64]
Numbers: TypeAlias = NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """What an index holds about some words: `documents` with the weight there, and which of the words it was."""

    documents: Numbers
    weights: NDArray[np.float32]
    words: NDArray[np.int64]

    def scores(self, size: int) -> Scores:
        """The BM25 score of every document."""
        return np.bincount(self.documents, weights=self.weights, minlength=size).astype(np.float64, copy=False)

    def words_in(self, document: int) -> NDArray[np.int64]:
        """Which of the words the document has, as places in the list that was looked up."""
        found: NDArray[np.int64] = self.words[self.documents == document]
        return found


@dataclass(frozen=True, slots=True, eq=False)
class Bm25:
    """Documents by number, words by number; word `w` stands in `documents[starts[w]:starts[w + 1]]`, ascending."""

    weights: NDArray[np.float32]
    documents: Numbers
    starts: NDArray[np.int64]
    size: int

    def frequencies(self, words: NDArray[np.int64]) -> NDArray[np.int64]:
        """In how many documents each word stands."""
        frequencies: NDArray[np.int64] = self.starts[words + 1] - self.starts[words]
        return frequencies

    def rarity(self, frequencies: NDArray[np.int64]) -> Scores:
        """The inverse document frequency for words that stand in so many documents; highest for 0."""
        rarity: Scores = np.log1p((self.size - frequencies + 0.5) / (frequencies + 0.5))
        return rarity

    def look_up(self, words: NDArray[np.int64]) -> Postings:
        """All that the index holds about the words; linear in what is found."""
        spans = list(zip(self.starts[words].tolist(), self.starts[words + 1].tolist(), strict=True))
        return Postings(
            np.concatenate([self.documents[start:end] for start, end in spans]),
            np.concatenate([self.weights[start:end] for start, end in spans]),
            np.repeat(np.arange(len(spans)), [end - start for start, end in spans]),
        )


def build_bm25(documents: Sequence["array[int]"], vocabulary: int, *, length_weight: float) -> Bm25:
    """An index over documents given as numbers of words below `vocabulary`.

    `length_weight` is BM25's b: 0 ignores the length of a document, 1 divides by it.
    """
    if not any(documents):
        nothing: NDArray[Any] = np.zeros(0)
        starts = np.zeros(vocabulary + 1, dtype=np.int64)
        return Bm25(nothing.astype(np.float32), nothing.astype(np.int32), starts, len(documents))
    from bm25s import BM25

    builder = BM25(k1=K1, b=length_weight, method="lucene", backend="numpy", csc_backend="numpy")
    built = builder.build_index_from_ids(list(range(vocabulary)), documents, show_progress=False)
    return Bm25(built["data"], built["indices"], built["indptr"], len(documents))
