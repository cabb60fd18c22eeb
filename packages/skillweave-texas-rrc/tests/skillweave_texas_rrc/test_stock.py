"""Oil in the tanks at the beginning and the end of a month, and what happened between."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.packs import ToolRefused
from skillweave_texas_rrc.answers import Outcome
from skillweave_texas_rrc.stock import OIL_CODES, OilStockBalance, oil_stock_balance
from skillweave_texas_rrc.volumes import Stream

barrels = st.integers(0, 10**6)


def month_with(closing: float = 100, previous: float | None = 100, **dispositions: float) -> OilStockBalance:
    by_code = {code.removeprefix("code_"): volume for code, volume in dispositions.items()}
    return oil_stock_balance("2026-03", 100, sum(by_code.values()), by_code, closing, previous)


def test_the_three_months_of_the_lease_balance_and_carry_over() -> None:
    for months in (
        oil_stock_balance("2026-01", 1240, 31050, {"0": 29600, "1": 1450}, 1240, 1240),
        oil_stock_balance("2026-02", 1240, 27300, {"0": 27150}, 1390, 1240),
        oil_stock_balance("2026-03", 1390, 28100, {"0": 27800}, 1690, 1390),
    ):
        assert months.difference_bbl == 0
        assert months.outcome is Outcome.PASS


def test_oil_that_left_without_a_disposition_is_named() -> None:
    balance = month_with(closing=40, code_0=500)
    assert balance.difference_bbl == 60
    found = balance.named("oil_balance")
    assert found.outcome is Outcome.FAIL
    assert found.detail.startswith("60 bbl left the tanks without a disposition: the stock should be 100 and is 40 bbl")


def test_oil_that_came_from_nowhere_is_named() -> None:
    balance = month_with(closing=130, code_0=500)
    assert balance.difference_bbl == -30
    assert "30 bbl are in the tanks and came from nowhere" in balance.named("oil_balance").detail


def test_an_opening_stock_that_is_not_last_months_closing_stock_fails() -> None:
    found = month_with(previous=90, code_0=500).named("stock_carries_over")
    assert found.outcome is Outcome.FAIL
    assert "opening stock 100 bbl is not last month's closing stock 90 bbl" in found.detail


def test_without_last_months_report_the_carry_over_is_not_checked() -> None:
    assert month_with(previous=None, code_0=500).named("stock_carries_over").outcome is Outcome.NOT_CHECKED


@pytest.mark.parametrize(("spilled", "wanted"), [(4, "pass"), (5, "warn")])
def test_a_spill_of_5_barrels_needs_form_h8(spilled: float, wanted: str) -> None:
    assert month_with(code_5=spilled).named("form_h8").outcome == wanted


def test_a_smaller_spill_needs_form_h8_where_it_reached_water() -> None:
    balance = oil_stock_balance("2026-03", 100, 1, {"5": 1}, 100, 100, spill_reached_water=True)
    assert balance.named("form_h8").outcome is Outcome.WARN
    assert "1 bbl that reached water needs Form H-8" in balance.named("form_h8").detail


def test_scrubber_oil_is_for_oil_leases_only() -> None:
    assert month_with(code_9=3).named("code_9_oil_lease").outcome is Outcome.PASS
    condensate = oil_stock_balance("2026-03", 0, 3, {"9": 3}, 0, 0, Stream.GAS_WELL)
    assert condensate.named("code_9_oil_lease").outcome is Outcome.FAIL


def test_code_99_fails() -> None:
    assert month_with(code_99=3).named("code_99").outcome is Outcome.FAIL


def test_a_stock_adjustment_may_be_below_zero_and_other_codes_may_not() -> None:
    assert oil_stock_balance("2026-03", 100, 0, {"7": -20}, 120, 100).difference_bbl == 0
    with pytest.raises(ToolRefused, match="arguments#/oil_dispositions/0"):
        oil_stock_balance("2026-03", 100, 0, {"0": -20}, 120, 100)


def test_an_adjustment_without_an_end_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/oil_dispositions/7"):
        oil_stock_balance("2026-03", 100, 0, {"7": float("-inf")}, 120, 100)


def test_an_unknown_code_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/oil_dispositions/10: '10' is no oil disposition code"):
        oil_stock_balance("2026-03", 0, 10, {"10": 10}, 0)


def test_parts_of_a_barrel_are_a_warning() -> None:
    assert month_with(code_0=10.5).named("whole_bbl").outcome is Outcome.WARN


@given(barrels, barrels, st.dictionaries(st.sampled_from(list(OIL_CODES)), barrels))
def test_a_month_built_from_its_dispositions_balances(opening: int, closing: int, by_code: dict[str, int]) -> None:
    produced = closing - opening + sum(by_code.values())
    if produced < 0:
        opening, produced = opening + produced, 0
    balance = oil_stock_balance("2026-03", opening, produced, by_code, closing, opening)
    assert balance.difference_bbl == 0
    assert balance.expected_close_bbl == closing
