"""A sub-agent from the request to its own turns, with what observers are told on the way (spec 4.4)."""

from types import MappingProxyType

import pytest

from skillweave import (
    Budget,
    Checkpoint,
    Event,
    MemoryStore,
    Outcome,
    Placement,
    Registry,
    Ruling,
    Settings,
    SpawnRequest,
    ToolCall,
    ToolPolicy,
    ToolRules,
    Weaver,
)
from skillweave.errors import InvalidSpawn, InvalidTurn
from skillweave.events import Callback
from skillweave.skills import CheckpointScope
from skillweave.sources import InCode
from skillweave.tools import Parent, SpawnPlan, SpawnRejected
from skillweave_testing import FailingStore, WordCounter
from tests.skills import make_skill

READER = make_skill("reader", keywords=["read"], tools=ToolRules(("read", "search")))
WRITER = make_skill("writer", tools=ToolRules(("write", "Bash"), forbidden=("Bash(rm:*)",)))
SHELL = make_skill("shell", tools=ToolRules(("Bash",)))
PAYER = make_skill("payer", checkpoints=[Checkpoint("release", before="pay", scope=CheckpointScope.CONVERSATION)])
NEEDY = make_skill("needy", requires=["reader"])
TOOLS = ["read", "search", "write", "Bash", "pay"]


def weaver_of(*, told: list[Event] | None = None, settings: Settings | None = None, store: object = None) -> Weaver:
    return Weaver(
        Registry([InCode(READER, WRITER, SHELL, PAYER, NEEDY)]),
        store or MemoryStore(),  # type: ignore[arg-type]
        settings,
        counter=WordCounter(),
        observers=() if told is None else [Callback(told.append)],
    )


async def plan_of(weaver: Weaver, *skills: str, **options: object) -> SpawnPlan:
    prepared = await weaver.composition.prepare_spawn(SpawnRequest("Do it", skills or None), **options)  # type: ignore[arg-type]
    assert isinstance(prepared, SpawnPlan), prepared
    return prepared


async def test_the_sub_agents_first_turn_gives_it_its_skills_within_the_plan() -> None:
    weaver = weaver_of()
    plan = await plan_of(weaver, "writer", parent=Parent("c", ToolPolicy()), tools=TOOLS)
    injection = await weaver.weave(
        "Begin", conversation=plan.conversation, named=plan.skills, tools=plan.tools, limits=plan.limits
    )
    assert injection.skills == ("writer",)
    assert injection.tools.offers(TOOLS) == plan.policy.offers(TOOLS) == ("write", "Bash")
    assert injection.tools.authorize("Bash", {"command": "rm x"}).ruling is Ruling.DENY
    assert injection.tools.authorize("Bash", {"command": "ls"}).ruling is Ruling.ALLOW


async def test_without_the_limits_the_granted_tools_alone_hold_for_whole_tools() -> None:
    weaver = weaver_of()
    plan = await plan_of(weaver, "reader", parent=Parent("c", ToolPolicy(("read", "write"))), tools=TOOLS)
    injection = await weaver.weave("x", conversation=plan.conversation, named=plan.skills, tools=plan.tools)
    assert injection.tools.offers(TOOLS) == plan.policy.offers(TOOLS) == ("read",)


async def test_its_conversation_is_its_own() -> None:
    weaver = weaver_of()
    parent = await weaver.weave("read this", conversation="c")
    plan = await plan_of(weaver, "reader", parent=parent)
    child = await weaver.weave(plan.turn("Begin", "t1"))
    assert {decision.skill_id: decision.outcome for decision in child.decisions} == {"reader": Outcome.INJECTED}
    assert plan.conversation.startswith("c/")
    assert (await weaver.ledger.state("c")).last_turn != "t1"


async def test_no_skill_that_the_sub_agent_selects_later_widens_its_tools() -> None:
    weaver = weaver_of()
    plan = await plan_of(weaver, "reader")
    await weaver.weave(plan.turn("Begin", "t1"))
    later = await weaver.weave(
        "go on", conversation=plan.conversation, named=["reader", "writer"], tools=plan.tools, limits=plan.limits
    )
    assert "writer" in later.skills
    assert later.tools.offers(TOOLS) == ("read", "search")


