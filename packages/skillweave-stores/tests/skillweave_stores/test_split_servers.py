"""States on Redis and decisions on PostgreSQL: what a turn costs, and what happens when one of the two is away."""

import asyncio

import pytest
from psycopg import AsyncConnection
from redis.asyncio import Redis

import skillweave
from skillweave import StoreUnavailable
from skillweave.stores import SplitStore
from skillweave_stores import PostgresStore, RedisStore, SqlSource
from skillweave_testing.fakes import WordCounter
from tests.proxy import Proxy

SKILL = {"id": "pay", "description": "d", "triggers": {"keywords": ["invoice"]}, "text": {"instructions": "How."}}


async def _filled(postgres_tables_url: str) -> None:
    async with SqlSource(postgres_tables_url) as source:
        await source.publish(SKILL)


async def test_two_urls_keep_states_in_redis_and_decisions_in_postgresql(
    postgres_tables_url: str, redis_url: str
) -> None:
    await _filled(postgres_tables_url)
    async with skillweave.open(postgres_tables_url, ledger=redis_url, counter=WordCounter()) as weaver:
        assert isinstance(weaver.ledger.store, SplitStore)
        injection = await weaver.weave("an invoice", conversation="c", turn_id="t")
        assert injection.skills == ("pay",)
        assert [entry.turn_id for entry in await weaver.why("c", "pay")] == ["t"]
    async with PostgresStore(postgres_tables_url) as decisions, RedisStore(redis_url) as states:
        assert ([entry.turn_id for entry in await decisions.read("c")], await decisions.count()) == (["t"], 0)
        assert (await states.read("c"), await states.count()) == ((), 1)
    async with Redis.from_url(redis_url, decode_responses=True) as client:
        assert await client.hgetall("skill:ledger:c") == {"skill:pay": "injected"}


async def test_a_turn_is_two_trips_to_redis_and_none_to_the_log(postgres_tables_url: str, redis_url: str) -> None:
    async with Proxy(redis_url) as states, Proxy(postgres_tables_url) as log:
        store = SplitStore(RedisStore(states.url), PostgresStore(log.url))
        async with skillweave.open(SKILL, ledger=store, counter=WordCounter()) as weaver:
            await weaver.weave("an invoice", conversation="warm")
            await weaver.why("warm")
            trips = []
            for conversation in ("c1", "c2", "c3"):
                before, logged = states.trips, log.trips
                await weaver.weave("an invoice", conversation=conversation)
                trips.append((states.trips - before, log.trips - logged))
            assert trips == [(2, 0)] * 3
            logged = log.trips
            assert len(await weaver.why("c3")) == 1
            assert log.trips - logged == 2, "the decisions of all three turns in one trip, and reading them in another"


async def test_turns_go_on_while_the_log_is_silent_and_their_decisions_come_when_it_speaks(
    postgres_tables_url: str, redis_url: str
) -> None:
    async with Proxy(postgres_tables_url) as log:
        store = SplitStore(RedisStore(redis_url), PostgresStore(log.url, timeout=0.5))
        async with skillweave.open(SKILL, ledger=store, counter=WordCounter()) as weaver:
            await weaver.why("warm")
            log.fall_silent()
            injection = await weaver.weave("an invoice", conversation="c", turn_id="t")
            assert (injection.skills, injection.diagnostics) == (("pay",), ())
            with pytest.raises(StoreUnavailable, match="PostgreSQL"):
                await weaver.why("c")
            log.speak()
            assert [entry.turn_id for entry in await weaver.why("c")] == ["t"]


async def test_decisions_are_written_although_nobody_asks_for_them(postgres_tables_url: str, redis_url: str) -> None:
    store = SplitStore(RedisStore(redis_url), PostgresStore(postgres_tables_url))
    async with skillweave.open(SKILL, ledger=store, counter=WordCounter()) as weaver:
        await weaver.weave("an invoice", conversation="c", turn_id="t")
        async with await AsyncConnection.connect(postgres_tables_url, autocommit=True) as look:
            found = "SELECT turn_id FROM decisions"
            while not await _tables(look) or not await (await look.execute(found)).fetchall():  # noqa: ASYNC110
                await asyncio.sleep(0.01)  # the server tells nobody
            assert await (await look.execute(found)).fetchall() == [("t",)]


async def _tables(look: AsyncConnection) -> bool:
    row = await (await look.execute("SELECT to_regclass('decisions') IS NOT NULL")).fetchone()
    return row == (True,)


def test_a_loop_that_ends_before_anything_is_closed_loses_no_decision(postgres_tables_url: str) -> None:
    weaver = skillweave.open(SKILL, decisions=postgres_tables_url, counter=WordCounter())
    asyncio.run(weaver.weave("an invoice", conversation="c", turn_id="t"))

    async def logged() -> list[str]:
        async with PostgresStore(postgres_tables_url) as decisions:
            return [entry.turn_id for entry in await decisions.read("c")]

    assert asyncio.run(logged()) == ["t"]
    asyncio.run(weaver.close())


async def test_skills_in_a_sqlite_file_leave_decisions_in_redis(redis_url: str, tmp_path: object) -> None:
    weaver = skillweave.open(f"sqlite:///{tmp_path}/skills.db", ledger=redis_url)
    assert isinstance(weaver.ledger.store, RedisStore)
    await weaver.close()
