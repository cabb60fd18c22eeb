import logging

import pytest

from skillweave import MemoryStore, Registry, State, Weaver
from skillweave.ledger import Engaged, Writes
from skillweave.stores.insertions import MemoryInsertions
from skillweave.stores.memory import KEEP_SECONDS, MOST_TURNS
from skillweave_testing import InsertionsContract, LedgerContract, ManualClock
from skillweave_testing.ledger import DECISION, FULL_STATE


class TestInsertions(InsertionsContract):
    @pytest.fixture
    def store(self, clock: ManualClock) -> MemoryStore:
        return MemoryStore(clock=clock)


async def test_of_too_many_insertions_those_unused_for_longest_are_forgotten() -> None:
    kept = MemoryInsertions(most_bytes=10)
    await kept.keep_entries("s", {"a": b"12345", "b": b"12345"})
    await kept.find_entries("s", ["a"])
    await kept.keep_entries("s", {"c": b"1"})
    assert dict(await kept.find_entries("s", ["a", "b", "c"])) == {"a": b"12345", "c": b"1"}


class TestMemoryStore(LedgerContract):
    @pytest.fixture
    def store(self, clock: ManualClock) -> MemoryStore:
        return MemoryStore(clock=clock)


async def test_of_more_conversations_than_it_keeps_those_unused_for_longest_are_forgotten() -> None:
    store = MemoryStore(most_conversations=2)
    for conversation in ("c1", "c2"):
        await store.swap(conversation, 0, Writes(FULL_STATE, "t", (DECISION,)))
    await store.load("c1")
    await store.swap("c3", 0, Writes(FULL_STATE))
    assert await store.conversations() == ("c1", "c3")
    assert (await store.load("c2"))[0] == State()
    assert await store.read("c2") == ()


async def test_that_conversations_are_forgotten_for_want_of_room_is_said_once(caplog: pytest.LogCaptureFixture) -> None:
    store = MemoryStore(most_conversations=1)
    with caplog.at_level(logging.WARNING, "skillweave"):
        for conversation in ("c1", "c2", "c3"):
            await store.swap(conversation, 0, Writes(FULL_STATE))
    (said,) = caplog.messages
    assert said.startswith("the ledger in memory holds 1 conversations")


async def test_a_conversation_that_was_unused_for_thirty_days_is_forgotten() -> None:
    clock = ManualClock()
    store = MemoryStore(clock=clock)
    await store.swap("old", 0, Writes(FULL_STATE))
    await store.swap("used", 0, Writes(FULL_STATE))
    clock.advance(KEEP_SECONDS - 1)
    await store.load("used")
    clock.advance(2)
    await store.swap("new", 0, Writes(FULL_STATE))
    assert await store.conversations() == ("new", "used")


async def test_of_a_cleared_conversation_nothing_stays_but_its_revision() -> None:
    store = MemoryStore()
    await store.swap("c", 0, Writes(FULL_STATE, "t", (DECISION,)))
    assert await Weaver(Registry(), store).ledger.clear("c")
    assert (await store.load("c"))[0] == State(revision=2)
    assert await store.read("c") == ()
    assert not await store.swap("c", 1, Writes(FULL_STATE)), "who began before the clearing has lost"


async def test_of_one_conversation_the_decisions_of_so_many_turns_are_kept() -> None:
    store = MemoryStore()
    for turn in range(MOST_TURNS + 3):
        await store.append("c", f"t{turn}", [DECISION])
    kept = await store.read("c")
    assert (len(kept), kept[0].turn_id) == (MOST_TURNS, "t3")


async def test_a_forgotten_conversation_begins_anew() -> None:
    store = MemoryStore(most_conversations=1)
    await store.swap("c1", 0, Writes(State(engaged=(Engaged("a", "host", "t"),))))
    await store.swap("c2", 0, Writes(FULL_STATE))
    assert not await store.swap("c1", 1, Writes(FULL_STATE))
    assert await store.swap("c1", 0, Writes(FULL_STATE))
