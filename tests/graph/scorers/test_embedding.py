import asyncio
from collections.abc import Mapping, Sequence
from math import isnan, nan
from typing import Any

import pytest

from skillweave.errors import InvalidVectors, NoEmbedder
from skillweave.graph import EmbeddingScorer, ScoreCandidate, ScorePolicy
from skillweave.text.embedding import EmbeddedOnce
from skillweave_testing import FakeEmbedder

SKILLS = (ScoreCandidate("refund", ("give money back", "charged twice")), ScoreCandidate("desk", ("book a desk",)))


class Known:
    """An embedder of the vectors that it is given, by text."""

    id = "known@1"

    def __init__(self, vectors: Mapping[str, list[float]]) -> None:
        self.vectors = vectors

    async def embed(self, texts: Sequence[str]) -> Any:
        return [self.vectors[text] for text in texts]


async def test_a_score_is_the_cosine_of_both_vectors() -> None:
    scorer = EmbeddingScorer(Known({"m": [1.0, 0.0], "t": [3.0, 4.0], "u": [-2.0, 0.0]}))
    scores = await scorer.score("m", [ScoreCandidate("t", ("t",)), ScoreCandidate("u", ("u",))])
    assert scores == {"t": 0.6, "u": -1.0}


async def test_cosine_of_a_zero_vector_is_0() -> None:
    scorer = EmbeddingScorer(Known({"m": [0.0, 0.0], "t": [3.0, 4.0], "n": [1.0, 0.0], "z": [0.0, 0.0]}))
    assert await scorer.score("m", [ScoreCandidate("t", ("t",))]) == {"t": 0.0}
    assert await scorer.score("n", [ScoreCandidate("z", ("z",))]) == {"z": 0.0}


async def test_a_vector_that_is_not_finite_gives_a_score_that_is_not() -> None:
    scorer = EmbeddingScorer(Known({"m": [1.0, 0.0], "t": [nan, 1.0], "u": [1.0, 0.0]}))
    scores = await scorer.score("m", [ScoreCandidate("t", ("t",)), ScoreCandidate("both", ("t", "u"))])
    assert isnan(scores["t"])
    assert scores["both"] == 1.0


async def test_of_several_texts_the_nearest_one_counts() -> None:
    scores = await EmbeddingScorer(FakeEmbedder()).score("charged twice", SKILLS)
    assert scores == {"refund": 1.0, "desk": 0.0}


async def test_cosines_are_rounded_to_4_decimals() -> None:
    scorer = EmbeddingScorer(Known({"m": [1.0, 0.0], "t": [1.0, 1.0], "u": [1.0, 1.00001]}))
    scores = await scorer.score("m", [ScoreCandidate("t", ("t",)), ScoreCandidate("u", ("u",))])
    assert scores == {"t": 0.7071, "u": 0.7071}


async def test_descriptions_are_embedded_once_per_content_hash() -> None:
    fake = FakeEmbedder()
    scorer = EmbeddingScorer(fake)
    for message in ("a desk", "my money", "a desk"):
        await scorer.score(message, SKILLS)
    await scorer.score("my money", (*SKILLS, ScoreCandidate("new", ("book a desk", "rent a room"))))
    assert fake.asked == [
        ("give money back", "charged twice", "book a desk"),
        ("a desk",),
        ("my money",),
        ("rent a room",),
    ]


async def test_scorers_can_share_the_vectors_of_one_embedder() -> None:
    fake = FakeEmbedder()
    once = EmbeddedOnce(fake)
    for _ in range(2):
        await EmbeddingScorer(once).score("a desk", SKILLS)
    assert len(fake.asked) == 2


async def test_of_the_users_messages_only_the_latest_vectors_are_kept() -> None:
    fake = FakeEmbedder()
    scorer = EmbeddingScorer(EmbeddedOnce(fake, most_passing=1))
    for message in ("a desk", "my money", "a desk"):
        await scorer.score(message, SKILLS)
    assert fake.asked[1:] == [("a desk",), ("my money",), ("a desk",)]


async def test_one_users_message_cannot_fail_the_others_descriptions() -> None:
    fake = FakeEmbedder()
    await EmbeddingScorer(fake).score("a desk", SKILLS)
    assert all("a desk" not in texts or len(texts) == 1 for texts in fake.asked)


async def test_a_blank_message_or_text_is_not_embedded_and_scores_0() -> None:
    fake = FakeEmbedder()
    scorer = EmbeddingScorer(fake)
    assert await scorer.score(" \n", SKILLS) == {"refund": 0.0, "desk": 0.0}
    assert await scorer.score("a desk", [ScoreCandidate("a", ("", " ")), ScoreCandidate("b", ())]) == {
        "a": 0.0,
        "b": 0.0,
    }
    assert fake.asked == []


async def test_task_cancellation_is_re_raised_not_treated_as_failure() -> None:
    task = asyncio.ensure_future(EmbeddingScorer(FakeEmbedder(delay=60)).score("a desk", SKILLS))
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_what_the_embedder_raises_is_raised() -> None:
    with pytest.raises(OSError, match="no answer"):
        await EmbeddingScorer(FakeEmbedder(failure=OSError("no answer"))).score("a desk", SKILLS)


async def test_lengths_are_validated_so_that_a_short_answer_of_the_embedder_is_an_error_and_no_winner() -> None:
    class Short(FakeEmbedder):
        async def embed(self, texts: Sequence[str]) -> Any:
            return (await super().embed(texts))[:1]

    with pytest.raises(InvalidVectors, match="3 rows of numbers"):
        await EmbeddingScorer(Short()).score("a desk", SKILLS)


async def test_without_an_embedder_it_says_where_one_is_given() -> None:
    with pytest.raises(NoEmbedder, match=r"SkillGraph\.from_dict\(data, embedder=\.\.\.\)"):
        await EmbeddingScorer().score("a desk", SKILLS)


def test_somebody_is_always_chosen_by_default() -> None:
    assert EmbeddingScorer(FakeEmbedder()).policy == ScorePolicy()
    assert EmbeddingScorer().name == "embedding"
