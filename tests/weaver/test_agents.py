"""A Weaver for one agent: its skills are all there is, its checkpoints ask, its budget bounds each call."""

from collections.abc import Sequence

import pytest

import skillweave
from skillweave import (
    ApprovalVerdict,
    Budget,
    CatalogMode,
    Checkpoint,
    Injection,
    MemorySource,
    MemoryStore,
    Outcome,
    Registry,
    Ruling,
    Settings,
    Skill,
    SkillNotFound,
    SpawnRequest,
    ToolCall,
    ToolRules,
    Weaver,
)
from skillweave.adapters.approval import Reply, record
from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import Call
from skillweave.errors import AgentNotFound, CheckpointNotFound, InvalidValue
from skillweave.factory import with_embedder
from skillweave.graph import Entry, Route
from skillweave.registry import Agent
from skillweave.selection import MatchContext, Selection
from skillweave.skills import CheckpointScope, Task, TaskRule, When
from skillweave.tools import SpawnPlan, SpawnRejected
from skillweave_testing import FakeEmbedder, Recorder, WordCounter
from tests.graphs import graph_of, on
from tests.skills import make_skill

BILL = make_skill("pay-bill", keywords=["bill"], tools=ToolRules(allowed=("pay",)))
GREET = make_skill("greet", keywords=["hello"])
SHOUT = make_skill("shout", keywords=["hello"])
NEEDY = make_skill("needy", keywords=["needs"], requires=["greet"])
ALL = (BILL, GREET, SHOUT, NEEDY)
PER_CALL = Checkpoint("sign-off", before="pay", reviewer="controller", asks="Is the sum right?")
ALWAYS = Checkpoint("sign-off", before="pay", scope=CheckpointScope.CONVERSATION)


async def source_of(*agents: Agent, skills: Sequence[Skill] = ALL) -> MemorySource:
    source = MemorySource()
    for skill in skills:
        await source.publish(skill)
    await source.put_agents(agents)
    return source


async def weaver_of(*agents: Agent, skills: Sequence[Skill] = ALL, settings: Settings | None = None) -> Weaver:
    return Weaver(Registry([await source_of(*agents, skills=skills)]), MemoryStore(), settings, counter=WordCounter())


async def clerk_of(agent: Agent, skills: Sequence[Skill] = ALL, settings: Settings | None = None) -> Weaver:
    return await (await weaver_of(agent, skills=skills, settings=settings)).for_agent(agent.id)


def outcomes(injection: Injection) -> dict[str, Outcome]:
    return {decision.skill_id: decision.outcome for decision in injection.decisions}


# -- only its skills --------------------------------------------------------------------------------------------------


async def test_an_agent_is_given_its_own_skills_and_no_others() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("greet",)))
    assert (await clerk.weave("hello and the bill", conversation="c")).skills == ("greet",)
    assert list(await clerk.skills.snapshot()) == ["greet"]


async def test_the_weaver_that_it_came_from_has_all_skills_as_before() -> None:
    weaver = await weaver_of(Agent("clerk", skills=("greet",)))
    await (await weaver.for_agent("clerk")).weave("hello", conversation="c")
    assert set((await weaver.weave("hello", conversation="d")).skills) == {"greet", "shout"}
    assert (weaver.skills.agent, list(await weaver.skills.snapshot())) == (
        None,
        ["greet", "needy", "pay-bill", "shout"],
    )


async def test_no_catalog_list_or_search_names_a_skill_of_others() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("greet",)), settings=Settings(catalog=CatalogMode.ALWAYS))
    shown = [
        await clerk.skills.catalog(),
        (await clerk.weave("hello", conversation="c")).catalog,
        (await clerk.tools.list_skills()).text,
        (await clerk.tools.search_skills("greet or shout or pay a bill")).text,
    ]
    assert all("greet" in text for text in shown)
    assert not any(other in text for text in shown for other in ("shout", "pay-bill", "needy"))


