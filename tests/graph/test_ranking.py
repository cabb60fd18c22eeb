from collections.abc import Sequence
from decimal import Decimal
from fractions import Fraction
from math import fsum, inf, isclose, isfinite, nan
from types import MappingProxyType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.errors import InvalidScores
from skillweave.graph import RankedEntry, ScorePolicy
from skillweave.graph.entry_scoring import best_of, heard_of, ranked_entries, relevances, scores_in_order

SCORES = st.lists(st.sampled_from((0.0, 0.5, 0.7, 1.0, -inf)) | st.floats(-1e6, 1e6), max_size=6)
WILD = st.lists(st.floats(allow_nan=False).map(lambda score: score if isfinite(score) else -inf), min_size=1)
TEMPERATURES = st.floats(min_value=5e-324, max_value=1e308)
POLICIES = st.builds(
    ScorePolicy,
    temperature=st.floats(0.01, 100),
    min_score=st.none() | st.floats(-2, 2),
    margin=st.none() | st.floats(0, 2),
)


def test_relevance_is_the_softmax_of_the_scores() -> None:
    assert relevances([1.0, 0.0, 0.0], 1.0) == pytest.approx((0.576117, 0.211942, 0.211942), abs=1e-6)


def test_a_lower_temperature_tells_near_scores_apart() -> None:
    flat, sharp = relevances([0.9, 0.4], 1.0), relevances([0.9, 0.4], 0.1)
    assert flat[0] == pytest.approx(0.622, abs=1e-3)
    assert sharp[0] == pytest.approx(0.993, abs=1e-3)


def test_relevance_is_uniform_where_no_score_is_finite() -> None:
    assert relevances([-inf, -inf, -inf, -inf], 1.0) == (0.25, 0.25, 0.25, 0.25)


def test_nothing_has_no_relevance() -> None:
    assert relevances([], 1.0) == ()


@given(WILD, TEMPERATURES)
def test_relevance_sums_to_1(scores: list[float], temperature: float) -> None:
    shares = relevances(scores, temperature)
    assert isclose(fsum(shares), 1.0, rel_tol=1e-12)
    assert all(0 <= share <= 1 for share in shares)


@given(WILD, TEMPERATURES)
def test_a_higher_score_is_never_less_relevant(scores: list[float], temperature: float) -> None:
    shares = relevances(scores, temperature)
    for score, share in zip(scores, shares, strict=True):
        assert share == max(other for rival, other in zip(scores, shares, strict=True) if rival <= score)


def test_the_highest_score_wins() -> None:
    assert best_of([0.1, 0.9, 0.4], ScorePolicy()) == 1


def test_first_declared_wins_ties() -> None:
    assert best_of([0.1, 0.9, 0.9], ScorePolicy()) == 1
    assert best_of([0.0, 0.0], ScorePolicy()) == 0


def test_of_no_candidates_none_is_chosen() -> None:
    assert best_of([], ScorePolicy()) is None


def test_non_finite_scores_rank_last() -> None:
    assert best_of([-inf, -1e300, -inf], ScorePolicy()) == 1


def test_where_all_scores_are_non_finite_none_is_chosen() -> None:
    assert best_of([-inf, -inf], ScorePolicy()) is None


def test_below_min_score_nothing_is_chosen() -> None:
    assert best_of([0.1, 0.49], ScorePolicy(min_score=0.5)) is None
    assert best_of([0.1, 0.5], ScorePolicy(min_score=0.5)) == 1


def test_within_the_margin_nothing_is_chosen() -> None:
    assert best_of([0.5, 0.45, 0.1], ScorePolicy(margin=0.1)) is None
    assert best_of([0.5, 0.3, 0.1], ScorePolicy(margin=0.1)) == 0
    assert best_of([0.5, 0.5], ScorePolicy(margin=0.1)) is None


def test_a_lead_that_is_the_margin_but_for_rounding_keeps_it() -> None:
    assert 0.9 - 0.8 < 0.1
    assert best_of([0.9, 0.8], ScorePolicy(margin=0.1)) == 0


def test_a_candidate_without_a_rival_keeps_every_margin() -> None:
    assert best_of([0.2], ScorePolicy(margin=5)) == 0
    assert best_of([0.2, -inf], ScorePolicy(margin=5)) == 0


def test_a_margin_of_0_lets_the_first_of_two_equals_win() -> None:
    assert best_of([0.5, 0.5], ScorePolicy(margin=0)) == 0


@given(SCORES, POLICIES)
def test_abstaining_never_chooses_below_min_score_nor_within_the_margin(
    scores: list[float], policy: ScorePolicy
) -> None:
    best = best_of(scores, policy)
    if best is None:
        return
    assert scores[best] == max(scores)
    assert policy.min_score is None or scores[best] >= policy.min_score
    rivals = [score for place, score in enumerate(scores) if place != best]
    assert policy.margin is None or all(scores[best] - rival >= policy.margin * (1 - 1e-9) for rival in rivals)


