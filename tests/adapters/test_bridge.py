import pytest

import skillweave
from skillweave import (
    Checkpoint,
    MemoryStore,
    Message,
    Placement,
    Role,
    Ruling,
    Settings,
    ToolCall,
    ToolRules,
    Weaver,
    WhenUnknown,
)
from skillweave.adapters import bridge as bridge_module
from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import Call, HostMessage
from skillweave.errors import InvalidValue
from skillweave.tools import SpawnPlan
from skillweave_testing import FailingStore, Recorder, WordCounter
from tests.skills import make_skill

INVOICE = make_skill(
    "invoice",
    keywords=["invoice"],
    tools=ToolRules(allowed=("read", "pay"), forbidden=("write",)),
    checkpoints=[Checkpoint("release", before="pay"), Checkpoint("look", before="Bash(rm:*)")],
)
OTHER = make_skill("other", keywords=["invoice"], checkpoints=[Checkpoint("release", before="send")])
GREET = make_skill("greet", keywords=["hello"])


def weaver_of(
    recorder: Recorder | None = None,
    store: FailingStore | None = None,
    when_unknown: WhenUnknown = WhenUnknown.DENY,
) -> Weaver:
    observers = [recorder] if recorder else []
    return skillweave.open(
        INVOICE, OTHER, GREET, ledger=store, counter=WordCounter(), observers=observers, when_unknown=when_unknown
    )


def said(text: str) -> list[HostMessage]:
    message = Message(Role.USER, (text,))
    return [HostMessage("chat[0]", message, message)]


def call(name: str, **arguments: object) -> Call:
    return Call(f"call-{name}", name, arguments)


async def test_a_turn_is_woven_in_the_placement_of_the_host() -> None:
    in_call = await Bridge(weaver_of(), Placement.CALL).weave(said("the invoice"), "c")
    assert (in_call.messages, "Activated: Invoice" in in_call.instructions) == ((), True)
    in_history = await Bridge(weaver_of()).weave(said("the invoice"), "c")
    assert len(in_history.messages) == 2


async def test_the_model_is_told_of_our_tools_as_the_adapter_declares_them() -> None:
    weaver = skillweave.open(GREET, settings=Settings(catalog=skillweave.CatalogMode.ALWAYS), counter=WordCounter())
    injection = await Bridge(weaver).weave(said("x"), "c")
    assert "read_skill" in injection.catalog


async def test_settings_and_matchers_are_those_of_the_variant_that_the_agent_is_given() -> None:
    one = weaver_of().variant(Settings(max_skills=1))
    assert len((await Bridge(one).weave(said("the invoice"), "c")).skills) == 1
    marked = weaver_of().variant(matchers=["explicit"])
    assert (await Bridge(marked).weave(said("the invoice"), "d")).skills == ()


async def test_a_call_is_judged_by_what_is_in_force_now() -> None:
    bridge = Bridge(weaver_of())
    assert (await bridge.judge(call("write"), "c")).runs
    await bridge.weave(said("the invoice"), "c")
    judged = await bridge.judge(call("write"), "c")
    assert (judged.runs, judged.verdict.code) == (False, "TOOL_FORBIDDEN")


async def test_another_bridge_over_the_same_ledger_judges_the_same() -> None:
    weaver = weaver_of()
    await Bridge(weaver).weave(said("the invoice"), "c")
    assert not (await Bridge(weaver).judge(call("write"), "c")).runs


async def test_a_call_that_waits_names_the_checkpoints_before_that_tool_only() -> None:
    bridge = Bridge(weaver_of())
    await bridge.weave(said("the invoice"), "c")
    judged = await bridge.judge(call("pay"), "c")
    assert judged.verdict.ruling is Ruling.ASK
    assert [(one.skill_id, one.name) for one in judged.waits] == [("invoice", "release")]


async def test_a_checkpoint_before_a_pattern_waits_for_calls_of_the_pattern() -> None:
    bridge = Bridge(weaver_of())
    await bridge.weave(said("the invoice"), "c")
    assert [one.name for one in (await bridge.judge(call("Bash", command="rm -r x"), "c")).waits] == ["look"]
    assert (await bridge.judge(call("Bash", command="ls"), "c")).waits == ()


async def test_a_call_that_cannot_be_read_is_denied_in_words_for_the_model() -> None:
    judged = await Bridge(weaver_of()).judge(Call("1", "read", None, "not JSON"), "c")
    assert (judged.runs, judged.verdict.message) == (False, "not JSON")


async def test_observers_are_told_of_a_denied_call_once_per_call() -> None:
    recorder = Recorder()
    bridge = Bridge(weaver_of(recorder))
    await bridge.weave(said("the invoice"), "c")
    await bridge.judge(call("write"), "c")
    (event,) = recorder.of("tool.blocked")
    assert event.conversation == "c"