async def test_a_skill_whose_text_does_not_fit_loosens_nothing() -> None:
    weaver = weaver_of(settings=Settings(budget=Budget(total=1)))
    plan = await plan_of(weaver, "writer", tools=TOOLS)
    injection = await weaver.weave(plan.turn("Begin", "t1"))
    assert injection.skills == ()
    assert injection.tools.authorize("Bash", {"command": "rm x"}).ruling is Ruling.DENY
    assert injection.tools.offers(TOOLS) == ("write", "Bash")


async def test_a_ledger_that_does_not_answer_loosens_nothing() -> None:
    store = FailingStore(MemoryStore())
    weaver = weaver_of(store=store)
    plan = await plan_of(weaver, "reader", parent=Parent("c", ToolPolicy(forbidden_tools=("search",))))
    store.down = {"load", "swap", "append"}
    injection = await weaver.weave(plan.turn("Begin", "t1"))
    assert injection.tools.offers(TOOLS) == ("read",)


@pytest.mark.parametrize("placement", list(Placement))
async def test_limits_hold_in_both_placements(placement: Placement) -> None:
    weaver = weaver_of()
    plan = await plan_of(weaver, "shell", parent=Parent("c", ToolPolicy(("Bash(git:*)",))))
    injection = await weaver.weave(
        "x",
        conversation=plan.conversation,
        named=plan.skills,
        tools=plan.tools,
        limits=plan.limits,
        placement=placement,
    )
    assert injection.tools.authorize("Bash", {"command": "git x"}).ruling is Ruling.ALLOW
    assert injection.tools.authorize("Bash", {"command": "ls"}).ruling is Ruling.DENY


async def test_zero_capability_stays_zero_whatever_the_message_triggers() -> None:
    weaver = weaver_of()
    prepared = await weaver.composition.prepare_spawn({"task": "Think", "skills": []}, tools=TOOLS)
    assert isinstance(prepared, SpawnPlan)
    injection = await weaver.weave(prepared.turn("read this", "t1"))
    assert injection.tools.offers(TOOLS) == ()


async def test_three_generations_through_their_own_turns_never_widen() -> None:
    weaver = weaver_of()
    root = await weaver.weave("x", conversation="c", named=["payer"], tools=["read", "Bash", "pay"])
    first = await plan_of(weaver, parent=root, tools=TOOLS)
    turn = await weaver.weave(first.turn("x", "t1"))
    second = await plan_of(weaver, "shell", parent=turn)
    turn = await weaver.weave(second.turn("x", "t2"))
    third = await plan_of(weaver, parent=turn, tools=TOOLS)
    assert first.tools == ("read", "Bash", "pay")
    assert first.policy.authorize("pay").ruling is Ruling.ASK
    assert second.tools == third.tools == ("Bash",)
    assert third.conversation.count("/") == 3


async def test_a_parent_is_named_by_its_conversation() -> None:
    weaver = weaver_of()
    await weaver.weave("x", conversation="c", named=["reader"])
    plan = await plan_of(weaver, parent="c", tools=TOOLS)
    assert plan.tools == ("read", "search")
    assert [entry.skill_id for entry in (await weaver.ledger.state("c")).engaged] == ["reader"]


async def test_looking_at_the_parent_writes_nothing() -> None:
    weaver = weaver_of()
    await weaver.weave("read", conversation="c")
    state = await weaver.ledger.state("c")
    await plan_of(weaver, parent="c")
    assert await weaver.ledger.state("c") == state


async def test_a_sub_agent_is_a_parent_by_its_plan_and_by_its_conversation() -> None:
    weaver = weaver_of()
    plan = await plan_of(weaver, "reader", parent=Parent("c", ToolPolicy()))
    for parent in (plan, plan.conversation):
        assert (await plan_of(weaver, parent=parent)).tools == ("read", "search")


async def test_every_spawn_gets_an_id_of_its_own() -> None:
    weaver = weaver_of()
    assert (await plan_of(weaver)).conversation != (await plan_of(weaver)).conversation
    assert (await plan_of(weaver, spawn_id="s")).conversation == "/s"
    with pytest.raises(InvalidSpawn):
        await weaver.composition.prepare_spawn({"task": "x"}, spawn_id="")


async def test_a_request_that_cannot_be_read_is_refused() -> None:
    with pytest.raises(InvalidSpawn):
        await weaver_of().composition.prepare_spawn({"task": "x", "skills": [1]})
    with pytest.raises(InvalidTurn):
        await weaver_of().composition.prepare_spawn({"task": "x"}, parent="")


