"""A stream of the client is one series of events, however often its connection ends or breaks."""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing
from pathlib import Path

import pytest
from tests.skillweave_server.running import served_service, whole_service

from skillweave.client import Client, Retries, ServiceUnreachable
from skillweave.events.event import StreamedEvent, StreamGap
from skillweave.stores.event_stream import MemoryEventStream
from skillweave_server.options import ServiceOptions
from tests.contracts_of_ports.event_stream import numbered, numbers

QUICK = Retries(most=50, first_seconds=0.005, longest_seconds=0.05)

PATIENCE = 20.0


async def taken(stream: AsyncGenerator[StreamedEvent, None], count: int) -> list[StreamedEvent]:
    """The next so many events; not the contract's own, whose patience the tests of broken streams make very short."""
    async with asyncio.timeout(PATIENCE):
        return [await anext(stream) for _ in range(count)]


class Frail(MemoryEventStream):
    """A stream whose followers are dropped after so many events."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most
        self.begun = 0

    async def follow(
        self, conversation: str, after: str | None = None, *, tenant: str = ""
    ) -> AsyncGenerator[StreamedEvent, None]:
        self.begun += 1
        async with aclosing(super().follow(conversation, after, tenant=tenant)) as following:
            for _ in range(self.most):
                yield await anext(following)


async def test_every_event_comes_once_and_in_order_over_many_connections(tmp_path: Path) -> None:
    events = Frail(2)
    async with (
        served_service(whole_service(tmp_path, events=events)) as address,
        Client(address, retries=QUICK) as client,
        aclosing(client.stream("c", after="")) as stream,
    ):
        await events.append("c", numbered(0))
        seen = await taken(stream, 1)
        for number in range(1, 9):
            await events.append("c", numbered(number))
        seen += await taken(stream, 8)
    assert numbers(seen) == list(range(9))
    assert events.begun > 4


async def test_a_service_that_goes_away_and_comes_again_is_found_again(tmp_path: Path) -> None:
    events = MemoryEventStream()
    async with served_service(whole_service(tmp_path, events=events)) as address:
        port = int(address.rpartition(":")[2])
        client = Client(address, retries=QUICK)
        stream = client.stream("c", after="")
        await events.append("c", numbered(1))
        seen = await taken(stream, 1)
        following = asyncio.create_task(taken(stream, 2))
        await asyncio.sleep(0)
    again = MemoryEventStream()
    vars(again).update({name: value for name, value in vars(events).items() if name != "_closed"})
    await again.append("c", numbered(2))
    async with served_service(whole_service(tmp_path, events=again), port=port):
        await again.append("c", numbered(3))
        seen += await following
        await stream.aclose()
        await client.close()
    assert numbers(seen) == [1, 2, 3]


async def test_without_a_position_what_happens_between_two_connections_is_not_lost(tmp_path: Path) -> None:
    service = whole_service(tmp_path, options=ServiceOptions(stream_seconds=0.02, heartbeat_seconds=0.01))
    async with served_service(service) as address, Client(address, retries=QUICK) as client:
        await service.events.append("c", numbered(0))
        async with aclosing(client.stream("c")) as stream:
            waiting = asyncio.create_task(taken(stream, 20))
            await asyncio.sleep(0.05)
            for number in range(1, 21):
                await service.events.append("c", numbered(number))
                await asyncio.sleep(0.004)
            assert numbers(await waiting) == list(range(1, 21))


async def test_a_position_that_is_no_longer_kept_is_a_gap(tmp_path: Path) -> None:
    async with served_service(whole_service(tmp_path)) as address, Client(address, retries=QUICK) as client:
        with pytest.raises(StreamGap, match="long-ago"):
            await taken(client.stream("c", after="long-ago-1"), 1)


async def test_a_gap_in_the_middle_is_raised_after_the_events_before_it(tmp_path: Path) -> None:
    class Forgets(MemoryEventStream):
        async def follow(
            self, conversation: str, after: str | None = None, *, tenant: str = ""
        ) -> AsyncGenerator[StreamedEvent, None]:
            async with aclosing(super().follow(conversation, after, tenant=tenant)) as following:
                one = await anext(following)
                yield one
                raise StreamGap(one.position, "")

    events = Forgets()
    await events.append("c", numbered(1, 2))
    async with (
        served_service(whole_service(tmp_path, events=events)) as address,
        Client(address, retries=QUICK) as client,
        aclosing(client.stream("c", after="")) as stream,
    ):
        assert numbers(await taken(stream, 1)) == [1]
        with pytest.raises(StreamGap):
            await taken(stream, 1)


async def test_nobody_who_answers_is_told_after_so_many_tries() -> None:
    few = Retries(most=2, first_seconds=0.001)
    async with Client("http://127.0.0.1:9", retries=few) as client:
        with pytest.raises(ServiceUnreachable):
            await taken(client.stream("c"), 1)
