"""Databases that break while entities are written: nothing is stored by halves, and nobody waits for ever."""

import asyncio
import itertools
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from tests.skillweave_stores.sql.test_skills_faults import when

from skillweave import StoreUnavailable
from skillweave.entities import Edge, Entity, Point
from skillweave.knowledge.entity import Piece
from skillweave_stores import SqlGraph
from skillweave_stores.sql import entities as graphs
from skillweave_testing.servers import PostgresServer
from tests.proxy import Proxy

MANY = 5_000
KNOWN = [Entity(f"n{number:04}", "Stop", {"n": number}, (f"Stop {number}",)) for number in range(MANY)]
EDGES = [Edge("n0000", "TO", one.id) for one in KNOWN]


async def _all(graph: SqlGraph) -> list[Piece]:
    return [piece async for piece in graph.export()]


def _interrupting(at: int, interrupt: Any) -> Iterator[Entity]:
    """The entities, with something that happens before one of them."""
    for number, entity in enumerate(KNOWN):
        if number == at:
            interrupt()
        yield entity


@pytest.mark.soak
async def test_a_server_that_crashes_in_the_middle_keeps_all_or_nothing(postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS crashed WITH (FORCE)")
        connection.execute("CREATE DATABASE crashed")
    async with SqlGraph(postgres_server.url("crashed")) as graph:
        await graph.put([Entity("first", "Stop")])
        with pytest.raises(StoreUnavailable, match=r"PostgreSQL at 127\.0\.0\.1"):
            await graph.put(_interrupting(2_500, lambda: postgres_server.restart(crash=True)))
        assert await _all(graph) == [Entity("first", "Stop")]
        await graph.put(KNOWN, EDGES)
        assert await _all(graph) == [Entity("first", "Stop"), *KNOWN, *EDGES]


async def test_a_connection_that_is_cut_in_the_middle_is_made_anew_for_what_can_be_read_again(
    postgres_url: str,
) -> None:
    async with Proxy(postgres_url) as proxy, SqlGraph(proxy.url) as graph:
        await graph.put([Entity("first", "Stop")])
        statements, cuts = itertools.count(), 0

        def cut(*_: object) -> None:
            nonlocal cuts
            if next(statements) == 8:
                cuts += 1
                proxy.cut()

        with when("before_cursor_execute", cut):
            await graph.put(KNOWN, EDGES)
        assert cuts == 1
        assert await _all(graph) == [Entity("first", "Stop"), *KNOWN, *EDGES]


async def test_a_connection_that_is_cut_while_a_generator_is_put_is_told_and_nothing_is_stored(
    postgres_url: str,
) -> None:
    async with Proxy(postgres_url) as proxy, SqlGraph(proxy.url) as graph:
        await graph.put([Entity("first", "Stop")])
        with pytest.raises(StoreUnavailable, match="lost the connection while entities were put; put them again"):
            await graph.put(_interrupting(2_500, proxy.cut))
        assert await _all(graph) == [Entity("first", "Stop")]


async def test_a_put_whose_answer_was_lost_is_stored_once(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, SqlGraph(proxy.url) as graph:
        await graph.put([Entity("first", "Stop")])
        lost: list[object] = []

        def lose(connection: object) -> None:
            if not lost:
                lost.append(connection)
                proxy.lose_answer()

        with when("commit", lose):
            await graph.put(KNOWN[:10], EDGES[:10])
        assert lost
        assert await _all(graph) == [Entity("first", "Stop"), *KNOWN[:10], *EDGES[:10]]


async def test_a_removal_whose_answer_was_lost_counts_what_it_took_out(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, SqlGraph(proxy.url) as graph:
        await graph.put(KNOWN[:10])
        lost: list[object] = []

        def lose(connection: object) -> None:
            if not lost:
                lost.append(connection)
                proxy.lose_answer()

        with when("commit", lose):
            assert await graph.remove(["n0001", "n0002", "nobody"]) == 2
        assert lost
        assert len(await _all(graph)) == 8


async def test_a_server_that_falls_silent_in_the_middle_is_given_up(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, SqlGraph(proxy.url, timeout=1) as graph:
        await graph.put([Entity("first", "Stop")])
        with pytest.raises(StoreUnavailable, match="did not answer within 1 seconds"):
            await graph.put(_interrupting(2_500, proxy.fall_silent))
        with pytest.raises(StoreUnavailable, match="within 1 seconds"):
            await graph.entity("first")
        proxy.speak()
        assert await _all(graph) == [Entity("first", "Stop")]


async def test_a_server_that_is_not_there_is_named_by_every_question() -> None:
    async with SqlGraph("postgresql://ann:s3cret@127.0.0.1:1/graph?timeout=2") as graph:
        for question in (
            graph.entity("a"),
            graph.neighbours("a"),
            graph.near(Point(1, 1, "WGS84"), 1),
            graph.put(KNOWN[:1]),
            graph.remove(["a"]),
            _all(graph),
        ):
            with pytest.raises(StoreUnavailable, match=r"PostgreSQL at 127\.0\.0\.1:1/graph") as refused:
                await question
            assert "s3cret" not in str(refused.value)


async def test_a_put_that_takes_longer_than_a_call_may_is_no_failure(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "BATCH", 1)
    async with SqlGraph(url, timeout=1.5) as graph:
        await graph.put([Entity("first", "Stop")])

        def slowly() -> Iterator[Entity]:
            for entity in KNOWN[:8]:
                time.sleep(0.3)
                yield entity

        await graph.put(slowly())
        assert len(await _all(graph)) == 9


async def test_a_put_that_nobody_waits_for_any_more_ends_at_its_next_step_and_leaves_nothing(url: str) -> None:
    async with SqlGraph(url) as graph:
        await graph.put([Entity("first", "Stop")])
        read, under_way = 0, asyncio.Event()

        def counted() -> Iterator[Entity]:
            nonlocal read
            for number in range(1_000_000):
                read = number
                if number == 2_000:
                    under_way.set()
                yield Entity(f"n{number}", "Stop")

        putting = asyncio.create_task(graph.put(counted()))
        await under_way.wait()
        putting.cancel()
        (outcome,) = await asyncio.gather(putting, return_exceptions=True)
        assert isinstance(outcome, asyncio.CancelledError)
        assert read < 999_999
        assert await _all(graph) == [Entity("first", "Stop")]


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
async def test_a_full_disk_is_said_and_nothing_is_written(url: str) -> None:
    async with SqlGraph(url) as graph:
        await graph.put(KNOWN[:10], EDGES[:10])

    def full(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA max_page_count = 1")  # no more than there are
        cursor.close()

    with when("connect", full):
        async with SqlGraph(url) as graph:
            with pytest.raises(StoreUnavailable, match=r"skills\.db cannot grow.*free some space"):
                await graph.put(KNOWN, EDGES)
            assert await _all(graph) == [*KNOWN[:10], *EDGES[:10]]


async def test_a_file_that_somebody_keeps_locked_is_read_and_told_by_who_writes(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'entities.db'}"
    async with SqlGraph(url) as graph:
        await graph.put(KNOWN[:1])
    locking = sqlite3.connect(tmp_path / "entities.db", isolation_level=None)
    locking.execute("BEGIN IMMEDIATE")
    async with SqlGraph(url, timeout=0.05) as graph:
        assert await graph.entity("stop 0") == KNOWN[0]
        for change in (graph.put(KNOWN[:2]), graph.remove(["n0000"])):
            with pytest.raises(StoreUnavailable, match=r"entities\.db is locked by another process; try again"):
                await change
        locking.close()
        assert await graph.remove(["n0000"]) == 1


async def test_a_user_who_may_only_read_asks_and_is_told_what_it_may_not(postgres_url: str) -> None:
    async with SqlGraph(postgres_url) as writer:
        await writer.put(KNOWN[:2], EDGES[:2])
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS spectator")
        connection.execute("CREATE ROLE spectator LOGIN")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO spectator")
    try:
        async with SqlGraph(postgres_url.replace("postgres@", "spectator@")) as reader:
            assert await _all(reader) == [*KNOWN[:2], *EDGES[:2]]
            with pytest.raises(StoreUnavailable, match="does not allow this user to do that; grant it"):
                await reader.put(KNOWN[:1])
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP OWNED BY spectator")
            connection.execute("DROP ROLE spectator")
