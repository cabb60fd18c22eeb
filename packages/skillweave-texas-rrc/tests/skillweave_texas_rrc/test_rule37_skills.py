"""The core skills and the Rule 37 checklist: what they promise, what they stop at, and what their documents say."""

import json
import re
from functools import cache
from uuid import uuid4

import pytest
from tests.skillweave_texas_rrc.sample import ask_sample
from tests.skillweave_texas_rrc.texts import document, facts, said

import skillweave
from skillweave import Injection, Message, Outcome, Role, Ruling, Skill, ToolResult, Turn, Weaver
from skillweave_testing import WordCounter
from skillweave_texas_rrc.thresholds import thresholds

CORE = (
    "spacing-calculation",
    "offset-well-analysis",
    "rule37-filing-assembly",
    "good-cause-narrative",
    "flaring-volume-calc",
    "gas-analysis",
    "rule32-filing-assembly",
    "emissions-estimate",
)
CHECKLIST = (
    "r37-exception-type",
    "r37-field-rules",
    "r37-offset-identification",
    "r37-service-list",
    "r37-waiver-tracking",
    "r37-form-w1",
    "r37-good-cause",
    "r37-plat-prep",
    "r37-pre-filing-review",
    "r37-filing-assembly",
    "r37-post-filing-tracking",
)
CHECKPOINTS = {
    "rule37-filing-assembly": ["pre_filing"],
    "good-cause-narrative": ["good_cause_review"],
    "rule32-filing-assembly": ["pre_filing"],
    "r37-service-list": ["service_list_review"],
    "r37-good-cause": ["good_cause_review"],
    "r37-filing-assembly": ["pre_filing"],
}
SCENE = """\
=== Skill Activated: Spacing Calculation ===
## Description
## Steps
## Requirements
## Output Format
## Tools
## References""".splitlines()
each_skill = pytest.mark.parametrize("skill_id", [*CORE, *CHECKLIST])


@each_skill
def test_a_filing_skill_asks_for_its_checkpoint_in_its_last_steps_and_no_other_skill_has_one(
    skill_id: str, skills: dict[str, Skill]
) -> None:
    skill = skills[skill_id]
    names = [one.name for one in skill.checkpoints]
    assert names == CHECKPOINTS.get(skill_id, [])
    for name in names:
        assert f"`{name}`" in " ".join(skill.text.steps[-2:])
        assert "HITL_REQUESTED" in skill.emits
    assert all(one.blocking and one.reviewer and one.asks for one in skill.checkpoints)


def test_the_checklist_has_its_order_and_needs_only_what_there_is(skills: dict[str, Skill]) -> None:
    assert [str(skills[one].metadata["order"]) for one in CHECKLIST] == [str(place) for place in range(1, 12)]
    for skill_id in CHECKLIST:
        needs = skills[skill_id].metadata.get("needs", ())
        assert isinstance(needs, tuple | list)
        assert set(needs) <= skills.keys()
        later = [one for one in needs if one in CHECKLIST and CHECKLIST.index(one) > CHECKLIST.index(skill_id)]
        assert later == []


@each_skill
def test_no_text_exchanges_the_distances_or_takes_good_cause_for_the_test(
    skill_id: str, skills: dict[str, Skill]
) -> None:
    text = said(skills[skill_id])
    assert not re.search(r"467 ft between|1,200 ft to (?:a|the|any) (?:lease )?line", text)
    assert "No-objection" not in text
    if "good cause" in text.casefold() and "waste" not in text:
        pytest.fail("good cause stands without the rule's own test")


def test_the_distances_are_467_to_a_line_and_1200_between_wells_and_say_where_they_stand() -> None:
    rows = {row["test"]: row for row in document("rule-37-spacing.yaml")["rows"]}
    assert (rows["lease line"]["least_ft"], rows["between wells"]["least_ft"]) == (467, 1200)
    assert {row["cite"] for row in rows.values()} == {"16 TAC 3.37(a)(1)"}


