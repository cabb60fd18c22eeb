"""Stores on real servers: turns beside their bare round trips, filling a database, and a publish that others see."""

import asyncio
import contextlib
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from results import Effort, Row, Target, figure, single
from seeding import Seeding
from seeding import measured as seeded
from stage import Stage, make_stage, new_name, ready_weaver
from timing import Batch, Timing, awaited, interleaved, timing_of
from turn import AGAIN, HIT, turns

import skillweave
import skillweave_stores
from skillweave.state.codec import state_to_json
from skillweave.state.port import Store
from skillweave.state.state import State, Writes
from skillweave.stores.named import store_of
from skillweave.tokens.counter import Tiktoken
from skillweave.weaver import Weaver

sys.path.insert(0, str(Path(__file__).parent.parent))

from skillweave_testing.servers import PostgresServer, RedisServer, Server

MOST_GROWTH = 1.5
"""Ten times as many skills may take so many times the memory, so that it counts as flat."""
SEEN_WITHIN = 2.0
"""Seconds after which every replica gives what was published."""
MOST_TIMES = 1.5
"""What the specification allows a turn on a server to take, in times of its bare round trips."""
ROUND_TRIPS = "the bare round trips"


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """Whole turns and a load with a swap alone, each beside the driver's own read and write of as much.

    Then filling a SQLite file and PostgreSQL, and how long it takes until a replica gives what another one published.
    """
    counter = Tiktoken()
    counter.warm_up()
    sizes = (100,) if effort is Effort.QUICK else (100, 1_000, 10_000)
    samples = 9 if effort is Effort.QUICK else 61
    servers: dict[str, Server] = {"PostgreSQL": PostgresServer(), "Redis": RedisServer()}
    with contextlib.ExitStack() as running:
        for server in servers.values():
            running.enter_context(server)
        for size in sizes:
            stage = make_stage(size, counter)
            for name, server in servers.items():
                async for row in _measured(name, _url(server), stage, samples):
                    yield row
        for row in _filled(servers["PostgreSQL"], effort):
            yield row
        yield await _seen(_url(servers["PostgreSQL"]), effort)


def _filled(server: Server, effort: Effort) -> Iterator[Row]:
    """Seconds of a first run and of a second one, and the most memory, for growing numbers of skills."""
    sizes = (100, 300) if effort is Effort.QUICK else (1_000, 10_000)
    found: dict[tuple[str, int], Seeding] = {}
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            found["SQLite", size] = seeded(f"sqlite:///{Path(folder, 'skills.db')}", size)
        found["PostgreSQL", size] = seeded(_new_database(_url(server), f"seeded_{size}"), size)
    for (name, size), one in found.items():
        if (one.inserted, one.unchanged) != (size, size):
            raise SystemExit(f"seeding {size} skills into {name} inserted {one.inserted}, then left {one.unchanged}")
        what = f"{size:,} skills with 2 documents each, {name}"
        again, first = single(one.again_seconds, "s"), single(one.first_seconds, "s")
        yield Row("filling a store: the second run, which changes nothing", what, again, "first run", first)
    for name in ("SQLite", "PostgreSQL"):
        few, many = (found[name, size].peak_megabytes for size in sizes)
        target = Target(f"{MOST_GROWTH}x", many <= MOST_GROWTH * few)
        case, base = f"{sizes[1]:,} skills, {name}", f"{sizes[0]:,} skills"
        yield Row("most memory while filling", case, single(many, "MB"), base, single(few, "MB"), target)


async def _seen(url: str, effort: Effort) -> Row:
    """Seconds from a publish on one replica to the first turn of another one that gives the new text."""
    seconds = []
    database = _new_database(url, "published")
    async with skillweave_stores.SqlSource(database) as store:
        await store.publish(_edition(0))
        replica = skillweave.open(database)
        for number in range(1, 4 if effort is Effort.QUICK else 16):
            await store.publish(_edition(number))
            seconds.append(await _seconds_until(replica, f"edition {number}."))
        await replica.close()
    timing = timing_of(seconds)
    target = Target(f"<{SEEN_WITHIN:g} s", timing.slowest < SEEN_WITHIN)
    return Row("a publish is seen by another replica", "one skill, PostgreSQL", figure(timing), target=target)


