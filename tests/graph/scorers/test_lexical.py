import pytest

from skillweave.graph import LexicalScorer, ScoreCandidate, scoring
from skillweave.graph.entry_scoring import best_of

SKILLS = (
    ScoreCandidate("refund", ("refund\nGives money back for an order",)),
    ScoreCandidate("track", ("track\nTells where an order is", "where is my parcel")),
    ScoreCandidate("desk", ("desk\nBooks a desk",)),
)


async def scores(message: str) -> dict[str, float]:
    return dict(await LexicalScorer().score(message, SKILLS))


async def test_a_rare_word_counts_more_than_one_that_many_candidates_have() -> None:
    found = await scores("an order and a desk")
    assert found["desk"] > found["refund"] > 0


async def test_all_texts_of_a_candidate_count() -> None:
    found = await scores("the parcel of my order")
    assert found["track"] > found["refund"]


async def test_a_plural_is_the_same_word() -> None:
    assert await scores("refunds") == await scores("refund")
    assert (await scores("refunds"))["refund"] > 0


async def test_repeating_a_word_in_the_message_changes_nothing() -> None:
    assert await scores("desk desk desks") == await scores("desk")


async def test_no_shared_word_scores_0_and_nothing_is_chosen_by_default() -> None:
    found = await scores("what is 2+2?")
    assert set(found.values()) == {0.0}
    assert best_of(list(found.values()), LexicalScorer().policy) is None


async def test_other_scripts_count_like_latin() -> None:
    candidates = [ScoreCandidate("a", ("退款",)), ScoreCandidate("b", ("订单",))]
    found = await LexicalScorer().score("请退款", candidates)
    assert found["a"] > found["b"] == 0.0


async def test_equal_candidates_have_equal_scores() -> None:
    candidates = [ScoreCandidate(name, ("gives money back",)) for name in "abcdefg"]
    found = await LexicalScorer().score("money back please", candidates)
    assert len(set(found.values())) == 1


async def test_a_set_of_candidates_is_indexed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    scoring._indexed.cache_clear()
    for message in ("a desk", "an order", "a desk"):
        await scores(message)
    assert scoring._indexed.cache_info().misses == 1


async def test_so_many_sets_of_candidates_stay_indexed_at_most() -> None:
    scoring._indexed.cache_clear()
    for count in range(scoring.MOST_INDEXES + 5):
        await LexicalScorer().score("a desk", [ScoreCandidate("desk", (f"desk {count}",))])
    assert scoring._indexed.cache_info().currsize == scoring.MOST_INDEXES


async def test_candidates_without_a_word_score_0() -> None:
    assert await LexicalScorer().score("a desk", [ScoreCandidate("a", ()), ScoreCandidate("b", ("?!",))]) == {
        "a": 0.0,
        "b": 0.0,
    }


def test_scorers_with_equal_policies_are_equal() -> None:
    assert LexicalScorer() == LexicalScorer()
    assert LexicalScorer().name == "lexical"
