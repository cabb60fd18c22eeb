"""The contract of a ledger as tests: a backend is what passes them."""

import asyncio
from dataclasses import replace

import pytest

from skillweave.decisions import Decision, Evidence, Outcome
from skillweave.disclose.block import Rung
from skillweave.graph.cursor import Cursor
from skillweave.state.port import KEEP_DECISIONS_SECONDS, Store
from skillweave.state.state import (
    Approval,
    ApprovalVerdict,
    Delivery,
    Engaged,
    Fragment,
    Lifecycle,
    Record,
    State,
    Superseded,
)
from skillweave.testing.fakes import ManualClock

RECORD = Record("skill:a", "d1", Rung.FULL, "sw-x-y", 120, Delivery.CLAIMED, "turn-1", 5.0, 65.0)
FULL_STATE = State(
    records=(
        RECORD,
        replace(RECORD, key="artifact:a/references/ä.md", state=Delivery.GIVEN, until=None),
        replace(RECORD, key="section:a/2.1", state=Delivery.GIVEN, until=None, told="0123456789abcdef"),
    ),
    superseded=(Superseded(replace(RECORD, rung=Rung.CATALOG), "sw-z-y"), Superseded(RECORD, "")),
    engaged=(
        Engaged("a", "triggers", "turn-1", 2, Lifecycle.PINNED),
        Engaged("b", "mention", "turn-0", arguments="« a »\n2", place=1),
    ),
    cursor=Cursor("a", {"a": 2}, ("b", "a"), "g1", "turn-1"),
    approvals=(
        Approval("a", "sign-off", "d1", ApprovalVerdict.MODIFIED, "Zoë", 7.5, "half of it", ("pay", "Bash(rm:*)")),
    ),
    prefix=(Fragment("sw-x-y", 120),),
    last_turn="turn-1",
)
DECISION = Decision(
    "a", Outcome.INJECTED, "disclose", "given in full", 0.8, "triggers", (Evidence("keyword", "grüße", 3, 8),), 120
)
HOSTILE_IDS = ("a:b", "{a}", "%", "a/b", "a\\b", "'; DROP TABLE states; --", "Ω≈ç√", "*", "a" * 500, " ", "NULL")


@pytest.mark.asyncio
class LedgerContract:
    """Inherit, and give a fixture `store` that makes a new, empty store on the fixture `clock`."""

    @pytest.fixture
    def clock(self) -> ManualClock:
        """The clock that the store must go by."""
        return ManualClock()

    @pytest.fixture
    def store(self, clock: ManualClock) -> Store:
        """A new, empty store."""
        raise NotImplementedError("a subclass gives the store")

    async def test_an_unknown_conversation_has_the_empty_state(self, store: Store) -> None:
        state, _ = await store.load("new")
        assert state == State()

    async def test_loading_tells_the_time_of_the_stores_clock(self, store: Store, clock: ManualClock) -> None:
        clock.advance(90)
        _, now = await store.load("c")
        assert now == clock.now

    async def test_every_field_comes_back_equal_one_revision_later(self, store: Store) -> None:
        assert await store.swap("c", 0, FULL_STATE)
        state, _ = await store.load("c")
        assert state == replace(FULL_STATE, revision=1)

    async def test_a_swap_on_the_newest_revision_replaces_the_state(self, store: Store) -> None:
        await store.swap("c", 0, FULL_STATE)
        assert await store.swap("c", 1, State(last_turn="turn-2"))
        assert (await store.load("c"))[0] == State(revision=2, last_turn="turn-2")

    async def test_a_swap_on_an_old_revision_is_refused_and_changes_nothing(self, store: Store) -> None:
        await store.swap("c", 0, FULL_STATE)
        assert not await store.swap("c", 0, State(last_turn="late"))
        assert (await store.load("c"))[0] == replace(FULL_STATE, revision=1)

    async def test_a_swap_on_a_revision_that_never_was_is_refused(self, store: Store) -> None:
        assert not await store.swap("c", 7, FULL_STATE)
        assert (await store.load("c"))[0] == State()

    async def test_of_fifty_simultaneous_swaps_one_wins(self, store: Store) -> None:
        swaps = (store.swap("c", 0, State(last_turn=f"turn-{n}")) for n in range(50))
        won = await asyncio.gather(*swaps)
        assert won.count(True) == 1
        assert (await store.load("c"))[0].last_turn == f"turn-{won.index(True)}"

    @pytest.mark.parametrize("conversation", HOSTILE_IDS)
    async def test_any_conversation_id_is_kept_apart_from_all_others(self, store: Store, conversation: str) -> None:
        others = [other for other in HOSTILE_IDS if other != conversation]
        for other in others:
            await store.swap(other, 0, State(last_turn=other))
        assert (await store.load(conversation))[0] == State()
        await store.swap(conversation, 0, FULL_STATE)
        for other in others:
            assert (await store.load(other))[0].last_turn == other

    async def test_decisions_come_back_equal_and_oldest_first(self, store: Store, clock: ManualClock) -> None:
        second = replace(DECISION, skill_id="b", outcome=Outcome.UNMET, score=None, matcher=None, evidence=())
        await store.append("c", "turn-2", [DECISION, second])
        clock.advance(1)
        await store.append("c", "turn-1", [DECISION])
        logged = await store.read("c")
        assert [(entry.turn_id, entry.decision) for entry in logged] == [
            ("turn-2", DECISION),
            ("turn-2", second),
            ("turn-1", DECISION),
        ]

    async def test_decisions_of_a_turn_are_kept_once(self, store: Store) -> None:
        await store.append("c", "turn-1", [DECISION])
        await store.append("c", "turn-1", [DECISION])
        assert len(await store.read("c")) == 1

    async def test_decisions_of_another_conversation_are_not_read(self, store: Store) -> None:
        await store.append("c", "turn-1", [DECISION])
        assert await store.read("d") == ()

    async def test_decisions_are_forgotten_after_thirty_days(self, store: Store, clock: ManualClock) -> None:
        await store.append("c", "turn-1", [DECISION])
        clock.advance(KEEP_DECISIONS_SECONDS + 1)
        await store.append("c", "turn-2", [DECISION])
        assert [entry.turn_id for entry in await store.read("c")] == ["turn-2"]

    async def test_what_a_pattern_matched_in_a_message_is_not_kept(self, store: Store) -> None:
        evidence = (Evidence("pattern", "my card is 4111 1111", 0, 20),)
        await store.append("c", "turn-1", [replace(DECISION, evidence=evidence)])
        (entry,) = await store.read("c")
        assert entry.decision.evidence == (Evidence("pattern", "", 0, 20),)