async def test_matching_and_the_shortlist_know_its_skills_only() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("greet",)))
    selection = await clerk.skills.match("hello bill", conversation="c")
    found = (*selection.chosen, *selection.offered, *(one.candidate for one in selection.rejected))
    assert {one.skill_id for one in found} == {"greet"}


async def test_a_skill_of_others_is_unknown_to_the_models_tools() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("greet",)))
    answer = await clerk.tools.read_skill("shout", conversation="c")
    assert answer.failed
    assert "shout: unknown" in answer.text
    assert not (await clerk.tools.read_skill("greet", conversation="c")).failed


async def test_a_skill_of_others_that_is_named_is_unknown_by_every_way() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("greet",)))
    named = await clerk.weave("do it", conversation="c", named=["shout"])
    assert outcomes(named)["shout"] is Outcome.UNKNOWN
    with pytest.raises(SkillNotFound):
        await clerk.composition.compose(["shout"])


async def test_a_user_mentions_the_agents_skills_only() -> None:
    source = await source_of(Agent("clerk", skills=("greet",)))
    weaver = Weaver(Registry([source]), MemoryStore(), counter=WordCounter(), matchers=("mention",))
    clerk = await weaver.for_agent("clerk")
    assert (await clerk.weave("/greet Alice", conversation="c")).skills == ("greet",)
    assert outcomes(await clerk.weave("/shout Alice", conversation="d")) == {}
    assert (await weaver.weave("/shout Alice", conversation="d")).skills == ("shout",)


async def test_what_an_embedder_made_of_all_skills_is_not_made_anew_for_an_agent() -> None:
    embedder = FakeEmbedder()
    source = await source_of(Agent("clerk", skills=("greet", "needy")))
    weaver = Weaver(
        Registry([source]), MemoryStore(), counter=WordCounter(), matchers=with_embedder(["lexical"], embedder)
    )
    await weaver.skills.make_ready()
    await (await weaver.for_agent("clerk")).skills.make_ready()
    assert [len(texts) for texts in embedder.asked] == [len(ALL)]


async def test_task_rules_give_an_agent_nothing_that_it_does_not_have() -> None:
    rules = (TaskRule(When(coding=True), ("greet",)), TaskRule(When(coding=True), ("shout",)))
    clerk = await clerk_of(Agent("clerk", skills=("greet",)), settings=Settings(task_rules=rules))
    assert await clerk.composition.select(Task(coding=True)) == ["greet"]
    injection = await clerk.weave("go", conversation="c", task=Task(coding=True))
    assert injection.skills == ("greet",)


async def test_a_companion_that_the_agent_does_not_have_leaves_its_skill_unmet_and_a_finding_says_so() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("needy",)))
    assert outcomes(await clerk.weave("needs", conversation="c"))["needy"] is Outcome.UNMET
    assert any(found.skill == "needy" and "'greet'" in found.message for found in await clerk.skills.diagnostics())


async def test_a_skill_that_another_agent_engaged_in_the_conversation_is_not_in_force() -> None:
    quiet = make_skill("quiet", keywords=["hush"], tools=ToolRules(forbidden=("shout",)))
    weaver = await weaver_of(Agent("clerk", skills=("greet",)), skills=(GREET, quiet))
    await weaver.weave("hush", conversation="c")
    policy = await (await weaver.for_agent("clerk")).current_policy("c")
    assert policy.tools.forbidden_tools == ()
    assert (await weaver.current_policy("c")).tools.forbidden_tools == ("shout",)


async def test_a_sub_agent_can_have_no_skill_that_the_agent_does_not_have() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("greet",)))
    assert isinstance(await clerk.composition.prepare_spawn(SpawnRequest("go", ("greet",))), SpawnPlan)
    assert isinstance(await clerk.composition.prepare_spawn(SpawnRequest("go", ("shout",))), SpawnRejected)


async def test_an_agent_without_skills_has_none() -> None:
    clerk = await clerk_of(Agent("clerk"))
    injection = await clerk.weave("hello bill", conversation="c")
    assert (injection.skills, injection.messages, len(await clerk.skills.snapshot())) == ((), (), 0)


