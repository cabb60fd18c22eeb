"""The radius of exposure of gas with H2S."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.packs import ToolRefused
from skillweave_texas_rrc.answers import Outcome
from skillweave_texas_rrc.h2s import ExposureRadius, h2s_radius


def sample(**distances: float) -> ExposureRadius:
    return h2s_radius(1206, 400, **distances)


def test_1206_mcf_a_day_at_400_ppm_reach_64_and_29_feet() -> None:
    assert sample().x100_ft == pytest.approx(64, abs=0.5)
    assert sample().x500_ft == pytest.approx(29, abs=0.5)


def test_the_constants_are_said_to_be_unverified() -> None:
    assert {"x100_factor", "x500_factor", "radius_exponent"} <= {one.id for one in sample().basis if not one.verified}
    assert sample().warnings[-1].startswith("not verified, confirm before a filing uses them:")


def test_rule_36_applies_from_100_ppm_on() -> None:
    assert (h2s_radius(1206, 99.9).rule_36, h2s_radius(1206, 100).rule_36) == (False, True)


def test_distances_that_were_not_given_are_not_checked() -> None:
    assert sample().named("public_area").outcome is Outcome.NOT_CHECKED
    assert sample().named("public_road").outcome is Outcome.NOT_CHECKED


@pytest.mark.parametrize(("distance", "wanted"), [(7200, "pass"), (60, "fail")])
def test_a_public_area_is_compared_with_the_radius_of_100_ppm(distance: float, wanted: str) -> None:
    assert sample(public_area_ft=distance).named("public_area").outcome == wanted


@pytest.mark.parametrize(("distance", "wanted"), [(60, "pass"), (20, "fail")])
def test_a_public_road_is_compared_with_the_radius_of_500_ppm(distance: float, wanted: str) -> None:
    assert sample(public_road_ft=distance).named("public_road").outcome == wanted


def test_a_rate_at_a_higher_base_is_more_gas_and_reaches_further() -> None:
    assert h2s_radius(1206, 400, base_psia=14.65).x100_ft == sample().x100_ft
    at_15 = h2s_radius(1206, 400, base_psia=15.025)
    assert at_15.x100_ft == pytest.approx(sample().x100_ft * (15.025 / 14.65) ** 0.6258)


def test_gas_without_h2s_reaches_nothing() -> None:
    assert h2s_radius(1206, 0).x100_ft == 0


def test_more_than_all_of_the_gas_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/h2s_ppm"):
        h2s_radius(1206, 1_000_001)


@given(st.floats(0, 1e6), st.floats(0, 1e6), st.floats(0, 1e6))
def test_more_gas_or_more_h2s_never_reaches_less_far(rate: float, more: float, ppm: float) -> None:
    assert h2s_radius(rate + more, ppm).x100_ft >= h2s_radius(rate, ppm).x100_ft
    assert h2s_radius(rate, ppm).x100_ft >= h2s_radius(rate, ppm / 2).x100_ft >= h2s_radius(rate, ppm / 2).x500_ft
