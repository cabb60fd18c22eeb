"""The pack texas-rrc: what holds for all of its skills, documents, events and agents."""

import asyncio
import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from skillweave import Message, Role, Skill, Weaver
from skillweave.cli.arguments.graph import open_graph
from skillweave.disclose.block import Rung
from skillweave.disclose.render import render_skill
from skillweave.events import EventRefused
from skillweave.registry import Snapshot
from skillweave.tokens.counter import Tiktoken
from skillweave_texas_rrc import calculators, pack

FOLDER = Path(str(pack().watched[0])).parent
CORE = {
    "spacing-calculation": (["spacing", "rule_37", "drilling"], []),
    "offset-well-analysis": (["spacing", "rule_37"], []),
    "rule37-filing-assembly": (["spacing", "rule_37", "drilling"], ["pre_filing"]),
    "good-cause-narrative": (["spacing", "rule_37"], ["good_cause_review"]),
    "flaring-volume-calc": (["flaring", "rule_32", "compliance"], []),
    "gas-analysis": (["flaring", "rule_32"], []),
    "rule32-filing-assembly": (["flaring", "rule_32"], ["pre_filing"]),
    "emissions-estimate": (["flaring", "rule_32", "compliance"], []),
}
RULE_37 = (
    *("r37-exception-type", "r37-field-rules", "r37-offset-identification", "r37-service-list", "r37-waiver-tracking"),
    *("r37-form-w1", "r37-good-cause", "r37-plat-prep", "r37-pre-filing-review", "r37-filing-assembly"),
    "r37-post-filing-tracking",
)
GROUPS = {"core": 8, "rule_37": 11, "rule_32": 10, "form_pr": 8, "flaring_monitor": 6}
CHECKPOINTS = {"pre_filing", "good_cause_review", "service_list_review", "emissions_review", "compliance_alert"}


each_skill = pytest.mark.parametrize("skill_id", sorted(skill.id for skill in asyncio.run(pack().load(None)).skills))


@cache
def documents() -> dict[str, Mapping[str, Any]]:
    return {
        path.name: yaml.safe_load(path.read_text("utf-8")) for path in sorted((FOLDER / "artifacts").glob("*.yaml"))
    }


def facts_in(part: object) -> Iterator[Mapping[str, Any]]:
    """Every entry of a list `facts` or `rows`, however deep it stands."""
    if isinstance(part, dict):
        for key, value in part.items():
            if key in {"facts", "rows"} and isinstance(value, list):
                yield from value
            yield from facts_in(value)


async def test_there_are_forty_three_skills_in_five_groups(snapshot: Snapshot) -> None:
    assert len(snapshot) == 43
    groups = [str(skill.metadata["group"]) for skill in snapshot.values()]
    assert {group: groups.count(group) for group in groups} == GROUPS


async def test_nothing_is_wrong_with_the_pack(snapshot: Snapshot) -> None:
    assert snapshot.diagnostics == ()


async def test_the_core_skills_have_their_tags_and_checkpoints(snapshot: Snapshot) -> None:
    found = {
        skill_id: (list(snapshot[skill_id].domain_tags), [one.name for one in snapshot[skill_id].checkpoints])
        for skill_id in CORE
    }
    assert found == CORE


async def test_the_skills_of_the_rule_37_checklist_stand_in_its_order(snapshot: Snapshot) -> None:
    assert [skill_id for skill_id in snapshot if skill_id.startswith("r37-")] == list(RULE_37)


@each_skill
def test_a_text_has_all_parts_and_the_size_of_a_tier_two_text(
    skill_id: str, skills: dict[str, Skill], counter: Tiktoken
) -> None:
    skill = skills[skill_id]
    assert skill.text.details
    assert len(skill.text.steps) >= 5
    assert skill.text.requirements
    assert skill.text.output_format
    assert skill.triggers.keywords
    assert skill.triggers.examples
    assert skill.version
    assert 200 <= counter.count(render_skill(skill, Rung.INSTRUCTIONS).text) <= 850


@each_skill
async def test_a_skill_with_its_documents_stays_under_four_thousand_tokens(
    skill_id: str, weaver: Weaver, skills: dict[str, Skill], counter: Tiktoken
) -> None:
    skill = skills[skill_id]
    documents = [(await weaver.skills.registry.read_artifact(skill_id, ref.id)).text or "" for ref in skill.artifacts]
    assert documents
    assert all(documents)
    assert counter.count("\n".join([render_skill(skill, Rung.INSTRUCTIONS).text, *documents])) < 4_000


@each_skill
def test_every_tool_that_a_skill_may_use_is_a_calculator_that_its_steps_name_and_no_other(
    skill_id: str, skills: dict[str, Skill]
) -> None:
    skill = skills[skill_id]
    named = {word for step in skill.text.steps for word in re.findall(r"`([a-z]\w*)`", step)}
    tools = {tool.name for tool in calculators()}
    assert named & tools == set((skill.tools and skill.tools.allowed) or ())
    assert named - tools <= CHECKPOINTS | {"exceptions", "basis", "field_rules"}


async def test_checklist_skills_name_events_that_the_pack_declares(snapshot: Snapshot) -> None:
    for skill in snapshot.values():
        assert skill.emits, skill.id
        assert set(skill.emits) <= set(snapshot.events), skill.id


async def test_skills_have_only_checkpoints_that_the_pack_describes(snapshot: Snapshot) -> None:
    for skill in snapshot.values():
        for checkpoint in skill.checkpoints:
            assert checkpoint.name in CHECKPOINTS, skill.id
            assert checkpoint.reviewer, skill.id
            assert checkpoint.asks, skill.id


