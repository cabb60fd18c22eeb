from math import inf, nan

import pytest

from skillweave.errors import InvalidGraph
from skillweave.graph import ScorePolicy


def test_the_temperature_is_1_and_somebody_always_wins_by_default() -> None:
    assert ScorePolicy() == ScorePolicy(temperature=1.0, min_score=None, margin=None)


@pytest.mark.parametrize("temperature", [0, 0.0, -0.0, -1, nan, inf, -inf, True, None, "1"])
def test_a_temperature_that_is_no_number_above_0_is_refused(temperature: float) -> None:
    with pytest.raises(InvalidGraph, match=r"the temperature of a scorer is .*; give a number above 0"):
        ScorePolicy(temperature=temperature)


def test_a_whole_number_beyond_all_floats_is_refused() -> None:
    with pytest.raises(InvalidGraph, match="the temperature of a scorer is huge"):
        ScorePolicy(temperature=10**5000)


@pytest.mark.parametrize("min_score", [nan, inf, -inf, False, "0.5"])
def test_a_min_score_that_is_no_finite_number_is_refused(min_score: float) -> None:
    with pytest.raises(InvalidGraph, match="the min_score of a scorer"):
        ScorePolicy(min_score=min_score)


@pytest.mark.parametrize("margin", [-0.1, nan, inf, True, "0.5"])
def test_a_margin_that_is_no_number_from_0_on_is_refused(margin: float) -> None:
    with pytest.raises(InvalidGraph, match="the margin of a scorer"):
        ScorePolicy(margin=margin)


def test_a_negative_min_score_and_a_margin_of_0_are_fine() -> None:
    assert ScorePolicy(min_score=-0.5, margin=0).margin == 0
