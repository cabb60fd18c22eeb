"""The checklist of Form PR: what its skills promise and stop at, and what their documents say."""

import re
from datetime import date
from typing import Any

import pytest
from tests.skillweave_texas_rrc.texts import document, facts

from skillweave import Skill
from skillweave_texas_rrc.allocation import Inflow, allocate_volumes
from skillweave_texas_rrc.authorization import Released, flare_authorization
from skillweave_texas_rrc.dates import form_pr_due
from skillweave_texas_rrc.stock import OIL_CODES, oil_stock_balance
from skillweave_texas_rrc.volumes import GAS_CODES, Use, gas_balance, gas_oil_ratio, gas_volume_at_base

CHECKLIST = {
    "fpr-lease-roster": ["production", "form_pr"],
    "fpr-production-intake": ["production", "form_pr"],
    "fpr-allocation": ["production", "form_pr"],
    "fpr-oil-stock-balance": ["production", "form_pr"],
    "fpr-gas-disposition": ["production", "form_pr"],
    "fpr-flare-vent-authority": ["form_pr", "flaring", "rule_32"],
    "fpr-validation-review": ["form_pr", "compliance"],
    "fpr-submission-tracking": ["form_pr", "compliance"],
}
each_skill = pytest.mark.parametrize("skill_id", CHECKLIST)


def codes_of(row: dict[str, Any]) -> dict[str, float]:
    return {key.removeprefix("code "): value for key, value in row.items() if key.startswith("code ")}


def figure(text: object) -> float:
    """The first number of a text such as `1,000 MCF short`."""
    found = re.search(r"[0-9][0-9,]*(?:\.[0-9]+)?", str(text))
    assert found is not None
    return float(found[0].replace(",", ""))


@each_skill
def test_only_the_review_stops_for_a_person_and_asks_in_its_last_step(skill_id: str, skills: dict[str, Skill]) -> None:
    skill = skills[skill_id]
    review = skill_id == "fpr-validation-review"
    assert [(one.name, one.blocking) for one in skill.checkpoints] == [("pre_filing", True)] * review
    assert ("HITL_REQUESTED" in skill.emits) is review
    assert ("`pre_filing`" in skill.text.steps[-1]) is review


def test_nothing_is_submitted(skills: dict[str, Skill]) -> None:
    assert "Never submit; a qualified person files" in skills["fpr-validation-review"].text.steps[-1]
    assert "Never file, pay or sign" in skills["fpr-submission-tracking"].text.steps[-1]


def test_the_checklist_has_its_order_and_needs_only_what_there_is(skills: dict[str, Skill]) -> None:
    ids = list(CHECKLIST)
    assert [str(skills[one].metadata["order"]) for one in ids] == [str(place) for place in range(1, 9)]
    for skill_id in ids:
        needs = skills[skill_id].metadata.get("needs", ())
        assert isinstance(needs, tuple | list)
        assert set(needs) <= skills.keys()
        assert [one for one in needs if one in ids and ids.index(one) > ids.index(skill_id)] == []


def test_the_report_is_due_on_the_last_working_day_and_the_15th_is_named_as_wrong(skills: dict[str, Skill]) -> None:
    roster = " ".join(skills["fpr-lease-roster"].text.steps)
    assert "last working day of the month that follows, not the 15th" in roster
    assert facts("form-pr-due-and-delinquency.yaml")["due"]["verified"] is True


def test_each_due_date_is_what_the_calculator_gives() -> None:
    for row in document("form-pr-due-and-delinquency.yaml")["due_dates"]["rows"]:
        due = form_pr_due(date.fromisoformat(f"{row['production_month']}-01"), frozenset())
        assert (due.isoformat(), f"{due:%A}") == (row["due"], row["weekday"])


def test_each_fee_is_a_base_and_its_surcharge() -> None:
    for row in document("form-pr-due-and-delinquency.yaml")["fees"]["rows"]:
        assert (row["surcharge"], row["total_usd"]) == (row["base"] * 1.5, row["base"] * 2.5)


def test_the_table_of_gas_codes_is_that_of_the_balance() -> None:
    used = {
        Use.LEASE_USE: "used",
        Use.SOLD: "sold",
        Use.GAS_LIFT: "gas lift",
        Use.INJECTED: "injected",
        Use.OTHER: "other",
        Use.RELEASED: "released",
    }
    rows = {row["code"]: row["counts_as"] for row in document("form-pr-gas-codes.yaml")["codes"]["rows"]}
    assert rows == {code: used[use] for code, (use, _) in GAS_CODES.items()} | {"99": "none"}


