"""Whatever keeps a State on a real server from being read, no call is allowed; afterwards all is as before."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from dataclasses import dataclass
from typing import Any

import psycopg
import pytest
from redis import Redis

import skillweave
from skillweave import (
    ApprovalVerdict,
    Checkpoint,
    CheckpointVerdict,
    Ruling,
    Skill,
    Store,
    ToolCall,
    ToolRules,
    Verdict,
    Weaver,
)
from skillweave.tools import Refusal
from skillweave_stores import PostgresStore, RedisStore
from skillweave_testing import WordCounter
from skillweave_testing.servers import PostgresServer, RedisServer, Server
from tests.skills import make_skill

LIMIT = 0.6
"""Seconds that a call of these stores may take."""
KEY = "skillweave:state:{skill:ledger:c}"
BILL: Skill = make_skill(
    "bill",
    keywords=["bill"],
    tools=ToolRules(forbidden=("write",)),
    checkpoints=[Checkpoint("sign-off", before="pay")],
)
CALL = ToolCall("call-1", "pay", {"amount": 4})


@dataclass
class Place:
    """A server of our own, and a store on it with one connection."""

    server: Server
    store: PostgresStore | RedisStore

    @property
    def raw(self) -> Redis:
        return Redis.from_url(self.server.url())

    def sql(self, *statements: str) -> None:
        with psycopg.connect(self.server.url(), autocommit=True) as connection:
            for one in statements:
                connection.execute(one)


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[str, Server]]:
    with PostgresServer() as postgres, RedisServer() as redis:
        yield {"postgres": postgres, "redis": redis}


@pytest.fixture(params=["postgres", "redis"])
async def place(request: pytest.FixtureRequest, servers: dict[str, Server]) -> AsyncIterator[Place]:
    server = servers[request.param]
    if isinstance(server, RedisServer):
        server.flush()
        options = f"call_seconds={LIMIT}&wait_seconds={LIMIT}&connections=1"
        store: Any = RedisStore(f"{server.url()}?{options}")
    else:
        assert isinstance(server, PostgresServer)
        async with PostgresStore(server.url()) as first:
            await first.count()
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("TRUNCATE states, decisions")
        store = PostgresStore(server.url(), timeout=LIMIT, connections=1)
    async with store:
        yield Place(server, store)


def weaver_on(store: Store) -> Weaver:
    return skillweave.open(BILL, ledger=store, counter=WordCounter())


async def asked(weaver: Weaver, tool: str = "read") -> Verdict:
    now = await weaver.current_policy("c")
    return await weaver.authorize(now, tool, {"amount": 4}, call_id="call-1")


@asynccontextmanager
async def killed(place: Place) -> AsyncIterator[None]:
    await asyncio.to_thread(place.server.kill)
    try:
        yield
    finally:
        await asyncio.to_thread(place.server.start)


@asynccontextmanager
async def silent(place: Place) -> AsyncIterator[None]:
    with place.server.paused():
        yield


@asynccontextmanager
async def slow(place: Place) -> AsyncIterator[None]:
    """It answers, but long after the time limit."""
    if isinstance(place.store, RedisStore):
        place.raw.client_pause(round(6_000 * LIMIT))  # nobody is heard meanwhile, who would end it neither
        yield
        return
    with psycopg.connect(place.server.url()) as connection:
        connection.execute("LOCK TABLE states")
        yield


@asynccontextmanager
async def exhausted(place: Place) -> AsyncIterator[None]:
    """The only connection is in use, by a call that lasts longer than others wait."""
    if isinstance(place.store, RedisStore):
        free = place.store._server._clients.here().free
        async with free:
            yield
        return
    pool = place.store._database._pools.here().engine
    async with pool.connect():
        yield


@asynccontextmanager
async def damaged(place: Place) -> AsyncIterator[None]:
    if isinstance(place.store, RedisStore):
        kept: Any = place.raw.hgetall(KEY)
        place.raw.hset(KEY, mapping=dict.fromkeys(kept, "{"))
        try:
            yield
        finally:
            place.raw.hset(KEY, mapping=kept)
        return
    place.sql("CREATE TABLE kept AS SELECT * FROM states", "UPDATE states SET document = '{'")
    try:
        yield
    finally:
        place.sql("UPDATE states SET document = kept.document FROM kept", "DROP TABLE kept")


@asynccontextmanager
async def of_another_schema(place: Place) -> AsyncIterator[None]:
    if isinstance(place.store, RedisStore):
        place.raw.rename(KEY, "kept")
        place.raw.rpush(KEY, "of something else")
        try:
            yield
        finally:
            place.raw.rename("kept", KEY)
        return
    place.sql("ALTER TABLE states RENAME COLUMN document TO written")
    try:
        yield
    finally:
        place.sql("ALTER TABLE states RENAME COLUMN written TO document")


WAYS: tuple[Callable[[Place], AbstractAsyncContextManager[None]], ...] = (
    killed,
    silent,
    slow,
    exhausted,
    damaged,
    of_another_schema,
)


@pytest.mark.parametrize("way", WAYS, ids=lambda way: way.__name__)
async def test_while_the_state_cannot_be_read_no_call_is_allowed(
    place: Place, way: Callable[[Place], AbstractAsyncContextManager[None]]
) -> None:
    weaver = weaver_on(place.store)
    await weaver.weave("the bill", conversation="c")
    async with way(place):
        for tool in ("read", "write", "pay"):
            verdict = await asked(weaver, tool)
            assert (verdict.ruling, verdict.code) == (Ruling.DENY, Refusal.STATE_UNAVAILABLE)
    await until_it_answers(weaver)
    assert [(await asked(weaver, tool)).ruling for tool in ("write", "pay")] == [Ruling.DENY, Ruling.ASK]


async def until_it_answers(weaver: Weaver) -> None:
    async with asyncio.timeout(30):
        while (await asked(weaver)).ruling is not Ruling.ALLOW:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.1)


@contextmanager
def full(place: Place) -> Iterator[None]:
    """It takes no writes, as on a full disk or with its memory used up."""
    if isinstance(place.store, RedisStore):
        place.raw.config_set("maxmemory", 1)
        try:
            yield
        finally:
            place.raw.config_set("maxmemory", 0)
        return
    setting = "ALTER DATABASE postgres {} default_transaction_read_only {}"
    ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename <> ''"
    place.sql(setting.format("SET", "= on"), ends)
    try:
        yield
    finally:
        place.sql("SET default_transaction_read_only = off", setting.format("RESET", ""), ends)


async def test_a_server_that_takes_no_writes_lets_no_approved_call_through_and_frees_no_forbidden_one(
    place: Place,
) -> None:
    weaver = weaver_on(place.store)
    await weaver.weave("the bill", conversation="c")
    assert (await asked(weaver, "pay")).ruling is Ruling.ASK
    said = CheckpointVerdict("bill", "sign-off", ApprovalVerdict.APPROVED, "Ann", call=CALL)
    await weaver.approvals.decide_all("c", [said])
    with full(place):
        verdicts = [await asked(weaver, tool) for tool in ("write", "pay")]
        assert [one.ruling for one in verdicts] == [Ruling.DENY, Ruling.DENY]
        assert verdicts[1].code is Refusal.STATE_UNAVAILABLE
    assert [(await asked(weaver, "pay")).ruling for _ in range(2)] == [Ruling.ALLOW, Ruling.ASK]


async def test_a_silent_server_costs_its_time_limit_a_few_times_only(place: Place) -> None:
    weaver = weaver_on(place.store)
    await weaver.weave("the bill", conversation="c")
    watched = weaver._engine.watched
    with place.server.paused():
        for _ in range(3):
            await asked(weaver)
        assert watched.is_open
        watched._next = float("inf")  # no probe comes in between
        verdict = await asked(weaver)
        assert verdict.code is Refusal.STATE_UNAVAILABLE
        watched._next = float("-inf")
    await until_it_answers(weaver)
    assert not watched.troubled


async def test_a_server_that_stands_still_for_a_moment_denies_nothing(place: Place) -> None:
    weaver = weaver_on(place.store)
    await weaver.weave("the bill", conversation="c")
    for _ in range(5):
        with place.server.paused():
            waiting = asyncio.create_task(asked(weaver))
            await asyncio.sleep(0.05)
        assert (await waiting).ruling is Ruling.ALLOW
