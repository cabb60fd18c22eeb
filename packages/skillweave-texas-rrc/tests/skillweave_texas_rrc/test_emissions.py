"""An estimate of emissions: of the lease's March, of what was vented, and the laws that any estimate keeps."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.skillweave_texas_rrc.gases import SAMPLE

from skillweave.packs import ToolRefused
from skillweave_texas_rrc.answers import Outcome
from skillweave_texas_rrc.emissions import Factors, FlareEmissions, Release, flare_emissions

MASSES = ("ch4_lb", "voc_lb", "co2_lb", "so2_lb", "h2s_lb", "nox_lb", "co_lb", "n2o_lb", "co2e_t")
AT_STANDARD = 14.696


def march() -> FlareEmissions:
    return flare_emissions(37400, SAMPLE, base_psia=AT_STANDARD)


def vented() -> FlareEmissions:
    return flare_emissions(200, SAMPLE, Release.VENTED, AT_STANDARD)


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("heat_mmbtu", 48869),
        ("ch4_lb", 22895),
        ("co2_lb", 6017356),
        ("voc_lb", 12329),
        ("so2_lb", 2475),
        ("nox_lb", 6744),
        ("co_lb", 13463),
        ("co2e_t", 3021),
    ],
)
def test_37400_mcf_flared_in_march(name: str, wanted: float) -> None:
    assert getattr(march(), name) == pytest.approx(wanted, abs=0.5)


@pytest.mark.parametrize(("name", "wanted"), [("ch4_lb", 6122), ("voc_lb", 3297), ("h2s_lb", 7.2), ("co2e_t", 77.9)])
def test_200_mcf_vented(name: str, wanted: float) -> None:
    assert getattr(vented(), name) == pytest.approx(wanted, abs=0.05 if wanted < 100 else 0.5)


def test_a_volume_at_14_65_psia_is_less_gas_so_every_number_is_0_3_percent_lower() -> None:
    # The worked figures above take the metered volume as if it were at 14.696 psia; the flare's meter is at 14.65.
    metered = flare_emissions(37400, SAMPLE, base_psia=14.65)
    assert metered.ch4_lb == pytest.approx(22823, abs=0.5)
    assert metered.co2e_t == pytest.approx(3012, abs=0.5)
    for name in MASSES:
        assert getattr(metered, name) == pytest.approx(getattr(march(), name) * 14.65 / 14.696)


def test_without_a_base_that_of_the_rrc_is_taken_and_said() -> None:
    taken = flare_emissions(37400, SAMPLE)
    assert taken.base_psia == 14.65
    assert taken.named("pressure_base").outcome is Outcome.NOT_CHECKED
    assert march().named("pressure_base").outcome is Outcome.PASS


def test_vented_gas_is_not_burned() -> None:
    assert (vented().so2_lb, vented().nox_lb, vented().co_lb, vented().n2o_lb) == (0, 0, 0, 0)


def test_gas_with_h2s_is_never_vented() -> None:
    assert vented().named("no_sour_venting").outcome is Outcome.FAIL
    sweet = flare_emissions(200, {"C1": 100}, Release.VENTED)
    assert sweet.named("no_sour_venting").outcome is Outcome.PASS


def test_every_factor_is_printed_with_its_name_value_and_flag() -> None:
    told = {one.id: (one.value, one.verified) for one in march().basis}
    assert {part.name for part in fields(Factors)} <= set(told)
    assert told["destruction"] == (0.98, False)
    assert told["gwp_ch4"] == (28, False)
    assert told["molar_volume"] == (379.48, True)


def test_vented_gas_prints_no_factor_of_burning() -> None:
    told = {one.id for one in vented().basis}
    assert "gwp_ch4" in told
    assert not told & {"destruction", "nox_lb_per_mmbtu", "gwp_n2o"}


def test_every_factor_can_be_given_and_is_then_named_as_the_callers() -> None:
    given = Factors(0.95, 0.9, 0.068, 0.31, 0.0002, 25, 298)
    changed = flare_emissions(37400, SAMPLE, base_psia=AT_STANDARD, factors=given)
    assert {one.id for one in changed.basis if one.given} == {*(part.name for part in fields(Factors)), "rrc_base_psia"}
    assert changed.ch4_lb == pytest.approx(march().ch4_lb * 2.5)
    assert changed.so2_lb == pytest.approx(march().so2_lb * 0.9 / 0.98)
    assert changed.nox_lb == pytest.approx(march().nox_lb * 0.068 / 0.138)
    assert changed.co_lb == pytest.approx(march().co_lb * 0.31 / 0.2755)
    assert changed.n2o_lb == pytest.approx(march().n2o_lb * 2)


def test_the_warming_potential_changes_co2e_only() -> None:
    older = flare_emissions(37400, SAMPLE, base_psia=AT_STANDARD, factors=Factors(gwp_ch4=25, gwp_n2o=298))
    assert older.ch4_lb == march().ch4_lb
    assert march().co2e_t - older.co2e_t == pytest.approx(
        (3 * march().ch4_lb - 33 * march().n2o_lb) * 0.45359237 / 1000
    )


@pytest.mark.parametrize(("name", "value"), [("destruction", 1.01), ("destruction", 98), ("gwp_ch4", -1)])
def test_a_factor_that_cannot_be_is_refused(name: str, value: float) -> None:
    with pytest.raises(ToolRefused, match=f"arguments#/factors/{name}"):
        flare_emissions(1, SAMPLE, factors=Factors(**{name: value}))


def test_an_analysis_that_does_not_add_up_fails() -> None:
    assert flare_emissions(1, {"C1": 90}).named("total").outcome is Outcome.FAIL


@given(st.integers(0, 10**6), st.integers(1, 100), st.sampled_from(Release))
def test_emissions_are_linear_in_the_volume(volume: int, times: int, release: Release) -> None:
    one, several = (flare_emissions(part, SAMPLE, release) for part in (volume, volume * times))
    for name in MASSES:
        assert getattr(several, name) == pytest.approx(getattr(one, name) * times, rel=1e-9)


@given(st.floats(0, 1), st.floats(0, 1))
def test_more_destruction_leaves_less_methane_and_more_co2(one: float, other: float) -> None:
    low, high = (flare_emissions(1000, SAMPLE, factors=Factors(part)) for part in sorted((one, other)))
    assert low.ch4_lb >= high.ch4_lb >= 0
    assert low.co2_lb <= high.co2_lb


@given(st.floats(0, 1))
def test_no_carbon_is_lost(destruction: float) -> None:
    burned = flare_emissions(1000, {"C1": 100}, factors=Factors(destruction))
    carbon = burned.ch4_lb / 16.043 + burned.co2_lb / 44.010
    assert carbon == pytest.approx(burned.standard_mcf * 1000 / 379.48)
