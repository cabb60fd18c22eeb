"""Working memory on a real Redis keeps the contract, in one trip a call."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import cast

import pytest
from hypothesis import given, settings
from redis import Redis

from skillweave import StoreUnavailable
from skillweave.frozen import as_json
from skillweave.ledger import Writes
from skillweave.state.working_memory import (
    KEEP_MEMORY_SECONDS,
    MOST_MEMORY_BYTES,
    MemoryTooLarge,
    WorkingMemory,
    merged,
)
from skillweave_stores import RedisStore
from skillweave_stores.redis.store import reading_ahead
from skillweave_stores.redis.working_memory import RedisWorkingMemory
from skillweave_testing import ManualClock
from skillweave_testing.ledger import FULL_STATE
from skillweave_testing.servers import RedisServer
from tests.contracts_of_ports.working_memory import WorkingMemoryContract
from tests.proxy import Proxy
from tests.strategies import json_mappings

KEY = "skillweave:memory:{skill:ledger:c}"


def age(raw: Redis, seconds: float) -> None:
    """Bring all keys so much nearer to their end."""
    for key in raw.scan_iter("skillweave:memory:*"):
        left = raw.pttl(key) - round(seconds * 1000)
        raw.pexpire(key, max(left, 0))


class _OnServer(WorkingMemoryContract):
    @pytest.fixture(autouse=True)
    def by_hand(self, server_url: str) -> Iterator[None]:
        with Redis.from_url(server_url) as client:
            self.raw = client
            yield

    async def let_pass(self, memory: WorkingMemory, clock: ManualClock, seconds: float) -> None:
        age(self.raw, seconds)


class TestRedisWorkingMemory(_OnServer):
    @pytest.fixture
    def server_url(self, redis_url: str) -> str:
        return redis_url

    @pytest.fixture
    async def memory(self, server_url: str) -> AsyncIterator[WorkingMemory]:
        async with RedisWorkingMemory(server_url) as memory:
            yield memory


class TestRedisClusterWorkingMemory(_OnServer):
    @pytest.fixture
    def server_url(self, redis_cluster: RedisServer) -> str:
        redis_cluster.flush()
        return redis_cluster.url()

    @pytest.fixture
    async def memory(self, server_url: str) -> AsyncIterator[WorkingMemory]:
        async with RedisWorkingMemory(server_url.replace("redis://", "redis+cluster://")) as memory:
            yield memory


@pytest.fixture
async def memory(redis_url: str) -> AsyncIterator[RedisWorkingMemory]:
    async with RedisWorkingMemory(redis_url) as memory:
        yield memory


@pytest.fixture
def raw(redis_url: str) -> Iterator[Redis]:
    with Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


def some_mappings() -> list[dict[str, object]]:
    found: list[dict[str, object]] = []

    @settings(max_examples=20, database=None)
    @given(json_mappings)
    def collect(values: object) -> None:
        plain = as_json(values)
        try:
            merged({}, cast("dict[str, object]", plain))
        except ValueError:
            return
        found.append(cast("dict[str, object]", plain))

    collect()
    return found


async def test_what_is_merged_one_after_the_other_is_what_the_rule_makes_of_it(memory: RedisWorkingMemory) -> None:
    kept: object = {}
    for values in some_mappings():
        wanted = merged(cast("dict[str, object]", kept), values)
        assert await memory.merge("c", values) == wanted
        kept = wanted


async def test_its_size_is_that_of_the_compact_json_whatever_the_keys(memory: RedisWorkingMemory) -> None:
    for values in ({"a": 1}, {'"ä"\n😀': [1.5, {"b": None}], "": "x", "c": True}):
        await memory.forget("c")
        await memory.merge("c", values)
        room = "x" * MOST_MEMORY_BYTES
        with pytest.raises(MemoryTooLarge) as here:
            await memory.merge("c", {"more": room[:-12]})
        with pytest.raises(MemoryTooLarge) as rule:
            merged(values, {"more": room[:-12]})
        assert here.value.size == rule.value.size


async def test_each_call_is_one_trip(redis_url: str) -> None:
    async with Proxy(redis_url) as proxy, RedisWorkingMemory(proxy.url) as memory:
        await memory.merge("warm", {"a": 1})
        await memory.read("warm")
        await memory.forget("warm")
        before = proxy.trips
        await memory.merge("c", {"a": 1})
        await memory.read("c")
        await memory.forget("c")
        assert proxy.trips == before + 3


# -- read ahead: the State comes with the memory --------------------------------------------------------------------


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[RedisStore]:
    async with RedisStore(redis_url) as store:
        yield store


@pytest.fixture
async def ahead(redis_url: str, store: RedisStore) -> AsyncIterator[RedisWorkingMemory]:
    async with RedisWorkingMemory(redis_url, store=store) as memory:
        yield memory


async def test_read_ahead_memory_and_state_are_one_trip(redis_url: str) -> None:
    async with (
        Proxy(redis_url) as proxy,
        RedisStore(proxy.url) as store,
        RedisWorkingMemory(proxy.url, store=store) as memory,
    ):
        await memory.merge("c", {"a": 1})
        await store.swap("c", 0, Writes(FULL_STATE))
        await store.load("c")
        before = proxy.trips
        with reading_ahead():
            assert await memory.read("c") == {"a": 1}
            state, _ = await store.load("c")
        assert (proxy.trips - before, state) == (1, replace(FULL_STATE, revision=1))


async def test_what_was_read_ahead_is_taken_once_and_for_its_conversation(
    ahead: RedisWorkingMemory, store: RedisStore
) -> None:
    with reading_ahead():
        await ahead.read("c")
        await store.swap("c", 0, Writes(FULL_STATE))
        await store.swap("d", 0, Writes(FULL_STATE))
        assert [(await store.load(name))[0].revision for name in ("d", "c", "c")] == [1, 0, 1]


async def test_outside_of_it_every_load_is_new(ahead: RedisWorkingMemory, store: RedisStore) -> None:
    with reading_ahead():
        await ahead.read("c")
    await ahead.read("c")
    await store.swap("c", 0, Writes(FULL_STATE))
    assert (await store.load("c"))[0].revision == 1


async def test_a_memory_that_is_damaged_does_not_hide_the_state(
    ahead: RedisWorkingMemory, store: RedisStore, raw: Redis
) -> None:
    await store.swap("c", 0, Writes(FULL_STATE))
    raw.set(KEY, "of another type")
    with reading_ahead():
        with pytest.raises(StoreUnavailable, match=r"is damaged \(WRONGTYPE"):
            await ahead.read("c")
        assert (await store.load("c"))[0].revision == 1


async def test_read_ahead_too_keeps_the_memory_for_a_day(ahead: RedisWorkingMemory, raw: Redis) -> None:
    await ahead.merge("c", {"a": 1})
    raw.expire(KEY, 10)
    with reading_ahead():
        await ahead.read("c")
    assert KEEP_MEMORY_SECONDS - 60 < raw.ttl(KEY) <= KEEP_MEMORY_SECONDS


async def test_a_merge_whose_answer_was_lost_is_tried_again(redis_url: str) -> None:
    async with Proxy(redis_url) as proxy, RedisWorkingMemory(proxy.url) as memory:
        await memory.merge("c", {"a": 1})
        proxy.lose_answer()
        assert await memory.merge("c", {"b": 2}) == {"a": 1, "b": 2}


async def test_it_outlives_a_crash_of_the_server(redis_server: RedisServer) -> None:
    redis_server.flush()
    async with RedisWorkingMemory(redis_server.url()) as memory:
        await memory.merge("c", {"a": 1})
        await asyncio.to_thread(redis_server.restart, crash=True)
        assert await memory.read("c") == {"a": 1}


async def test_the_server_forgets_it_after_a_day(memory: RedisWorkingMemory, raw: Redis) -> None:
    await memory.merge("c", {"a": 1})
    raw.expire(KEY, 10)
    await memory.read("c")
    assert KEEP_MEMORY_SECONDS - 60 < raw.ttl(KEY) <= KEEP_MEMORY_SECONDS


@pytest.mark.parametrize("text", ["1", "3 {", "3 [1", "\udcff"], ids=ascii)
async def test_a_value_of_somebody_else_is_named(memory: RedisWorkingMemory, raw: Redis, text: str) -> None:
    raw.hset(KEY, "a", text.encode("utf-8", "surrogateescape"))
    with pytest.raises(StoreUnavailable, match="is damaged"):
        await memory.read("c")


async def test_once_closed_it_says_so(redis_url: str) -> None:
    memory = RedisWorkingMemory(redis_url)
    await memory.close()
    with pytest.raises(StoreUnavailable, match=r"the working memory redis://.* is closed; open it again with RedisWor"):
        await memory.read("c")
