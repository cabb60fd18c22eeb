"""A landman asks about the spacing of a well: what the pack gives to the model, with what is known of the well."""

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from uuid import uuid4

import pytest

import skillweave
from skillweave import CatalogMode, Injection, Message, Outcome, Placement, Role, Ruling, Settings, Weaver
from skillweave_texas_rrc import pack

SAMPLE = Path(str(pack().watched[0])).with_name("sample_graph.json")
WELL = {"well_api": "42-329-12345"}
QUESTION = "Does Mitchell Ranch 1H meet the spacing rule where it is?"
PICK = Message(Role.ASSISTANT, "I'll analyze the spacing for this well. SKILL_SELECT:spacing-calculation")
FIVE_LINES = """\
## Entity Context
Well: Mitchell Ranch 1H (API: 42-329-12345)
Status: active, Type: horizontal
Lease: Mitchell Ranch Lease
Field: Spraberry (Trend Area), District 08
Operator: Permian Basin Energy LLC (P-5: 683214)
"""


@cache
def office() -> Weaver:
    settings = Settings(catalog=CatalogMode.ALWAYS, context_seconds=30)
    return skillweave.open(packs=["texas-rrc"], entities=SAMPLE, settings=settings)


def landman(matchers: Sequence[str] | None = None) -> Weaver:
    """One who remembers no conversation, with the pack that all tests have in common."""
    return office().variant(matchers=matchers, tenant=uuid4().hex)


def outcome(injection: Injection, skill_id: str) -> Outcome:
    return next(one.outcome for one in injection.decisions if one.skill_id == skill_id)


async def test_the_catalog_has_the_skill_before_it_is_picked() -> None:
    injection = await landman(matchers=["explicit"]).weave(QUESTION, conversation="c1", memory=WELL)
    assert not injection.messages
    assert "spacing-calculation: Calculate distances from proposed well to lease lines" in injection.catalog


async def test_a_marker_brings_the_skill_with_its_parts_in_order_and_the_well_it_is_about() -> None:
    weaver = landman(matchers=["explicit"])
    await weaver.weave(QUESTION, conversation="c1", memory=WELL)
    injection = await weaver.weave(PICK, conversation="c1", memory=WELL)
    (message,) = injection.messages
    assert message.content.startswith("=== Skill Activated: Spacing Calculation ===\n## Description\n")
    headings = [line for line in message.content.splitlines() if line.startswith("## ")]
    assert headings == [
        *("## Description", "## Steps", "## Requirements", "## Output Format", "## Tools", "## References"),
        "## Entity Context",
    ]
    assert FIVE_LINES in message.content


async def test_the_picked_skill_leaves_its_calculators_and_no_other_tool() -> None:
    injection = await landman(matchers=["explicit"]).weave(PICK, conversation="c1", memory=WELL)
    assert set(injection.tools.allowed_tools or ()) == {"well_spacing", "offset_distances", "project_point"}
    assert injection.tools.authorize("submit_filing", {}).ruling is Ruling.DENY


async def test_nothing_is_sent_twice() -> None:
    weaver = landman(matchers=["explicit"])
    await weaver.weave(PICK, conversation="c1", memory=WELL)
    again = await weaver.weave(PICK, conversation="c1", memory=WELL)
    assert not again.messages
    assert outcome(again, "spacing-calculation") is Outcome.ALREADY_PRESENT


async def test_by_default_the_word_spacing_brings_the_skill_and_a_later_marker_finds_it_there() -> None:
    weaver = landman()
    first = await weaver.weave(QUESTION, conversation="c1", memory=WELL)
    assert FIVE_LINES in "".join(message.content for message in first.messages)
    assert outcome(first, "spacing-calculation") is Outcome.INJECTED
    later = await weaver.weave(PICK, conversation="c1", memory=WELL)
    assert outcome(later, "spacing-calculation") is Outcome.ALREADY_PRESENT
    assert "Spacing Calculation ===" not in "".join(message.content for message in later.messages)


@pytest.mark.parametrize(
    "number", ["42-329-12345", "4232912345", "42 329 12345", "42-329-12345-00", "42-329-12345-00-00", "42329123450000"]
)
async def test_an_api_number_in_the_question_is_the_well_in_every_spelling(number: str) -> None:
    weaver = landman(matchers=["explicit"])
    await weaver.weave(f"Check the spacing of {number} please", conversation="c1")
    injection = await weaver.weave(PICK, conversation="c1")
    assert FIVE_LINES in injection.messages[0].content


async def test_the_well_that_is_named_later_comes_under_a_header_of_its_own_once() -> None:
    weaver = landman(matchers=["explicit"])
    first = await weaver.weave(PICK, conversation="c1")
    assert "## Entity Context" not in first.messages[0].content
    second = await weaver.weave("It is about 42-329-12345", conversation="c1")
    (message,) = second.messages
    assert message.content.startswith("=== Entity Context")
    assert "Well: Mitchell Ranch 1H (API: 42-329-12345)" in message.content
    assert not (await weaver.weave("So what about 42-329-12345?", conversation="c1")).messages


async def test_a_filing_skill_says_who_has_to_approve() -> None:
    pick = Message(Role.ASSISTANT, "SKILL_SELECT:rule37-filing-assembly")
    injection = await landman(matchers=["explicit"]).weave(pick, conversation="c1", memory=WELL)
    assert "## Checkpoints\n- pre_filing: " in injection.messages[0].content
    assert [one.name for one in injection.checkpoints] == ["pre_filing"]


async def test_in_call_placement_the_well_stays_with_the_skill() -> None:
    weaver = landman(matchers=["explicit"])
    await weaver.weave("Spacing of 42-329-12345?", conversation="c1", placement=Placement.CALL)
    await weaver.weave(PICK, conversation="c1", placement=Placement.CALL)
    later = await weaver.weave("And now?", conversation="c1", placement=Placement.CALL)
    assert FIVE_LINES in later.instructions


async def test_a_well_that_the_graph_does_not_know_is_said() -> None:
    injection = await landman(matchers=["explicit"]).weave(PICK, conversation="c1", memory={"well_api": "42-000-00000"})
    assert "## Entity Context" not in injection.messages[0].content
    assert any("42-000-00000" in one.reason for one in injection.decisions)


async def test_each_adjacent_tract_has_its_operator_also_where_one_operates_several() -> None:
    pick = Message(Role.ASSISTANT, "SKILL_SELECT:r37-service-list")
    injection = await landman(matchers=["explicit"]).weave(pick, conversation="c1", memory=WELL)
    lines = injection.messages[0].content.splitlines()
    first = lines.index("Operators of adjacent tracts:") + 1
    assert lines[first : first + 3] == [
        (
            "- Bradford Ranch Lease: Caprock Basin Resources LLC (P-5: 131288) [op-131288], "
            "600 N. Marienfeld St., Midland, TX 79701"
        ),
        (
            "- Glasscock Draw 14 Lease: Caprock Basin Resources LLC (P-5: 131288) [op-131288], "
            "600 N. Marienfeld St., Midland, TX 79701"
        ),
        (
            "- Tippett 'A' Lease: Lone Mesa Operating Co. (P-5: 507310) [op-507310], "
            "400 W. Illinois Ave., Midland, TX 79701"
        ),
    ]
    assert any("Baker Family Mineral Trust" in line and "address status not_located" in line for line in lines)
    assert "Deadlines:" in lines
