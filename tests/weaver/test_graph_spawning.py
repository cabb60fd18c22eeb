"""A sub-agent opens no skill that the graph keeps from its parent."""

from skillweave import Weaver
from skillweave.graph import Entry, Route
from skillweave.tools import SpawnPlan, SpawnRejected, ToolLimits
from skillweave.turns import CurrentPolicy
from tests.graphs import graph_of, on, weaver_over
from tests.skills import make_skill

IDS = ("triage", "refund", "vault", "free")
GRAPH = graph_of(
    "triage",
    "refund",
    "vault",
    entries=[Entry("triage", on("refund"))],
    routes=[Route("triage", "refund", on("pay")), Route("refund", "vault", on("open"))],
)


async def at_triage() -> tuple[Weaver, CurrentPolicy]:
    weaver = weaver_over(GRAPH, [make_skill(one, keywords=[f"word {one}"]) for one in IDS])
    injection = await weaver.weave("a refund", conversation="c")
    return weaver, injection.policy


async def plan_of(weaver: Weaver, parent: CurrentPolicy, *skills: str) -> SpawnPlan:
    plan = await weaver.composition.prepare_spawn({"task": "Do it", "skills": list(skills) or None}, parent=parent)
    assert isinstance(plan, SpawnPlan)
    return plan


async def test_a_plan_for_a_skill_that_its_parent_may_not_open_is_rejected() -> None:
    weaver, parent = await at_triage()
    rejected = await weaver.composition.prepare_spawn({"task": "Do it", "skills": ["vault"]}, parent=parent)
    assert isinstance(rejected, SpawnRejected)
    assert [error.code for error in rejected.errors] == ["SKILL_NOT_REACHABLE"]


async def test_what_its_parent_has_or_may_open_it_may_have() -> None:
    weaver, parent = await at_triage()
    plan = await plan_of(weaver, parent, "triage", "refund", "free")
    assert set((await weaver.weave(plan.turn("Begin", "t1"))).skills) == {"triage", "refund", "free"}


async def test_neither_a_tool_call_nor_words_nor_the_host_open_another_one_in_it() -> None:
    weaver, parent = await at_triage()
    plan = await plan_of(weaver, parent)
    answer = await weaver.tools.read_skill("vault", conversation=plan.conversation, limits=plan.limits)
    assert answer.failed
    assert "How to do vault" not in answer.text
    said = await weaver.weave("word vault", conversation=plan.conversation, limits=plan.limits)
    named = await weaver.weave("x", conversation=plan.conversation, limits=plan.limits, named=["vault"])
    assert (said.skills, named.skills) == ((), ())


async def test_a_sub_agent_of_a_sub_agent_does_not_open_it_either() -> None:
    weaver, parent = await at_triage()
    child = await plan_of(weaver, parent, "free")
    rejected = await weaver.composition.prepare_spawn({"task": "Do it", "skills": ["vault"]}, parent=child.as_parent())
    assert isinstance(rejected, SpawnRejected)
    now = await weaver.current_policy(child.conversation, limits=child.limits)
    assert (await plan_of(weaver, now)).limits.closed_skills == ("vault",)


async def test_the_closed_skills_travel_as_json() -> None:
    weaver, parent = await at_triage()
    limits = (await plan_of(weaver, parent)).limits
    assert ToolLimits.from_dict(limits.to_dict()) == limits