async def test_skills_that_are_not_granted_cannot_be_handed_on() -> None:
    weaver = weaver_of(settings=Settings(granted=frozenset({"reader"})))
    prepared = await weaver.composition.prepare_spawn({"task": "x", "skills": ["writer"]})
    assert isinstance(prepared, SpawnRejected)
    assert [error.code for error in prepared.errors] == ["SKILL_NOT_GRANTED"]


async def test_requested_validated_and_started_are_told_to_observers() -> None:
    told: list[Event] = []
    weaver = weaver_of(told=told)
    request = SpawnRequest("a secret task", ("reader",), label="scout")
    plan = await weaver.composition.prepare_spawn(request, parent=Parent("c", ToolPolicy()), spawn_id="s", tools=TOOLS)
    assert isinstance(plan, SpawnPlan)
    await weaver.composition.spawned(plan)
    assert [event.event_type for event in told] == ["spawn.requested", "spawn.validated", "spawn.started"]
    assert {event.conversation for event in told} == {"c"}
    assert told[0].payload.to_dict() == {"label": "scout", "skills": ["reader"]}
    assert told[1].payload.to_dict() == {
        "label": "scout",
        "spawned": "c/s",
        "skills": ["reader"],
        "allowed_tools": ["read", "search"],
        "forbidden_tools": [],
    }
    assert told[2].payload.to_dict() == {"label": "scout", "spawned": "c/s"}
    assert "secret" not in str([event.to_dict() for event in told])


async def test_a_rejection_is_told_with_its_codes() -> None:
    told: list[Event] = []
    await weaver_of(told=told).composition.prepare_spawn({"task": "x", "skills": ["needy", "nobody"]}, spawn_id="s")
    assert [event.event_type for event in told] == ["spawn.requested", "spawn.rejected"]
    assert told[1].payload.to_dict() == {
        "label": None,
        "skills": ["needy", "nobody"],
        "codes": ["MISSING_REQUIRED", "UNKNOWN_SKILL"],
    }
    assert told[0].conversation == "/s"


async def test_the_same_spawn_told_again_has_the_same_ids_and_another_request_has_not() -> None:
    told: list[Event] = []
    weaver = weaver_of(told=told)
    for skills in (["reader"], ["reader"], ["shell"], [], None):
        await weaver.composition.prepare_spawn({"task": "x", "skills": skills}, spawn_id="s")
    requested = [event.id for event in told if event.event_type == "spawn.requested"]
    assert requested[0] == requested[1]
    assert len(set(requested)) == 4


async def test_without_an_observer_nothing_is_made() -> None:
    plan = await plan_of(weaver_of(), "reader")
    assert await weaver_of().composition.spawned(plan) is None  # type: ignore[func-returns-value]


async def test_limits_come_from_another_process_as_json() -> None:
    plan = await plan_of(
        weaver_of(), "writer", parent=Parent("c", ToolPolicy(asks=MappingProxyType({"write": ("x",)})))
    )
    handed = type(plan.limits).from_dict(plan.to_dict()["limits"])
    injection = await weaver_of().weave("x", conversation=plan.conversation, named=plan.skills, limits=handed)
    assert injection.tools.authorize("write").ruling is Ruling.ASK
    assert injection.tools.offers(TOOLS) == ("write", "Bash")


async def test_the_policy_after_a_read_of_a_sub_agent_stays_within_its_limits() -> None:
    weaver = weaver_of()
    plan = await plan_of(weaver, "writer", tools=TOOLS)
    answer = await weaver.tools.read_skill("shell", conversation=plan.conversation, limits=plan.limits)
    assert answer.injection is not None
    assert answer.injection.tools.authorize("Bash", {"command": "rm x"}).ruling is Ruling.DENY
    assert answer.injection.tools.authorize("pay").ruling is Ruling.DENY


async def decided(weaver: Weaver, conversation: str) -> None:
    await weaver.approvals.decide(conversation, "payer", "release", "approved", by="Kim")


async def test_a_checkpoint_of_its_own_skill_asks_until_a_person_decided_in_its_conversation() -> None:
    weaver = weaver_of()
    plan = await plan_of(weaver, "payer")
    assert (await weaver.weave(plan.turn("Begin", "t1"))).tools.authorize("pay").ruling is Ruling.ASK
    await decided(weaver, plan.conversation)
    assert (await weaver.weave(plan.turn("Go on", "t2"))).tools.authorize("pay").ruling is Ruling.ALLOW
    standing = await weaver.current_policy(plan.conversation, limits=plan.limits)
    assert standing.tools.authorize("pay").ruling is Ruling.ALLOW