async def test_every_skill_that_assembles_a_filing_stops_before_it_is_filed(snapshot: Snapshot) -> None:
    filing = [one for one in snapshot.values() if "assembl" in one.name.lower() or one.id == "fpr-validation-review"]
    assert len(filing) == 5
    for skill in filing:
        assert any(one.name == "pre_filing" and one.blocking for one in skill.checkpoints), skill.id


async def test_needed_skills_exist(snapshot: Snapshot) -> None:
    for skill in snapshot.values():
        needs = skill.metadata.get("needs", ())
        assert isinstance(needs, tuple), skill.id
        assert set(needs) <= set(snapshot), skill.id


async def test_every_document_is_read_by_a_skill_and_every_skill_finds_its_documents(
    weaver: Weaver, snapshot: Snapshot
) -> None:
    used: set[str] = set()
    for skill in snapshot.values():
        for ref in skill.artifacts:
            artifact = await weaver.skills.registry.read_artifact(skill.id, ref.id)
            assert artifact.text, ref.id
            assert artifact.ref.content_hash == hashlib.sha256(artifact.text.encode()).hexdigest()
            used.add(artifact.text)
    for path in sorted((FOLDER / "artifacts").glob("*.yaml")):
        assert path.read_text("utf-8") in used, path.name


@pytest.mark.parametrize("name", sorted(documents()))
def test_every_fact_of_a_document_has_its_citation_and_says_whether_it_was_verified(name: str) -> None:
    document = documents()[name]
    assert document["title"]
    assert document["as_of"]
    facts = list(facts_in(document))
    assert facts
    for fact in facts:
        assert str(fact["cite"]).strip(), fact
        assert isinstance(fact["verified"], bool), fact


@pytest.mark.parametrize(
    "claim",
    [
        r"1,?200 (ft|feet) (to|from) (the |any |a )?(nearest )?(lease|property)",
        r"467 (ft|feet) between wells",
        r"(W-1 or W-1A|W-1A instead)",
        r"(?<!not )due (on )?the 15th",
        r"No-objection",
        r"District 10\b",
    ],
)
def test_no_claim_that_is_known_to_be_wrong_is_in_the_pack(claim: str) -> None:
    for path in [*FOLDER.rglob("*.yaml")]:
        text = path.read_text("utf-8")
        found = re.search(claim, text, re.IGNORECASE)
        assert found is None, f"{path.name}: {found and text[max(0, found.start() - 60) : found.end() + 60]}"


async def test_an_event_with_the_declared_payload_is_told_and_another_is_refused(weaver: Weaver) -> None:
    await weaver.weave(Message(Role.ASSISTANT, "SKILL_SELECT:spacing-calculation"), conversation="c1")
    payload = {"check": "lease line", "outcome": "fail", "detail": "400.0 ft", "cite": "16 TAC 3.37(a)(1)"}
    event = await weaver.emit("c1", "spacing-calculation", "VALIDATION_RESULT", payload)
    assert event.payload.to_dict() == payload
    with pytest.raises(EventRefused, match="outcome"):
        await weaver.emit("c1", "spacing-calculation", "VALIDATION_RESULT", {**payload, "outcome": "maybe"})
    with pytest.raises(EventRefused, match="ALERT_RAISED"):
        await weaver.emit("c1", "spacing-calculation", "ALERT_RAISED", {})


async def test_the_compliance_monitor_watches_alerts_and_filed_applications(weaver: Weaver) -> None:
    monitor = await weaver.for_agent("compliance-monitor-agent")
    assert set(await monitor.skills.snapshot()) == {"fm-compliance-alert", "r37-post-filing-tracking"}


@pytest.mark.parametrize("agent", ["rule37-agent", "rule32-agent", "form-pr-agent", "flaring-monitor-agent"])
async def test_every_agent_has_skills_of_the_pack_only(agent: str, weaver: Weaver, snapshot: Snapshot) -> None:
    own = await (await weaver.for_agent(agent)).skills.snapshot()
    assert list(own) == [one for one in snapshot if one in own]
    assert len(own) == len(snapshot.agents[agent].skills)


async def test_the_alerts_of_the_ranking_have_a_severity_that_their_event_takes(snapshot: Snapshot) -> None:
    ranking = documents()["alert-ranking.yaml"]
    severities = {row["severity"] for part in ("ranking", "air_alerts") for row in ranking[part]["rows"]}
    schema: Any = snapshot.events["ALERT_RAISED"].schema
    assert severities <= set(schema["properties"]["severity"]["enum"])


async def test_a_deadline_that_runs_in_hours_can_say_its_hour(weaver: Weaver) -> None:
    await weaver.weave(Message(Role.ASSISTANT, "SKILL_SELECT:fm-event-intake"), conversation="c2")
    clock = {"deadline_id": "upset-1", "kind": "upset_24h", "due_date": "2026-03-19", "rule": "16 TAC 3.32"}
    event = await weaver.emit("c2", "fm-event-intake", "DEADLINE_UPDATE", {**clock, "due_time": "02:00"})
    assert event.payload.to_dict()["due_time"] == "02:00"
    with pytest.raises(EventRefused, match="due_time"):
        await weaver.emit("c2", "fm-event-intake", "DEADLINE_UPDATE", {**clock, "due_time": "25:00"})


async def test_the_graph_of_a_rule_37_filing_is_checked_with_the_skills_of_the_pack_beside_it() -> None:
    opened = await open_graph("texas-rrc-rule37")
    assert [problem for problem in opened.checkup().problems if problem.level.value == "error"] == []
    assert any("'texas-rrc'" in note for note in opened.notes)