async def test_a_graph_with_nodes_that_the_agent_does_not_have_leads_only_to_its_own() -> None:
    graph = graph_of(
        "greet", "shout", "pay-bill",
        entries=[Entry("greet", on("hello"))],
        routes=[Route("greet", "shout", on("louder")), Route("greet", "pay-bill", on("bill"))],
    )  # fmt: skip
    source = await source_of(Agent("clerk", skills=("greet", "pay-bill")))
    weaver = Weaver(Registry([source]), MemoryStore(), counter=WordCounter(), graph=graph)
    clerk = await weaver.for_agent("clerk")
    first = await clerk.weave("hello", conversation="c")
    assert (first.skills, first.reachable) == (("greet",), ("pay-bill",))
    assert "shout" not in (await clerk.weave("louder", conversation="c")).skills
    elsewhere = await clerk.weave("hello", conversation="d")
    assert elsewhere.skills == ("greet",)
    assert (await clerk.weave("the bill", conversation="d")).skills == ("pay-bill",)


# -- its checkpoints --------------------------------------------------------------------------------------------------


async def test_the_agents_checkpoints_ask_at_each_of_its_skills() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("pay-bill", "greet"), checkpoints=(PER_CALL,)))
    injection = await clerk.weave("the bill", conversation="c")
    (pending,) = injection.checkpoints
    assert (pending.skill_id, pending.name, pending.before) == ("pay-bill", "sign-off", "pay")
    assert (pending.reviewer, pending.asks) == ("controller", "Is the sum right?")
    assert injection.tools.authorize("pay").ruling is Ruling.ASK
    assert "sign-off" in injection.messages[0].text


async def test_its_checkpoints_hold_between_turns_and_for_a_weaver_made_anew() -> None:
    weaver = await weaver_of(Agent("clerk", skills=("pay-bill",), checkpoints=(PER_CALL,)))
    await (await weaver.for_agent("clerk")).weave("the bill", conversation="c")
    policy = await (await weaver.for_agent("clerk")).current_policy("c")
    assert policy.tools.authorize("pay").ruling is Ruling.ASK
    assert [(one.skill_id, one.name) for one in policy.checkpoints] == [("pay-bill", "sign-off")]


async def test_a_yes_is_for_the_skill_that_was_shown_and_no_other() -> None:
    agent = Agent("clerk", skills=("greet", "shout"), checkpoints=(ALWAYS,))
    clerk = await clerk_of(agent)
    await clerk.weave("hello", conversation="c")
    await clerk.approvals.decide("c", "greet", "sign-off", "approved", by="Zoë")
    policy = await clerk.current_policy("c")
    assert [one.skill_id for one in policy.checkpoints] == ["shout"]
    assert policy.tools.authorize("pay").ruling is Ruling.ASK
    await clerk.approvals.decide("c", "shout", "sign-off", "approved", by="Zoë")
    assert (await clerk.current_policy("c")).tools.authorize("pay").ruling is Ruling.ALLOW


async def test_a_yes_to_one_call_covers_that_call() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("pay-bill",), checkpoints=(PER_CALL,)))
    await clerk.weave("the bill", conversation="c")
    call = ToolCall("call-1", "pay", {"sum": 7})
    await clerk.approvals.decide("c", "pay-bill", "sign-off", "approved", by="Zoë", call=call)
    policy = await clerk.current_policy("c")
    assert (await clerk.authorize(policy, "pay", {"sum": 7}, call_id="call-1")).ruling is Ruling.ALLOW
    assert (await clerk.authorize(policy, "pay", {"sum": 8}, call_id="call-2")).ruling is Ruling.ASK


async def test_a_host_asks_once_about_one_call_and_its_reply_is_kept_for_each_skill_that_asks() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("greet", "shout"), checkpoints=(PER_CALL,)))
    await clerk.weave("hello", conversation="c")
    bridge, call = Bridge(clerk), Call("call-1", "pay", {"sum": 7})
    judged = await bridge.judge(call, "c")
    assert [one.skill_id for one in judged.waits] == ["greet", "shout"]
    await record(bridge.weaver, "c", (judged.waits, Reply(ApprovalVerdict.APPROVED, "Zoë"), call))
    assert (await bridge.judge(call, "c")).runs