def test_the_table_of_oil_codes_is_that_of_the_stock_balance() -> None:
    assert [row["code"] for row in document("form-pr-oil-codes.yaml")["codes"]["rows"]] == list(OIL_CODES)


def test_released_gas_is_10_and_11_and_a_tolerance_is_not_called_verified() -> None:
    told = facts("form-pr-gas-codes.yaml")
    assert "code 10 and vented gas is code 11" in told["codes-for-released-gas"]["says"]
    assert told["no-tolerance"]["verified"] is False


def test_each_month_of_the_worked_report_is_what_the_balance_gives() -> None:
    rows = document("form-pr-march-example.yaml")["gas_by_code"]["rows"]
    assert [row["difference"] for row in rows] == [0, 0, 1000]
    for row in rows:
        assert gas_balance(row["month"], row["produced"], codes_of(row)).difference_mcf == row["difference"]


def test_the_worked_figures_of_march_are_those_of_the_calculators() -> None:
    found = document("form-pr-march-example.yaml")
    told = {row["item"]: str(row["value"]) for row in found["march"]["rows"]}
    row = found["gas_by_code"]["rows"][2]
    march = gas_balance(row["month"], row["produced"], codes_of(row))
    assert figure(told["Disposed of"]) == march.produced_mcf - march.difference_mcf
    assert figure(told["Difference"]) == march.difference_mcf
    assert told["Released by the balance"] == f"{march.released_mcf:,} MCF, {march.percent_released:.1f} % of produced"
    assert told["Released by codes 10 and 11"].startswith(f"{march.reported_mcf:,} MCF, {march.percent_reported:.1f} %")
    assert figure(told["Gas-oil ratio"]) == round(gas_oil_ratio(91200, 28100).gor_scf_bbl)


def test_what_march_is_over_its_exception_by_is_200_mcf_on_average() -> None:
    told = {row["id"]: row["says"] for row in document("form-pr-march-example.yaml")["findings"]["rows"]}
    use = flare_authorization(1200, "2026-03-01", "2026-04-14", [Released("2026-03-01", "2026-03-31", 37400)])
    assert "200 MCF are not covered by AE" in told["over-the-rate"]
    assert use.used_mcf - 1200 * use.days_elapsed == 200
    assert f"{use.average_mcfd:,.1f} MCF/d" in told["over-the-rate"]


def test_a_wrong_pressure_base_would_explain_253_of_the_1000_mcf() -> None:
    told = {row["id"]: row["says"] for row in document("form-pr-march-example.yaml")["where_to_look"]["rows"]}
    at_base = round(gas_volume_at_base(46300, 14.73).volume_mcf)
    assert f"{at_base:,} at 14.65, which explains {at_base - 46300} of the 1,000 MCF" in told["base"]


def test_the_stock_of_each_month_is_what_the_calculator_gives() -> None:
    before = 1240.0
    for row in document("form-pr-oil-codes.yaml")["balance_of_the_sample"]["rows"]:
        balance = oil_stock_balance(
            row["month"], row["opening"], row["produced"], codes_of(row), row["closing"], before
        )
        assert {one.outcome for one in balance.checks} == {"pass"}
        assert balance.difference_bbl == row["difference"]
        before = row["closing"]


def test_the_worked_allocation_is_what_the_calculator_gives() -> None:
    example = document("form-pr-allocation-example.yaml")["example"]
    streams = [Inflow(str(row["stream"]), figure(row["test_rate"]), row["hours"]) for row in example["rows"]]
    shares = allocate_volumes(figure(example["total"]), streams).shares
    assert [share.volume for share in shares] == [row["allocated"] for row in example["rows"]]
    assert [round(share.exact, 2) for share in shares] == [row["share_before_rounding"] for row in example["rows"]]


def test_the_questions_about_authority_lead_to_each_code_once() -> None:
    found = document("form-pr-authority-codes.yaml")
    assert [row["code"] for row in found["codes"]["rows"]] == ["AR", "AE", "EP", "EX"]
    asked = [re.match(r"EX|AR|AE|EP|No code", row["then"]) for row in found["order_of_questions"]["rows"]]
    assert [one and one[0] for one in asked] == ["EX", "AR", "AE", "EP", "No code"]


@pytest.mark.parametrize("fact", ["excess", "small-oil"])
def test_what_nobody_has_read_in_a_source_is_not_called_verified(fact: str) -> None:
    assert facts("form-pr-authority-codes.yaml")[fact]["verified"] is False
