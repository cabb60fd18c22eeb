"""The contract of a ledger as tests: a backend is what passes them."""

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

import skillweave
from skillweave import (
    ApprovalVerdict,
    Decision,
    Event,
    Evidence,
    Outcome,
    Record,
    Ruling,
    State,
    Store,
    StoreUnavailable,
    ToolCall,
    Weaver,
)
from skillweave.errors import InvalidValue
from skillweave.events import Announced
from skillweave.graph import Cursor
from skillweave.ledger import (
    KEEP_DECISIONS_SECONDS,
    Approval,
    Delivery,
    Engaged,
    Fragment,
    Lifecycle,
    Superseded,
    Writes,
)
from skillweave.turns import Rung
from skillweave.values import Json
from skillweave_testing.fakes import ManualClock, WordCounter

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
    entity="ship-1",
)
DECISION = Decision(
    "a", Outcome.INJECTED, "disclose", "given in full", 0.8, "triggers", (Evidence("keyword", "grüße", 3, 8),), 120
)
HOSTILE_IDS = ("a:b", "{a}", "%", "a/b", "a\\b", "'; DROP TABLE states; --", "Ω≈ç√", "*", "a" * 500, " ", "NULL")

for_impossible_tenants = pytest.mark.parametrize(
    "tenant", ["a\0b", "a" * 10_000, "\ud800", "a\nb"], ids=["NUL", "long", "half of a pair", "line break"]
)
"""What no tenant may be called: not every database keeps it."""


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
        assert await store.swap("c", 0, Writes(FULL_STATE))
        state, _ = await store.load("c")
        assert state == replace(FULL_STATE, revision=1)

    async def test_a_swap_on_the_newest_revision_replaces_the_state(self, store: Store) -> None:
        await store.swap("c", 0, Writes(FULL_STATE))
        assert await store.swap("c", 1, Writes(State(last_turn="turn-2")))
        assert (await store.load("c"))[0] == State(revision=2, last_turn="turn-2")

    async def test_a_swap_on_an_old_revision_is_refused_and_changes_nothing(self, store: Store) -> None:
        await store.swap("c", 0, Writes(FULL_STATE))
        assert not await store.swap("c", 0, Writes(State(last_turn="late")))
        assert (await store.load("c"))[0] == replace(FULL_STATE, revision=1)

    async def test_a_swap_on_a_revision_that_never_was_is_refused(self, store: Store) -> None:
        assert not await store.swap("c", 7, Writes(FULL_STATE))
        assert (await store.load("c"))[0] == State()

    async def test_of_fifty_simultaneous_swaps_one_wins(self, store: Store) -> None:
        swaps = (store.swap("c", 0, Writes(State(last_turn=f"turn-{n}"))) for n in range(50))
        won = await asyncio.gather(*swaps)
        assert won.count(True) == 1
        assert (await store.load("c"))[0].last_turn == f"turn-{won.index(True)}"

    @pytest.mark.parametrize("conversation", HOSTILE_IDS)
    async def test_any_conversation_id_is_kept_apart_from_all_others(self, store: Store, conversation: str) -> None:
        others = [other for other in HOSTILE_IDS if other != conversation]
        for other in others:
            await store.swap(other, 0, Writes(State(last_turn=other)))
        assert (await store.load(conversation))[0] == State()
        await store.swap(conversation, 0, Writes(FULL_STATE))
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

    async def test_decisions_of_a_turn_that_is_repeated_with_others_stay_the_first_ones(self, store: Store) -> None:
        await store.append("c", "turn-1", [DECISION])
        await store.append("c", "turn-1", [replace(DECISION, skill_id="b"), DECISION])
        assert [entry.decision for entry in await store.read("c")] == [DECISION]

    async def test_no_decisions_leave_nothing(self, store: Store) -> None:
        await store.append("c", "turn-1", [])
        assert await store.read("c") == ()
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

    async def test_decisions_of_a_conversation_that_never_comes_back_are_forgotten_too(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.append("c", "turn-1", [DECISION])
        await store.swap("d", 0, Writes(State(), "turn-1", (DECISION,)))
        clock.advance(KEEP_DECISIONS_SECONDS + 1)
        await store.append("e", "turn-1", [DECISION])
        assert (await store.read("c"), await store.read("d")) == ((), ())

    async def test_old_decisions_are_not_read_although_nobody_wrote_since(
        self, store: Store, clock: ManualClock
    ) -> None:
        await store.append("c", "turn-1", [DECISION])
        clock.advance(KEEP_DECISIONS_SECONDS + 1)
        assert await store.read("c") == ()

    async def test_what_a_pattern_matched_in_a_message_is_not_kept(self, store: Store) -> None:
        evidence = (Evidence("pattern", "my card is 4111 1111", 0, 20),)
        await store.append("c", "turn-1", [replace(DECISION, evidence=evidence)])
        (entry,) = await store.read("c")
        assert entry.decision.evidence == (Evidence("pattern", "", 0, 20),)

    # -- a turn's writes as one value ---------------------------------------------------------------------------

    async def test_a_swap_stores_the_state_with_the_decisions_of_its_turn(
        self, store: Store, clock: ManualClock
    ) -> None:
        second = replace(DECISION, skill_id="b")
        assert await store.swap("c", 0, Writes(FULL_STATE, "turn-1", (DECISION, second)))
        assert (await store.load("c"))[0] == replace(FULL_STATE, revision=1)
        logged = await store.read("c")
        assert [(entry.turn_id, entry.at, entry.decision) for entry in logged] == [
            ("turn-1", clock.now, DECISION),
            ("turn-1", clock.now, second),
        ]

    async def test_a_swap_that_loses_stores_none_of_its_writes(self, store: Store) -> None:
        await store.swap("c", 0, Writes(FULL_STATE, "turn-1", (DECISION,)))
        assert not await store.swap("c", 0, Writes(State(), "turn-2", (replace(DECISION, skill_id="b"),)))
        assert [entry.turn_id for entry in await store.read("c")] == ["turn-1"]

    async def test_of_simultaneous_swaps_the_decisions_of_the_winner_are_kept(self, store: Store) -> None:
        writes = [Writes(State(last_turn=f"turn-{n}"), f"turn-{n}", (DECISION,)) for n in range(20)]
        won = await asyncio.gather(*(store.swap("c", 0, one) for one in writes))
        assert [entry.turn_id for entry in await store.read("c")] == [f"turn-{won.index(True)}"]

    async def test_a_swap_keeps_the_decisions_of_a_turn_once(self, store: Store) -> None:
        await store.swap("c", 0, Writes(FULL_STATE, "turn-1", (DECISION,)))
        assert await store.swap("c", 1, Writes(State(), "turn-1", (replace(DECISION, skill_id="b"),)))
        assert [entry.decision for entry in await store.read("c")] == [DECISION]
        assert (await store.load("c"))[0] == State(revision=2)

    async def test_a_swap_keeps_no_words_of_a_message(self, store: Store) -> None:
        evidence = (Evidence("pattern", "my card is 4111 1111", 0, 20),)
        await store.swap("c", 0, Writes(State(), "turn-1", (replace(DECISION, evidence=evidence),)))
        (entry,) = await store.read("c")
        assert entry.decision.evidence == (Evidence("pattern", "", 0, 20),)

    async def test_it_says_whether_it_keeps_events_and_takes_them_in_any_case(self, store: Store) -> None:
        event = Event("e1", "MoonRose", "c", "turn-1", Announced("a", {"phase": "full"}))
        assert store.keeps_events in (True, False)
        assert await store.swap("c", 0, Writes(State(), "turn-1", events=(event,)))

    # -- the index ----------------------------------------------------------------------------------------------

    async def test_a_new_store_has_no_conversations(self, store: Store) -> None:
        await store.load("c")
        assert (await store.count(), await store.conversations()) == (0, ())

    async def test_conversations_are_listed_in_the_order_of_their_characters(self, store: Store) -> None:
        await _begin(store, "b", "a%", "Ä", "aa", "a_", "B")
        assert await store.count() == 6
        assert await store.conversations() == ("B", "a%", "a_", "aa", "b", "Ä")

    async def test_a_prefix_is_taken_literally(self, store: Store) -> None:
        await _begin(store, "b", "a%", "Ä", "aa", "a_", "a*")
        assert await store.conversations("a") == ("a%", "a*", "a_", "aa")
        assert await store.conversations("a_") == ("a_",)
        assert await store.conversations("a%") == ("a%",)
        assert await store.conversations("Ä") == ("Ä",)
        assert await store.conversations("x") == ()

    async def test_all_conversations_can_be_listed_page_by_page(self, store: Store) -> None:
        names = [f"c{n:02}" for n in range(10)]
        await _begin(store, *reversed(names), "d")
        pages, after = [], ""
        while page := await store.conversations("c", 4, after):
            pages.append(page)
            after = page[-1]
        assert pages == [tuple(names[:4]), tuple(names[4:8]), tuple(names[8:])]

    async def test_a_page_begins_after_an_id_that_is_not_there(self, store: Store) -> None:
        await _begin(store, "a", "c", "d")
        assert await store.conversations(after="b") == ("c", "d")
        assert await store.conversations("a", after="b") == ()
        assert await store.conversations("c", after="a") == ("c",)

    async def test_no_more_are_listed_than_asked_for(self, store: Store) -> None:
        await _begin(store, "a", "b", "c")
        assert [len(await store.conversations(limit=limit)) for limit in (0, 1, 2, 3, 4)] == [0, 1, 2, 3, 3]

    @pytest.mark.parametrize("conversation", HOSTILE_IDS)
    async def test_any_id_is_listed_as_it_is(self, store: Store, conversation: str) -> None:
        await _begin(store, conversation)
        assert await store.conversations() == await store.conversations(conversation) == (conversation,)

    # -- tenants ------------------------------------------------------------------------------------------------

    async def test_a_conversation_of_one_tenant_is_unknown_to_another(self, store: Store) -> None:
        assert await store.swap("c", 0, Writes(FULL_STATE), tenant="a")
        for tenant in ("", "b", "A", "a.", "%"):
            assert (await store.load("c", tenant=tenant))[0] == State()
        assert (await store.load("c", tenant="a"))[0] == replace(FULL_STATE, revision=1)

    async def test_a_swap_changes_the_conversation_of_its_tenant_only(self, store: Store) -> None:
        for tenant in ("", "a", "b"):
            assert await store.swap("c", 0, Writes(State(last_turn=tenant)), tenant=tenant)
        assert await store.swap("c", 1, Writes(State(last_turn="new")), tenant="a")
        assert [(await store.load("c", tenant=tenant))[0].last_turn for tenant in ("", "a", "b")] == ["", "new", "b"]

    async def test_decisions_of_another_tenant_are_not_read(self, store: Store) -> None:
        await store.append("c", "turn-1", [DECISION], tenant="a")
        await store.swap("c", 0, Writes(State(), "turn-1", (DECISION, DECISION)), tenant="b")
        assert [len(await store.read("c", tenant=tenant)) for tenant in ("", "a", "b")] == [0, 1, 2]

    async def test_the_index_is_of_one_tenant(self, store: Store) -> None:
        await _begin(store, "c1", "c2", tenant="a")
        await _begin(store, "c1")
        assert [await store.count(tenant=tenant) for tenant in ("", "a", "b")] == [1, 2, 0]
        assert await store.conversations(tenant="a") == ("c1", "c2")
        assert await store.conversations() == ("c1",)

    @pytest.mark.parametrize(("tenant", "conversation"), [("a", "b/c"), ("a/b", "c"), ("a:b", "c"), ("", "a/b/c")])
    async def test_tenant_and_conversation_are_not_one_text(self, store: Store, tenant: str, conversation: str) -> None:
        await store.swap("c", 0, Writes(State(last_turn="other")), tenant="a/b")
        await store.swap("b:c", 0, Writes(State(last_turn="other")), tenant="a")
        assert (await store.load(conversation, tenant=tenant))[0].last_turn == ("other" if tenant == "a/b" else "")

    async def test_the_tenant_called_default_is_the_default_one(self, store: Store) -> None:
        assert await store.swap("c", 0, Writes(FULL_STATE, "turn-1", (DECISION,)), tenant="default")
        assert not await store.swap("c", 0, Writes(State()))
        await store.append("c", "turn-2", [DECISION])
        for tenant in ("", "default"):
            assert (await store.load("c", tenant=tenant))[0] == replace(FULL_STATE, revision=1)
            assert [entry.turn_id for entry in await store.read("c", tenant=tenant)] == ["turn-1", "turn-2"]
            assert (await store.conversations(tenant=tenant), await store.count(tenant=tenant)) == (("c",), 1)

    @for_impossible_tenants
    async def test_what_cannot_be_a_tenant_is_refused(self, store: Store, tenant: str) -> None:
        for asked in (
            store.load("c", tenant=tenant),
            store.swap("c", 0, Writes(State()), tenant=tenant),
            store.append("c", "turn-1", [DECISION], tenant=tenant),
            store.read("c", tenant=tenant),
            store.conversations(tenant=tenant),
            store.count(tenant=tenant),
        ):
            with pytest.raises(InvalidValue, match="tenant"):
                await asked

    # -- the end ------------------------------------------------------------------------------------------------

    async def test_of_eight_who_ask_about_an_approved_call_one_is_let_through(self, store: Store) -> None:
        await _say_yes(_cashier(store))
        ruled = await asyncio.gather(*(_ruling(_cashier(store)) for _ in range(8)))
        assert Counter(ruled) == {Ruling.ALLOW: 1, Ruling.ASK: 7}
        assert await _ruling(_cashier(store)) is Ruling.ASK

    async def test_of_eight_requests_about_an_approved_call_each_gets_its_answer_again(self, store: Store) -> None:
        await _say_yes(_cashier(store))
        first, again = [
            await asyncio.gather(*(_ruling(_cashier(store), f"request-{n}") for n in range(8))) for _ in range(2)
        ]
        assert first.count(Ruling.ALLOW) == 1
        assert again == first

    async def test_it_can_be_closed_twice(self, store: Store) -> None:
        await store.swap("c", 0, Writes(State()))
        await store.close()
        await store.close()

    async def test_it_is_closed_at_the_end_of_a_block(self, store: Store) -> None:
        async with store as entered:
            assert await entered.swap("c", 0, Writes(State()))
        await store.close()

    async def test_a_closed_store_answers_as_before_or_says_that_it_is_unavailable(self, store: Store) -> None:
        await store.swap("c", 0, Writes(FULL_STATE))
        await store.close()
        try:
            state, _ = await store.load("c")
        except StoreUnavailable as error:
            assert "closed" in str(error)  # noqa: PT017 - a store in memory need not refuse
        else:
            assert state == replace(FULL_STATE, revision=1)


def _cashier(store: Store) -> Weaver:
    """One of several who share the store."""
    bill: dict[str, Json] = {
        "id": "bill",
        "description": "Pays bills.",
        "triggers": {"keywords": ["bill"]},
        "checkpoints": [{"name": "sign-off", "before": "pay"}],
        "text": {"instructions": "Check the sum first."},
    }
    return skillweave.open(bill, ledger=store, counter=WordCounter())


async def _say_yes(weaver: Weaver) -> None:
    await weaver.weave("the bill", conversation="c")
    await weaver.approvals.decide(
        "c", "bill", "sign-off", "approved", by="Ann", call=ToolCall("call-1", "pay", {"amount": 4})
    )


async def _ruling(weaver: Weaver, key: str = "") -> Ruling:
    now = await weaver.current_policy("c")
    return (await weaver.authorize(now, "pay", {"amount": 4}, call_id="call-1", key=key)).ruling


async def _begin(store: Store, *conversations: str, tenant: str = "") -> None:
    for conversation in conversations:
        await store.swap(conversation, 0, Writes(State()), tenant=tenant)
