"""Gas by disposition code: the balance of a month, pressure bases, the hydrocarbon part, the gas-oil ratio."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.packs import ToolRefused
from skillweave_texas_rrc.answers import Outcome
from skillweave_texas_rrc.volumes import (
    GAS_CODES,
    GasBalance,
    Stream,
    Use,
    gas_balance,
    gas_oil_ratio,
    gas_volume_at_base,
    hydrocarbon_volume,
)

JANUARY = {"1": 4100, "3": 76400, "5": 2600, "10": 15300}
FEBRUARY = {"1": 3900, "3": 58300, "5": 2500, "10": 24000, "11": 200}
MARCH = {"1": 4000, "3": 46300, "5": 2500, "10": 37400}
volumes = st.integers(0, 10**7)
open_codes = [code for code in GAS_CODES if code not in {"4", "9", "99"}]


def january() -> GasBalance:
    return gas_balance("2026-01", 98400, JANUARY, "AE")


def february() -> GasBalance:
    return gas_balance("2026-02", 88900, FEBRUARY, "AE AR")


def march() -> GasBalance:
    return gas_balance("2026-03", 91200, MARCH)


def outcome(balance: GasBalance, check: str) -> Outcome:
    return balance.named(check).outcome


def test_january_balances_with_15300_mcf_flared() -> None:
    balance = january()
    assert (balance.difference_mcf, balance.released_mcf, balance.flared_mcf, balance.vented_mcf) == (
        0,
        15300,
        15300,
        0,
    )
    assert balance.outcome is Outcome.PASS


def test_february_balances_with_24000_mcf_flared_and_200_vented() -> None:
    balance = february()
    assert (balance.difference_mcf, balance.flared_mcf, balance.vented_mcf) == (0, 24000, 200)
    assert balance.released_mcf == 24200
    assert balance.authority_codes == ("AE", "AR")
    assert balance.outcome is Outcome.PASS


def test_march_is_1000_mcf_short_and_that_is_an_error_by_name() -> None:
    balance = march()
    assert balance.difference_mcf == 1000
    found = balance.named("gas_balance")
    assert found.outcome is Outcome.FAIL
    assert found.detail.startswith("1,000 MCF short: produced 91,200 MCF, disposed of 90,200 MCF")
    assert found.cite == "16 TAC 3.27; Form PR"
    assert any(warning.startswith("fail: 1,000 MCF short") for warning in balance.warnings)


def test_what_is_missing_in_march_is_added_to_no_code() -> None:
    balance = march()
    assert (balance.flared_mcf, balance.vented_mcf, balance.reported_mcf) == (37400, 0, 37400)
    assert balance.uses_mcf == {"lease_use": 4000, "sold": 46300, "gas_lift": 2500, "injected": 0, "other": 0}


def test_march_flares_41_percent_by_its_codes_and_42_by_the_balance() -> None:
    assert march().percent_reported == pytest.approx(41.0, abs=0.05)
    assert march().percent_released == pytest.approx(42.1, abs=0.05)


def test_march_without_a_code_in_remarks_fails() -> None:
    found = march().named("authority_code")
    assert found.outcome is Outcome.FAIL
    assert "37,400 MCF were flared or vented and REMARKS names no authority" in found.detail


@pytest.mark.parametrize(("remarks", "wanted"), [("AE", "pass"), ("gas lift down, EP.", "pass"), ("RARE", "fail")])
def test_an_authority_code_counts_where_it_stands_as_a_word(remarks: str, wanted: str) -> None:
    assert outcome(gas_balance("2026-03", 10, {"10": 10}, remarks), "authority_code") == wanted


def test_of_a_failure_and_a_warning_the_failure_is_the_outcome() -> None:
    both = gas_balance("2026-03", 10.5, {"3": 9})
    assert {one.outcome for one in both.checks} == {"pass", "warn", "fail"}
    assert both.outcome is Outcome.FAIL


def test_only_ex_in_remarks_is_a_warning_as_exempt_gas_is_not_reported() -> None:
    assert outcome(gas_balance("2026-03", 10, {"10": 10}, "EX"), "authority_code") is Outcome.WARN


def test_authority_codes_are_needed_from_january_2022_on() -> None:
    assert outcome(gas_balance("2021-12", 10, {"10": 10}), "authority_code") is Outcome.PASS
    assert outcome(gas_balance("2022-01", 10, {"10": 10}), "authority_code") is Outcome.FAIL


def test_no_authority_code_is_needed_where_nothing_was_released() -> None:
    assert outcome(gas_balance("2026-03", 10, {"3": 10}), "authority_code") is Outcome.PASS


def test_code_4_is_closed_from_september_2021_on() -> None:
    assert outcome(gas_balance("2021-08", 10, {"4": 10}), "code_4_closed") is Outcome.PASS
    later = gas_balance("2021-09", 10, {"4": 10}).named("code_4_closed")
    assert later.outcome is Outcome.FAIL
    assert "closed for months after 2021-08" in later.detail


def test_gas_under_code_4_still_counts_as_released() -> None:
    balance = gas_balance("2021-08", 100, {"3": 90, "4": 10})
    assert (balance.reported_mcf, balance.difference_mcf) == (10, 0)


def test_codes_10_and_11_do_not_stand_before_september_2021() -> None:
    assert outcome(gas_balance("2021-08", 10, {"10": 10}), "codes_10_11_open") is Outcome.FAIL
    assert outcome(gas_balance("2021-09", 10, {"10": 10}), "codes_10_11_open") is Outcome.PASS


def test_shrinkage_is_for_gas_wells_only() -> None:
    assert outcome(gas_balance("2026-03", 10, {"9": 10}), "code_9_gas_well") is Outcome.FAIL
    assert outcome(gas_balance("2026-03", 10, {"9": 10}, stream=Stream.GAS_WELL), "code_9_gas_well") is Outcome.PASS


def test_code_99_balances_and_fails_as_it_names_no_destination() -> None:
    balance = gas_balance("2026-03", 10, {"99": 10})
    assert balance.difference_mcf == 0
    assert outcome(balance, "code_99") is Outcome.FAIL


def test_more_disposed_than_produced_is_named_and_has_no_percent() -> None:
    balance = gas_balance("2026-03", 100, {"3": 150})
    assert (balance.difference_mcf, balance.percent_released) == (-50, None)
    assert balance.named("gas_balance").detail.startswith("50 MCF too much")


def test_parts_of_an_mcf_are_a_warning() -> None:
    assert outcome(gas_balance("2026-03", 10.5, {"3": 10.5}), "whole_mcf") is Outcome.WARN


def test_tenths_are_added_as_they_are_written() -> None:
    assert gas_balance("2026-03", 0.3, {"1": 0.1, "3": 0.2}).difference_mcf == 0


def test_an_unknown_code_is_refused_with_the_known_ones() -> None:
    with pytest.raises(
        ToolRefused, match=r"arguments#/gas_dispositions/12: '12' is no gas disposition code; give one of 1"
    ):
        gas_balance("2026-03", 10, {"12": 10})


@pytest.mark.parametrize("month", ["2026-13", "March", "2026-3", "0026-03"])
def test_a_month_that_is_none_is_refused(month: str) -> None:
    with pytest.raises(ToolRefused, match=r"arguments#/month: .* is no month; write year and month"):
        gas_balance(month, 10, {})


@pytest.mark.parametrize("volume", [-1, float("nan"), float("inf")])
def test_a_volume_that_cannot_be_is_refused(volume: float) -> None:
    with pytest.raises(ToolRefused, match="arguments#/gas_dispositions/3"):
        gas_balance("2026-03", 10, {"3": volume})


@given(st.dictionaries(st.sampled_from(open_codes), volumes))
def test_a_month_built_from_its_dispositions_balances(by_code: dict[str, int]) -> None:
    balance = gas_balance("2026-03", sum(by_code.values()), by_code, "AE")
    assert balance.difference_mcf == 0
    assert balance.outcome is Outcome.PASS


@given(st.dictionaries(st.sampled_from(open_codes), volumes, min_size=1), st.integers(1, 10**6))
def test_what_one_volume_lacks_is_the_difference(by_code: dict[str, int], lacking: int) -> None:
    balance = gas_balance("2026-03", sum(by_code.values()) + lacking, by_code, "AE")
    assert balance.difference_mcf == lacking
    assert outcome(balance, "gas_balance") is Outcome.FAIL


@given(volumes, st.dictionaries(st.sampled_from(list(GAS_CODES)), volumes))
def test_percentages_stay_between_0_and_100(produced: int, by_code: dict[str, int]) -> None:
    balance = gas_balance("2026-03", produced, by_code)
    for percent in (balance.percent_released, balance.percent_reported):
        assert percent is None or 0 <= percent <= 100


def test_every_code_is_used_for_something_that_the_balance_knows() -> None:
    assert {use for use, _ in GAS_CODES.values()} == set(Use)


@pytest.mark.parametrize(("base", "wanted"), [(14.73, 1005.46), (15.025, 1025.60)])
def test_1000_mcf_of_another_base_at_the_base_of_the_rrc(base: float, wanted: float) -> None:
    assert gas_volume_at_base(1000, base).volume_mcf == pytest.approx(wanted, abs=0.005)


def test_the_base_of_the_rrc_is_named_as_not_verified() -> None:
    assert gas_volume_at_base(1000, 14.73).warnings == (
        "not verified, confirm before a filing uses them: rrc_base_psia",
    )


@pytest.mark.parametrize("psia", [0, -14.65, 145, float("nan")])
def test_a_pressure_that_is_no_base_is_refused(psia: float) -> None:
    with pytest.raises(ToolRefused, match=r"arguments#/from_psia: .* give a number from 10 to 20"):
        gas_volume_at_base(1000, psia)


@given(st.floats(0, 1e9), st.floats(14, 16), st.floats(14, 16))
def test_a_conversion_and_its_inverse_change_nothing(volume: float, one: float, other: float) -> None:
    there = gas_volume_at_base(volume, one, other).volume_mcf
    assert gas_volume_at_base(there, other, one).volume_mcf == pytest.approx(volume, rel=1e-12)


def test_hydrocarbons_are_what_co2_n2_and_h2s_leave() -> None:
    volume = hydrocarbon_volume(100, {"CO2": 1.06, "N2": 2.1, "H2S": 0.04, "C1": 96.8})
    assert (volume.hydrocarbon_mcf, volume.hydrocarbon_fraction) == (96.8, 0.968)


def test_the_limit_is_on_hydrocarbons_so_inerts_can_bring_gas_below_it() -> None:
    percent = {"CO2": 4, "N2": 0, "H2S": 0}
    assert hydrocarbon_volume(52, percent).named("low_pressure_limit").outcome is Outcome.PASS
    assert hydrocarbon_volume(53, percent).named("low_pressure_limit").outcome is Outcome.WARN


def test_exactly_50_mcf_a_day_of_an_oil_lease_and_15_of_a_gas_well_are_within_the_limit() -> None:
    percent = {"CO2": 0, "N2": 0, "H2S": 0}
    assert hydrocarbon_volume(1550, percent, days=31).named("low_pressure_limit").outcome is Outcome.PASS
    gas_well = hydrocarbon_volume(15, percent, stream=Stream.GAS_WELL)
    assert (gas_well.limit_mcfd, gas_well.named("low_pressure_limit").outcome) == (15, Outcome.PASS)
    assert hydrocarbon_volume(50, percent, stream=Stream.GAS_WELL).named("low_pressure_limit").outcome is Outcome.WARN


def test_inerts_that_were_not_given_are_named() -> None:
    known = hydrocarbon_volume(10, {"CO2": 1}).named("composition")
    assert known.outcome is Outcome.NOT_CHECKED
    assert known.detail.startswith("N2, H2S not given and taken as 0")


def test_inerts_over_100_percent_are_refused() -> None:
    with pytest.raises(ToolRefused, match=r"arguments#/mol_percent: CO2 \+ N2 \+ H2S are 110 %"):
        hydrocarbon_volume(10, {"CO2": 60, "N2": 50})


@pytest.mark.parametrize(("gas", "oil", "wanted"), [(98400, 31050, 3169), (88900, 27300, 3256), (91200, 28100, 3246)])
def test_the_gas_oil_ratio_of_each_month(gas: float, oil: float, wanted: float) -> None:
    assert gas_oil_ratio(gas, oil).gor_scf_bbl == pytest.approx(wanted, abs=0.5)


def test_formation_gas_leaves_lift_gas_out() -> None:
    ratio = gas_oil_ratio(98400, 31050, gas_lift_mcf=2600)
    assert ratio.formation_gor_scf_bbl == pytest.approx(3085, abs=0.5)
    assert ratio.gor_scf_bbl == pytest.approx(3169, abs=0.5)


def test_where_lift_gas_is_known_formation_gas_is_compared_with_the_limit() -> None:
    assert gas_oil_ratio(2500, 1000).named("gor_limit").outcome is Outcome.WARN
    assert gas_oil_ratio(2500, 1000, gas_lift_mcf=600).named("gor_limit").outcome is Outcome.PASS


def test_the_statewide_limit_is_named_as_not_verified_and_a_field_rule_takes_its_place() -> None:
    assert gas_oil_ratio(98400, 31050).named("gor_limit").outcome is Outcome.WARN
    assert "gor_limit" in gas_oil_ratio(98400, 31050).warnings[-1]
    field = gas_oil_ratio(98400, 31050, limit_scf_bbl=4000)
    assert (field.limit_scf_bbl, field.outcome) == (4000, Outcome.PASS)
    assert field.basis[0].cite == "given by the caller"


def test_exactly_the_limit_is_within_it() -> None:
    assert gas_oil_ratio(2, 1).outcome is Outcome.PASS


def test_a_ratio_without_oil_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/oil_bbl: no oil was produced"):
        gas_oil_ratio(100, 0)


def test_more_lift_gas_than_gas_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/gas_lift_mcf: more lift gas than produced gas"):
        gas_oil_ratio(100, 10, gas_lift_mcf=101)


def test_an_analysis_over_100_percent_fails_before_its_hydrocarbons_are_used() -> None:
    found = hydrocarbon_volume(50, {"C1": 95, "CO2": 50, "N2": 0, "H2S": 0})
    assert found.named("total").outcome is Outcome.FAIL
    assert "145" in found.named("total").detail


def test_a_whole_analysis_that_adds_up_to_7_percent_fails() -> None:
    assert hydrocarbon_volume(50, {"C1": 5, "CO2": 1, "N2": 1, "H2S": 0}).named("total").outcome is Outcome.FAIL


def test_the_inert_gases_alone_need_not_add_up() -> None:
    assert hydrocarbon_volume(50, {"CO2": 1, "N2": 2, "H2S": 0}).outcome is Outcome.PASS
