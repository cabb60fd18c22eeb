"""A silent store costs its time limit a few times, then it is asked every half second (spec 5.4)."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

import skillweave
from skillweave import Checkpoint, MemoryStore, Ruling, StoreUnavailable, ToolRules, Weaver
from skillweave.errors import StoreSilent, UnreadableState
from skillweave.ledger import Writes
from skillweave.state.breaker import PAUSE_SECONDS, SILENT_IN_A_ROW, Breaker
from skillweave.state.state import State
from skillweave.tools import Refusal
from skillweave_testing import FailingStore, ManualClock, WordCounter
from tests.depth import tried
from tests.skills import make_skill

INVOICE = make_skill(
    "invoice",
    keywords=["invoice"],
    tools=ToolRules(forbidden=("write",)),
    checkpoints=[Checkpoint("release", before="pay")],
)
STEPS = st.lists(st.sampled_from(["answers", "silent", "silent", "refuses", "damaged", "time"]), max_size=30)


def weaver_on(store: FailingStore) -> Weaver:
    return skillweave.open(INVOICE, ledger=store, counter=WordCounter())


def failing() -> FailingStore:
    return FailingStore(MemoryStore())


async def denied(weaver: Weaver, times: int = 1) -> None:
    for _ in range(times):
        now = await weaver.current_policy("c")
        assert now.tools.authorize("read").code is Refusal.STATE_UNAVAILABLE


@tried(200)
@given(STEPS)
async def test_a_call_is_left_out_only_after_several_silences_in_a_row_and_for_half_a_second(steps: list[str]) -> None:
    clock = ManualClock(0.0)
    breaker = Breaker(clock)
    silent, probed, asked = 0, float("-inf"), 0

    async def answer(what: str) -> str:
        nonlocal asked
        asked += 1
        if what == "silent":
            raise StoreSilent("silent", retry_after=1.0)
        if what == "refuses":
            raise StoreUnavailable("refuses", retry_after=1.0)
        if what == "damaged":
            raise UnreadableState("damaged", 1)
        return what

    for step in steps:
        if step == "time":
            clock.advance(PAUSE_SECONDS)
            continue
        before, is_open = asked, silent >= SILENT_IN_A_ROW
        tried_now = not is_open or clock.now >= probed + PAUSE_SECONDS
        try:
            assert await breaker.ask(lambda what=step: answer(what)) == "answers"
        except StoreUnavailable as error:
            if not is_open:  # as whoever calls does
                breaker.failed(error)
        assert asked == before + tried_now
        if tried_now:
            probed = clock.now if is_open else probed
            silent = 0 if step != "silent" else silent if is_open else silent + 1
        assert breaker.is_open == (silent >= SILENT_IN_A_ROW)


async def test_of_many_who_come_at_once_to_a_silent_store_one_asks() -> None:
    breaker, asked = Breaker(ManualClock(0.0)), 0
    for _ in range(SILENT_IN_A_ROW):
        breaker.failed(StoreSilent("silent"))

    async def work() -> None:
        nonlocal asked
        asked += 1
        raise StoreSilent("silent")

    said = await asyncio.gather(*(breaker.ask(work) for _ in range(50)), return_exceptions=True)
    assert all(isinstance(one, StoreUnavailable) for one in said)
    assert asked == 1


async def test_an_answer_that_comes_when_nobody_waits_any_longer_ends_the_silence() -> None:
    breaker, late = Breaker(), asyncio.Event()
    for _ in range(SILENT_IN_A_ROW):
        breaker.failed(StoreSilent("silent"))
    with pytest.raises(StoreUnavailable, match="not asked, as it was silent 3 times in a row"):
        await breaker.ask(late.wait)
    late.set()
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not breaker.is_open


async def test_a_silent_store_is_never_written_to() -> None:
    breaker, written = Breaker(), []
    for _ in range(SILENT_IN_A_ROW):
        breaker.failed(StoreSilent("silent"))

    async def work() -> None:
        written.append(1)

    with pytest.raises(StoreUnavailable):
        await breaker.tell(work)
    assert not written


async def test_verdicts_of_a_silent_ledger_are_denied_and_ask_it_a_few_times_only() -> None:
    store = failing()
    weaver = weaver_on(store)
    store.silent = {"load"}
    await denied(weaver, SILENT_IN_A_ROW)
    assert store.asked["load"] == SILENT_IN_A_ROW
    weaver._engine.watched._next = float("inf")
    await denied(weaver, 2)
    assert store.asked["load"] == SILENT_IN_A_ROW


async def test_turns_and_verdicts_of_all_variants_know_together_that_the_ledger_is_silent() -> None:
    store = failing()
    weaver = weaver_on(store)
    other = weaver.variant(tenant="other")
    store.silent = {"load"}
    for number in range(SILENT_IN_A_ROW):
        await other.weave("hello", conversation=f"c{number}")
    weaver._engine.watched._next = float("inf")
    await denied(weaver)
    assert store.asked["load"] == SILENT_IN_A_ROW


async def test_a_silent_write_counts_until_a_read_is_answered() -> None:
    store = failing()
    weaver = weaver_on(store)
    store.silent = {"swap"}
    await weaver.weave("the invoice", conversation="c")
    assert weaver._engine.watched.troubled
    await weaver.current_policy("c")
    assert not weaver._engine.watched.troubled


async def test_a_store_that_answers_again_is_asked_as_before() -> None:
    store = failing()
    weaver = weaver_on(store)
    store.silent = {"load"}
    await denied(weaver, SILENT_IN_A_ROW)
    store.silent = set()
    now = await weaver.current_policy("c")
    assert now.tools.authorize("read").ruling is Ruling.ALLOW
    assert weaver._engine.watched.ledger is store


async def test_a_damaged_state_keeps_nobody_from_asking_for_others() -> None:
    class Damaged(FailingStore):
        async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
            if conversation == "damaged":
                raise UnreadableState("damaged", 1)
            return await super().load(conversation, tenant=tenant)

    weaver = weaver_on(Damaged(MemoryStore()))
    for _ in range(2 * SILENT_IN_A_ROW):
        now = await weaver.current_policy("damaged")
        assert now.tools.authorize("read").code is Refusal.STATE_UNAVAILABLE
    assert (await weaver.current_policy("c")).tools.authorize("read").ruling is Ruling.ALLOW


async def test_writes_are_stored_as_before_after_a_single_silence() -> None:
    store = failing()
    weaver = weaver_on(store)
    weaver._engine.watched.failed(StoreSilent("silent"))
    assert await weaver._engine.watched.ledger.swap("c", 0, Writes(State(last_turn="t")))
    assert weaver._engine.watched.ledger is store
