"""Figures of answers, their intervals and differences."""

import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import brier_score_loss, ndcg_score
from tests.skillweave_eval.libraries import answer

from skillweave_eval import Answer, Resampling
from skillweave_eval.metrics import (
    Figure,
    differences_of,
    discounted_gain,
    figures_of,
    groups_of,
    recall_at,
    reciprocal_rank,
)

PLAIN = Resampling(resamples=0)
IDS = [f"s{number}" for number in range(12)]


def figures(*answers: Answer, resampling: Resampling = PLAIN) -> dict[str, Figure]:
    return {figure.name: figure for figure in figures_of(answers, resampling)}


def value(name: str, *answers: Answer) -> float:
    return figures(*answers)[name].overall.value


@given(st.permutations(IDS), st.sets(st.sampled_from(IDS), min_size=1, max_size=4))
def test_the_discounted_gain_is_that_of_scikit_learn(ranking: list[str], right: set[str]) -> None:
    part = discounted_gain(answer(silent=ranking, expect=sorted(right)))
    assert part is not None
    relevance = np.array([[float(one in right) for one in ranking]])
    scores = np.array([[float(len(ranking) - place) for place in range(len(ranking))]])
    assert part[0] == pytest.approx(float(ndcg_score(relevance, scores, k=10)))


@given(st.permutations(IDS), st.sets(st.sampled_from(IDS), min_size=1, max_size=4), st.booleans())
def test_ranking_figures_lie_between_0_and_1_and_recall_grows(
    ranking: list[str], right: set[str], any_of: bool
) -> None:
    one = answer(silent=ranking, expect=sorted(right), any_of=any_of)
    parts = [discounted_gain(one), reciprocal_rank(one), *(recall_at(depth)(one) for depth in (1, 3, 5, 10))]
    values = [part[0] for part in parts if part is not None]
    assert len(values) == 6 and all(0 <= each <= 1 + 1e-9 for each in values)
    assert values[2:] == sorted(values[2:])


def test_where_any_one_is_right_one_is_enough() -> None:
    ranked = answer(silent=["a", "b", "c"], expect=["b", "x"], any_of=True)
    assert value("recall_at_3", ranked) == 1.0
    assert value("recall_at_3", answer(silent=["a", "b", "c"], expect=["b", "x"])) == 0.5
    assert value("mrr", ranked) == 0.5


def test_given_and_offered_are_told_apart() -> None:
    answers = (
        answer(given=["tea"]),
        answer(offered=["tea"]),
        answer(silent=["tea"]),
        answer(given=["coffee"], offered=["tea"]),
    )
    assert value("right_given", *answers) == 0.25
    assert value("right_reached", *answers) == 0.75
    assert value("precision_given", *answers) == 0.5
    assert value("precision_reached", *answers) == 0.75
    assert value("wrong_given", *answers) == 0.25


def test_harmless_skills_are_neither_right_nor_wrong() -> None:
    one = answer(given=["tea", "milk"], fine=("milk",))
    assert (value("precision_given", one), value("wrong_given", one)) == (1.0, 0.0)


def test_silence_is_judged_where_no_skill_is_right() -> None:
    quiet, offering, giving = answer(expect=()), answer(offered=["tea"], expect=()), answer(given=["tea"], expect=())
    missed = answer(silent=["tea"])
    assert value("none_recall", quiet, offering, giving) == pytest.approx(2 / 3, abs=1e-5)
    assert value("none_silent", quiet, offering, giving) == pytest.approx(1 / 3, abs=1e-5)
    assert value("none_precision", quiet, offering, giving, missed) == pytest.approx(2 / 3, abs=1e-5)
    assert "none_precision" not in figures(missed)


def test_forbidden_skills_are_counted_where_they_are_named() -> None:
    answers = answer(given=["tea"], expect=None, not_=("tea",)), answer(offered=["tea"], expect=None, not_=("tea",))
    assert (value("forbidden_given", *answers), value("forbidden_reached", *answers)) == (0.5, 1.0)
    assert "right_given" not in figures(*answers)


def test_the_brier_score_is_that_of_scikit_learn() -> None:
    answers = answer(given=["tea"], offered=["coffee"], probabilities=[0.9, 0.3]), answer(["milk"], probabilities=[0.7])
    assert value("brier", *answers) == pytest.approx(brier_score_loss([1, 0, 0], [0.9, 0.3, 0.7]), abs=1e-5)


def test_the_mean_over_sources_counts_each_source_once() -> None:
    large = [answer(given=["tea"], source="large", id=str(number)) for number in range(9)]
    found = figures(*large, answer(silent=["tea"], source="small"))["right_given"]
    assert found.overall.value == 0.9
    assert found.macro is not None and found.macro.value == 0.5


def some_answers(seed: int, count: int = 40) -> list[Answer]:
    draw = random.Random(seed)
    return [
        answer(given=["tea"] if draw.random() < 0.6 else [], silent=["tea"], id=str(n), source=draw.choice("ab"))
        for n in range(count)
    ]


def test_an_interval_holds_the_value_and_is_the_same_for_the_same_seed() -> None:
    found = figures(*some_answers(1), resampling=Resampling(seed=3, resamples=300))["right_given"]
    again = figures(*some_answers(1), resampling=Resampling(seed=3, resamples=300))["right_given"]
    other = figures(*some_answers(1), resampling=Resampling(seed=4, resamples=300))["right_given"]
    assert found == again != other
    for interval in (found.overall, found.macro):
        assert interval is not None and interval.low is not None and interval.high is not None
        assert 0 <= interval.low < interval.value < interval.high <= 1


def test_a_configuration_does_not_differ_from_itself() -> None:
    answers = some_answers(1)
    for one in differences_of(answers, answers, Resampling(resamples=100)):
        assert (one.change.value, one.change.low, one.change.high) == (0, 0, 0)


def test_differences_are_over_the_same_queries() -> None:
    first, second = some_answers(1), some_answers(2)
    told = {one.name: one for one in differences_of(first, second, Resampling(resamples=200))}
    one = told["right_given"]
    assert one.change.value == pytest.approx(one.second - one.first, abs=1e-5)
    assert one.change.low is not None and one.change.low < one.change.value
    assert one.macro_change is not None


def test_one_query_has_no_interval() -> None:
    assert figures(answer(given=["tea"]), resampling=Resampling())["right_given"].overall.low is None


def test_groups_are_told_where_there_are_two() -> None:
    answers = [answer(kind="plain"), answer(kind="vague"), answer(kind="plain", names_skill=True)]
    groups = groups_of(answers)
    assert {name: len(members) for name, members in groups.items()} == {
        "kind plain": 2,
        "kind vague": 1,
        "skill named no": 2,
        "skill named yes": 1,
    }