@pytest.mark.parametrize(
    ("name", "fact"),
    [
        ("rule-37-spacing.yaml", "same-horizon"),
        ("rule-37-spacing.yaml", "path-of-a-horizontal"),
        ("rule-38-density-and-field-rules.yaml", "spraberry-rules"),
        ("rule-86-horizontals.yaml", "statewide-wording"),
        ("notice-timeline.yaml", "example"),
    ],
)
def test_what_nobody_has_read_in_a_source_is_not_called_verified(name: str, fact: str) -> None:
    assert facts(name)[fact]["verified"] is False


def test_the_21_days_are_verified_for_rule_38_and_not_for_rule_37() -> None:
    rows = [row for row in document("notice-timeline.yaml")["rows"] if "21 days" in row["event"]]
    assert {row["cite"]: row["verified"] for row in rows} == {"16 TAC 3.38(h)": True, "16 TAC 3.37(h)": False}


def test_the_scale_of_the_exception_plat_is_to_be_confirmed() -> None:
    rows = {row["item"]: row for row in document("plat-checklist.yaml")["rows"]}
    assert (rows["scale"]["verified"], rows["exception plat scale"]["verified"]) == (True, False)


def test_the_fees_are_base_and_a_surcharge_of_150_percent() -> None:
    fees = document("w1-package.yaml")["fees_usd"]
    assert [fee["total"] for fee in fees] == [500, 562.5, 625, 750, 500, 375]
    for fee in fees:
        assert (fee["surcharge"], fee["total"]) == (fee["base"] * 1.5, fee["base"] * 2.5)


def test_documents_and_calculators_go_by_the_same_figures() -> None:
    known = thresholds()
    rows = {row["test"]: row["least_ft"] for row in document("rule-37-spacing.yaml")["rows"]}
    assert rows == {"lease line": known["lease_line"].number, "between wells": known["between_wells"].number}
    fees = [fee["base"] for fee in document("w1-package.yaml")["fees_usd"]]
    names = ("w1_to_2000_ft", "w1_to_4000_ft", "w1_to_9000_ft", "w1_deeper", "w1_exception", "w1_expedite")
    assert fees == [known[name].number for name in names]


EXAMPLE_RULES = {
    "1H": ("well-mr1h", None),
    "2H": ("well-mr2h", None),
    "1H with a field order of 330 and 660 ft": (
        "well-mr1h",
        {"lease_line_ft": 330, "between_well_ft": 660, "loaded_from": "sample order"},
    ),
}


@pytest.mark.parametrize("case", EXAMPLE_RULES)
async def test_the_worked_example_is_what_the_calculator_answers(case: str) -> None:
    well, rules = EXAMPLE_RULES[case]
    found = await ask_sample("well_spacing", well=well, field_rules=rules)
    example = document("spacing-example.yaml")
    rows = {row["test"]: row for row in example["tests"] if row["well"] == case}
    for test, answer in (("nearest line", found["lease_line"]), ("nearest same-lease well", found["between_wells"])):
        assert rows[test]["found_ft"] == pytest.approx(answer["distance_ft"], abs=0.05)
        assert rows[test]["least_ft"] == answer["required_ft"]
        assert rows[test]["outcome"] == ("PASS" if answer["passes"] else "FAIL")
    (needs,) = (row["needs"] for row in example["exceptions"] if row["well"] == case)
    assert needs == " and ".join(found["exceptions"])


async def test_the_offset_wells_of_the_worked_example_are_those_of_the_calculator() -> None:
    found = await ask_sample("offset_distances", well="well-mr1h", within_ft=1400)
    known = {one["name"]: (one["distance_ft"], one["counts"]) for one in found["offset_wells"]}
    rows = document("spacing-example.yaml")["offsets_of_1h_ft"]
    assert {row["well"] for row in rows} == known.keys()
    for row in rows:
        feet, counts = known[row["well"]]
        assert row["ft"] == pytest.approx(feet, abs=0.05)
        assert row["counts"].startswith("yes" if counts else "no")


async def test_the_tracts_of_the_worked_example_are_those_of_the_calculator() -> None:
    found = await ask_sample("notice_tracts", well="well-mr1h", exceptions=["lease_line"])
    rows = document("spacing-example.yaml")["tracts_of_1h_ft"]
    near = sorted(row["ft"] for row in rows if row["within_600_ft"] == "yes")
    far = sorted(row["ft"] for row in rows if row["within_600_ft"] == "no")
    assert near == pytest.approx(sorted(one["distance_ft"] for one in found["affected_tracts"]), abs=0.05)
    assert far == pytest.approx(sorted(one["distance_ft"] for one in found["other_tracts"]), abs=0.05)