@given(SCORES)
def test_without_a_floor_and_a_margin_somebody_always_wins(scores: list[float]) -> None:
    assert (best_of(scores, ScorePolicy()) is None) == (not any(map(isfinite, scores)))


@given(SCORES, POLICIES, st.randoms(use_true_random=False))
def test_among_equals_the_order_of_declaration_decides_and_nothing_else_does(
    scores: list[float], policy: ScorePolicy, random: object
) -> None:
    best = best_of(scores, policy)
    backwards = best_of(scores[::-1], policy)
    assert (best is None) == (backwards is None)
    if best is not None and backwards is not None:
        assert scores[best] == scores[::-1][backwards]
        assert scores[best] not in scores[:best]


@given(SCORES, POLICIES)
def test_the_same_scores_give_the_same_choice(scores: list[float], policy: ScorePolicy) -> None:
    skills = [str(place) for place in range(len(scores))]
    assert best_of(scores, policy) == best_of(list(scores), policy)
    assert ranked_entries(skills, scores, policy) == ranked_entries(skills, list(scores), policy)


@pytest.mark.parametrize(
    ("scores", "min_score", "heard"),
    [
        ([0.2, 0.1], None, 0),
        ([0.0, -0.5], None, None),
        ([0.5, 0.1], 0.5, None),
        ([0.51, 0.1], 0.5, 0),
        ([-0.1, -0.5], -0.3, 0),
        ([-inf], None, None),
        ([], None, None),
    ],
)
def test_an_intent_is_heard_above_the_min_score_or_0(
    scores: Sequence[float], min_score: float | None, heard: int | None
) -> None:
    assert heard_of(scores, ScorePolicy(min_score=min_score)) == heard


def test_an_intent_is_heard_only_outside_the_margin() -> None:
    assert heard_of([0.5, 0.45], ScorePolicy(margin=0.1)) is None
    assert heard_of([0.5, 0.3], ScorePolicy(margin=0.1)) == 0


def test_entries_are_ranked_in_declaration_order_with_score_and_relevance() -> None:
    ranked = ranked_entries(["b", "a"], [0.0, 0.0], ScorePolicy())
    assert ranked == (RankedEntry("b", 0.0, 0.5), RankedEntry("a", 0.0, 0.5))


def test_scores_are_read_in_the_order_in_which_they_were_asked_for() -> None:
    assert scores_in_order("s", MappingProxyType({"b": 2, "a": 0.5}), ["a", "b"]) == (0.5, 2.0)


@pytest.mark.parametrize("number", [np.float32(0.5), np.float64(0.5), Fraction(1, 2)])
def test_any_real_number_is_a_score(number: object) -> None:
    assert scores_in_order("s", {"a": number}, ["a"]) == (0.5,)


@pytest.mark.parametrize("number", [nan, inf, -inf, 10**400, np.float32("nan")])
def test_a_score_that_is_not_finite_counts_as_minus_infinity(number: object) -> None:
    assert scores_in_order("s", {"a": number, "b": 1}, ["a", "b"]) == (-inf, 1.0)


@pytest.mark.parametrize("number", [True, np.bool_(True), None, "1", Decimal(1), 1j, [1.0]])
def test_a_score_that_is_no_number_is_an_error_and_a_boolean_is_none(number: object) -> None:
    with pytest.raises(InvalidScores, match="a number for 'a'") as error:
        scores_in_order("s", {"a": number}, ["a"])
    assert type(number).__name__ in error.value.found


@pytest.mark.parametrize(
    ("answer", "expected", "found"),
    [
        ({"a": 1}, "2 scores", "none for 'b'"),
        ({}, "2 scores", "none at all"),
        ({"a": 1, "b": 1, "zzz": 1}, "scores of 'a', 'b' alone", "one for 'zzz'"),
        ([("a", 1), ("b", 1)], "scores by id", "a value of type list"),
        (None, "scores by id", "a value of type NoneType"),
    ],
)
def test_ids_that_are_missing_or_were_not_asked_for_are_an_error(answer: object, expected: str, found: str) -> None:
    with pytest.raises(InvalidScores) as error:
        scores_in_order("mine", answer, ["a", "b"])
    assert (error.value.scorer, error.value.expected, error.value.found) == ("mine", expected, found)
    assert str(error.value).startswith(f"scorer 'mine' has to answer with {expected}, not with {found}; ")


def test_an_error_about_many_ids_stays_one_short_line() -> None:
    with pytest.raises(InvalidScores) as error:
        scores_in_order("mine", {"x" * 1000: 1}, ["y" * 1000, *map(str, range(1000))])
    assert len(str(error.value)) < 400
    assert "\n" not in str(error.value)
