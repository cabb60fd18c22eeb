"""The verbs about sets of skills, awaited and blocking, and the matcher `task` in whole turns."""

import pytest

from skillweave import (
    Injection,
    MemoryStore,
    Outcome,
    Placement,
    Registry,
    Settings,
    Skill,
    SkillNotFound,
    ToolRules,
    Weaver,
)
from skillweave.errors import InvalidSkill
from skillweave.skills import Task, TaskRule, When
from skillweave.sources import InCode
from skillweave.tools import Mode
from skillweave_testing import WordCounter
from tests.skills import make_skill

CODING = Task("Add a login form", coding=True)


def rule(*skills: str) -> TaskRule:
    return TaskRule(When(coding=True), skills)


def weaver_of(*skills: Skill, rules: tuple[TaskRule, ...] = (), max_skills: int = 3, **settings: object) -> Weaver:
    made = Settings(task_rules=rules, max_skills=max_skills, **settings)  # type: ignore[arg-type]
    return Weaver(Registry([InCode(*skills)]), MemoryStore(), made, counter=WordCounter())


def outcomes(injection: Injection) -> dict[str, Outcome]:
    return {decision.skill_id: decision.outcome for decision in injection.decisions}


async def test_the_hosts_rules_give_skills_for_the_task_of_a_turn() -> None:
    weaver = weaver_of(make_skill("a"), make_skill("b"), rules=(rule("a"),))
    injection = await weaver.weave("zzz", conversation="c", task=CODING)
    (decision,) = injection.decisions
    assert (decision.skill_id, decision.matcher) == ("a", "task")
    assert decision.reason == "task: task 'coding: true (the host)'; given in full"


async def test_a_task_is_given_once_and_stays_engaged_without_it() -> None:
    weaver = weaver_of(make_skill("a", tools=ToolRules(("read",))), rules=(rule("a"),))
    await weaver.weave("zzz", conversation="c", task=CODING)
    again = await weaver.weave("zzz", conversation="c", task=CODING)
    assert outcomes(again) == {"a": Outcome.ALREADY_PRESENT}
    without = await weaver.weave("zzz", conversation="c")
    assert without.tools.allowed_tools == ("read",)


async def test_a_rule_of_more_skills_than_a_turn_admits_gives_all_of_them_as_one() -> None:
    names = tuple("abcde")
    weaver = weaver_of(*map(make_skill, names), rules=(rule(*names),), max_skills=1)
    assert (await weaver.weave("zzz", conversation="c", task=CODING)).skills == names
    matched = await weaver.skills.match("zzz", conversation="c", task=CODING)
    assert [candidate.skill_id for candidate in matched.chosen] == list(names)


@pytest.mark.parametrize("placement", list(Placement))
async def test_while_its_task_lasts_a_large_set_stays_whole(placement: Placement) -> None:
    names = tuple("abcde")
    weaver = weaver_of(
        *map(make_skill, names), make_skill("new", keywords=["new"]), rules=(rule(*names),), max_skills=2
    )
    for message in ("zzz", "new", "zzz"):
        injection = await weaver.weave(message, conversation="c", task=CODING, placement=placement)
        left = [decision for decision in injection.decisions if decision.outcome is Outcome.OVER_LIMIT]
        assert not left
    assert {entry.skill_id for entry in (await weaver.ledger.state("c")).engaged} == {*names, "new"}


async def test_a_set_that_does_not_fit_beside_what_is_engaged_stays_out_whole() -> None:
    weaver = weaver_of(
        make_skill("old", keywords=["old"]), make_skill("a"), make_skill("b", excludes=["old"]), rules=(rule("a", "b"),)
    )
    await weaver.weave("old", conversation="c")
    injection = await weaver.weave("zzz", conversation="c", task=CODING)
    assert injection.skills == ()
    assert outcomes(injection) == {
        "old": Outcome.ALREADY_PRESENT,
        "a": Outcome.CONFLICT,
        "b": Outcome.CONFLICT,
    }


async def test_a_skill_that_a_rule_names_and_nobody_has_is_a_decision_and_a_finding() -> None:
    weaver = weaver_of(make_skill("a"), rules=(rule("a", "lost"),))
    injection = await weaver.weave("zzz", conversation="c", task=CODING)
    assert outcomes(injection) == {"a": Outcome.UNMET, "lost": Outcome.UNKNOWN}
    assert [finding.code for finding in await weaver.skills.diagnostics()] == ["task-rule-unknown-skill"]


async def test_a_rule_that_is_mended_in_code_counts_from_the_next_turn_on() -> None:
    weaver = weaver_of(make_skill("a"), rules=(rule("a", "late"),))
    await weaver.weave("zzz", conversation="c", task=CODING)
    weaver.skills.registry.register(make_skill("late"))
    assert (await weaver.weave("zzz", conversation="c", task=CODING)).skills == ("a", "late")


async def test_a_replay_of_a_turn_with_a_task_changes_nothing() -> None:
    weaver = weaver_of(make_skill("a"), rules=(rule("a"),))
    first = await weaver.weave("zzz", conversation="c", turn_id="t", task=CODING)
    state = await weaver.ledger.state("c")
    again = await weaver.weave("zzz", conversation="c", turn_id="t", task=CODING)
    assert (again.messages, await weaver.ledger.state("c")) == (first.messages, state)


async def test_skills_for_a_task_keep_to_what_is_granted() -> None:
    weaver = weaver_of(make_skill("a"), make_skill("b"), rules=(rule("a"), rule("b")), granted=frozenset({"b"}))
    assert await weaver.composition.select(CODING) == ["b"]
    assert [decision.outcome for decision in (await weaver.composition.explain(CODING)).left_out] == [Outcome.FORBIDDEN]


async def test_complete_validate_and_compose_answer_about_the_skills_as_they_are_now() -> None:
    weaver = weaver_of(make_skill("a", requires=["b"], tools=ToolRules(("read",))))
    assert not (await weaver.composition.validate(["a"])).valid
    weaver.skills.registry.register(make_skill("b", tools=ToolRules(("write",))))
    assert (await weaver.composition.complete(["a"])).added == (("b", "`a` requires `b`"),)
    assert (await weaver.composition.validate(["a", "b"], host_tools=["read"])).warnings == (
        "`b` uses the tool `write`, which the host does not have",
    )
    assert (await weaver.composition.compose(["a", "b"])).allowed_tools == ("read", "write")
    assert (await weaver.composition.compose(["a", "b"], "intersection")).allowed_tools == ()
    with pytest.raises(SkillNotFound):
        await weaver.composition.compose(["c"])
    with pytest.raises(InvalidSkill):
        await weaver.composition.complete([1])  # type: ignore[list-item]


def test_the_blocking_form_has_the_same_verbs() -> None:
    blocking = weaver_of(make_skill("a", requires=["b"]), make_skill("b"), rules=(rule("a"),)).sync
    assert blocking.composition.select(CODING) == ["a", "b"]
    assert blocking.composition.explain(CODING).skills == ("a", "b")
    assert blocking.composition.complete(["a"]).skills == ("a", "b")
    assert not blocking.composition.validate(["a"]).valid
    assert blocking.composition.compose(["a", "b"], Mode.UNION).skills == ("a", "b")
    plan = blocking.composition.prepare_spawn({"task": "x", "skills": ["a", "b"]}, spawn_id="s")
    assert plan.conversation == "/s"  # type: ignore[union-attr]
    assert blocking.composition.spawned(plan) is None  # type: ignore[arg-type,func-returns-value]