def _edition(number: int) -> dict[str, object]:
    return {"id": "brew", "description": "Brews.", "text": {"instructions": f"This is edition {number}."}}


async def _seconds_until(replica: Weaver, words: str) -> float:
    begin = time.perf_counter()
    while True:
        turn = await replica.weave("now", conversation=new_name("seen"), named=["brew"])
        if any(words in message.text for message in turn.messages):
            return time.perf_counter() - begin
        await asyncio.sleep(0.02)


def _new_database(url: str, name: str) -> str:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    return f"{url.rpartition('/')[0]}/{name}"


async def _measured(name: str, url: str, stage: Stage, samples: int) -> AsyncIterator[Row]:
    store = store_of(url)
    weaver, inside = await ready_weaver(stage, store), await ready_weaver(stage)
    state = await _usual(store, stage)
    async with _bare(name, url, state) as bare:
        for kind in (HIT, AGAIN):
            batches: dict[str, Batch] = {
                "ours": turns(stage, weaver, kind),
                "in memory": turns(stage, inside, kind),
                ROUND_TRIPS: awaited(bare),
            }
            times = await interleaved(batches, samples=samples)
            yield _row(f"whole turn, {name}", f"{kind}, {stage.size}", times, asked=True)
            yield Row(
                f"whole turn, {name}",
                f"{kind}, {stage.size}",
                figure(times["ours"]),
                "the same in memory",
                figure(times["in memory"]),
            )
        batches = {"ours": awaited(_own(store, state)), ROUND_TRIPS: awaited(bare)}
        yield _row(f"load and swap, {name}", stage.size, await interleaved(batches, samples=samples), asked=False)
    await weaver.close()


def _row(job: str, case: str, times: Mapping[str, Timing], *, asked: bool) -> Row:
    ratio = times["ours"].median / times[ROUND_TRIPS].median
    target = Target(f"{MOST_TIMES}x", ratio <= MOST_TIMES) if asked else None
    return Row(job, case, figure(times["ours"]), ROUND_TRIPS, figure(times[ROUND_TRIPS]), target)


async def _usual(store: Store, stage: Stage) -> State:
    """The State of a conversation that was given a skill."""
    weaver, conversation = await ready_weaver(stage), new_name("usual")
    await weaver.weave(stage.hits[0][0], conversation=conversation)
    return await weaver.ledger.state(conversation)


def _own(store: Store, state: State) -> Callable[[], Awaitable[None]]:
    conversation = new_name("own")

    async def load_and_swap() -> None:
        known, _ = await store.load(conversation)
        if not await store.swap(conversation, known.revision, Writes(replace(state, last_turn=new_name("turn")))):
            raise SystemExit("a swap was lost although nobody else wrote")

    return load_and_swap


def _bare(name: str, url: str, state: State) -> contextlib.AbstractAsyncContextManager[Callable[[], Awaitable[None]]]:
    """One read and one write of a State's document, with nothing around the driver."""
    return (_bare_postgres if name == "PostgreSQL" else _bare_redis)(url, state_to_json(state))


@contextlib.asynccontextmanager
async def _bare_postgres(url: str, document: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    import psycopg

    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("CREATE TABLE IF NOT EXISTS bare (id text PRIMARY KEY, number bigint, document text)")
        await connection.execute("INSERT INTO bare VALUES ('c', 0, %s) ON CONFLICT DO NOTHING", (document,))

        async def both() -> None:
            read = await connection.execute("SELECT number, document, clock_timestamp() FROM bare WHERE id = 'c'")
            await read.fetchone()
            await connection.execute("UPDATE bare SET number = number + 1, document = %s WHERE id = 'c'", (document,))

        yield both


@contextlib.asynccontextmanager
async def _bare_redis(url: str, document: str) -> AsyncIterator[Callable[[], Awaitable[None]]]:
    from redis.asyncio import Redis

    async with Redis.from_url(url) as client:
        await client.set("bare", document)

        async def both() -> None:
            await client.get("bare")
            await client.set("bare", document)

        yield both


def _url(server: Server) -> str:
    if isinstance(server, PostgresServer | RedisServer):
        return server.url()
    raise TypeError(f"{type(server).__name__} has no URL")
