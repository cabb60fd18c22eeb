"""Event streams on a real Redis keep the contract, over processes, restarts and broken connections."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import pytest
from redis import Redis

from skillweave import StoreUnavailable
from skillweave.events.event import EventStream, StreamGap
from skillweave_stores.redis.events import CONNECTIONS, RedisEventStream
from skillweave_stores.redis.keys import keys_of
from skillweave_stores.redis.listening import BLOCK_SECONDS
from skillweave_testing.servers import RedisServer, free_port
from tests.contracts_of_ports.event_stream import (
    OF_EVERY_FORM,
    PATIENCE,
    EventStreamContract,
    numbered,
    numbers,
    taken,
    taken_into,
)
from tests.proxy import Proxy

KEY = "skillweave:events:{skill:ledger:c}"


class TestRedisEventStream(EventStreamContract):
    most_kept = 1000

    @pytest.fixture
    async def stream(self, redis_url: str) -> AsyncIterator[EventStream]:
        async with RedisEventStream(redis_url, most_kept=self.most_kept) as stream:
            yield stream


class TestRedisClusterEventStream(EventStreamContract):
    most_kept = 1000

    @pytest.fixture
    async def stream(self, redis_cluster: RedisServer) -> AsyncIterator[EventStream]:
        redis_cluster.flush()
        url = redis_cluster.url().replace("redis://", "redis+cluster://")
        async with RedisEventStream(url, most_kept=self.most_kept) as stream:
            yield stream


@pytest.fixture
async def stream(redis_url: str) -> AsyncIterator[RedisEventStream]:
    async with RedisEventStream(redis_url) as stream:
        yield stream


@pytest.fixture
def raw(redis_url: str) -> Iterator[Redis]:
    with Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


async def listening(stream: RedisEventStream, *names: str) -> None:
    """Wait until the reader waits for all of these."""
    keys = {keys_of("", name).events for name in names}
    for _ in range(round(PATIENCE / 0.005)):
        if keys <= stream._listening.here()._reading:
            return
        await asyncio.sleep(0.005)
    raise TimeoutError


# -- several processes --------------------------------------------------------------------------------------------


async def test_what_one_process_appends_another_hears(redis_url: str, stream: RedisEventStream) -> None:
    async with RedisEventStream(redis_url) as other, aclosing(other.follow("c")) as following:
        waiting = asyncio.create_task(taken(following, 2))
        await listening(other, "c")
        await stream.append("c", numbered(1))
        await stream.append("c", numbered(2))
        assert numbers(await waiting) == [1, 2]


async def test_another_replica_goes_on_where_one_left_off(redis_url: str, stream: RedisEventStream) -> None:
    await stream.append("c", numbered(1, 2, 3))
    async with aclosing(stream.follow("c", "")) as following:
        (first,) = await taken(following, 1)
    async with RedisEventStream(redis_url) as other, aclosing(other.follow("c", first.position)) as following:
        assert numbers(await taken(following, 2)) == [2, 3]


async def test_a_new_follower_interrupts_the_wait_for_others(stream: RedisEventStream) -> None:
    async with aclosing(stream.follow("c", "")) as one, aclosing(stream.follow("d", "")) as two:
        first = asyncio.create_task(taken(one, 1))
        await listening(stream, "c")
        second = asyncio.create_task(taken(two, 1))
        before = asyncio.get_running_loop().time()
        await listening(stream, "c", "d")
        assert asyncio.get_running_loop().time() - before < BLOCK_SECONDS, "it did not wait for the end of the block"
        await stream.append("d", numbered(2))
        assert numbers(await second) == [2]
        await stream.append("c", numbered(1))
        assert numbers(await first) == [1]


@pytest.mark.soak
async def test_thousands_who_follow_need_few_connections(stream: RedisEventStream, raw: Redis) -> None:
    before = len(raw.client_list())
    names = [f"c{number}" for number in range(1000)]
    followers = [stream.follow(name, "") for name in (*names, *names)]
    waiting = [asyncio.create_task(taken(one, 1)) for one in followers]
    await listening(stream, *names)
    assert len(raw.client_list()) - before <= CONNECTIONS + 1
    await asyncio.gather(*(stream.append(name, numbered(number)) for number, name in enumerate(names)))
    seen = [numbers(one) for one in await asyncio.gather(*waiting)]
    assert seen == [[number] for number in (*range(1000), *range(1000))]
    assert len(raw.client_list()) - before <= CONNECTIONS + 1
    for one in followers:
        await one.aclose()
    assert stream._listening.here()._channels == {}


# -- restarts and broken connections ------------------------------------------------------------------------------


@pytest.mark.parametrize("crash", [True, False], ids=["crash", "stop"])
async def test_through_restarts_of_the_server_every_event_comes_once_and_in_order(
    redis_server: RedisServer, crash: bool
) -> None:
    redis_server.flush()
    names = ("c", "d", "e")
    async with RedisEventStream(redis_server.url()) as stream:
        followers = [stream.follow(name, "") for name in (*names, *names)]
        waiting = [asyncio.create_task(taken(one, 60)) for one in followers]
        await listening(stream, *names)

        async def write(name: str) -> None:
            for number in range(60):
                # A writer tries again until it is acknowledged; the id tells that it is the same event.
                while True:
                    try:
                        await stream.append(name, numbered(number))
                        break
                    except StoreUnavailable:
                        await asyncio.sleep(0.02)

        writing = [asyncio.create_task(write(name)) for name in names]
        for _ in range(2):
            await asyncio.sleep(0.01)
            await asyncio.to_thread(redis_server.restart, crash=crash)
        await asyncio.gather(*writing)
        assert [numbers(one) for one in await asyncio.gather(*waiting)] == [list(range(60))] * 6


async def test_through_a_restart_of_a_cluster_every_event_comes_once_and_in_order(redis_cluster: RedisServer) -> None:
    redis_cluster.flush()
    async with RedisEventStream(redis_cluster.url().replace("redis://", "redis+cluster://")) as stream:
        await stream.append("c", numbered(0))
        async with aclosing(stream.follow("c", "")) as following:
            assert numbers(await taken(following, 1)) == [0]
            waiting = asyncio.create_task(taken(following, 2))
            await asyncio.to_thread(redis_cluster.restart, crash=True)
            for number in (1, 2):
                while True:
                    try:
                        await stream.append("c", numbered(number))
                        break
                    except StoreUnavailable:
                        await asyncio.sleep(0.02)
            assert numbers(await waiting) == [1, 2]


async def test_connections_that_break_cost_no_event(redis_url: str, stream: RedisEventStream) -> None:
    async with (
        Proxy(redis_url) as proxy,
        RedisEventStream(proxy.url) as other,
        aclosing(other.follow("c", "")) as following,
    ):
        waiting = asyncio.create_task(taken(following, 50))
        for number in range(50):
            if number % 10 == 5:
                proxy.cut()
            await stream.append("c", numbered(number))
            await asyncio.sleep(0.002)
        assert numbers(await waiting) == list(range(50))


async def test_an_append_whose_answer_was_lost_is_there_once(redis_url: str, stream: RedisEventStream) -> None:
    async with Proxy(redis_url) as proxy, RedisEventStream(proxy.url) as other:
        await other.append("c", numbered(1))
        proxy.lose_answer()
        await other.append("c", numbered(2, 3))
    assert numbers(await stream.read("c")) == [1, 2, 3]


async def test_the_first_look_at_a_server_that_is_not_there_says_so() -> None:
    async with RedisEventStream(f"redis://127.0.0.1:{free_port()}", connections=1) as stream:
        for asked in (taken(stream.follow("c"), 1), taken(stream.follow("c", ""), 1), stream.read("c")):
            with pytest.raises(StoreUnavailable, match="refuses connections"):
                await asked


async def test_a_server_that_lost_what_a_follower_has_seen_is_a_gap_for_whoever_comes_back(
    stream: RedisEventStream, raw: Redis
) -> None:
    await stream.append("c", numbered(1, 2))
    position = (await stream.read("c"))[-1].position
    raw.flushdb()
    for number in (None, 3):
        if number is not None:
            await stream.append("c", numbered(number))
        with pytest.raises(StreamGap):
            await stream.read("c", position)
        with pytest.raises(StreamGap):
            await taken(stream.follow("c", position), 1)


async def test_whoever_waits_while_a_stream_expires_hears_of_it_again(stream: RedisEventStream, raw: Redis) -> None:
    await stream.append("c", numbered(1))
    async with aclosing(stream.follow("c", "")) as following:
        await taken(following, 1)
        waiting = asyncio.create_task(taken(following, 2))
        await listening(stream, "c")
        raw.delete(KEY)
        await stream.append("c", numbered(2))
        await stream.append("c", numbered(3))
        assert numbers(await waiting) == [2, 3]


async def test_a_stream_that_is_trimmed_under_a_follower_is_a_gap(stream: RedisEventStream, raw: Redis) -> None:
    await stream.append("c", numbered(*range(300)))
    async with aclosing(stream.follow("c", "")) as following:
        seen = await taken(following, 1)
        raw.xtrim(KEY, maxlen=10, approximate=False)
        with pytest.raises(StreamGap) as raised:
            await taken_into(seen, following, 300)
    assert numbers(seen) == list(range(len(seen)))
    assert raised.value.first == (await stream.read("c"))[0].position


async def test_one_who_saw_nothing_yet_of_what_is_trimmed_meets_a_gap_too(stream: RedisEventStream, raw: Redis) -> None:
    async with aclosing(stream.follow("c", "")) as following:
        waiting = asyncio.create_task(taken(following, 1))
        await listening(stream, "c")
        with raw.pipeline(transaction=True) as at_once:
            for number in range(1, 4):
                at_once.xadd(KEY, {"id": str(number), "event": "{}", "after": f"{number - 1}-1"}, id=f"{number}-1")
            at_once.xtrim(KEY, maxlen=1, approximate=False)
            at_once.execute()
        with pytest.raises(StreamGap):
            await waiting


async def test_many_events_between_two_looks_of_the_reader_all_come(stream: RedisEventStream) -> None:
    async with aclosing(stream.follow("c", "")) as one, aclosing(stream.follow("c", "")) as two:
        waiting = [asyncio.create_task(taken(following, 700)) for following in (one, two)]
        await listening(stream, "c")
        for begin in range(0, 700, 350):
            await stream.append("c", numbered(*range(begin, begin + 350)))
        assert [numbers(one) for one in await asyncio.gather(*waiting)] == [list(range(700))] * 2


# -- what others do -----------------------------------------------------------------------------------------------


async def test_an_entry_of_somebody_else_is_named_to_those_who_follow_and_to_those_who_read(
    stream: RedisEventStream, raw: Redis
) -> None:
    async with aclosing(stream.follow("c", "")) as following:
        waiting = asyncio.create_task(taken(following, 1))
        await listening(stream, "c")
        raw.xadd(KEY, {"id": "x", "event": "{"})
        with pytest.raises(StoreUnavailable, match="is damaged"):
            await waiting
    with pytest.raises(StoreUnavailable, match="is damaged"):
        await stream.read("c")


async def test_what_is_read_in_passing_is_as_what_is_read_by_itself(stream: RedisEventStream) -> None:
    async with aclosing(stream.follow("c", "")) as following:
        waiting = asyncio.create_task(taken(following, len(OF_EVERY_FORM)))
        await listening(stream, "c")
        await stream.append("c", OF_EVERY_FORM)
        assert tuple(await waiting) == await stream.read("c")


# Connections of a loop that has ended are closed with the objects that hold them, of which Python warns.
@pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning")
async def test_two_event_loops_each_have_a_reader(redis_url: str) -> None:
    stream = RedisEventStream(redis_url)

    async def hear() -> list[int]:
        async with aclosing(stream.follow("c", "")) as following:
            return numbers(await taken(following, 2))

    there = asyncio.create_task(asyncio.to_thread(asyncio.run, hear()))
    here = asyncio.create_task(hear())
    await stream.append("c", numbered(1))
    await listening(stream, "c")
    await stream.append("c", numbered(2))
    assert (await there, await here) == ([1, 2], [1, 2])
    await stream.close()
    gc.collect()


async def test_once_closed_it_says_so_and_nobody_follows(redis_url: str) -> None:
    stream = RedisEventStream(redis_url)
    await stream.close()
    assert [one async for one in stream.follow("c")] == []
    with pytest.raises(StoreUnavailable, match=r"the event stream redis://.* is closed; open it again with RedisEvent"):
        await stream.append("c", numbered(1))
