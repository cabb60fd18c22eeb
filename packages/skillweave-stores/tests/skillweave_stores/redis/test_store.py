"""The ledger on a real Redis keeps the contract, in as few trips as it may."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from redis import Redis

import skillweave
from skillweave import State, Store, StoreUnavailable, Weaver
from skillweave.errors import InvalidValue, UnreadableState
from skillweave.ledger import Writes
from skillweave.state.port import KEEP_DECISIONS_SECONDS
from skillweave_stores import RedisStore
from skillweave_testing import InsertionsContract, LedgerContract, ManualClock, WordCounter
from skillweave_testing.ledger import DECISION, FULL_STATE, HOSTILE_IDS
from skillweave_testing.servers import RedisServer
from tests.proxy import Proxy

KEY = "skillweave:state:{skill:ledger:c}"


class TestRedis(LedgerContract):
    @pytest.fixture
    async def store(self, clock: ManualClock, redis_url: str) -> AsyncIterator[Store]:
        async with RedisStore(redis_url, clock=clock) as store:
            yield store


class TestInsertions(InsertionsContract):
    @pytest.fixture
    async def store(self, clock: ManualClock, redis_url: str) -> AsyncIterator[RedisStore]:
        async with RedisStore(redis_url, clock=clock) as store:
            yield store


class TestInsertionsInACluster(InsertionsContract):
    @pytest.fixture
    async def store(self, clock: ManualClock, redis_cluster: RedisServer) -> AsyncIterator[RedisStore]:
        redis_cluster.flush()
        async with RedisStore(redis_cluster.url().replace("redis://", "redis+cluster://"), clock=clock) as store:
            yield store


class TestRedisCluster(LedgerContract):
    @pytest.fixture
    async def store(self, clock: ManualClock, redis_cluster: RedisServer) -> AsyncIterator[Store]:
        redis_cluster.flush()
        async with RedisStore(redis_cluster.url().replace("redis://", "redis+cluster://"), clock=clock) as store:
            yield store


@pytest.fixture
async def store(redis_url: str) -> AsyncIterator[RedisStore]:
    async with RedisStore(redis_url) as store:
        yield store


@pytest.fixture
def raw(redis_url: str) -> Iterator[Redis]:
    with Redis.from_url(redis_url, decode_responses=True) as client:
        yield client


def weaver_on(store: Store) -> Weaver:
    skill = {"id": "a-b", "description": "d", "triggers": {"keywords": ["go"]}, "text": {"instructions": "How."}}
    return skillweave.open(skill, ledger=store, counter=WordCounter())


# -- keys of a cluster --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*HOSTILE_IDS, "{", "}{", "a}{b", "[a]", "?", "{}x"])
async def test_all_keys_of_a_call_are_in_one_slot_of_a_cluster(redis_cluster: RedisServer, name: str) -> None:
    # A node refuses a script whose keys are in several slots.
    redis_cluster.flush()
    async with RedisStore(redis_cluster.url().replace("redis://", "redis+cluster://")) as store:
        for tenant in ("", "t{1}:x"):
            assert await store.swap(name, 0, Writes(FULL_STATE, "turn-1", (DECISION,)), tenant=tenant)
            assert (await store.load(name, tenant=tenant))[0].revision == 1
            assert len(await store.read(name, tenant=tenant)) == 1
            assert await store.conversations(tenant=tenant) == (name,)


async def test_a_server_that_is_no_cluster_is_named_with_the_remedy(redis_url: str) -> None:
    async with RedisStore(redis_url.replace("redis://", "redis+cluster://")) as store:
        with pytest.raises(StoreUnavailable, match=r"is not a cluster; write redis:// in place of"):
            await store.load("c")


# -- a socket of this machine -------------------------------------------------------------------------------------


async def test_a_server_is_reached_by_a_socket_too(tmp_path: Path) -> None:
    path = tmp_path / "redis.sock"
    with RedisServer(unixsocket=str(path)):
        async with RedisStore(f"unix://{path}?db=3&connections=2") as store:
            assert store.place == f"unix://{path}"
            assert await store.swap("c", 0, Writes(FULL_STATE))
            assert (await store.load("c"))[0].revision == 1


# -- trips --------------------------------------------------------------------------------------------------------


async def test_a_turn_is_one_load_and_one_swap(redis_url: str) -> None:
    async with Proxy(redis_url) as proxy, RedisStore(proxy.url) as store:
        weaver = weaver_on(store)
        await weaver.weave("go", conversation="warm")
        before = proxy.trips
        await weaver.weave("go", conversation="c")
        assert proxy.trips == before + 2
        assert len(await store.read("c")) == 1, "the decisions were stored in the same trip"


async def test_a_judged_tool_call_is_at_most_one_load(redis_url: str) -> None:
    async with Proxy(redis_url) as proxy, RedisStore(proxy.url) as store:
        weaver = weaver_on(store)
        injection = await weaver.weave("go", conversation="c")
        before = proxy.trips
        await weaver.current_policy("c")
        assert proxy.trips == before + 1
        injection.tools.authorize("pay", {"amount": 5})
        assert proxy.trips == before + 1


async def test_a_load_that_notices_an_edit_is_one_trip_too(redis_url: str, raw: Redis) -> None:
    async with Proxy(redis_url) as proxy, RedisStore(proxy.url) as store:
        await store.load("c")
        raw.hset("skill:ledger:c", "skill:a", "injected")
        before = proxy.trips
        assert (await store.load("c"))[0].revision == 1
        assert proxy.trips == before + 1


async def test_scripts_that_the_server_forgot_are_sent_again(store: RedisStore, raw: Redis) -> None:
    assert await store.swap("c", 0, Writes(State(), "turn-1", (DECISION,)))
    raw.script_flush()
    assert (await store.load("c"))[0].revision == 1
    raw.script_flush()
    assert await store.swap("c", 1, Writes(State()))
    raw.script_flush()
    assert len(await store.read("c")) == 1


# -- time ---------------------------------------------------------------------------------------------------------


async def test_the_clock_is_the_servers(store: RedisStore, raw: Redis, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("time.time", lambda: 0.0)
    seconds, fraction = raw.time()
    _, now = await store.load("c")
    after, _ = raw.time()
    assert seconds + fraction / 1e6 <= now <= after + 1


async def test_a_clock_that_jumps_back_loses_no_decision(redis_url: str) -> None:
    clock = ManualClock(now=10_000_000.0)
    async with RedisStore(redis_url, clock=clock) as store:
        await store.append("c", "ahead", [DECISION])
        clock.advance(-5_000_000)
        await store.append("c", "back", [DECISION])
        assert {one.turn_id for one in await store.read("c")} == {"back", "ahead"}
        clock.advance(5_000_000 + KEEP_DECISIONS_SECONDS + 1)
        assert await store.read("c") == ()


async def test_old_decisions_leave_the_server_while_the_conversation_goes_on(redis_url: str, raw: Redis) -> None:
    clock = ManualClock()
    async with RedisStore(redis_url, clock=clock) as store:
        for day in range(70):
            await store.append("c", f"turn-{day}", [DECISION])
            clock.advance(24 * 3600)
        assert [one.turn_id for one in await store.read("c")] == [f"turn-{day}" for day in range(40, 70)]
    assert len([one for one in raw.hkeys("skillweave:decisions:{skill:ledger:c}") if one.startswith("turn:")]) <= 33


async def test_decisions_leave_the_server_when_nobody_comes_back(store: RedisStore, raw: Redis) -> None:
    await store.append("c", "turn-1", [DECISION])
    left = raw.ttl("skillweave:decisions:{skill:ledger:c}")
    assert KEEP_DECISIONS_SECONDS < left <= KEEP_DECISIONS_SECONDS + 3 * 24 * 3600


# -- how long it is kept ------------------------------------------------------------------------------------------


async def test_conversations_are_kept_for_ever(store: RedisStore, raw: Redis) -> None:
    await weaver_on(store).weave("go", conversation="c")
    assert (raw.ttl(KEY), raw.ttl("skill:ledger:c")) == (-1, -1)


async def test_with_keep_days_a_conversation_ends_so_long_after_its_last_use(redis_url: str, raw: Redis) -> None:
    async with RedisStore(f"{redis_url}?keep_days=2") as store:
        await weaver_on(store).weave("go", conversation="c")
        assert raw.pexpiretime(KEY) == raw.pexpiretime("skill:ledger:c")
        for key in (KEY, "skill:ledger:c"):
            raw.expire(key, 100)
        await store.load("c")
        assert 100 < raw.ttl(KEY) <= 2 * 24 * 3600
        assert raw.pexpiretime(KEY) == raw.pexpiretime("skill:ledger:c")


async def test_without_it_again_a_conversation_that_goes_on_is_kept(redis_url: str, raw: Redis) -> None:
    async with RedisStore(redis_url, keep_days=2) as store:
        await weaver_on(store).weave("go", conversation="c")
    async with RedisStore(redis_url) as store:
        state, _ = await store.load("c")
        await store.swap("c", state.revision, Writes(state))
    assert (raw.ttl(KEY), raw.ttl("skill:ledger:c")) == (-1, -1)


async def test_a_time_to_live_that_another_program_gave_its_hash_stays(store: RedisStore, raw: Redis) -> None:
    raw.hset("skill:ledger:c", "skill:a-b", "injected")
    raw.expire("skill:ledger:c", 1000)
    await weaver_on(store).weave("something else", conversation="c")
    assert 0 < raw.ttl("skill:ledger:c") <= 1000


# -- damage -------------------------------------------------------------------------------------------------------


async def test_a_state_that_cannot_be_read_can_be_cleared(store: RedisStore, raw: Redis) -> None:
    weaver = weaver_on(store)
    await weaver.weave("go", conversation="c")
    raw.hset(KEY, "document", '{"v": 99}')
    with pytest.raises(UnreadableState, match=r"format 99.*ledger clear.*in redis://127\.0\.0\.1"):
        await store.load("c")
    assert await weaver.ledger.clear("c")
    assert (await store.load("c"))[0] == State(revision=2)
    assert not raw.exists("skill:ledger:c")


@pytest.mark.parametrize("document", [b"\xff\xfe", b"", b"[]", b"x"])
async def test_damaged_bytes_are_told(store: RedisStore, raw: Redis, document: bytes) -> None:
    await store.swap("c", 0, Writes(FULL_STATE))
    raw.hset(KEY, "document", document)
    with pytest.raises(UnreadableState):
        await store.load("c")


async def test_a_revision_that_is_no_number_is_told_with_its_key(store: RedisStore, raw: Redis) -> None:
    await store.swap("c", 0, Writes(FULL_STATE))
    raw.hset(KEY, "revision", "many")
    with pytest.raises(StoreUnavailable, match=r"skillweave:state:\{skill:ledger:c\}.* is damaged .*DEL"):
        await store.load("c")


async def test_a_damaged_turn_in_the_log_is_told_with_its_key(store: RedisStore, raw: Redis) -> None:
    await store.append("c", "turn-1", [DECISION])
    raw.hset("skillweave:decisions:{skill:ledger:c}", "turn:turn-1", "gone")
    with pytest.raises(StoreUnavailable, match=r"skillweave:decisions:.* is damaged"):
        await store.read("c")


@pytest.mark.parametrize("key", [KEY, "skill:ledger:c", "skillweave:decisions:{skill:ledger:c}"])
async def test_a_key_of_another_type_stops_a_turn_before_anything_is_written(
    store: RedisStore, raw: Redis, key: str
) -> None:
    raw.set(key, "a text")
    with pytest.raises(StoreUnavailable, match=r"holds a key of another type .*remove it"):
        await store.swap("c", 0, Writes(FULL_STATE, "turn-1", (DECISION,)))
    assert raw.keys() == [key]


async def test_a_name_that_no_encoding_can_carry_is_told(store: RedisStore) -> None:
    with pytest.raises(StoreUnavailable, match="half of a surrogate pair"):
        await store.load("a\ud800")


# -- the index ----------------------------------------------------------------------------------------------------


async def test_a_page_of_many_conversations_is_in_order_and_complete(store: RedisStore) -> None:
    names = [f"c{n:04}" for n in range(2500)]
    for first in range(0, len(names), 100):  # as many at once as answer in time on a busy machine too
        written = names[::-1][first : first + 100]
        await asyncio.gather(*(store.swap(name, 0, Writes(State())) for name in written))
    assert await store.conversations(limit=10, after="c1999") == tuple(names[2000:2010])
    assert await store.conversations(limit=5000) == tuple(names)
    assert await store.count() == 2500


@pytest.mark.parametrize("prefix", ["[a]", "a?", "\\", "a[", "%3A"])
async def test_a_prefix_means_itself_and_no_pattern(store: RedisStore, prefix: str) -> None:
    for name in (f"{prefix}x", "a", "ab", "aa", ":"):
        await store.swap(name, 0, Writes(State()))
    assert await store.conversations(prefix) == (f"{prefix}x",)


# -- the URL ------------------------------------------------------------------------------------------------------


async def test_a_store_says_where_it_is_and_never_with_what_password() -> None:
    store = RedisStore("redis://ann:s3cr%40t@example.org:7000/2?keep_days=3")
    assert repr(store) == "RedisStore('redis://example.org:7000/2')"
    assert "s3cr" not in str(vars(store))


@pytest.mark.parametrize(
    "url",
    [
        "redis://:pa/s3cret@host:6379/0",
        "redis://:s3cret#x@host/0",
        "redis://:12?s3cret@host/0",
        "redis://u:12/s3cret@host/0",
        "redis://host:s3cret/0",
        "redis://host/s3cret",
        "redis://[s3cret/0",
    ],
)
def test_a_url_that_cannot_be_read_is_refused_without_showing_it(url: str) -> None:
    with pytest.raises(InvalidValue) as refused:
        RedisStore(url)
    assert "s3cret" not in str(refused.value)
    assert refused.value.__cause__ is None
    assert "redis://user:password@host:6379/0" in str(refused.value)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("http://host", "not reached by 'http'"),
        ("redis://host?conections=5", "'conections' is no option .* connections, wait_seconds"),
        ("redis://host?connections=many", "`connections` of the Redis is 'many', which is no number"),
        ("redis://host?connections=0", r"connections=\.\.\."),
        ("redis://host?keep_days=-1", r"keep_days=\.\.\."),
        ("redis://host?call_seconds=0", r"call_seconds=\.\.\."),
        ("redis+cluster://host/3", "has the database 0 only, not 3"),
    ],
)
def test_a_wrong_option_is_refused_by_its_name(url: str, why: str) -> None:
    with pytest.raises(InvalidValue, match=why):
        RedisStore(url)


def test_what_is_given_in_code_wins_over_the_url() -> None:
    store = RedisStore("redis://host?connections=5&retries=7", connections=9)
    assert (store._place.options.connections, store._place.options.retries) == (9, 7)


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("redis://host", "redis://host:6379/0"),
        ("rediss://host:7000/1", "rediss://host:7000/1"),
        ("redis+cluster://host", "redis+cluster://host:6379"),
        ("rediss+cluster://host:7000", "rediss+cluster://host:7000"),
        ("unix:///run/redis.sock", "unix:///run/redis.sock"),
    ],
)
async def test_a_ledger_is_opened_by_its_url(name: str, place: str) -> None:
    async with skillweave.open(ledger=name).ledger.store as store:
        assert isinstance(store, RedisStore)
        assert store.place == place


async def test_the_same_swap_with_another_state_is_a_lost_race(store: RedisStore) -> None:
    assert await store.swap("c", 0, Writes(FULL_STATE))
    assert not await store.swap("c", 0, Writes(replace(FULL_STATE, last_turn="late")))
