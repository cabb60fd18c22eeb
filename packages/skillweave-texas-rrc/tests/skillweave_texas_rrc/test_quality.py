"""A gas analysis, and what it says."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.skillweave_texas_rrc.gases import SAMPLE

from skillweave.packs import ToolRefused
from skillweave_texas_rrc.answers import Outcome
from skillweave_texas_rrc.quality import Assumed, GasQuality, gas_quality


def sample() -> GasQuality:
    return gas_quality(SAMPLE, dry=True)


def outcome(quality: GasQuality, check: str) -> Outcome:
    return quality.named(check).outcome


def test_molar_mass_and_gravity_of_the_sample() -> None:
    assert sample().molar_mass == pytest.approx(22.727, abs=0.0005)
    assert sample().specific_gravity == pytest.approx(0.785, abs=0.0005)


def test_heat_of_the_sample_at_both_pressure_bases() -> None:
    assert sample().gross_btu_scf == pytest.approx(1306.7, abs=0.05)
    assert sample().gross_btu_scf_rrc == pytest.approx(1302.6, abs=0.05)


def test_h2s_of_400_ppm_brings_rule_36() -> None:
    assert (sample().h2s_ppm, sample().rule_36) == (400, True)
    assert outcome(sample(), "rule_36") is Outcome.WARN


def test_rule_36_begins_at_exactly_100_ppm() -> None:
    assert gas_quality({"C1": 99.99, "H2S": 0.01}).rule_36 is True
    assert gas_quality({"C1": 99.9901, "H2S": 0.0099}).rule_36 is False


def test_c3_plus_of_the_sample_is_11_8_percent() -> None:
    assert sample().c3_plus_percent == 11.8


def test_the_sample_adds_up() -> None:
    assert sample().total_percent == 100
    assert outcome(sample(), "total") is Outcome.PASS


@pytest.mark.parametrize(("total", "wanted"), [(99.4, "fail"), (99.5, "pass"), (100.5, "pass"), (100.6, "fail")])
def test_an_analysis_may_miss_100_percent_by_half_a_percent(total: float, wanted: str) -> None:
    assert gas_quality({"C1": total}).named("total").outcome == wanted


def test_an_analysis_is_scaled_to_100_and_the_result_says_so() -> None:
    scaled = gas_quality({"C1": 99.5})
    assert scaled.gross_btu_scf == pytest.approx(1010)
    assert scaled.total_percent == 99.5
    assert "99.5 % and is scaled to 100 %" in scaled.named("total").detail
    assert "scaled" not in sample().named("total").detail


def test_h2s_in_ppm_and_inerts_are_of_the_scaled_analysis() -> None:
    scaled = gas_quality({"C1": 49, "CO2": 0.99, "H2S": 0.01})
    assert (scaled.h2s_ppm, scaled.inerts_percent) == (200, 1.98)
    assert outcome(scaled, "total") is Outcome.FAIL


@pytest.mark.parametrize(("dry", "wanted"), [(True, "pass"), (False, "warn"), (None, "not_checked")])
def test_heat_is_for_dry_gas_and_another_basis_is_said(dry: bool | None, wanted: str) -> None:
    assert gas_quality(SAMPLE, dry=dry).named("dry_basis").outcome == wanted


def test_a_sales_line_would_object_to_heat_and_h2s_of_the_sample() -> None:
    hints = {one.check: one.outcome for one in sample().checks if one.check.startswith("sales")}
    assert hints == {"sales_heat": "warn", "sales_h2s": "warn", "sales_co2": "pass", "sales_inerts": "pass"}
    assert "contracts differ, confirm" in sample().named("sales_heat").detail


def test_inerts_are_nitrogen_and_carbon_dioxide() -> None:
    assert sample().inerts_percent == 3.16
    assert gas_quality({"C1": 95.9, "N2": 2.1, "CO2": 2.0}).named("sales_inerts").outcome is Outcome.WARN


def test_what_is_assumed_is_named_with_its_flag() -> None:
    told = {one.id: (one.value, one.verified) for one in sample().basis}
    assert told["c6_plus_molar_mass"] == (95, False)
    assert told["rule_36_ppm"] == (100, True)
    assert "c6_plus_molar_mass" in sample().warnings[-1]


def test_the_caller_may_say_what_c6_plus_is() -> None:
    heavier = gas_quality({"C6+": 100}, assumed=Assumed(molar_mass=100, gross_btu=5500))
    assert (heavier.molar_mass, heavier.gross_btu_scf) == (100, 5500)
    assert {one.id for one in heavier.basis if one.given} == {"c6_plus_molar_mass", "c6_plus_btu"}


def test_an_unknown_component_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ToolRefused, match=r"arguments#/mol_percent/He: .* add inert gases such as helium to N2"):
        gas_quality({"C1": 99, "He": 1})


def test_an_empty_analysis_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/mol_percent: the analysis has no component above 0"):
        gas_quality({"C1": 0})


@given(st.dictionaries(st.sampled_from(list(SAMPLE)), st.integers(1, 100), min_size=1))
def test_the_molar_mass_of_a_mixture_lies_between_those_of_its_components(parts: dict[str, int]) -> None:
    whole = sum(parts.values())
    mixture = gas_quality({name: 100 * part / whole for name, part in parts.items()}).molar_mass
    pure = [gas_quality({name: 100}).molar_mass for name in parts]
    assert min(pure) - 1e-9 <= mixture <= max(pure) + 1e-9
