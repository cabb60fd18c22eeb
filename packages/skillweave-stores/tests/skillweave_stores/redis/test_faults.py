"""What may go wrong between us and a Redis: nothing acknowledged is lost, and nobody waits for ever."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
from redis import Redis

import skillweave
from skillweave import State, StoreUnavailable, Weaver
from skillweave.ledger import Writes
from skillweave.state.state import CLAIM_SECONDS
from skillweave_stores import RedisStore
from skillweave_testing import ManualClock, WordCounter
from skillweave_testing.ledger import DECISION, FULL_STATE
from skillweave_testing.servers import RedisServer
from tests.proxy import Proxy

SKILL = {"id": "a-b", "description": "d", "triggers": {"keywords": ["go"]}, "text": {"instructions": "How."}}


def weaver_on(store: RedisStore) -> Weaver:
    return skillweave.open(SKILL, ledger=store, counter=WordCounter())


@pytest.fixture
async def proxy(redis_url: str) -> AsyncIterator[Proxy]:
    async with Proxy(redis_url) as proxy:
        yield proxy


@pytest.fixture
def admin(redis_server: RedisServer) -> Iterator[Redis]:
    """The server of our own, emptied, and as it was afterwards."""
    redis_server.flush()
    with Redis.from_url(redis_server.url(), decode_responses=True) as client:
        yield client


# -- the server restarts ------------------------------------------------------------------------------------------


async def test_a_crash_between_load_and_swap_does_not_hurt_the_turn(redis_server: RedisServer) -> None:
    redis_server.flush()
    async with RedisStore(redis_server.url()) as store:
        await store.swap("c", 0, Writes(FULL_STATE))
        state, _ = await store.load("c")
        redis_server.restart(crash=True)
        assert await store.swap("c", state.revision, Writes(State(last_turn="t"), "t", (DECISION,)))
        redis_server.restart(crash=True)
        assert (await store.load("c"))[0] == State(revision=2, last_turn="t")
        assert len(await store.read("c")) == 1


async def test_a_crash_in_the_middle_of_a_turn_does_not_hurt_it(redis_server: RedisServer) -> None:
    class Crashing(RedisStore):
        """A ledger whose server crashes after each load, once it is `armed`."""

        armed = False

        async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
            answer = await super().load(conversation, tenant=tenant)
            if self.armed:
                self.armed = False
                await asyncio.to_thread(redis_server.restart, crash=True)
            return answer

    redis_server.flush()
    async with Crashing(redis_server.url()) as store:
        weaver = weaver_on(store)
        store.armed = True
        injection = await weaver.weave("go", conversation="c")
        assert (injection.skills, injection.diagnostics) == (("a-b",), ())
        redis_server.restart(crash=True)
        assert (await weaver.weave("go", conversation="c")).skills == ()
        assert len(await weaver.why("c")) >= 1


async def test_a_crash_while_a_delivery_is_open_does_not_hurt_it(redis_server: RedisServer) -> None:
    redis_server.flush()
    async with RedisStore(redis_server.url()) as store:
        weaver = weaver_on(store)
        async with weaver.delivery("go", conversation="c") as injection:
            assert injection.skills == ("a-b",)
            redis_server.restart(crash=True)
        redis_server.restart(crash=True)
        assert (await weaver.weave("go", conversation="c")).skills == ()


async def test_nothing_that_was_acknowledged_is_lost_when_the_server_is_killed(redis_server: RedisServer) -> None:
    redis_server.flush()
    acknowledged: asyncio.Queue[int] = asyncio.Queue()

    async def write(store: RedisStore) -> None:
        while True:
            try:
                state, _ = await store.load("c")
                if await store.swap("c", state.revision, Writes(State(last_turn=f"turn-{state.revision}"))):
                    acknowledged.put_nowait(state.revision + 1)
            except StoreUnavailable:
                await asyncio.sleep(0.01)

    async with RedisStore(redis_server.url(), retries=0) as store:
        for _ in range(3):
            writer = asyncio.create_task(write(store))
            newest = max([await acknowledged.get() for _ in range(20)])
            await asyncio.to_thread(redis_server.kill)
            writer.cancel()
            await asyncio.gather(writer, return_exceptions=True)
            while not acknowledged.empty():
                newest = acknowledged.get_nowait()
            await asyncio.to_thread(redis_server.start)
            assert (await store.load("c"))[0].revision >= newest


async def test_a_server_that_is_down_is_named_and_the_turn_goes_on_without_it(redis_server: RedisServer) -> None:
    async with RedisStore(redis_server.url(), retries=0) as store:
        weaver = weaver_on(store)
        redis_server.stop()
        try:
            with pytest.raises(
                StoreUnavailable, match=rf"redis://127\.0\.0\.1:{redis_server.port}/0 refuses connections; start it"
            ) as refused:
                await store.load("c")
            assert refused.value.retry_after is not None
            injection = await weaver.weave("go", conversation="c")
            assert (injection.skills, injection.diagnostics[0].code) == (("a-b",), "ledger-unavailable")
        finally:
            redis_server.start()
        assert (await weaver.weave("go", conversation="c")).skills == ("a-b",)


async def test_a_server_that_loads_its_data_says_so() -> None:
    # It listens to clients once in a thousand commands that it loads.
    with RedisServer(**{"key-load-delay": "500"}) as server:
        with Redis.from_url(server.url()) as client, client.pipeline(transaction=False) as pipeline:
            for n in range(6000):
                pipeline.set(f"k{n}", "x")
            pipeline.execute()
        server.kill()
        server.launch()
        async with RedisStore(server.url(), retries=0) as store:
            while True:
                with pytest.raises(StoreUnavailable) as failed:
                    await store.load("c")
                if "refuses connections" not in str(failed.value):
                    break
                await asyncio.sleep(0.01)
            assert "is loading its data; try again when it has" in str(failed.value)
            assert failed.value.retry_after == 1.0


# -- the network --------------------------------------------------------------------------------------------------


async def test_a_silent_network_ends_the_call_in_time_and_leaves_no_old_answer(proxy: Proxy) -> None:
    async with RedisStore(proxy.url, call_seconds=0.3, retries=0, connections=1) as store:
        await store.swap("old", 0, Writes(State(last_turn="old")))
        await store.swap("new", 0, Writes(State(last_turn="new")))
        for _ in range(3):
            proxy.fall_silent()
            with pytest.raises(StoreUnavailable, match=r"did not answer within 0\.3 s") as silent:
                async with asyncio.timeout(10):
                    await store.load("old")
            assert silent.value.retry_after == 1.0
            proxy.speak()
            assert (await store.load("new"))[0].last_turn == "new"
            assert (await store.load("old"))[0].last_turn == "old"


async def test_a_network_that_is_silent_from_the_start_ends_the_call_in_time(proxy: Proxy) -> None:
    proxy.fall_silent()
    async with RedisStore(proxy.url, call_seconds=0.3) as store:
        with pytest.raises(StoreUnavailable, match="did not answer within"):
            async with asyncio.timeout(10):
                await store.load("c")
        proxy.speak()


async def test_a_turn_on_a_silent_network_is_given_without_being_recorded(proxy: Proxy) -> None:
    async with RedisStore(proxy.url, call_seconds=0.2) as store:
        weaver = weaver_on(store)
        proxy.fall_silent()
        injection = await weaver.weave("go", conversation="c")
        assert (injection.skills, injection.diagnostics[0].code) == (("a-b",), "ledger-unavailable")
        proxy.speak()


async def test_a_connection_that_broke_is_replaced_without_a_word(proxy: Proxy) -> None:
    async with RedisStore(proxy.url) as store:
        await store.swap("c", 0, Writes(FULL_STATE))
        proxy.cut()
        assert (await store.load("c"))[0].revision == 1


async def test_a_swap_whose_answer_was_lost_is_no_lost_race(proxy: Proxy) -> None:
    async with RedisStore(proxy.url) as store:
        state, _ = await store.load("c")
        await store.swap("warm", 0, Writes(State()))
        proxy.lose_answer()
        assert await store.swap("c", state.revision, Writes(FULL_STATE, "turn-1", (DECISION,)))
        assert proxy.losing == 0
        assert (await store.load("c"))[0].revision == 1
        assert len(await store.read("c")) == 1


async def test_it_is_none_either_when_others_were_stored_before_it_is_tried_again(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with RedisStore(redis_url) as store:
        with monkeypatch.context() as same_mark:
            same_mark.setattr("skillweave_stores.redis.store.secrets.token_hex", lambda _: "0123456789abcdef")
            await store.swap("c", 0, Writes(FULL_STATE))
        for revision in range(1, 8):
            assert await store.swap("c", revision, Writes(State()))
        with monkeypatch.context() as same_mark:
            same_mark.setattr("skillweave_stores.redis.store.secrets.token_hex", lambda _: "0123456789abcdef")
            assert await store.swap("c", 0, Writes(FULL_STATE))
        assert (await store.load("c"))[0] == State(revision=8)


async def test_a_turn_whose_answer_was_lost_is_stored_once_and_complete(proxy: Proxy) -> None:
    class LosingSwaps(RedisStore):
        async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
            proxy.lose_answer()
            return await super().swap(conversation, expected_revision, writes, tenant=tenant)

    async with LosingSwaps(proxy.url) as store:
        weaver = weaver_on(store)
        assert await RedisStore.swap(store, "warm", 0, Writes(State()))
        injection = await weaver.weave("go", conversation="c")
        assert (injection.skills, injection.diagnostics, injection.revision) == (("a-b",), (), 1)
        assert (await weaver.ledger.state("c")).revision == 1
        assert len(await weaver.why("c")) == 1


async def test_decisions_whose_answer_was_lost_are_kept_once(proxy: Proxy) -> None:
    async with RedisStore(proxy.url) as store:
        await store.append("warm", "turn-1", [DECISION])
        proxy.lose_answer()
        await store.append("c", "turn-1", [DECISION])
        assert len(await store.read("c")) == 1


async def test_without_retries_a_lost_answer_is_told_and_the_turn_can_be_repeated(proxy: Proxy) -> None:
    async with RedisStore(proxy.url, retries=0) as store:
        weaver = weaver_on(store)
        await weaver.weave("go", conversation="warm")
        proxy.lose_answer()
        with pytest.raises(StoreUnavailable, match=r"broke the connection off"):
            await store.swap("c", 0, Writes(FULL_STATE))
        assert (await store.load("c"))[0].revision == 1


# -- connections --------------------------------------------------------------------------------------------------


async def test_five_hundred_turns_at_once_share_a_few_connections(redis_url: str) -> None:
    async with RedisStore(redis_url, connections=5, wait_seconds=60) as store:
        weaver = weaver_on(store)
        injections = await asyncio.gather(*(weaver.weave("go", conversation=f"c{n}") for n in range(500)))
        with Redis.from_url(redis_url) as client:
            clients: Any = client.client_list()
        assert all(one.skills == ("a-b",) and not one.diagnostics for one in injections)
        assert len([one for one in clients if one["name"] == "skillweave"]) <= 5
        assert await store.count() == 500


@pytest.mark.soak
async def test_five_hundred_turns_at_once_work_on_a_cluster_too(redis_cluster: RedisServer) -> None:
    redis_cluster.flush()
    url = redis_cluster.url().replace("redis://", "redis+cluster://")
    async with RedisStore(url, connections=5, wait_seconds=60) as store:
        weaver = weaver_on(store)
        injections = await asyncio.gather(*(weaver.weave("go", conversation=f"c{n}") for n in range(500)))
        assert all(one.skills == ("a-b",) and not one.diagnostics for one in injections)


async def test_who_waits_in_vain_for_a_connection_is_told_how_many_there_are(proxy: Proxy) -> None:
    async with RedisStore(proxy.url, connections=1, wait_seconds=0.05, retries=0) as store:
        await store.load("c")
        proxy.fall_silent()
        first = asyncio.create_task(store.load("c"))
        await asyncio.sleep(0)
        with pytest.raises(StoreUnavailable, match=r"all 1 connections to .* were in use for 0\.05 s; raise"):
            await store.load("c")
        proxy.speak()
        assert (await first)[0] == State()


async def test_a_call_that_is_cancelled_leaves_its_connection_fit_for_the_next(proxy: Proxy) -> None:
    async with RedisStore(proxy.url, connections=1) as store:
        await store.swap("old", 0, Writes(State(last_turn="old")))
        await store.swap("new", 0, Writes(State(last_turn="new")))
        proxy.fall_silent()
        call = asyncio.create_task(store.load("old"))
        await asyncio.sleep(0.02)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        proxy.speak()
        assert (await store.load("new"))[0].last_turn == "new"


@pytest.mark.parametrize("cluster", [False, True])
async def test_a_call_may_be_cancelled_at_any_moment(redis_url: str, redis_cluster: RedisServer, cluster: bool) -> None:
    url = redis_cluster.url().replace("redis://", "redis+cluster://") if cluster else redis_url
    redis_cluster.flush()
    async with RedisStore(url, connections=2, wait_seconds=30) as store:
        for name in "abcd":
            await store.swap(name, 0, Writes(State(last_turn=name)))
        for steps in range(60):
            calls = [asyncio.create_task(store.load(name)) for name in "abcd"]
            for _ in range(steps % 30):
                await asyncio.sleep(0)
            for call in calls:
                call.cancel()
            await asyncio.gather(*calls, return_exceptions=True)
            found = await asyncio.gather(*(store.load(name) for name in "abcd"))
            assert [state.last_turn for state, _ in found] == list("abcd")


async def test_no_cancellation_is_forgotten(redis_url: str) -> None:
    async with RedisStore(redis_url) as store:
        await store.load("c")

        async def loads() -> None:
            for _ in range(100):
                await store.load("c")

        for steps in range(100):
            call = asyncio.create_task(loads())
            for _ in range(3 + steps % 40):
                await asyncio.sleep(0)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call


async def test_a_closed_store_says_so(redis_url: str) -> None:
    store = RedisStore(redis_url)
    await store.load("c")
    await store.close()
    with pytest.raises(StoreUnavailable, match=r"the ledger redis://127\.0\.0\.1:\d+/0 is closed; open it again"):
        await store.load("c")


# -- what the server refuses --------------------------------------------------------------------------------------


async def test_a_wrong_password_is_told_without_showing_it(redis_server: RedisServer, admin: Redis) -> None:
    admin.acl_setuser("ann", enabled=True, passwords=["+right"], commands=["+@all"], keys=["*"])
    try:
        url = redis_server.url().replace("redis://", "redis://ann:s3cret@")
        async with RedisStore(url, retries=0) as store:
            with pytest.raises(StoreUnavailable, match="refuses the user or the password; check both") as refused:
                await store.load("c")
        assert "s3cret" not in _everything_said(refused.value)
        assert refused.value.retry_after is None
    finally:
        admin.acl_deluser("ann")


async def test_a_password_that_an_answer_repeats_is_not_shown() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(1000):
            writer.write(b"-ERR unknown command 'AUTH', with args beginning with: 's3cret'\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with RedisStore(f"redis://:s3cret@127.0.0.1:{port}", retries=0) as store:
            with pytest.raises(StoreUnavailable) as refused:
                await store.load("c")
    assert "s3cret" not in _everything_said(refused.value)
    assert "***" in str(refused.value)


async def test_a_password_that_is_missing_is_told(redis_server: RedisServer, admin: Redis) -> None:
    admin.config_set("requirepass", "right")
    try:
        async with RedisStore(redis_server.url(), retries=0) as store:
            with pytest.raises(StoreUnavailable, match="wants a password; write one into the URL"):
                await store.load("c")
    finally:
        admin.execute_command("AUTH", "right")
        admin.config_set("requirepass", "")


@pytest.mark.parametrize("commands", [["+@all", "-@scripting"], ["+@all", "-hget", "-hmget"]])
async def test_a_user_who_may_not_do_it_is_told_what_to_allow(
    redis_server: RedisServer, admin: Redis, commands: list[str]
) -> None:
    admin.acl_setuser("ann", enabled=True, nopass=True, commands=commands, keys=["*"])
    try:
        async with RedisStore(redis_server.url().replace("redis://", "redis://ann:x@"), retries=0) as store:
            with pytest.raises(StoreUnavailable, match=r"does not let this user .* allow it \+@read \+@write"):
                await store.load("c")
    finally:
        admin.acl_deluser("ann")


@pytest.mark.parametrize("forbidden", ["-hdel", "-expire", "-hincrby", "-persist", "-hset"])
async def test_a_user_who_may_do_a_part_of_it_writes_nothing(
    redis_server: RedisServer, admin: Redis, forbidden: str
) -> None:
    admin.acl_setuser("ann", enabled=True, nopass=True, commands=["+@all", forbidden], keys=["*"])
    try:
        async with RedisStore(redis_server.url().replace("redis://", "redis://ann:x@"), retries=0) as store:
            with pytest.raises(StoreUnavailable, match="does not let this user"):
                await store.swap("c", 0, Writes(FULL_STATE, "turn-1", (DECISION,)))
        assert admin.keys() == []
    finally:
        admin.acl_deluser("ann")


async def test_the_rights_that_the_message_names_are_enough(redis_server: RedisServer, admin: Redis) -> None:
    admin.acl_setuser(
        "ann",
        enabled=True,
        nopass=True,
        commands=["+@read", "+@write", "+@scripting", "+@connection", "+time"],
        keys=["skillweave:*", "skill:ledger:*"],
    )
    try:
        async with RedisStore(redis_server.url().replace("redis://", "redis://ann:x@"), keep_days=1) as store:
            weaver = weaver_on(store)
            assert (await weaver.weave("go", conversation="c")).diagnostics == ()
            assert len(await weaver.why("c")) == 1
            assert await store.conversations() == ("c",)
    finally:
        admin.acl_deluser("ann")


async def test_a_replica_is_told_from_a_primary(redis_server: RedisServer, admin: Redis) -> None:
    admin.replicaof("127.0.0.1", "1")
    try:
        async with RedisStore(redis_server.url(), retries=1) as store:
            with pytest.raises(StoreUnavailable, match="is a replica, which takes no writes; name its primary"):
                await store.swap("c", 0, Writes(State()))
    finally:
        admin.replicaof("NO", "ONE")


async def test_a_full_memory_is_told_and_nothing_is_written(redis_server: RedisServer, admin: Redis) -> None:
    async with RedisStore(redis_server.url()) as store:
        await store.swap("c", 0, Writes(FULL_STATE))
        admin.config_set("maxmemory", "1mb")
        try:
            with pytest.raises(
                StoreUnavailable, match=r"has no memory left \(maxmemory\), nothing was written"
            ) as full:
                await store.swap("c", 1, Writes(State(), "turn-1", (DECISION,)))
            assert full.value.retry_after == 30.0
            assert (await store.load("c"))[0].revision == 1, "what is there can still be read"
        finally:
            admin.config_set("maxmemory", "0")
        assert await store.read("c") == ()
        assert await store.swap("c", 1, Writes(State()))


async def test_too_many_clients_are_told(redis_server: RedisServer, admin: Redis) -> None:
    before = admin.config_get("maxclients")["maxclients"]
    admin.config_set("maxclients", "1")
    try:
        async with RedisStore(redis_server.url(), retries=0) as store:
            with pytest.raises(StoreUnavailable, match=r"no connection left for another client \(maxclients\)"):
                await store.load("c")
    finally:
        admin.config_set("maxclients", before)


async def test_a_server_that_answers_something_else_to_tls_is_told() -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(1000)
        writer.write(b"-ERR Protocol error\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        async with RedisStore(f"rediss://127.0.0.1:{port}", retries=0) as store:
            with pytest.raises(StoreUnavailable, match="do not agree on TLS; check the certificates, and use rediss"):
                await store.load("c")


async def test_a_server_without_tls_that_waits_for_more_is_told(redis_url: str) -> None:
    async with RedisStore(redis_url.replace("redis://", "rediss://"), retries=0, call_seconds=0.3) as store:
        with pytest.raises(StoreUnavailable, match=r"did not answer within 0\.3 s; check .* whether it has TLS"):
            await store.load("c")


# -- clocks -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("jump", [-3600.0, 3600.0])
async def test_a_clock_that_jumps_holds_no_skill_back(redis_url: str, jump: float) -> None:
    clock = ManualClock(now=100_000.0)
    async with RedisStore(redis_url, clock=clock) as store:
        weaver = weaver_on(store)
        crashed = weaver.delivery("go", conversation="c")
        await crashed.__aenter__()
        clock.advance(CLAIM_SECONDS / 2)
        assert (await weaver.weave("go", conversation="c")).skills == (), "it is held"
        clock.advance(jump)
        assert (await weaver.weave("go", conversation="c")).skills == ("a-b",)
        await crashed.__aexit__(None, None, None)


def _everything_said(error: BaseException) -> str:
    import traceback

    return "".join(traceback.format_exception(error)) + repr(error)
