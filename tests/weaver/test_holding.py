"""Claims that wait for a person, and end in another process than the one that made them."""

from contextlib import suppress
from pathlib import Path

import pytest

from skillweave import (
    CatalogMode,
    Checkpoint,
    Injection,
    MemoryStore,
    Outcome,
    Registry,
    Settings,
    Skill,
    SqliteStore,
    Weaver,
)
from skillweave.ledger import Delivery
from skillweave.sources import InCode
from skillweave.state.state import CLAIM_SECONDS
from skillweave_testing import ManualClock, WordCounter
from tests.skills import make_skill

BILL = make_skill("pay-bill", keywords=["bill"], checkpoints=[Checkpoint("review")])
GREET = make_skill("greet-people", keywords=["hello"])
NEVER = Settings(catalog=CatalogMode.NEVER)


class Paused(Exception):
    """How a host leaves a turn that waits for a person."""


def weaver_on(store: MemoryStore | SqliteStore, *skills: Skill) -> Weaver:
    return Weaver(Registry([InCode(*(skills or (BILL, GREET)))]), store, NEVER, counter=WordCounter())


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def store(clock: ManualClock) -> MemoryStore:
    return MemoryStore(clock=clock)


async def held(weaver: Weaver, message: str = "the bill", turn_id: str = "t") -> Injection:
    """Begin the turn, put it on hold, and leave it as a host does that is interrupted."""
    given = []
    with suppress(Paused):
        async with weaver.delivery(message, conversation="c", turn_id=turn_id) as injection:
            given.append(injection)
            assert injection.waits
            assert await weaver.approvals.hold("c", turn_id)
            raise Paused
    return given[0]


async def outcome_now(weaver: Weaver, message: str = "the bill") -> Outcome:
    injection = await weaver.preview(message, conversation="c")
    return injection.decisions[0].outcome


async def test_a_held_claim_outlives_its_minute_and_keeps_others_from_giving(
    store: MemoryStore, clock: ManualClock
) -> None:
    weaver = weaver_on(store)
    await held(weaver)
    clock.advance(100 * CLAIM_SECONDS)
    assert await outcome_now(weaver) is Outcome.HELD


async def test_a_delivery_that_is_not_held_is_released_when_it_raises(store: MemoryStore) -> None:
    weaver = weaver_on(store)
    with suppress(Paused):
        async with weaver.delivery("the bill", conversation="c", turn_id="t"):
            raise Paused
    assert await outcome_now(weaver) is Outcome.INJECTED


async def test_the_normal_end_of_a_delivery_does_not_confirm_what_is_held(store: MemoryStore) -> None:
    weaver = weaver_on(store)
    async with weaver.delivery("the bill", conversation="c", turn_id="t"):
        await weaver.approvals.hold("c", "t")
    (record,) = (await weaver.ledger.state("c")).records
    assert (record.state, record.until) == (Delivery.CLAIMED, None)


async def test_holding_tells_what_waits_and_twice_is_the_same(store: MemoryStore) -> None:
    weaver = weaver_on(store)
    async with weaver.delivery("the bill", conversation="c", turn_id="t"):
        assert await weaver.approvals.hold("c", "t") == ("skill:pay-bill",)
        assert await weaver.approvals.hold("c", "t") == ("skill:pay-bill",)


async def test_a_turn_without_claims_has_nothing_to_hold(store: MemoryStore) -> None:
    weaver = weaver_on(store)
    await weaver.weave("the bill", conversation="c", turn_id="t")
    assert await weaver.approvals.hold("c", "t") == ()
    assert not await weaver.confirm("c", "t")
    assert not await weaver.release("c", "t")


async def test_confirming_makes_a_held_claim_given(store: MemoryStore) -> None:
    weaver = weaver_on(store)
    await held(weaver)
    assert await weaver.confirm("c", "t")
    assert await outcome_now(weaver) is Outcome.ALREADY_PRESENT


async def test_releasing_makes_a_held_text_be_given_again(store: MemoryStore) -> None:
    weaver = weaver_on(store)
    await held(weaver)
    assert await weaver.release("c", "t")
    assert await outcome_now(weaver) is Outcome.INJECTED


async def test_an_approved_turn_has_a_minute_to_deliver(store: MemoryStore, clock: ManualClock) -> None:
    weaver = weaver_on(store)
    await held(weaver)
    clock.advance(1000)
    judgement = await weaver.approvals.decide("c", "pay-bill", "review", "approved", by="Zoë")
    assert judgement.resumed == ("t",)
    clock.advance(CLAIM_SECONDS - 1)
    assert await outcome_now(weaver) is Outcome.HELD
    clock.advance(1)
    assert await outcome_now(weaver) is Outcome.INJECTED


async def test_an_approved_turn_run_again_gives_the_same_and_is_confirmed_at_its_end(
    store: MemoryStore, clock: ManualClock
) -> None:
    weaver = weaver_on(store)
    first = await held(weaver)
    await weaver.approvals.decide("c", "pay-bill", "review", "approved", by="Zoë")
    clock.advance(10 * CLAIM_SECONDS)
    async with weaver.delivery("the bill", conversation="c", turn_id="t") as again:
        assert again.messages == first.messages
        assert not again.waits
    assert await outcome_now(weaver) is Outcome.ALREADY_PRESENT


async def test_a_turn_that_waits_for_two_people_goes_on_after_the_second(store: MemoryStore) -> None:
    second = make_skill("send-letter", keywords=["letter"], checkpoints=[Checkpoint("legal"), Checkpoint("x", "send")])
    weaver = weaver_on(store, BILL, second)
    await held(weaver, "the bill and the letter")
    assert (await weaver.approvals.decide("c", "pay-bill", "review", "approved", by="Zoë")).resumed == ()
    assert (await weaver.approvals.decide("c", "send-letter", "legal", "approved", by="Ann")).resumed == ("t",)


async def test_a_rejection_releases_the_claims_of_its_skill_and_lets_the_others_go_on(store: MemoryStore) -> None:
    weaver = weaver_on(store)
    await held(weaver, "hello, the bill")
    judgement = await weaver.approvals.decide("c", "pay-bill", "review", "rejected", by="Zoë")
    assert judgement.resumed == ("t",)
    state = await weaver.ledger.state("c")
    assert [record.key for record in state.records] == ["skill:greet-people"]
    assert state.superseded == ()
    again = await weaver.weave("hello, the bill", conversation="c", turn_id="t")
    assert again.skills == ("greet-people",)


async def test_a_host_that_restarts_at_a_checkpoint_finishes_with_another_weaver(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    one = SqliteStore(path)
    await held(weaver_on(one))
    await one.close()
    other = SqliteStore(path)
    weaver = weaver_on(other)
    assert await outcome_now(weaver) is Outcome.HELD
    await weaver.approvals.decide("c", "pay-bill", "review", "approved", by="Zoë")
    assert await weaver.confirm("c", "t")
    assert await outcome_now(weaver) is Outcome.ALREADY_PRESENT
    await other.close()


async def test_clearing_ends_a_hold_that_nobody_decided(store: MemoryStore) -> None:
    weaver = weaver_on(store)
    await held(weaver)
    await weaver.ledger.clear("c")
    assert await outcome_now(weaver) is Outcome.INJECTED


async def test_holding_without_await(store: MemoryStore) -> None:
    weaver = weaver_on(store)
    with weaver.sync.delivery("the bill", conversation="c", turn_id="t"):
        assert weaver.sync.approvals.hold("c", "t") == ("skill:pay-bill",)
    assert weaver.sync.confirm("c", "t")
    assert not weaver.sync.release("c", "t")
    weaver.sync.close()