@cache
def office() -> Weaver:
    return skillweave.open(packs=["texas-rrc", "texas-rrc-rule37"], counter=WordCounter())


@pytest.fixture
def filing() -> Weaver:
    """One that remembers no conversation, with the pack and the graph of a filing."""
    return office().variant(tenant=uuid4().hex)


async def test_the_message_of_the_spacing_skill_has_its_parts_in_their_order(weaver: Weaver) -> None:
    injection = await weaver.variant(tenant="parts").weave("Check the spacing of Mitchell Ranch 1H", conversation="c")
    (message,) = injection.messages
    lines = message.text.splitlines()
    assert [line for line in lines if line in SCENE or line.startswith("=== ")] == SCENE


async def answered(weaver: Weaver, turn: str, tool: str, **arguments: object) -> Injection:
    """The turn after a calculator's real answer about the sample graph."""
    answer = json.dumps(await ask_sample(tool, **arguments))
    return await weaver.weave(Turn(turn, "c", Message(Role.TOOL, None), results=(ToolResult(tool, answer),)))


def place(injection: Injection) -> tuple[str, str | None]:
    assert injection.move is not None
    return injection.move.by, injection.move.to


async def test_a_filing_goes_by_what_the_calculators_really_answer(filing: Weaver) -> None:
    first = await filing.weave("Start the Rule 37 filing for Mitchell Ranch 2H", conversation="c")
    assert place(first) == ("entry", "r37-exception-type")
    statewide = await answered(filing, "t2", "well_spacing", well="well-mr2h")
    assert place(statewide) == ("route", "r37-field-rules")
    order = {"lease_line_ft": 330, "between_well_ft": 660, "loaded_from": "order"}
    own = await answered(filing, "t3", "well_spacing", well="well-mr2h", field_rules=order)
    assert place(own) == ("route", "r37-offset-identification")
    reached = await answered(filing, "t4", "notice_tracts", well="well-mr2h", exceptions=["between_well"])
    assert place(reached) == ("route", "r37-service-list")


async def test_a_loaded_order_that_needs_no_exception_leads_to_an_ordinary_form(filing: Weaver) -> None:
    await filing.weave("Start the Rule 37 filing for Mitchell Ranch 2H", conversation="c")
    order = {"lease_line_ft": 330, "between_well_ft": 0, "loaded_from": "order"}
    found = await answered(filing, "t2", "well_spacing", well="well-mr2h", field_rules=order)
    assert place(found) == ("route", "r37-form-w1")


async def test_in_a_filing_only_the_tools_of_the_step_are_offered(filing: Weaver) -> None:
    await filing.weave("Start the Rule 37 filing for Mitchell Ranch 2H", conversation="c")
    order = {"lease_line_ft": 330, "between_well_ft": 660, "loaded_from": "order"}
    found = await answered(filing, "t2", "well_spacing", well="well-mr2h", field_rules=order)
    assert found.tools.authorize("notice_tracts").ruling is Ruling.ALLOW
    assert found.tools.authorize("w1_fee").ruling is Ruling.DENY


async def test_in_a_filing_the_core_skills_are_still_found_by_words(filing: Weaver) -> None:
    await filing.weave("Start the Rule 37 filing for Mitchell Ranch 2H", conversation="c")
    asked = await filing.weave("What is the distance to the lease line?", conversation="c")
    assert "spacing-calculation" in asked.skills
    assert place(asked) == ("stay", "r37-exception-type")


async def test_a_step_that_is_not_yet_reached_is_not_given_by_a_word(filing: Weaver) -> None:
    await filing.weave("Start the Rule 37 filing for Mitchell Ranch 2H", conversation="c")
    asked = await filing.weave("Assemble the final filing package", conversation="c")
    outcomes = {one.skill_id: one.outcome for one in asked.decisions}
    assert outcomes["r37-filing-assembly"] is Outcome.NOT_AT_CURSOR