async def test_a_checkpoint_of_its_parent_asks_also_after_a_yes_to_its_own_of_the_same_name() -> None:
    weaver = weaver_of()
    plan = await plan_of(weaver, "payer", parent=Parent("c", ToolPolicy(asks={"pay": ("release",)})))
    await weaver.weave(plan.turn("Begin", "t1"))
    await decided(weaver, plan.conversation)
    assert (await weaver.weave(plan.turn("Go on", "t2"))).tools.authorize("pay").ruling is Ruling.ASK


BILLS = make_skill("bills", keywords=["bill"], checkpoints=[Checkpoint("release", before="pay")])
FEES = make_skill("fees", keywords=["fee"], checkpoints=[Checkpoint("release", before="pay")])
CALL = ToolCall("call-1", "pay", {"bill": "B-7"})


async def answered_in_the_child(message: str) -> Ruling:
    """What the child may do with its call after a yes there, where its parent heard this message."""
    weaver = Weaver(Registry([InCode(BILLS, FEES)]), MemoryStore(), counter=WordCounter())
    parent = await weaver.weave(message, conversation="office")
    plan = await plan_of(weaver, "bills", parent=parent, tools=TOOLS)
    await weaver.weave("Pay it", conversation=plan.conversation, named=plan.skills, limits=plan.limits)
    await weaver.approvals.decide(plan.conversation, "bills", "release", "approved", by="Ann", call=CALL)
    now = await weaver.current_policy(plan.conversation, limits=plan.limits)
    ruled = await weaver.authorize(now, CALL.tool, CALL.arguments, call_id=CALL.id, limits=plan.limits)
    return ruled.ruling


async def test_a_checkpoint_of_a_skill_that_parent_and_sub_agent_share_is_answered_once() -> None:
    assert await answered_in_the_child("the bill") is Ruling.ALLOW


async def test_a_skill_that_only_the_parent_has_asks_also_after_a_yes_at_a_checkpoint_of_that_name() -> None:
    assert await answered_in_the_child("the bill and the fee") is Ruling.ASK


async def test_what_its_own_checkpoints_ask_is_asked_of_what_it_spawns() -> None:
    weaver = weaver_of()
    plan = await plan_of(weaver, "payer")
    child = await plan_of(weaver, parent=plan)
    assert child.limits.asks == {"pay": ("release",)}
    assert child.limits.own_asks == {}


async def test_no_earlier_yes_lets_a_call_through_while_the_ledger_does_not_answer() -> None:
    store = FailingStore(MemoryStore())
    weaver = weaver_of(store=store)
    plan = await plan_of(weaver, "payer")
    await weaver.weave(plan.turn("Begin", "t1"))
    await decided(weaver, plan.conversation)
    store.down = {"load", "swap", "append"}
    assert (await weaver.weave(plan.turn("Go on", "t2"))).tools.authorize("pay").ruling is Ruling.DENY


async def test_a_yes_to_another_skill_is_none_to_its_own_checkpoint_of_the_same_name() -> None:
    weaver = weaver_of(settings=Settings(budget=Budget(total=60)))
    long = make_skill(
        "long",
        instructions="word " * 200,
        checkpoints=[Checkpoint("release", before="pay", scope=CheckpointScope.CONVERSATION)],
    )
    weaver.skills.registry.register(long)
    plan = await plan_of(weaver, "long")
    begun = await weaver.weave(plan.turn("Begin", "t1"))
    # Its text does not fit; its checkpoint asks all the same.
    assert [one.name for one in begun.checkpoints] == ["release"]
    await weaver.tools.read_skill("payer", conversation=plan.conversation, limits=plan.limits)
    await decided(weaver, plan.conversation)
    standing = await weaver.current_policy(plan.conversation, limits=plan.limits)
    assert standing.tools.authorize("pay").ruling is Ruling.ASK
    await weaver.approvals.decide(plan.conversation, "long", "release", "approved", by="Kim")
    standing = await weaver.current_policy(plan.conversation, limits=plan.limits)
    assert standing.tools.authorize("pay").ruling is Ruling.ALLOW
