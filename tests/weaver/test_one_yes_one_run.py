"""A person's yes to a call lets it through once, however and wherever it is asked for again (spec 5.5)."""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

import skillweave
from skillweave import (
    ApprovalVerdict,
    Checkpoint,
    CheckpointVerdict,
    MemoryStore,
    Role,
    Ruling,
    SqliteStore,
    Store,
    ToolCall,
    Verdict,
    Weaver,
)
from skillweave.state.approvals import MOST_CALLS
from skillweave.tools import Refusal
from skillweave_testing import FailingStore, ManualClock, WordCounter
from tests.skills import make_skill

BILL = make_skill("pay-bill", keywords=["bill"], checkpoints=[Checkpoint("sign-off", before="pay")])
CALL = ToolCall("call-1", "pay", {"amount": 4})


def weaver_on(store: Store) -> Weaver:
    return skillweave.open(BILL, ledger=store, counter=WordCounter())


async def approved(store: Store | None = None) -> Weaver:
    weaver = weaver_on(store or MemoryStore())
    await weaver.weave("the bill", conversation="c")
    assert (await asked(weaver)).ruling is Ruling.ASK
    await say_yes(weaver)
    return weaver


async def say_yes(weaver: Weaver, case: str = "") -> None:
    said = CheckpointVerdict("pay-bill", "sign-off", ApprovalVerdict.APPROVED, "Ann", call=CALL, case=case)
    await weaver.approvals.decide_all("c", [said])


async def asked(weaver: Weaver, call: ToolCall = CALL, key: str = "") -> Verdict:
    now = await weaver.current_policy("c")
    return await weaver.authorize(now, call.tool, call.arguments, call_id=call.id, key=key)


async def test_an_approved_call_is_let_through_once_and_asked_about_again_with_when_it_was() -> None:
    weaver = await approved(MemoryStore(clock=ManualClock(0.0)))
    assert (await asked(weaver)).ruling is Ruling.ALLOW
    again = await asked(weaver)
    assert (again.ruling, again.checkpoints, again.used_at) == (Ruling.ASK, ("sign-off",), 0.0)
    assert "let through at 1970-01-01T00:00:00+00:00 already, outcome unknown" in again.message


async def test_a_policy_that_is_carried_along_never_lets_an_approved_call_through_by_itself() -> None:
    weaver = await approved()
    now = await weaver.current_policy("c")
    verdict = now.tools.authorize("pay", {"amount": 4}, call_id="call-1")
    assert (verdict.ruling, verdict.approved, verdict.checkpoints) == (Ruling.ASK, ("sign-off",), ())


async def test_of_eight_who_ask_at_one_moment_one_is_let_through(tmp_path: Path) -> None:
    await approved(SqliteStore(tmp_path / "ledger.db"))
    replicas = [weaver_on(SqliteStore(tmp_path / "ledger.db")) for _ in range(8)]
    ruled = await asyncio.gather(*(asked(one) for one in replicas))
    assert Counter(verdict.ruling for verdict in ruled) == {Ruling.ALLOW: 1, Ruling.ASK: 7}
    for one in replicas:
        await one.close()


async def test_a_policy_of_before_another_replica_took_the_yes_lets_nothing_through() -> None:
    store = MemoryStore()
    weaver, other = await approved(store), weaver_on(store)
    old = await weaver.current_policy("c")
    assert (await asked(other)).ruling is Ruling.ALLOW
    assert (await weaver.authorize(old, "pay", {"amount": 4}, call_id="call-1")).ruling is Ruling.ASK


async def test_the_same_request_again_gets_the_same_answer_and_another_one_does_not() -> None:
    weaver = await approved()
    assert (await asked(weaver, key="request-1")).ruling is Ruling.ALLOW
    assert (await asked(weaver, key="request-1")).ruling is Ruling.ALLOW
    assert (await asked(weaver, key="request-2")).ruling is Ruling.ASK
    assert (await asked(weaver)).ruling is Ruling.ASK


