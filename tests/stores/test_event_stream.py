"""Event streams in memory keep the contract, and forget what is too old or too much."""

import asyncio
import threading
from contextlib import aclosing

import pytest

from skillweave.events.event import KEEP_EVENTS_SECONDS, EventStream, StreamGap
from skillweave.stores.event_stream import MemoryEventStream
from skillweave_testing import ManualClock
from tests.contracts_of_ports.event_stream import EventStreamContract, numbered, numbers, taken


class TestMemoryEventStream(EventStreamContract):
    most_kept = 1000

    @pytest.fixture
    def stream(self) -> EventStream:
        return MemoryEventStream(most_kept=self.most_kept)


async def test_a_position_of_an_earlier_process_is_a_gap() -> None:
    earlier, now = MemoryEventStream(), MemoryEventStream()
    for stream in (earlier, now):
        await stream.append("c", numbered(1, 2))
    position = (await earlier.read("c"))[0].position
    with pytest.raises(StreamGap):
        await now.read("c", position)


async def test_a_day_after_the_last_event_a_conversation_is_forgotten() -> None:
    clock = ManualClock()
    stream = MemoryEventStream(clock=clock)
    await stream.append("c", numbered(1))
    clock.advance(KEEP_EVENTS_SECONDS)
    await stream.append("c", numbered(2))
    first, second = await stream.read("c")
    clock.advance(KEEP_EVENTS_SECONDS + 1)
    assert await stream.read("c") == ()
    with pytest.raises(StreamGap):
        await stream.read("c", second.position)
    await stream.append("c", numbered(1))
    with pytest.raises(StreamGap):
        await stream.read("c", first.position)


async def test_of_too_many_events_the_conversations_that_were_silent_longest_go() -> None:
    stream = MemoryEventStream(most_events=10)
    for conversation in ("a", "b", "a", "c"):
        before = len(await stream.read(conversation))
        await stream.append(conversation, numbered(*range(before, before + 3)))
    assert [len(await stream.read(one)) for one in "abc"] == [6, 0, 3]


async def test_one_conversation_alone_never_has_more_than_all_may_have() -> None:
    stream = MemoryEventStream(most_events=10)
    await stream.append("c", numbered(*range(25)))
    assert numbers(await stream.read("c")) == list(range(15, 25))


async def test_whoever_waits_in_a_conversation_that_is_forgotten_hears_of_it_again() -> None:
    clock = ManualClock()
    stream = MemoryEventStream(clock=clock)
    await stream.append("c", numbered(1))
    async with aclosing(stream.follow("c", "")) as following:
        await taken(following, 1)
        for number in (2, 3):
            waiting = asyncio.create_task(taken(following, 1))
            await asyncio.sleep(0)
            clock.advance(KEEP_EVENTS_SECONDS + 1)
            assert await stream.read("c") == ()
            await stream.append("c", numbered(number))
            assert numbers(await waiting) == [number]


async def test_whoever_had_not_taken_all_of_a_conversation_that_is_forgotten_meets_a_gap() -> None:
    clock = ManualClock()
    stream = MemoryEventStream(clock=clock)
    await stream.append("c", numbered(*range(300)))
    async with aclosing(stream.follow("c", "")) as following:
        await taken(following, 1)
        clock.advance(KEEP_EVENTS_SECONDS + 1)
        await stream.append("c", numbered(300))
        with pytest.raises(StreamGap):
            await taken(following, 300)


async def test_nothing_is_left_of_those_who_listened_to_silence() -> None:
    stream = MemoryEventStream()
    for name in ("c", "d"):
        async with aclosing(stream.follow(name, "")) as following:
            waiting = asyncio.create_task(taken(following, 1))
            await asyncio.sleep(0)
            waiting.cancel()
            await asyncio.wait([waiting])
    with pytest.raises(StreamGap):
        await taken(stream.follow("e", "x-1"), 1)
    assert not stream._empty
    assert not stream._kept


async def test_what_another_thread_appends_is_heard() -> None:
    stream = MemoryEventStream()
    async with aclosing(stream.follow("c", "")) as following:
        waiting = asyncio.create_task(taken(following, 50))
        await asyncio.sleep(0)

        def append() -> None:
            for number in range(50):
                asyncio.run(stream.append("c", numbered(number)))

        thread = threading.Thread(target=append)
        thread.start()
        assert numbers(await waiting) == list(range(50))
        thread.join()


async def test_a_follower_whose_event_loop_has_ended_hinders_nobody() -> None:
    stream = MemoryEventStream()
    loop = asyncio.new_event_loop()
    left = stream.follow("c", "")

    async def wait_a_moment() -> None:
        await asyncio.wait([asyncio.ensure_future(anext(left))], timeout=0.01)

    def listen() -> None:
        loop.run_until_complete(wait_a_moment())
        loop.close()

    await asyncio.to_thread(listen)
    await stream.append("c", numbered(1))
    assert numbers(await stream.read("c")) == [1]
    await stream.close()
