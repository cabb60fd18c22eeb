"""Verdicts about single calls, as they are kept and as the tool policy judges by them."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from skillweave import (
    ApprovalVerdict,
    Checkpoint,
    CheckpointVerdict,
    MemoryStore,
    Registry,
    Ruling,
    Skill,
    SpawnRequest,
    State,
    ToolCall,
    Verdict,
    Weaver,
)
from skillweave.errors import InvalidTurn, InvalidValue, InvalidVerdict
from skillweave.ledger import Writes
from skillweave.skills import CheckpointScope
from skillweave.state.approvals import MOST_APPROVALS
from skillweave.tools import Parent, SpawnPlan
from skillweave.turns import CurrentPolicy
from skillweave_testing import Recorder, WordCounter
from tests.skills import make_skill

INV_1, INV_2 = {"invoice": "INV-1", "amount": 900}, {"invoice": "INV-2", "amount": 900}
FIRST, SECOND = ToolCall("a", "pay", INV_1), ToolCall("b", "pay", INV_2)
SIGN_OFF = Checkpoint("sign-off", before="pay")
FOR_ALL = replace(SIGN_OFF, scope=CheckpointScope.CONVERSATION)


def bill(*more: Checkpoint, skill_id: str = "pay-bill", instructions: str = "How to pay.") -> Skill:
    return make_skill(skill_id, keywords=["bill"], instructions=instructions, checkpoints=[SIGN_OFF, *more])


def weaver_of(*skills: Skill, store: MemoryStore | None = None, observers: tuple[Recorder, ...] = ()) -> Weaver:
    registry = Registry()
    for skill in skills:
        registry.register(skill)
    return Weaver(registry, store or MemoryStore(), counter=WordCounter(), observers=observers)


async def engaged(*skills: Skill) -> Weaver:
    weaver = weaver_of(*skills)
    await weaver.weave("the bill", conversation="c")
    return weaver


async def said(weaver: Weaver, verdict: str, call: ToolCall | None, **more: object) -> None:
    arguments: Mapping[str, object] | None = more.pop("arguments", None)  # type: ignore[assignment]
    note, skill_id = str(more.pop("note", "")), str(more.pop("skill_id", "pay-bill"))
    await weaver.approvals.decide(
        "c", skill_id, "sign-off", verdict, by="Ann", note=note, call=call, arguments=arguments
    )


async def judged(weaver: Weaver, call: ToolCall, now: CurrentPolicy | None = None) -> Verdict:
    now = now or await weaver.current_policy("c")
    return await weaver.authorize(now, call.tool, call.arguments, call_id=call.id)


async def ruling(weaver: Weaver, call: ToolCall) -> Ruling:
    return (await judged(weaver, call)).ruling


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        (FIRST, Ruling.ALLOW),
        (replace(FIRST, arguments={"amount": 900, "invoice": "INV-1"}), Ruling.ALLOW),
        (replace(FIRST, id="b"), Ruling.ASK),
        (replace(FIRST, id=""), Ruling.ASK),
        (replace(FIRST, arguments=INV_2), Ruling.ASK),
        (replace(FIRST, arguments={**INV_1, "amount": 900.5}), Ruling.ASK),
        (replace(FIRST, arguments={**INV_1, "urgent": True}), Ruling.ASK),
        (replace(FIRST, arguments={}), Ruling.ASK),
        (replace(FIRST, arguments={"invoice": object()}), Ruling.ASK),
    ],
)
async def test_a_yes_covers_the_call_with_that_id_and_these_arguments_alone(call: ToolCall, expected: Ruling) -> None:
    weaver = await engaged(bill())
    await said(weaver, "approved", FIRST)
    assert await ruling(weaver, call) is expected


async def test_the_checkpoint_stays_pending_after_a_yes_to_one_call() -> None:
    weaver = await engaged(bill())
    await said(weaver, "approved", FIRST)
    (pending,) = (await weaver.weave("Go on", conversation="c")).checkpoints
    assert (pending.name, pending.scope, pending.per_call) == ("sign-off", CheckpointScope.CALL, True)


async def test_a_yes_ends_when_the_skill_changes() -> None:
    weaver = await engaged(bill())
    await said(weaver, "approved", FIRST)
    weaver.skills.registry.register(bill(instructions="How to pay twice."))
    assert await ruling(weaver, FIRST) is Ruling.ASK


@pytest.mark.parametrize("verdict", ["approved", "modified"])
async def test_a_yes_without_a_call_is_refused_with_the_way_out(verdict: str) -> None:
    weaver = await engaged(bill())
    with pytest.raises(InvalidVerdict, match=r"give call=ToolCall\(id, tool, arguments\).*`scope: conversation`"):
        await said(weaver, verdict, None)
    assert (await weaver.ledger.state("c")).approvals == ()


async def test_a_no_denies_the_same_arguments_under_any_id_and_the_note_is_in_the_answer() -> None:
    weaver = await engaged(bill())
    await said(weaver, "rejected", FIRST, note="Already paid.")
    for call in (FIRST, replace(FIRST, id="later"), replace(FIRST, id="")):
        verdict = await judged(weaver, call)
        assert (verdict.ruling, verdict.rule) == (Ruling.DENY, "V004")
        assert "rejected by `Ann` at the checkpoint `sign-off`, saying 'Already paid.'" in verdict.message


async def test_after_a_no_to_a_call_the_skill_stays_and_other_arguments_ask() -> None:
    weaver = await engaged(bill())
    await said(weaver, "rejected", FIRST)
    assert await ruling(weaver, SECOND) is Ruling.ASK
    assert [one.skill_id for one in (await weaver.ledger.state("c")).engaged] == ["pay-bill"]


async def test_a_no_to_a_call_stands_when_its_skill_is_edited_or_gone() -> None:
    weaver = await engaged(bill())
    await said(weaver, "rejected", FIRST)
    weaver.skills.registry.register(bill(instructions="Other words."))
    assert await ruling(weaver, FIRST) is Ruling.DENY
    weaver.skills.registry.remove("pay-bill")
    assert await ruling(weaver, FIRST) is Ruling.DENY


async def test_a_no_without_a_call_takes_the_skill_out_and_denies_the_tool() -> None:
    weaver = await engaged(bill())
    await said(weaver, "rejected", None)
    assert (await ruling(weaver, FIRST), await ruling(weaver, SECOND)) == (Ruling.DENY, Ruling.DENY)
    assert (await weaver.ledger.state("c")).engaged == ()


async def test_a_yes_to_a_call_lets_nothing_through_while_a_no_to_all_stands() -> None:
    weaver = await engaged(bill())
    await said(weaver, "rejected", None)
    await said(weaver, "approved", FIRST)
    assert await ruling(weaver, FIRST) is Ruling.DENY


async def test_a_no_to_all_ends_what_was_said_yes_to() -> None:
    weaver = await engaged(bill())
    await said(weaver, "approved", FIRST)
    await said(weaver, "rejected", None)
    assert [one.verdict for one in (await weaver.ledger.state("c")).approvals] == [ApprovalVerdict.REJECTED]


@pytest.mark.parametrize(("first", "second"), [("approved", "rejected"), ("rejected", "approved")])
async def test_the_later_verdict_on_a_call_stands(first: str, second: str) -> None:
    weaver = await engaged(bill())
    await said(weaver, first, FIRST)
    await said(weaver, second, FIRST)
    assert await ruling(weaver, FIRST) is (Ruling.ALLOW if second == "approved" else Ruling.DENY)
    assert len((await weaver.ledger.state("c")).approvals) == 1


async def test_the_same_verdict_on_a_call_again_is_not_written_again() -> None:
    weaver = await engaged(bill())
    await said(weaver, "rejected", FIRST)
    revision = (await weaver.ledger.state("c")).revision
    await said(weaver, "rejected", FIRST)
    assert (await weaver.ledger.state("c")).revision == revision


async def test_reconsidering_takes_verdicts_on_calls_back_too() -> None:
    weaver = await engaged(bill())
    await said(weaver, "rejected", FIRST)
    await said(weaver, "approved", SECOND)
    assert len(await weaver.approvals.reconsider("c", "pay-bill", "sign-off")) == 2
    assert (await ruling(weaver, FIRST), await ruling(weaver, SECOND)) == (Ruling.ASK, Ruling.ASK)


async def test_a_modified_call_may_run_with_the_new_arguments_and_no_others() -> None:
    weaver = await engaged(bill())
    await said(weaver, "approved", FIRST)
    await said(weaver, "modified", FIRST, arguments=INV_2)
    assert await ruling(weaver, replace(FIRST, arguments=INV_2)) is Ruling.ALLOW
    assert await ruling(weaver, FIRST) is Ruling.ASK


@pytest.mark.parametrize(
    ("verdict", "call", "arguments", "why"),
    [
        ("modified", FIRST, None, "a modified call .* says what it is to run with; give arguments"),
        ("approved", FIRST, INV_2, "give them with the verdict 'modified'"),
        ("rejected", FIRST, INV_2, "give them with the verdict 'modified'"),
        ("modified", None, INV_2, "and the `call` that was shown"),
        ("approved", replace(FIRST, id=""), None, "has no id"),
        ("approved", replace(FIRST, arguments={"when": object()}), None, "arguments that are not JSON"),
        ("modified", FIRST, {"when": object()}, "arguments that are not JSON"),
        ("approved", replace(FIRST, tool="send"), None, "stands before `pay`, so no call of `send` waits there"),
    ],
)
async def test_a_verdict_that_does_not_fit_its_call_is_refused(
    verdict: str, call: ToolCall | None, arguments: Mapping[str, object] | None, why: str
) -> None:
    weaver = await engaged(bill())
    with pytest.raises(InvalidVerdict, match=why):
        await said(weaver, verdict, call, arguments=arguments)
    assert (await weaver.ledger.state("c")).approvals == ()


@pytest.mark.parametrize("fields", [{"id": 3}, {"tool": None}, {"arguments": "{}"}])
def test_a_call_of_another_form_is_refused(fields: dict[str, object]) -> None:
    with pytest.raises(InvalidTurn, match=r"ToolCall\("):
        ToolCall(**{"id": "a", "tool": "pay", "arguments": {}, **fields})  # type: ignore[arg-type]


async def test_at_a_checkpoint_about_the_conversation_a_call_may_be_named_and_all_are_meant() -> None:
    weaver = await engaged(
        make_skill("pay-bill", keywords=["bill"], checkpoints=[replace(SIGN_OFF, scope="conversation")])
    )
    await said(weaver, "approved", FIRST)
    assert await ruling(weaver, SECOND) is Ruling.ALLOW
    await said(weaver, "rejected", FIRST)
    assert (await ruling(weaver, SECOND), (await weaver.ledger.state("c")).engaged) == (Ruling.DENY, ())


async def test_one_name_before_two_tools_asks_about_each_call_of_both() -> None:
    weaver = await engaged(bill(Checkpoint("sign-off", before="send")))
    await said(weaver, "approved", FIRST)
    sent = ToolCall("a", "send", INV_1)
    assert (await ruling(weaver, FIRST), await ruling(weaver, sent)) == (Ruling.ALLOW, Ruling.ASK)


async def test_a_yes_at_one_skill_is_none_at_another_with_a_checkpoint_of_the_same_name() -> None:
    weaver = await engaged(bill(), bill(skill_id="other-bill"))
    await said(weaver, "approved", FIRST)
    assert await ruling(weaver, FIRST) is Ruling.ASK
    await said(weaver, "approved", FIRST, skill_id="other-bill")
    assert await ruling(weaver, FIRST) is Ruling.ALLOW


async def test_several_verdicts_are_one_write() -> None:
    weaver = await engaged(bill(Checkpoint("four-eyes", before="pay")))
    before = (await weaver.ledger.state("c")).revision
    kept = await weaver.approvals.decide_all(
        "c",
        [
            CheckpointVerdict("pay-bill", name, ApprovalVerdict.APPROVED, "Ann", call=FIRST)
            for name in ("sign-off", "four-eyes")
        ],
    )
    assert [one.approval.checkpoint for one in kept] == ["sign-off", "four-eyes"]
    assert (await weaver.ledger.state("c")).revision == before + 1
    assert await ruling(weaver, FIRST) is Ruling.ALLOW


async def test_of_several_verdicts_all_are_kept_or_none() -> None:
    weaver = await engaged(bill())
    good = CheckpointVerdict("pay-bill", "sign-off", ApprovalVerdict.APPROVED, "Ann", call=FIRST)
    with pytest.raises(InvalidVerdict, match="asks about each call"):
        await weaver.approvals.decide_all("c", [good, replace(good, call=None)])
    assert (await weaver.ledger.state("c")).approvals == ()


async def test_two_calls_that_are_decided_at_once_are_told_as_two_events() -> None:
    recorder = Recorder()
    weaver = weaver_of(bill(), observers=(recorder,))
    said_yes = CheckpointVerdict("pay-bill", "sign-off", ApprovalVerdict.APPROVED, "Ann")
    await weaver.approvals.decide_all("c", [replace(said_yes, call=call) for call in (FIRST, SECOND)])
    assert len({event.id for event in recorder.of("checkpoint.decided")}) == 2


async def test_a_full_conversation_forgets_the_oldest_yes_to_a_call_and_never_a_no() -> None:
    weaver = await engaged(bill())
    await said(weaver, "rejected", SECOND)
    calls = [ToolCall(f"call-{number}", "pay", {"n": number}) for number in range(MOST_APPROVALS)]
    yes = CheckpointVerdict("pay-bill", "sign-off", ApprovalVerdict.APPROVED, "Ann")
    await weaver.approvals.decide_all("c", [replace(yes, call=call) for call in calls])
    assert len((await weaver.ledger.state("c")).approvals) == MOST_APPROVALS
    rulings = [await ruling(weaver, call) for call in (SECOND, calls[0], calls[1])]
    assert rulings == [Ruling.DENY, Ruling.ASK, Ruling.ALLOW]


async def test_a_yes_of_the_version_before_covers_no_call_and_its_no_stands() -> None:
    store = MemoryStore()
    weaver = weaver_of(bill(), store=store)
    await weaver.weave("the bill", conversation="c")
    await said(weaver, "rejected", None)
    data = (await weaver.ledger.state("c")).to_dict()
    assert all("call" not in approval for approval in data["approvals"])
    assert await ruling(weaver, FIRST) is Ruling.DENY
    data["approvals"][0]["verdict"] = "approved"
    older = State.from_dict(data)
    assert await store.swap("c", data["revision"], Writes(older))
    await weaver.weave("the bill", conversation="c")
    assert await ruling(weaver, FIRST) is Ruling.ASK


async def test_the_version_before_takes_no_yes_to_a_call_for_one_to_all() -> None:
    skill = make_skill("pay-bill", keywords=["bill"], checkpoints=[FOR_ALL])
    weaver = await engaged(bill())
    await said(weaver, "approved", FIRST)
    (approval,) = (await weaver.ledger.state("c")).to_dict()["approvals"]
    del approval["call"]  # which it does not know
    shown = bill().digest
    assert (approval["shown"] or approval["digest"]) not in (shown, skill.digest)


async def test_a_sub_agents_call_is_let_through_at_its_own_checkpoint_and_never_at_its_parents() -> None:
    for parent, expected in ((None, Ruling.ALLOW), ("c", Ruling.ASK)):
        weaver = await engaged(bill())
        above = None if parent is None else Parent("c", (await weaver.current_policy("c")).tools)
        plan = await weaver.composition.prepare_spawn(SpawnRequest("Pay", ("pay-bill",)), parent=above)
        assert isinstance(plan, SpawnPlan)
        await weaver.weave(plan.turn("Begin", "t1"))
        await weaver.approvals.decide(plan.conversation, "pay-bill", "sign-off", "approved", by="Ann", call=FIRST)
        now = await weaver.current_policy(plan.conversation, limits=plan.limits)
        assert (await judged(weaver, FIRST, now)).ruling is expected


async def test_a_call_that_was_refused_is_refused_to_sub_agents_too() -> None:
    weaver = await engaged(bill())
    await said(weaver, "rejected", FIRST)
    parent = Parent("c", (await weaver.current_policy("c")).tools)
    plan = await weaver.composition.prepare_spawn(SpawnRequest("Pay"), parent=parent)
    assert isinstance(plan, SpawnPlan)
    await weaver.weave(plan.turn("Begin", "t1"))
    now = await weaver.current_policy(plan.conversation, limits=plan.limits)
    assert (await judged(weaver, FIRST, now)).ruling is Ruling.DENY
    assert plan.limits == type(plan.limits).from_dict(plan.limits.to_dict())


async def test_a_call_without_an_id_can_be_refused() -> None:
    weaver = await engaged(bill())
    await said(weaver, "rejected", replace(FIRST, id=""))
    assert await ruling(weaver, FIRST) is Ruling.DENY


async def test_a_no_to_a_call_takes_no_verdict_on_all_calls_back() -> None:
    weaver = await engaged(bill())
    await said(weaver, "rejected", None)
    await said(weaver, "rejected", replace(FIRST, id=""))
    assert await ruling(weaver, SECOND) is Ruling.DENY


@pytest.mark.parametrize(("verdict", "expected"), [("approved", Ruling.ALLOW), ("rejected", Ruling.DENY)])
async def test_a_call_with_deeply_nested_arguments_can_be_decided(verdict: str, expected: Ruling) -> None:
    nested: object = "x"
    for _ in range(200):
        nested = [nested]
    deep = replace(FIRST, arguments={"why": nested})
    weaver = await engaged(bill())
    await said(weaver, verdict, deep)
    assert await ruling(weaver, deep) is expected


@pytest.mark.parametrize("conversation", [1, None, "", "a\nb", "c" * 501])
async def test_a_verdict_for_a_conversation_that_no_turn_can_have_is_refused(conversation: str) -> None:
    weaver = await engaged(bill())
    with pytest.raises(InvalidTurn, match=r"weaver\.…\(conversation="):
        await weaver.approvals.decide(conversation, "pay-bill", "sign-off", "rejected", by="Ann", call=FIRST)


@pytest.mark.parametrize(
    ("field", "value", "wanted"),
    [
        ("by", None, "give a text"),
        ("note", 1, "give a text"),
        ("digest", 7, "give a text"),
        ("call", {"id": "a", "tool": "pay"}, r"give skillweave\.ToolCall\(id, tool, arguments\), or None"),
        ("arguments", [("invoice", "INV-2")], "give a mapping"),
    ],
)
async def test_a_verdict_with_a_field_of_another_form_is_refused_by_its_name(
    field: str, value: object, wanted: str
) -> None:
    weaver = await engaged(bill())
    more: dict[str, Any] = {"by": "Ann", "call": FIRST, field: value}
    with pytest.raises(InvalidVerdict, match=rf"CheckpointVerdict\({field}=.*{wanted}"):
        await weaver.approvals.decide("c", "pay-bill", "sign-off", "modified", **more)


@pytest.mark.parametrize("verdicts", [None, [None], [{"skill_id": "pay-bill"}]])
async def test_several_verdicts_of_another_form_are_refused(verdicts: Any) -> None:
    weaver = await engaged(bill())
    with pytest.raises(InvalidVerdict, match=r"weaver\.approvals\.decide_all\(verdicts"):
        await weaver.approvals.decide_all("c", verdicts)


async def test_an_id_of_a_skill_that_is_no_text_is_refused_by_every_verb_about_skills() -> None:
    weaver = await engaged(bill())
    number: Any = 7
    verbs = (
        lambda: weaver.ledger.disengage("c", number),
        lambda: weaver.ledger.unload("c", number),
        lambda: weaver.approvals.reconsider("c", number, "sign-off"),
    )
    for verb in verbs:
        with pytest.raises(InvalidValue, match=r"is 7 \(of type int\); give a text"):
            await verb()


@pytest.mark.parametrize(
    ("said_of", "called_with", "same"),
    [
        (4, 4.0, True),
        (4.0, 4, True),
        (-0.0, 0, True),
        ([{"n": 1.0}], [{"n": 1}], True),
        (10**30, 10**30 + 1, False),
        (True, 1, False),
        (0.1, 0.2, False),
    ],
)
async def test_numbers_that_are_equal_are_one_argument_to_a_verdict(
    said_of: object, called_with: object, same: bool
) -> None:
    shown, called = (ToolCall("a", "pay", {"amount": amount}) for amount in (said_of, called_with))
    for verdict, expected in (("approved", Ruling.ALLOW), ("rejected", Ruling.DENY)):
        weaver = await engaged(bill())
        await said(weaver, verdict, shown)
        assert await ruling(weaver, called) is (expected if same else Ruling.ASK)


async def test_a_no_of_the_version_before_stands_with_its_numbers_as_they_were_written() -> None:
    weaver = await engaged(bill())
    call = ToolCall("a", "pay", {"amount": 4.0})
    await said(weaver, "rejected", call)
    store = weaver.ledger.store
    state, _ = await store.load("c")
    (no,) = state.approvals
    before = replace(no, call=call.content_as_written or "")
    assert await store.swap("c", state.revision, Writes(replace(state, approvals=(before,))))
    assert await ruling(weaver, call) is Ruling.DENY
    await said(weaver, "approved", call)
    assert await ruling(weaver, call) is Ruling.ALLOW
