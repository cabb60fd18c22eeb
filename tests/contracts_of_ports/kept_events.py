"""The contract of a ledger that keeps the events of its swaps, as tests: a backend is what passes them."""

import asyncio

import pytest

from skillweave.errors import StoreUnavailable
from skillweave.events.event import EventStream
from skillweave.state.port import Store
from skillweave.state.state import State, Writes
from skillweave_testing.ledger import FULL_STATE, LedgerContract
from tests.contracts_of_ports.event_stream import OF_EVERY_FORM, numbered, numbers


class KeptEventsContract(LedgerContract):
    """What LedgerContract asks of a ledger, and that each event of an acknowledged swap is in the stream once.

    Inherit, and give beside `store` a fixture `stream` that reads where the store puts events.
    """

    @pytest.fixture
    def stream(self) -> EventStream:
        """The streams that swaps of the store fill."""
        raise NotImplementedError("a subclass gives the stream")

    async def test_it_says_that_it_keeps_events(self, store: Store) -> None:
        assert store.keeps_events is True

    async def test_a_swap_that_is_stored_puts_its_events_into_the_stream(
        self, store: Store, stream: EventStream
    ) -> None:
        assert await store.swap("c", 0, Writes(FULL_STATE, "turn-1", events=OF_EVERY_FORM[:2]))
        assert await store.swap("c", 1, Writes(State(), events=OF_EVERY_FORM[2:]))
        assert tuple(one.event for one in await stream.read("c")) == OF_EVERY_FORM

    async def test_a_swap_that_loses_puts_none_there(self, store: Store, stream: EventStream) -> None:
        await store.swap("c", 0, Writes(State(), events=numbered(1)))
        assert not await store.swap("c", 0, Writes(State(), events=numbered(2)))
        assert not await store.swap("c", 7, Writes(State(), events=numbered(3)))
        assert numbers(await stream.read("c")) == [1]

    async def test_of_simultaneous_swaps_the_events_of_the_winner_are_there(
        self, store: Store, stream: EventStream
    ) -> None:
        won = await asyncio.gather(*(store.swap("c", 0, Writes(State(), events=numbered(n))) for n in range(20)))
        assert numbers(await stream.read("c")) == [won.index(True)]

    async def test_events_are_there_in_the_order_of_the_revisions(self, store: Store, stream: EventStream) -> None:
        async def turn(number: int) -> None:
            while True:
                state, _ = await store.load("c")
                event = numbered(state.revision)
                if await store.swap("c", state.revision, Writes(State(last_turn=f"t{number}"), events=event)):
                    return

        await asyncio.gather(*(turn(number) for number in range(12)))
        assert numbers(await stream.read("c")) == list(range(12))

    async def test_an_event_that_a_later_swap_tells_again_is_there_once(
        self, store: Store, stream: EventStream
    ) -> None:
        await store.swap("c", 0, Writes(State(), events=numbered(1, 2)))
        assert await store.swap("c", 1, Writes(State(), events=numbered(2, 3)))
        assert numbers(await stream.read("c")) == [1, 2, 3]

    async def test_what_is_appended_beside_it_is_in_the_same_stream(self, store: Store, stream: EventStream) -> None:
        await store.swap("c", 0, Writes(State(), events=numbered(1)))
        await stream.append("c", numbered(1, 2))
        await store.swap("c", 1, Writes(State(), events=numbered(2, 3)))
        assert numbers(await stream.read("c")) == [1, 2, 3]

    async def test_events_are_those_of_the_tenant_and_the_conversation(self, store: Store, stream: EventStream) -> None:
        await store.swap("c", 0, Writes(State(), events=numbered(1)), tenant="a")
        await store.swap("d", 0, Writes(State(), events=numbered(2)), tenant="a")
        found = [await stream.read(one, tenant=tenant) for one, tenant in (("c", "a"), ("d", "a"), ("c", ""))]
        assert [numbers(one) for one in found] == [[1], [2], []]

    async def test_a_swap_without_events_leaves_the_stream_as_it_is(self, store: Store, stream: EventStream) -> None:
        await store.swap("c", 0, Writes(State()))
        assert await stream.read("c") == ()

    async def test_a_closed_store_puts_nothing_there_that_it_does_not_store(
        self, store: Store, stream: EventStream
    ) -> None:
        await store.close()
        try:
            stored = await store.swap("c", 0, Writes(State(), events=numbered(1)))
        except StoreUnavailable:
            stored = False
        assert numbers(await stream.read("c")) == ([1] if stored else [])
