import random

import pytest

from benchmarks.fitting import brier, fit_calibration, least_at
from skillweave import SkillweaveError
from skillweave.select.own_fit import FEATURES, Calibration, calibration_of, fitted


def row(first: float) -> tuple[float, ...]:
    return (first, *(0.0 for _ in FEATURES[1:]))


def test_a_probability_rises_with_a_feature_that_speaks_for_a_skill() -> None:
    rng = random.Random(1)
    values = [rng.random() for _ in range(400)]
    fitted_now = fit_calibration([row(value) for value in values], [value > rng.random() for value in values])
    assert fitted_now.probability(row(0.1)) < 0.3 < 0.7 < fitted_now.probability(row(0.9))


def test_the_same_rows_give_the_same_calibration() -> None:
    rows, labels = [row(value / 10) for value in range(10)], [value > 4 for value in range(10)]
    assert fit_calibration(rows, labels) == fit_calibration(rows, labels)


def test_the_line_of_a_feature_may_bend() -> None:
    bent = Calibration(("fused",), (0.5,), (0.0,), (100.0,), -5.0, 0.9, 0.1)
    assert bent.probability(row(0.4)) == bent.probability(row(0.5))
    assert bent.probability(row(0.6)) > 0.9


def test_rows_of_one_kind_cannot_be_fitted() -> None:
    with pytest.raises(SkillweaveError, match="wanted"):
        fit_calibration([row(1.0), row(0.0)], [True, True])


def test_giving_begins_where_the_precision_is_reached() -> None:
    assert least_at([0.9, 0.8, 0.7, 0.6], [True, True, False, True], 0.75) == 0.6
    assert least_at([0.9, 0.8, 0.7, 0.6], [True, True, False, True], 0.9) == 0.8
    assert least_at([0.9], [False], 0.9) == 0.999


def test_the_brier_score_is_nothing_for_certainty() -> None:
    assert (brier([1.0, 0.0], [True, False]), brier([0.5], [True])) == (0.0, 0.25)


def test_words_alone_have_a_calibration_and_an_unknown_embedder_has_none() -> None:
    assert calibration_of(None) == fitted()[None, False]
    assert calibration_of(None, phrases=True) == fitted()[None, True]
    assert fitted()[None, False].names == FEATURES
    assert calibration_of("unknown") is None


def test_extreme_features_have_a_probability_too() -> None:
    steep = Calibration(("fused",), (0.0,), (1e6,), (0.0,), 0.0, 0.9, 0.1)
    assert (steep.probability(row(-1e9)), steep.probability(row(1e9))) == (0.0, 1.0)
