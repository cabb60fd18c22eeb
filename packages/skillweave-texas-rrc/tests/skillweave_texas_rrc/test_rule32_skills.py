"""The Rule 32 checklist and the flaring monitor: what they promise, what they stop at, and what their documents say."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from tests.skillweave_texas_rrc.texts import FOLDER, document, facts, said

from skillweave import Skill

CHECKLIST = {
    "r32-release-classification": ["flaring", "rule_32"],
    "r32-exception-path": ["flaring", "rule_32", "compliance"],
    "r32-volume-request": ["flaring", "rule_32", "production"],
    "r32-gas-quality-gor": ["flaring", "rule_32", "production"],
    "r32-flare-stack-data": ["flaring", "rule_32", "emissions"],
    "r32-capture-plan": ["flaring", "rule_32"],
    "r32-emissions-review": ["flaring", "emissions", "compliance"],
    "r32-form-r32": ["flaring", "rule_32"],
    "r32-filing-assembly": ["flaring", "rule_32", "compliance"],
    "r32-post-filing-tracking": ["flaring", "rule_32", "monitoring"],
}
MONITOR = {
    "fm-event-intake": ["flaring", "monitoring"],
    "fm-volume-vs-authorization": ["flaring", "monitoring", "compliance"],
    "fm-duration-tracking": ["flaring", "monitoring", "rule_32"],
    "fm-exceedance-forecast": ["flaring", "monitoring", "production"],
    "fm-emissions-rollup": ["flaring", "monitoring", "emissions"],
    "fm-compliance-alert": ["flaring", "monitoring", "compliance"],
}
CHECKPOINTS = {
    "r32-emissions-review": ["emissions_review"],
    "r32-filing-assembly": ["pre_filing"],
    "fm-compliance-alert": ["compliance_alert"],
}
each_skill = pytest.mark.parametrize("skill_id", [*CHECKLIST, *MONITOR])


@each_skill
def test_only_what_a_person_must_approve_stops_and_asks_in_its_last_step(
    skill_id: str, skills: dict[str, Skill]
) -> None:
    skill = skills[skill_id]
    names = [one.name for one in skill.checkpoints]
    assert names == CHECKPOINTS.get(skill_id, [])
    assert ("HITL_REQUESTED" in skill.emits) == bool(names)
    for name in names:
        assert f"`{name}`" in skill.text.steps[-1]


def test_an_alert_lets_work_go_on_and_a_filing_does_not(skills: dict[str, Skill]) -> None:
    blocking = {name: [one.blocking for one in skills[name].checkpoints] for name in CHECKPOINTS}
    assert blocking == {"r32-emissions-review": [True], "r32-filing-assembly": [True], "fm-compliance-alert": [False]}


def test_the_filing_is_left_to_a_person(skills: dict[str, Skill]) -> None:
    assert "never submit" in skills["r32-filing-assembly"].text.steps[-1]
    assert "Nothing is certified or sent here" in (skills["r32-form-r32"].text.details or "")


@pytest.mark.parametrize("ids", [tuple(CHECKLIST), tuple(MONITOR)])
def test_a_checklist_has_its_order_and_needs_only_what_comes_before(
    ids: tuple[str, ...], skills: dict[str, Skill]
) -> None:
    assert [str(skills[one].metadata["order"]) for one in ids] == [str(place) for place in range(1, len(ids) + 1)]
    for skill_id in ids:
        needs = skills[skill_id].metadata.get("needs", ())
        assert isinstance(needs, tuple | list)
        assert set(needs) <= skills.keys()
        assert [one for one in needs if one in ids and ids.index(one) > ids.index(skill_id)] == []


@each_skill
def test_no_text_takes_the_day_of_the_proposal_for_the_cutoff_of_oooob(skill_id: str, skills: dict[str, Skill]) -> None:
    text = said(skills[skill_id])
    assert text.count("2021-11-15") == text.count("not after 2021-11-15")
    if "after 2022-12-06" not in text:
        assert "2022" not in text


@pytest.mark.parametrize("skill_id", ["r32-release-classification", "r32-emissions-review", "fm-emissions-rollup"])
def test_a_text_says_that_an_exception_waives_no_air_rule(skill_id: str, skills: dict[str, Skill]) -> None:
    assert re.search(r"waive", said(skills[skill_id]))


@pytest.mark.parametrize("skill_id", ["r32-volume-request", "fm-volume-vs-authorization", "fm-exceedance-forecast"])
def test_an_authorized_rate_is_read_in_both_ways(skill_id: str, skills: dict[str, Skill]) -> None:
    text = said(skills[skill_id])
    assert re.search(r"daily (cap|reading)", text)
    assert re.search(r"not settled|unverified", text)


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("rule-32-release-of-gas.yaml", "duration-table"),
        ("rule-32-release-of-gas.yaml", "subsections"),
        ("r-32-form-checklist.yaml", "fee"),
        ("rule-36-h2s.yaml", "plan"),
        ("air-rules.yaml", "tceq-rq-so2"),
        ("air-rules.yaml", "oooob-hours"),
        ("air-rules.yaml", "subpart-w-status"),
        ("exception-days-worked-example.yaml", "rate-reading"),
    ],
)
def test_what_nobody_has_read_in_a_source_is_not_called_verified(name: str, fact: str) -> None:
    assert facts(name)[fact]["verified"] is False


def test_each_authority_code_stands_once() -> None:
    rows = document("rule-32-release-of-gas.yaml")["authority_codes"]["rows"]
    assert [row["code"] for row in rows] == ["EX", "AR", "AE", "EP"]


def test_no_factor_of_rg_109_or_ap_42_is_called_verified() -> None:
    assert {row["verified"] for row in document("emission-factors.yaml")["nox_co_lb_per_mmbtu"]["rows"]} == {False}


def test_the_fields_of_form_r_32_are_all_to_be_compared_with_the_form() -> None:
    assert {row["verified"] for row in document("r-32-form-checklist.yaml")["fields"]["rows"]} == {False}


def test_alerts_stand_in_the_order_of_their_rank() -> None:
    rows = document("alert-ranking.yaml")["ranking"]["rows"]
    assert [(int(row["rank"]), row["kind"]) for row in rows] == [
        (1, "unauthorized_release"),
        (2, "over_volume"),
        (3, "coverage_gap"),
        (4, "expiring"),
        (5, "forecast"),
    ]


@pytest.mark.parametrize(
    "name", sorted(entry.name for entry in (FOLDER / "artifacts").iterdir() if entry.name.endswith(".yaml"))
)
def test_every_row_of_a_document_has_its_source_and_says_whether_it_was_read(name: str) -> None:
    found = document(name)
    assert {"title", "as_of"} <= found.keys()
    rows = list(_rows(found))
    assert rows
    assert [row for row in rows if not row.get("cite") or not isinstance(row.get("verified"), bool)] == []
    assert [row for row in rows if None in row.values()] == []


def _rows(value: Any) -> Iterator[dict[str, Any]]:
    """What a document states: each entry of `facts` and `rows`, wherever they stand."""
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("facts", "rows"):
                yield from inner
            else:
                yield from _rows(inner)
