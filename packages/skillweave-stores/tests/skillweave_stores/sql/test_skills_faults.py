"""Databases that break while skills are written: nothing is stored by halves, nothing acknowledged is lost."""

import asyncio
import itertools
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
from sqlalchemy import Engine, event
from tests.skillweave_stores.sql.processes import entries

import skillweave
from skillweave import SqliteStore, State, StoreUnavailable
from skillweave.ledger import Writes
from skillweave.registry import Agent, Change, Entry
from skillweave_stores import SqlSource
from skillweave_testing.servers import PostgresServer
from tests.proxy import Proxy

MANY = 1_000


@contextmanager
def when(name: str, call: Any) -> Iterator[None]:
    """Do something at an event of every connection."""
    event.listen(Engine, name, call)
    try:
        yield
    finally:
        event.remove(Engine, name, call)


async def test_a_server_that_restarts_in_the_middle_loses_no_skill_by_halves(postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS restarted WITH (FORCE)")
        connection.execute("CREATE DATABASE restarted")
    async with SqlSource(postgres_server.url("restarted")) as source:
        await source.version()
        commits = itertools.count(1)
        under_way = asyncio.Event()
        # Each transaction is looked at first and then written.
        with when("commit", lambda _: under_way.set() if next(commits) == 4 else None):
            storing = asyncio.create_task(source.upsert(entries(MANY)))
            await under_way.wait()
            assert not storing.done()
            await asyncio.to_thread(postgres_server.restart, crash=True)
            (outcome,) = await asyncio.gather(storing, return_exceptions=True)
        if isinstance(outcome, BaseException):
            assert isinstance(outcome, StoreUnavailable)
            assert "PostgreSQL at 127.0.0.1" in str(outcome)
        loaded = await source.load()
        assert loaded.diagnostics == ()
        assert all(len(skill.artifacts) == 2 for skill in loaded.skills)
        there = {skill.id for skill in loaded.skills}
        assert there
        again = await source.upsert(entries(MANY))
        assert {one.skill.id for one in again if one.change is Change.UNCHANGED and one.skill} == there
        assert len((await source.load()).skills) == MANY
        with psycopg.connect(postgres_server.url("restarted")) as connection:
            assert connection.execute("SELECT count(*), max(number) FROM skill_versions").fetchone() == (MANY, 1)


async def test_connections_that_are_cut_in_the_middle_are_made_anew(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, SqlSource(proxy.url) as source:
        await source.version()
        cuts = 0

        def cut(*_: object) -> None:
            nonlocal cuts
            if cuts < 2:
                cuts += 1
                proxy.cut()

        with when("commit", cut):
            written = await source.upsert(entries(20))
        assert cuts == 2
        assert {one.change for one in written} <= {Change.INSERTED, Change.UNCHANGED}
        loaded = await source.load()
        assert (len(loaded.skills), loaded.diagnostics) == (20, ())


async def test_a_publish_whose_answer_was_lost_is_not_published_twice(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, SqlSource(proxy.url) as source:
        await source.publish({"id": "alpha", "description": "old"}, {"a.md": "old"})
        lost: list[object] = []

        def lose(connection: object) -> None:
            if not lost:
                lost.append(connection)
                proxy.lose_answer()

        with when("commit", lose):
            written = await source.publish({"id": "alpha", "description": "new"}, {"a.md": "new"})
        assert lost
        assert written.skill is not None
        assert (await source.version()).startswith("2 ")
        assert [one.skill.description for one in await source.versions("alpha")] == ["new", "old"]
        assert await source.read(written.skill, "a.md") == b"new"


@pytest.mark.parametrize("what", ["skill", "agent"])
async def test_a_removal_whose_answer_was_lost_is_no_failure(postgres_url: str, what: str) -> None:
    async with Proxy(postgres_url) as proxy, SqlSource(proxy.url) as source:
        await source.publish({"id": "alpha", "description": "old"})
        await source.put_agents([Agent("alpha")])
        lost: list[object] = []

        def lose(connection: object) -> None:
            if not lost:
                lost.append(connection)
                proxy.lose_answer()

        remove = source.remove if what == "skill" else source.remove_agent
        with when("commit", lose):
            removed = await remove("alpha")
        assert lost
        assert removed.id == "alpha"
        with pytest.raises(LookupError):
            await remove("alpha")


async def test_a_write_that_nobody_waits_for_any_more_leaves_nothing_by_halves(source: SqlSource) -> None:
    await source.version()
    for pause in (0.0, 0.002, 0.005, 0.01, 0.02):
        storing = asyncio.create_task(source.upsert(entries(40)))
        await asyncio.sleep(pause)
        storing.cancel()
        await asyncio.gather(storing, return_exceptions=True)
        loaded = await source.load()
        assert len(loaded.skills) in (0, 40)
        assert all(len(skill.artifacts) == 2 for skill in loaded.skills)
    await source.upsert(entries(40))
    assert len((await source.load()).skills) == 40


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
async def test_a_full_disk_is_said_and_nothing_is_written(url: str) -> None:
    async with SqlSource(url) as source:
        await source.upsert(entries(10))
        before = await source.load()

    def full(connection: Any, _: object) -> None:
        cursor = connection.cursor()
        cursor.execute("PRAGMA max_page_count = 1")  # no more than there are
        cursor.close()

    with when("connect", full):
        async with SqlSource(url) as source:
            with pytest.raises(StoreUnavailable, match=r"skills\.db cannot grow.*free some space") as refusal:
                await source.upsert([*entries(100), Entry({"id": "x", "description": "x"}, {"a": "x" * 100_000})])
            assert refusal.value.retry_after is not None
            assert await source.load() == before or (await source.load()).skills == before.skills
    async with SqlSource(url) as source:
        assert (await source.load()).skills == before.skills
        await source.upsert(entries(100))
        assert len((await source.load()).skills) == 100


async def test_a_user_who_may_only_read_loads_and_is_told_what_it_may_not(
    postgres_url: str, postgres_server: PostgresServer
) -> None:
    async with SqlSource(postgres_url) as writer:
        await writer.publish({"id": "alpha", "description": "x"}, {"a.md": "a"})
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("DROP ROLE IF EXISTS onlooker")
        connection.execute("CREATE ROLE onlooker LOGIN")
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO onlooker")
    try:
        async with SqlSource(postgres_url.replace("postgres@", "onlooker@")) as reader:
            loaded = await reader.load()
            assert [skill.id for skill in loaded.skills] == ["alpha"]
            assert await reader.load(loaded) is loaded
            assert (await reader.version()).startswith("1 ")
            assert await reader.read(loaded.skills[0], "a.md") == b"a"
            assert len(await reader.versions("alpha")) == 1
            same = await reader.publish({"id": "alpha", "description": "x"}, {"a.md": "a"})
            assert same.change is Change.UNCHANGED
            with pytest.raises(StoreUnavailable, match="does not allow this user to do that; grant it"):
                await reader.publish({"id": "alpha", "description": "y"})
    finally:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            connection.execute("DROP OWNED BY onlooker")
            connection.execute("DROP ROLE onlooker")


@pytest.mark.parametrize("skills_first", [True, False])
async def test_skills_and_conversations_live_in_one_file(tmp_path: Path, *, skills_first: bool) -> None:
    path = tmp_path / "all.db"
    async with SqlSource(f"sqlite:///{path}") as source, SqliteStore(path) as ledger:
        first, second = (source.version(), ledger.count()) if skills_first else (ledger.count(), source.version())
        await first
        await second
        await asyncio.gather(
            *(source.publish({"id": f"s{n}", "description": "greet people"}) for n in range(10)),
            *(ledger.swap(f"c{n}", 0, Writes(State())) for n in range(10)),
        )
        assert (len((await source.load()).skills), await ledger.count()) == (10, 10)
    weaver = skillweave.open(f"sqlite:///{path}", ledger=path)
    injection = await weaver.weave("x", conversation="new", named=["s3"])
    assert injection.skills == ("s3",)
    await weaver.close()
    async with SqliteStore(path) as ledger:
        assert await ledger.count() == 11


async def test_a_file_that_is_no_database_is_told(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("no database at all, but long enough to look like a file with a header\n" * 50)
    async with SqlSource(f"sqlite:///{tmp_path / 'notes.db'}") as source:
        with pytest.raises(StoreUnavailable, match=r"notes\.db is no SQLite file; name another one"):
            await source.load()


async def test_a_file_that_somebody_keeps_locked_is_told(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'skills.db'}"
    async with SqlSource(url) as source:
        await source.publish({"id": "alpha", "description": "x"})
    locking = sqlite3.connect(tmp_path / "skills.db", isolation_level=None)
    locking.execute("BEGIN IMMEDIATE")
    async with SqlSource(url, timeout=0.05) as source:
        assert len((await source.load()).skills) == 1
        with pytest.raises(StoreUnavailable, match=r"skills\.db is locked by another process; try again"):
            await source.publish({"id": "omega", "description": "x"})
        locking.close()
        assert (await source.publish({"id": "omega", "description": "x"})).change is Change.INSERTED
