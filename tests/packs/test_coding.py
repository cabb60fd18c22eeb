"""Seed 002's worked example, with the built-in pack and no skill of one's own (spec 4.2 and 4.5)."""

import skillweave
from skillweave import Outcome, Status, Weaver
from skillweave.diagnostics import has_errors
from skillweave.packs import coding
from skillweave.skills import Relation, RelationKind, RuleList, Task, When
from skillweave.sources.named import pack_names, pack_of
from skillweave.tools import SpawnPlan, SpawnRejected
from skillweave_testing import WordCounter

PAIR = ["specification-engine", "opencode-implementer"]
COMPOSED = {
    "skills": ["specification-engine", "opencode-implementer"],
    "allowed_tools": ["specKit", "opencode-executor"],
    "forbidden_tools": ["write", "edit"],
    "execution_protocol": ["analyze-task", "generate-spec", "validate-spec", "read-spec", "implement", "verify"],
}


def weaver() -> Weaver:
    return skillweave.open(packs=["coding"], counter=WordCounter())


async def test_the_pack_is_found_by_its_name_and_nothing_is_wrong_with_it() -> None:
    assert "coding" in pack_names()
    loaded = await pack_of("coding").load(None)
    assert [skill.id for skill in loaded.skills] == PAIR
    assert loaded.diagnostics == ()
    assert coding().name == "coding"


async def test_the_two_skills_are_those_of_the_seeds_example_data() -> None:
    snapshot = await weaver().skills.snapshot()
    engine, implementer = (snapshot[skill] for skill in PAIR)
    assert {skill.version for skill in (engine, implementer)} == {"1.0.0"}
    assert {skill.status for skill in (engine, implementer)} == {Status.ACTIVE}
    assert engine.tools is not None
    assert implementer.tools is not None
    assert (engine.tools.allowed, engine.tools.forbidden) == (("specKit",), ())
    assert (implementer.tools.allowed, implementer.tools.forbidden) == (("opencode-executor",), ("write", "edit"))
    assert engine.text.steps == ("analyze-task", "generate-spec", "validate-spec")
    assert implementer.text.steps == ("read-spec", "implement", "verify")
    for skill, other in ((engine, implementer), (implementer, engine)):
        (rule,) = skill.relations
        assert rule == Relation(RelationKind.REQUIRES, other.id, rule.reason, RuleList.COMPOSABILITY)
        assert rule.reason


async def test_its_rule_gives_both_for_a_coding_task() -> None:
    (rule,) = (await weaver().skills.snapshot()).task_rules
    assert (rule.when, rule.skills, rule.source) == (When(coding=True), tuple(PAIR), "pack coding")
    assert await weaver().composition.select(Task("Add a login form", coding=True)) == PAIR
    assert await weaver().composition.select(Task("Write a letter")) == []


async def test_the_worked_example_of_composition() -> None:
    assert (await weaver().composition.compose(PAIR)).to_dict() == COMPOSED


async def test_one_of_the_pair_alone_is_rejected_and_completed_with_the_reason() -> None:
    result = await weaver().composition.validate(["specification-engine"])
    assert [(error.code, error.rule) for error in result.errors] == [("MISSING_REQUIRED", "V002")]
    completion = await weaver().composition.complete(["specification-engine"])
    assert list(completion.skills) == PAIR
    assert completion.added[0][1].startswith("`specification-engine` requires `opencode-implementer`: ")


async def test_a_coding_turn_gives_both_and_restricts_the_tools() -> None:
    injection = await weaver().weave("Add a login form", conversation="c", task=Task(coding=True))
    assert injection.skills == tuple(PAIR)
    assert {decision.skill_id: decision.outcome for decision in injection.decisions} == dict.fromkeys(
        PAIR, Outcome.INJECTED
    )
    assert injection.tools.offers(["read", "specKit", "write", "opencode-executor"]) == (
        "specKit",
        "opencode-executor",
    )


async def test_a_sub_agent_gets_the_pair_and_not_a_part_of_it() -> None:
    rejected = await weaver().composition.prepare_spawn(
        {"task": "Add a login form", "skills": ["specification-engine"]}
    )
    assert isinstance(rejected, SpawnRejected)
    assert rejected.completion is not None
    plan = await weaver().composition.prepare_spawn(
        {"task": "Add a login form", "skills": list(rejected.completion.skills)}
    )
    assert isinstance(plan, SpawnPlan)
    assert plan.composition.to_dict() == COMPOSED


async def test_the_pack_is_not_there_unless_it_is_asked_for() -> None:
    assert await skillweave.open().skills.catalog() == ""
    assert "specification-engine" in await weaver().skills.catalog()
    assert not has_errors(await weaver().skills.diagnostics())
