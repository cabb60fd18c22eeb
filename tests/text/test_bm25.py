from array import array

import numpy as np
from hypothesis import strategies as st

from skillweave.text import Bm25, build_bm25

VOCABULARY = 6
DOCUMENTS = [array("i", words) for words in ([0, 1, 1], [1, 2], [], [2, 2, 2, 3])]
TEXTS = st.lists(st.lists(st.integers(0, VOCABULARY - 1), max_size=6), min_size=1, max_size=6)


def indexed(texts: list[list[int]]) -> Bm25:
    return build_bm25([array("i", words) for words in texts], VOCABULARY, length_weight=0.75)


def test_scores_are_those_of_the_bm25_formula() -> None:
    scores = build_bm25(DOCUMENTS, 4, length_weight=0.75).look_up([1]).scores()
    rarity = np.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    mean = 9 / 4
    first = rarity * 2 / (2 + 1.5 * (1 - 0.75 + 0.75 * 3 / mean))
    second = rarity * 1 / (1 + 1.5 * (1 - 0.75 + 0.75 * 2 / mean))
    assert np.allclose(scores, [first, second, 0, 0], atol=1e-6)


def test_frequencies_count_documents_and_not_occurrences() -> None:
    assert build_bm25(DOCUMENTS, 5, length_weight=0.75).frequencies().tolist() == [1, 2, 2, 1, 0]


def test_the_words_of_a_document_are_places_in_the_query() -> None:
    postings = build_bm25(DOCUMENTS, 4, length_weight=0.0).look_up([3, 1, 2])
    assert [words.tolist() for words in postings.words_in([3, 2, 1])] == [[0, 2], [], [1, 2]]


def test_documents_without_words_make_an_index_that_finds_nothing() -> None:
    index = build_bm25([array("i"), array("i")], 0, length_weight=0.75)
    assert (index.size, index.starts.tolist(), index.frequencies().tolist()) == (2, [0], [])