async def test_a_no_keeps_that_skill_out_and_denies_the_tool() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("greet", "shout"), checkpoints=(ALWAYS,)))
    await clerk.weave("hello", conversation="c")
    await clerk.approvals.decide("c", "greet", "sign-off", "rejected", by="Zoë")
    injection = await clerk.weave("hello", conversation="c")
    assert outcomes(injection)["greet"] is Outcome.FORBIDDEN
    assert outcomes(injection)["shout"] is Outcome.ALREADY_PRESENT
    assert injection.tools.authorize("pay").ruling is Ruling.DENY


async def test_only_the_agents_weaver_knows_its_checkpoints() -> None:
    weaver = await weaver_of(Agent("clerk", skills=("pay-bill",), checkpoints=(PER_CALL,)))
    await weaver.weave("the bill", conversation="c")
    with pytest.raises(CheckpointNotFound):
        await weaver.approvals.decide("c", "pay-bill", "sign-off", "rejected", by="Zoë")


async def test_a_changed_checkpoint_asks_again() -> None:
    source = await source_of(Agent("clerk", skills=("pay-bill",), checkpoints=(ALWAYS,)))
    clerk = await Weaver(Registry([source]), MemoryStore(), counter=WordCounter()).for_agent("clerk")
    await clerk.weave("the bill", conversation="c")
    await clerk.approvals.decide("c", "pay-bill", "sign-off", "approved", by="Zoë")
    other = Checkpoint("sign-off", before="refund", scope=CheckpointScope.CONVERSATION)
    await source.put_agents([Agent("clerk", skills=("pay-bill",), checkpoints=(other,))])
    await clerk.skills.refresh()
    injection = await clerk.weave("the bill", conversation="c")
    assert [one.before for one in injection.checkpoints] == ["refund"]


async def test_a_sub_agents_plan_has_the_agents_checkpoints() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("pay-bill",), checkpoints=(PER_CALL,)))
    plan = await clerk.composition.prepare_spawn(SpawnRequest("go", ("pay-bill",)))
    assert isinstance(plan, SpawnPlan)
    assert plan.policy.authorize("pay").ruling is Ruling.ASK


# -- its budget -------------------------------------------------------------------------------------------------------

LONG = make_skill("long", keywords=["long"], instructions="word " * 500)


async def test_what_is_more_than_the_agents_budget_is_over_budget() -> None:
    agent = Agent("clerk", skills=("long", "greet"), budgets={"tokens_per_execution": 120})
    clerk = await clerk_of(agent, (LONG, GREET))
    injection = await clerk.weave("long hello", conversation="c")
    assert outcomes(injection)["long"] is Outcome.OVER_BUDGET
    assert outcomes(injection)["greet"] is Outcome.INJECTED
    assert 0 < injection.tokens.injected <= 120


async def test_the_budget_is_for_all_skill_text_in_the_context_so_that_new_text_takes_the_place_of_old() -> None:
    texts = [make_skill(f"s{n}", keywords=[f"word{n}"], instructions="word " * 60) for n in range(3)]
    agent = Agent("clerk", skills=("s0", "s1", "s2"), budgets={"tokens_per_execution": 200})
    clerk = await clerk_of(agent, texts)
    given = [await clerk.weave(f"word{n}", conversation="c") for n in range(3)]
    assert [outcomes(one)[f"s{n}"] for n, one in enumerate(given)] == [Outcome.INJECTED] * 3
    assert [[drop.skill_id for drop in one.drop] for one in given] == [[], [], ["s0"]]


async def test_with_a_budget_of_nothing_nothing_fits() -> None:
    clerk = await clerk_of(
        Agent("clerk", skills=("greet",), budgets={"tokens_per_execution": 0}),
        settings=Settings(catalog=CatalogMode.ALWAYS),
    )
    injection = await clerk.weave("hello", conversation="c")
    assert outcomes(injection)["greet"] is Outcome.OVER_BUDGET
    assert (injection.messages, injection.instructions, injection.tail) == ((), "", "")


