from math import sqrt

import pytest

from skillweave.graph import KeywordScorer, ScoreCandidate
from skillweave.graph.entry_scoring import best_of


async def score(message: str, *texts: str) -> float:
    return (await KeywordScorer().score(message, [ScoreCandidate("a", texts)]))["a"]


async def test_a_score_is_the_overlap_of_distinct_content_words() -> None:
    assert await score("refund my order, refund it", "the refund of a desk") == pytest.approx(1 / sqrt(2 * 2))
    assert await score("refund", "refund") == 1.0


async def test_no_shared_word_scores_0() -> None:
    assert await score("refund", "books a desk") == 0.0


async def test_stop_words_do_not_count() -> None:
    assert await score("what is the", "what is the") == 0.0


async def test_letter_case_and_accents_spelled_apart_do_not_count() -> None:
    assert await score("CAFÉ", "cafe\u0301") == 1.0


async def test_a_plural_is_the_same_word() -> None:
    assert await score("refunds for orders", "a refund of an order") == 1.0


@pytest.mark.parametrize(
    ("message", "text"), [("退款", "请退款"), ("рассказ", "Рассказы, рассказ"), ("नमस्ते", "नमस्ते दुनिया")]
)
async def test_other_scripts_count_like_latin(message: str, text: str) -> None:
    assert await score(message, text) > 0.5


async def test_of_several_texts_the_best_one_counts() -> None:
    assert await score("charged twice", "refund\nGives money back", "I was charged twice") == 1.0


async def test_where_no_word_is_shared_nothing_is_chosen_by_default() -> None:
    scorer = KeywordScorer()
    scores = await scorer.score("what is 2+2?", [ScoreCandidate("a", ("refund",)), ScoreCandidate("b", ("desk",))])
    assert best_of(list(scores.values()), scorer.policy) is None


async def test_one_shared_word_is_enough_by_default_however_long_the_texts_are() -> None:
    message = " ".join(f"word{count}" for count in range(10_000))
    scorer = KeywordScorer()
    scores = await scorer.score(message + " refund", [ScoreCandidate("a", ("refund " + message.replace("word", "w"),))])
    assert best_of(list(scores.values()), scorer.policy) == 0


def test_scorers_with_equal_policies_are_equal() -> None:
    assert KeywordScorer() == KeywordScorer()
    assert KeywordScorer().name == "keyword"