async def test_our_own_tools_are_answered_and_engage() -> None:
    bridge = Bridge(weaver_of())
    answer = await bridge.answer(call("read_skill", skill_id="greet"), "c")
    assert "=== Skill Activated: Greet ===" in answer.text
    assert [one.skill_id for one in (await bridge.weaver.ledger.state("c")).engaged] == ["greet"]


async def test_what_a_host_in_call_placement_reads_stands_in_the_next_call_only() -> None:
    bridge = Bridge(weaver_of(), Placement.CALL)
    answer = await bridge.answer(call("read_skill", skill_id="greet"), "c")
    assert answer.text == "greet: loaded; it stands in the system prompt from the next call on"
    assert not answer.failed
    assert "Activated: Greet" in (await bridge.weave(said("x"), "c")).instructions


async def test_while_the_ledger_is_silent_what_it_said_at_the_last_call_holds() -> None:
    store = FailingStore(MemoryStore())
    bridge = Bridge(weaver_of(store=store, when_unknown=WhenUnknown.ALLOW))
    await bridge.weave(said("the invoice"), "c")
    store.down.add("load")
    assert not (await bridge.judge(call("write"), "c")).runs
    assert (await bridge.judge(call("write"), "another")).runs


async def test_a_turn_without_the_ledger_adds_rules_and_takes_none_away() -> None:
    store = FailingStore(MemoryStore())
    bridge = Bridge(weaver_of(store=store, when_unknown=WhenUnknown.ALLOW))
    await bridge.weave(said("the invoice"), "c")
    store.down.update({"load", "swap", "append"})
    unread = await bridge.weave(said("Go on"), "c")
    assert unread.tools.offers(["write", "read"]) == ("read",)
    assert not (await bridge.judge(call("write"), "c")).runs
    judged = await bridge.judge(call("pay"), "c")
    assert (judged.verdict.ruling, [one.name for one in judged.waits]) == (Ruling.ASK, ["release"])
    store.down.clear()
    paid = ToolCall(call("pay").id, "pay", call("pay").arguments or {})
    await bridge.weaver.approvals.decide("c", "invoice", "release", "approved", by="Ann", call=paid)
    assert (await bridge.judge(call("pay"), "c")).runs


async def test_only_so_many_conversations_are_remembered_for_that() -> None:
    store = FailingStore(MemoryStore())
    bridge = Bridge(weaver_of(store=store, when_unknown=WhenUnknown.ALLOW))
    for number in range(bridge_module.MOST_REMEMBERED + 1):
        await bridge.weave(said("the invoice"), f"c{number}")
    store.down.add("load")
    assert (await bridge.judge(call("write"), "c0")).runs
    assert not (await bridge.judge(call("write"), f"c{bridge_module.MOST_REMEMBERED}")).runs


async def test_a_sub_agents_turns_have_its_skills_and_its_limits() -> None:
    weaver = weaver_of()
    plan = await weaver.composition.prepare_spawn({"task": "Check it", "skills": ["invoice"]}, spawn_id="s")
    assert isinstance(plan, SpawnPlan)
    bridge = Bridge(weaver, plan=plan)
    injection = await bridge.weave(said("begin"), plan.conversation)
    assert injection.skills == ("invoice",)
    assert not (await bridge.judge(call("anything"), plan.conversation)).runs
    assert (await bridge.judge(call("read"), plan.conversation)).runs


def test_a_folder_in_place_of_a_weaver_is_refused_with_the_remedy() -> None:
    with pytest.raises(InvalidValue, match=r"weaver=.* the text 'skills'; give a Weaver; open one: skillweave\.open"):
        Bridge("skills")  # type: ignore[arg-type]


@pytest.mark.parametrize("placement", Placement)
async def test_a_run_in_which_nobody_spoke_keeps_what_is_engaged(placement: Placement) -> None:
    bridge = Bridge(weaver_of(), placement)
    await bridge.weave(said("the invoice"), "c")
    injection = await bridge.weave([], "c")
    assert injection.tools.offers(["write", "read"]) == ("read",)
    system = Message(Role.SYSTEM, ("Be brief: the invoice.",))
    injection = await bridge.weave([HostMessage("chat[0]", system, system)], "d")
    assert (injection.skills, injection.conversation) == ((), "d")


async def test_a_sub_agent_in_which_nobody_spoke_has_the_skills_of_its_plan() -> None:
    weaver = weaver_of()
    plan = await weaver.composition.prepare_spawn({"task": "Check it", "skills": ["invoice"]}, spawn_id="s")
    assert isinstance(plan, SpawnPlan)
    assert (await Bridge(weaver, plan=plan).weave([], plan.conversation)).skills == ("invoice",)
