"""What a swap stores on Redis, those who follow hear of; and of nothing else."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import aclosing

import pytest
from redis import Redis

import skillweave
from skillweave import State, Store, StoreUnavailable, Weaver
from skillweave.events.event import KEEP_EVENTS_SECONDS, EventStream, StreamedEvent, StreamObserver, Wanted
from skillweave.ledger import Writes
from skillweave_stores import RedisStore
from skillweave_stores.redis.events import RedisEventStream
from skillweave_stores.redis.store import EventKeeping
from skillweave_testing import ManualClock, Recorder, WordCounter
from skillweave_testing.servers import RedisServer
from tests.contracts_of_ports.event_stream import numbered, numbers, taken
from tests.contracts_of_ports.kept_events import KeptEventsContract
from tests.proxy import Proxy

KEY = "skillweave:events:{skill:ledger:c}"
SKILL = {
    "id": "a-b",
    "description": "d",
    "triggers": {"keywords": ["go"]},
    "emits": ["NOTE"],
    "text": {"instructions": "How."},
}


class TestRedis(KeptEventsContract):
    @pytest.fixture
    async def store(self, clock: ManualClock, redis_url: str) -> AsyncIterator[Store]:
        async with RedisStore(redis_url, clock=clock, events=EventKeeping.STREAM) as store:
            yield store

    @pytest.fixture
    async def stream(self, redis_url: str) -> AsyncIterator[EventStream]:
        async with RedisEventStream(redis_url) as stream:
            yield stream


class TestRedisCluster(KeptEventsContract):
    @pytest.fixture
    def url(self, redis_cluster: RedisServer) -> str:
        redis_cluster.flush()
        return redis_cluster.url().replace("redis://", "redis+cluster://")

    @pytest.fixture
    async def store(self, clock: ManualClock, url: str) -> AsyncIterator[Store]:
        async with RedisStore(url, clock=clock, events=EventKeeping.STREAM) as store:
            yield store

    @pytest.fixture
    async def stream(self, url: str) -> AsyncIterator[EventStream]:
        async with RedisEventStream(url) as stream:
            yield stream


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[RedisStore]:
    async with RedisStore(redis_url, events=EventKeeping.STREAM) as store:
        yield store


@pytest.fixture
async def stream(redis_url: str) -> AsyncIterator[RedisEventStream]:
    async with RedisEventStream(redis_url) as stream:
        yield stream


@pytest.fixture
def raw(redis_url: str) -> Iterator[Redis]:
    with Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


def weaver_on(store: Store, *observers: object, tenant: str = "") -> Weaver:
    return skillweave.open(SKILL, ledger=store, counter=WordCounter(), observers=observers, tenant=tenant)


def told(kept: tuple[StreamedEvent, ...]) -> list[tuple[str, str]]:
    return [(one.event.id, one.event.event_type) for one in kept]


async def test_a_store_keeps_no_events_unless_it_is_told_to(redis_url: str, stream: RedisEventStream) -> None:
    async with RedisStore(redis_url) as store:
        assert store.keeps_events is False
        await store.swap("c", 0, Writes(State(), events=numbered(1)))
    assert await stream.read("c") == ()


async def test_a_swap_whose_answer_was_lost_tells_its_events_once(redis_url: str, stream: RedisEventStream) -> None:
    async with Proxy(redis_url) as proxy, RedisStore(proxy.url, events=EventKeeping.STREAM) as store:
        await store.load("c")
        proxy.lose_answer()
        assert await store.swap("c", 0, Writes(State(), events=numbered(1, 2)))
        assert proxy.losing == 0
    assert numbers(await stream.read("c")) == [1, 2]


async def test_a_turn_with_its_events_is_one_load_and_one_swap(redis_url: str, stream: RedisEventStream) -> None:
    async with (
        Proxy(redis_url) as proxy,
        RedisStore(proxy.url, events=EventKeeping.STREAM) as store,
        RedisEventStream(proxy.url) as beside,
    ):
        weaver = weaver_on(store, StreamObserver(beside, wanted=Wanted.UNKEPT))
        await weaver.weave("go", conversation="warm")
        before = proxy.trips
        await weaver.weave("go", conversation="c")
        assert proxy.trips == before + 2
    assert [one.event.event_type for one in await stream.read("c")] == ["turn.decided", "skill.injected"]


async def test_a_turn_that_was_not_stored_is_told_by_the_stream_only_once_it_is(
    redis_url: str, stream: RedisEventStream
) -> None:
    async with (
        Proxy(redis_url) as proxy,
        RedisStore(proxy.url, call_seconds=0.3, retries=0, events=EventKeeping.STREAM) as store,
    ):
        weaver = weaver_on(store, StreamObserver(stream, wanted=Wanted.UNKEPT))
        await weaver.weave("go", conversation="warm")
        proxy.fall_silent()
        assert (await weaver.weave("go", conversation="c", turn_id="t")).revision is None
        proxy.speak()
        assert await stream.read("c") == ()
        proxy.cut()
        assert (await weaver.weave("go", conversation="c", turn_id="t")).revision == 1
    assert [one.event.event_type for one in await stream.read("c")] == ["turn.decided", "skill.injected"]


async def test_a_stream_of_another_type_refuses_the_swap_as_a_whole(store: RedisStore, raw: Redis) -> None:
    raw.set(KEY, "something else")
    with pytest.raises(StoreUnavailable, match="holds a key of another type"):
        await store.swap("c", 0, Writes(State(last_turn="t"), events=numbered(1)))
    assert (await store.load("c"))[0] == State()


async def test_whoever_may_not_write_the_stream_stores_nothing(redis_url: str, raw: Redis) -> None:
    raw.acl_setuser("noevents", enabled=True, passwords=["+pw"], keys=["*"], commands=["+@all", "-xadd"])
    try:
        url = redis_url.replace("redis://", "redis://noevents:pw@")
        async with RedisStore(url, events=EventKeeping.STREAM) as store:
            with pytest.raises(StoreUnavailable, match="does not let this user"):
                await store.swap("c", 0, Writes(State(last_turn="t"), events=numbered(1)))
            assert (await store.load("c"))[0] == State()
    finally:
        raw.acl_deluser("noevents")


async def test_the_server_forgets_a_stream_a_day_after_its_last_event(store: RedisStore, raw: Redis) -> None:
    await store.swap("c", 0, Writes(State(), events=numbered(1)))
    raw.expire(KEY, 10)
    await store.swap("c", 1, Writes(State()))
    assert raw.ttl(KEY) <= 10, "nothing happened"
    await store.swap("c", 2, Writes(State(), events=numbered(2)))
    assert KEEP_EVENTS_SECONDS - 60 < raw.ttl(KEY) <= KEEP_EVENTS_SECONDS


# -- a weaver's events --------------------------------------------------------------------------------------------


async def test_what_observers_are_told_of_a_turn_is_in_the_stream_under_the_same_ids(
    store: RedisStore, stream: RedisEventStream
) -> None:
    recorder = Recorder()
    await weaver_on(store, recorder).weave("go", conversation="c", turn_id="t1")
    assert told(await stream.read("c")) == [(one.id, one.event_type) for one in recorder.events]


async def test_what_observers_are_told_of_a_change_is_in_the_stream_under_the_same_ids(
    store: RedisStore, stream: RedisEventStream
) -> None:
    recorder = Recorder()
    weaver = weaver_on(store, recorder)
    await weaver.weave("go", conversation="c", turn_id="t1")
    await weaver.evict("c", "a-b")
    await weaver.weave("go", conversation="c", turn_id="t2")
    await weaver.ledger.clear("c")
    assert told(await stream.read("c")) == [(one.id, one.event_type) for one in recorder.events]
    assert recorder.types.count("skill.evicted") == 2


async def test_events_are_kept_although_nobody_observes(store: RedisStore, stream: RedisEventStream) -> None:
    weaver = weaver_on(store)
    await weaver.weave("go", conversation="c")
    await weaver.evict("c", "a-b")
    kept = [one.event for one in await stream.read("c")]
    assert [one.event_type for one in kept] == ["turn.decided", "skill.injected", "skill.evicted"]
    assert kept[0].payload.to_dict()["duration_ms"] > 0


@pytest.mark.parametrize("wanted", Wanted)
async def test_with_an_observer_for_the_rest_everything_is_in_the_stream_once_and_in_order(
    store: RedisStore, stream: RedisEventStream, wanted: Wanted
) -> None:
    recorder = Recorder()
    weaver = weaver_on(store, recorder, StreamObserver(stream, wanted=wanted))
    injection = await weaver.weave("go", conversation="c", turn_id="t1", tools=["read"])
    await weaver.authorize(injection, "pay", {}, call_id="call-1")
    await weaver.emit("c", "a-b", "NOTE", {"n": 1}, turn_id="t1")
    await weaver.weave("nothing", conversation="c", turn_id="t2")
    await weaver.weave("nothing", conversation="c", turn_id="t3")
    await weaver.evict("c", "a-b")
    assert told(await stream.read("c")) == [(one.id, one.event_type) for one in recorder.events]
    assert recorder.types == [
        *("turn.decided", "skill.injected", "tool.blocked", "NOTE"),
        *("turn.decided", "turn.decided", "skill.evicted"),
    ]


async def test_a_turn_that_changes_nothing_is_in_the_stream_too(store: RedisStore, stream: RedisEventStream) -> None:
    weaver = weaver_on(store, StreamObserver(stream, wanted=Wanted.UNKEPT))
    first = await weaver.weave("nothing", conversation="c")
    assert (await weaver.weave("nothing", conversation="c")).revision == first.revision
    assert [one.event.event_type for one in await stream.read("c")] == ["turn.decided", "turn.decided"]


async def test_events_are_those_of_the_weavers_tenant(store: RedisStore, stream: RedisEventStream) -> None:
    weaver = weaver_on(store, StreamObserver(stream, tenant="acme", wanted=Wanted.UNKEPT), tenant="acme")
    injection = await weaver.weave("go", conversation="c", tools=["read"])
    await weaver.authorize(injection, "pay", {})
    kept = [one.event.event_type for one in await stream.read("c", tenant="acme")]
    assert kept == ["turn.decided", "skill.injected", "tool.blocked"]
    assert await stream.read("c") == ()


async def test_on_a_store_that_keeps_none_the_observer_appends_all_that_it_is_told(stream: RedisEventStream) -> None:
    recorder = Recorder()
    weaver = weaver_on(skillweave.MemoryStore(), recorder, StreamObserver(stream, wanted=Wanted.UNKEPT))
    await weaver.weave("go", conversation="c", turn_id="t1")
    await weaver.evict("c", "a-b")
    assert told(await stream.read("c")) == [(one.id, one.event_type) for one in recorder.events]


async def test_swaps_through_a_crash_are_heard_of_once_each_and_in_order(redis_server: RedisServer) -> None:
    redis_server.flush()
    url = redis_server.url()
    async with RedisStore(url, events=EventKeeping.STREAM) as store, RedisEventStream(url) as stream:
        acknowledged: list[int] = []

        async def swap_all() -> None:
            revision = 0
            for number in range(40):
                try:
                    stored = await store.swap("c", revision, Writes(State(), events=numbered(number)))
                except StoreUnavailable:
                    revision = (await _patient(store.load, "c"))[0].revision
                    continue
                assert stored
                acknowledged.append(number)
                revision += 1

        async with aclosing(stream.follow("c", "")) as following:
            first = asyncio.create_task(taken(following, 1))
            await asyncio.sleep(0.01)
            swapping = asyncio.create_task(swap_all())
            seen = await first
            await asyncio.to_thread(redis_server.restart, crash=True)
            await swapping
            kept = await stream.read("c", limit=1000)
            seen += await taken(following, len(kept) - 1)
    assert tuple(seen) == kept
    assert set(acknowledged) <= set(numbers(kept))
    assert numbers(kept) == sorted(set(numbers(kept)))


async def _patient(load, conversation: str) -> tuple[State, float]:  # type: ignore[no-untyped-def]  # noqa: ANN001
    while True:
        try:
            return await load(conversation)
        except StoreUnavailable:
            await asyncio.sleep(0.02)