async def test_what_a_skill_forbids_holds_although_its_text_does_not_fit() -> None:
    quiet = make_skill("quiet", keywords=["hello"], tools=ToolRules(forbidden=("shout",)))
    clerk = await clerk_of(Agent("clerk", skills=("quiet",), budgets={"tokens_per_execution": 0}), (quiet,))
    injection = await clerk.weave("hello", conversation="c")
    assert injection.tools.authorize("shout").ruling is Ruling.DENY


async def test_a_budget_never_makes_the_settings_own_larger() -> None:
    settings = Settings(budget=Budget(total=120))
    clerk = await clerk_of(Agent("clerk", skills=("long",), budgets={"tokens_per_execution": 9000}), (LONG,), settings)
    assert outcomes(await clerk.weave("long", conversation="c"))["long"] is Outcome.OVER_BUDGET
    assert clerk.settings == settings


async def test_other_budgets_are_told_and_bound_nothing() -> None:
    agent = Agent("clerk", "Clerk", "assistant", "some-model", ("greet",), budgets={"cost_per_day": 0})
    clerk = await clerk_of(agent)
    assert clerk.skills.agent == agent
    assert (await clerk.weave("hello", conversation="c")).skills == ("greet",)


# -- following the sources --------------------------------------------------------------------------------------------


async def test_a_changed_agent_counts_from_the_next_turn_on() -> None:
    source = await source_of(Agent("clerk", skills=("greet",)))
    clerk = await Weaver(Registry([source]), MemoryStore(), counter=WordCounter()).for_agent("clerk")
    assert (await clerk.weave("hello", conversation="c")).skills == ("greet",)
    await source.put_agents([Agent("clerk", skills=("shout",), budgets={"tokens_per_execution": 0})])
    await clerk.skills.refresh()
    assert outcomes(await clerk.weave("hello", conversation="d")) == {"shout": Outcome.OVER_BUDGET}


async def test_a_changed_skill_counts_from_the_next_turn_on() -> None:
    source = await source_of(Agent("clerk", skills=("greet",)))
    clerk = await Weaver(Registry([source]), MemoryStore(), counter=WordCounter()).for_agent("clerk")
    await clerk.weave("hello", conversation="c")
    await source.publish(make_skill("greet", keywords=["hello"], instructions="Another way."))
    await clerk.skills.refresh()
    injection = await clerk.weave("hello", conversation="c")
    assert outcomes(injection)["greet"] is Outcome.REFRESHED
    assert "Another way." in injection.messages[0].text


async def test_an_agent_that_is_taken_away_has_no_turns_any_more_never_all_skills() -> None:
    source = await source_of(Agent("clerk", skills=("greet",)), Agent("writer"))
    clerk = await Weaver(Registry([source]), MemoryStore(), counter=WordCounter()).for_agent("clerk")
    await clerk.weave("hello", conversation="c")
    await source.remove_agent("clerk")
    await clerk.skills.refresh()
    for asked in (
        clerk.weave("hello", conversation="c"),
        clerk.preview("hello", conversation="c"),
        clerk.skills.match("hello", conversation="c"),
        clerk.current_policy("c"),
        clerk.tools.read_skill("greet", conversation="c"),
        clerk.skills.snapshot(),
    ):
        with pytest.raises(AgentNotFound, match="writer"):
            await asked
    with pytest.raises(AgentNotFound):
        _ = clerk.skills.agent
    await source.put_agents([Agent("clerk", skills=("greet",))])
    await clerk.skills.refresh()
    assert (await clerk.weave("hello", conversation="d")).skills == ("greet",)


async def test_a_claim_of_an_agent_that_is_taken_away_meanwhile_is_closed_all_the_same() -> None:
    source = await source_of(Agent("clerk", skills=("greet",)))
    clerk = await Weaver(Registry([source]), MemoryStore(), counter=WordCounter()).for_agent("clerk")
    async with clerk.delivery("hello", conversation="c") as injection:
        await source.remove_agent("clerk")
        await clerk.skills.refresh()
    assert injection.skills == ("greet",)
    assert all(record.until is None for record in (await clerk.ledger.state("c")).records)


