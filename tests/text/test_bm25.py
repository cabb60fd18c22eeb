import numpy as np

from skillweave.text.bm25 import build_bm25

DOCUMENTS = [[0, 1, 1], [1, 2], [], [2, 2, 2, 3]]


def test_scores_are_those_of_the_bm25_formula() -> None:
    scores = build_bm25(DOCUMENTS, 4, length_weight=0.75).look_up([1]).scores()
    rarity = np.log(1 + (4 - 2 + 0.5) / (2 + 0.5))
    mean = 9 / 4
    first = rarity * 2 / (2 + 1.5 * (1 - 0.75 + 0.75 * 3 / mean))
    second = rarity * 1 / (1 + 1.5 * (1 - 0.75 + 0.75 * 2 / mean))
    assert np.allclose(scores, [first, second, 0, 0], atol=1e-6)


def test_the_words_of_a_document_are_places_in_the_query() -> None:
    postings = build_bm25(DOCUMENTS, 4, length_weight=0.0).look_up([3, 1, 2])
    assert [words.tolist() for words in postings.words_in([3, 2, 1])] == [[0, 2], [], [1, 2]]


def test_documents_without_words_make_an_index_that_finds_nothing() -> None:
    index = build_bm25([[], []], 1, length_weight=0.75)
    assert index.look_up([0]).scores().tolist() == [0, 0]