async def test_after_a_used_yes_a_new_one_lets_the_call_through_once_more() -> None:
    weaver = await approved()
    await asked(weaver)
    assert (await asked(weaver)).ruling is Ruling.ASK
    await say_yes(weaver)
    assert [(await asked(weaver)).ruling for _ in range(2)] == [Ruling.ALLOW, Ruling.ASK]


async def test_the_same_answer_to_the_same_question_again_is_no_new_yes() -> None:
    weaver = weaver_on(MemoryStore())
    await weaver.weave("the bill", conversation="c")
    await say_yes(weaver, case="case-1")
    assert (await asked(weaver)).ruling is Ruling.ALLOW
    await say_yes(weaver, case="case-1")
    assert (await asked(weaver)).ruling is Ruling.ASK


async def test_a_call_that_did_not_run_after_all_keeps_its_yes() -> None:
    weaver = await approved()
    await asked(weaver)
    assert await weaver.approvals.give_back("c", CALL)
    assert not await weaver.approvals.give_back("c", CALL)
    assert [(await asked(weaver)).ruling for _ in range(2)] == [Ruling.ALLOW, Ruling.ASK]


async def test_a_yes_is_void_once_the_user_has_said_something_else() -> None:
    weaver = await approved()
    await weaver.weave("Stop, do not pay it!", conversation="c")
    assert (await asked(weaver)).ruling is Ruling.ASK


@pytest.mark.parametrize("arguments", [None, {"amount": 5}])
async def test_a_yes_that_comes_after_the_user_said_something_else_is_void(arguments: dict[str, int] | None) -> None:
    weaver = weaver_on(MemoryStore())
    await weaver.weave("the bill", conversation="c")
    await asked(weaver)
    await weaver.weave("Stop, do not pay it!", conversation="c")
    verdict = "approved" if arguments is None else "modified"
    await weaver.approvals.decide("c", "pay-bill", "sign-off", verdict, by="Ann", call=CALL, arguments=arguments)
    assert (await asked(weaver, ToolCall("call-1", "pay", arguments or CALL.arguments))).ruling is Ruling.ASK


async def test_asked_anew_after_the_user_spoke_a_yes_counts() -> None:
    weaver = await approved()
    await weaver.weave("Well then", conversation="c")
    assert (await asked(weaver)).ruling is Ruling.ASK
    await say_yes(weaver)
    assert (await asked(weaver)).ruling is Ruling.ALLOW


async def test_results_of_tools_and_our_own_tools_make_no_yes_void() -> None:
    weaver = await approved()
    await weaver.weave("done", conversation="c", role=Role.TOOL)
    await weaver.tools.read_skill("pay-bill", conversation="c")
    assert (await asked(weaver)).ruling is Ruling.ALLOW


@pytest.mark.parametrize("down", ["load", "swap"])
async def test_where_it_cannot_be_written_that_the_yes_was_taken_the_call_is_denied(down: str) -> None:
    store = FailingStore(MemoryStore())
    weaver = await approved(store)
    now = await weaver.current_policy("c")
    store.down = {down}
    verdict = await weaver.authorize(now, "pay", {"amount": 4}, call_id="call-1")
    assert verdict.code is Refusal.STATE_UNAVAILABLE
    store.down = set()
    assert (await asked(weaver)).ruling is Ruling.ALLOW


async def test_a_call_whose_skill_has_left_since_the_policy_was_made_is_ruled_as_it_is_now() -> None:
    weaver = await approved()
    old = await weaver.current_policy("c")
    await weaver.ledger.disengage("c", "pay-bill")
    verdict = await weaver.authorize(old, "pay", {"amount": 4}, call_id="call-1")
    assert (verdict.ruling, verdict.approved) == (Ruling.ALLOW, ())


async def test_a_question_that_is_forgotten_takes_the_yes_to_it_along() -> None:
    weaver = await approved()
    for number in range(MOST_CALLS):
        await asked(weaver, ToolCall(f"other-{number}", "pay", {"amount": number}))
    await weaver.weave("Stop, do not pay it!", conversation="c")
    assert (await asked(weaver)).ruling is Ruling.ASK