async def test_an_unknown_agent_is_answered_with_the_known_ones() -> None:
    weaver = await weaver_of(Agent("clerk"))
    with pytest.raises(AgentNotFound, match="did you mean 'clerk'"):
        await weaver.for_agent("clark")
    with pytest.raises(InvalidValue, match="agent_id"):
        await weaver.for_agent(7)  # type: ignore[arg-type]


# -- with the rest of a weaver ----------------------------------------------------------------------------------------


async def test_an_agents_weaver_has_variants_for_the_same_agent() -> None:
    clerk = await clerk_of(Agent("clerk", skills=("greet", "needy"), budgets={"tokens_per_execution": 0}))
    variant = clerk.variant(Settings(max_skills=1), tenant="acme")
    assert (variant.skills.agent, variant.ledger.tenant) == (clerk.skills.agent, "acme")
    assert outcomes(await variant.weave("hello", conversation="c")) == {"greet": Outcome.OVER_BUDGET}
    acme = (await weaver_of(Agent("clerk", skills=("greet",)))).variant(tenant="acme")
    of_acme = await acme.for_agent("clerk")
    assert (of_acme.ledger.tenant, list(await of_acme.skills.snapshot())) == ("acme", ["greet"])


async def test_an_agents_weaver_leads_to_another_agents() -> None:
    weaver = await weaver_of(Agent("clerk", skills=("greet",)), Agent("writer", skills=("shout",)))
    writer = await (await weaver.for_agent("clerk")).for_agent("writer")
    assert list(await writer.skills.snapshot()) == ["shout"]


async def test_what_the_settings_do_not_grant_the_agent_does_not_get() -> None:
    agent = Agent("clerk", skills=("greet", "shout"))
    clerk = await clerk_of(agent, settings=Settings(granted=frozenset({"shout", "pay-bill"})))
    assert (await clerk.weave("hello bill", conversation="c")).skills == ("shout",)


async def test_observers_hear_the_turns_of_agents() -> None:
    recorder = Recorder()
    source = await source_of(Agent("clerk", skills=("greet",)))
    weaver = Weaver(Registry([source]), MemoryStore(), counter=WordCounter(), observers=[recorder])
    await (await weaver.for_agent("clerk")).weave("hello", conversation="c")
    assert "skill.injected" in [event.event_type for event in recorder.events]


def test_the_weaver_without_await_has_agents_too() -> None:
    pack = MemorySource()
    with skillweave.open(GREET, SHOUT, pack, counter=WordCounter()).sync as sync:
        sync.run(pack.put_agents([Agent("clerk", skills=("greet",))]))
        clerk = sync.for_agent("clerk").sync
        assert clerk.weave("hello", conversation="c").skills == ("greet",)


class SeesTheIndex:
    """A matcher that remembers which compiled skills it was asked about."""

    name = "sees"
    strength = 5
    deliberate = False

    def __init__(self) -> None:
        self.seen: list[object] = []

    def match(self, context: MatchContext) -> Selection:
        if all(context.skills is not one for one in self.seen):
            self.seen.append(context.skills)
        return Selection()


async def test_an_agents_skills_are_compiled_once_for_all_its_weavers_and_again_only_when_they_change() -> None:
    sees = SeesTheIndex()
    source = await source_of(Agent("clerk", skills=("greet",)))
    weaver = Weaver(Registry([source]), MemoryStore(), counter=WordCounter(), matchers=("triggers", sees))
    for number in range(3):
        await (await weaver.for_agent("clerk")).weave("hello", conversation=f"c{number}")
        await weaver.weave("hello", conversation=f"d{number}")
    assert len(sees.seen) == 2
    await source.publish(make_skill("shout", keywords=["hello"], instructions="Louder."))
    await weaver.skills.refresh()
    await (await weaver.for_agent("clerk")).weave("hello", conversation="e")
    assert len(sees.seen) == 2
