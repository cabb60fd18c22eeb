import asyncio
import os
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, MetaData, inspect, text
from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave import SqliteStore, StoreUnavailable
from skillweave.errors import InvalidValue
from skillweave_stores.access import Scope, new_key
from skillweave_stores.sql.database import TRIES, Database
from skillweave_stores.sql.keys import SqlKeys
from skillweave_stores.sql.migrating import MIGRATIONS
from skillweave_stores.sql.revisions import NEWEST
from skillweave_stores.sql.tables import ON_POSTGRES_ONLY, EntityRow, Row
from skillweave_testing.servers import PostgresServer
from tests.proxy import Proxy


@pytest.fixture
def url(database_url: str) -> str:
    """The URL of a new, empty database, without tables."""
    return database_url


@pytest_asyncio.fixture
async def database(url: str) -> AsyncIterator[Database]:
    database = Database(url)
    yield database
    await database.close()


async def _one(connection: AsyncConnection) -> object:
    return (await connection.execute(text("SELECT 1"))).scalar()


async def test_the_first_call_makes_the_tables(database: Database) -> None:
    async def count(connection: AsyncConnection) -> object:
        return (await connection.execute(text("SELECT count(*) FROM skills"))).scalar()

    assert await database.read(count) == 0
    assert await database.revision() == (NEWEST, NEWEST)


async def test_migrations_lead_to_the_tables_that_the_code_has(database: Database) -> None:
    def differences(connection: Connection) -> list[object]:
        context = MigrationContext.configure(connection, opts={"compare_type": True, "compare_server_default": True})
        return list(compare_metadata(context, _tables(connection.dialect.name)))

    assert await database.read(lambda connection: connection.run_sync(differences)) == []


async def test_migrations_lead_to_the_conditions_that_the_code_has(database: Database) -> None:
    def conditions(connection: Connection) -> dict[str, str]:
        found = inspect(connection).get_check_constraints("entities")
        return {str(one["name"]): one["sqltext"] for one in found}

    def made(connection: Connection) -> dict[str, str]:
        connection.execute(text("ALTER TABLE entities RENAME TO entities_before"))
        connection.execute(text("DROP INDEX entities_by_place"))
        if connection.dialect.name == "postgresql":
            connection.execute(text("ALTER TABLE entities_before RENAME CONSTRAINT entities_key TO before_key"))
        EntityRow.metadata.tables["entities"].create(connection)
        return conditions(connection)

    migrated = await database.read(lambda connection: connection.run_sync(conditions))
    assert list(migrated) == ["entities_located"]
    assert await database.write(lambda connection: connection.run_sync(made)) == migrated


def _tables(dialect: str) -> MetaData:
    """The tables that such a database has."""
    found = MetaData(naming_convention=Row.metadata.naming_convention)
    for table in Row.metadata.sorted_tables:
        if dialect == "postgresql" or table.name not in ON_POSTGRES_ONLY:
            table.to_metadata(found)
    return found


def test_the_newest_revision_is_the_one_of_the_last_migration() -> None:
    assert ScriptDirectory(str(MIGRATIONS)).get_current_head() == NEWEST


async def test_a_write_that_fails_leaves_nothing(database: Database) -> None:
    async def failing(connection: AsyncConnection) -> None:
        await connection.execute(text("INSERT INTO generation (tenant, number) VALUES ('a', 1)"))
        raise RuntimeError("in the middle")

    async def count(connection: AsyncConnection) -> object:
        return (await connection.execute(text("SELECT count(*) FROM generation WHERE tenant = 'a'"))).scalar()

    with pytest.raises(RuntimeError, match="in the middle"):
        await database.write(failing)
    assert await database.read(count) == 0


async def test_each_statement_of_a_call_that_reads_is_by_itself(database: Database) -> None:
    async def failing(connection: AsyncConnection) -> None:
        await connection.execute(text("INSERT INTO generation (tenant, number) VALUES ('a', 1)"))
        raise RuntimeError("after it")

    with pytest.raises(RuntimeError, match="after it"):
        await database.read(failing)
    counted = text("SELECT count(*) FROM generation WHERE tenant = 'a'")
    assert await database.read(lambda one: one.scalar(counted)) == 1


async def test_work_in_steps_may_take_longer_than_a_call_but_none_of_its_steps(postgres_url: str) -> None:
    database = Database(postgres_url, timeout=1)

    async def slow(connection: AsyncConnection, step: Callable[[], None]) -> str:
        for _ in range(4):
            step()
            await asyncio.sleep(0.4)
        return "done"

    async def stuck(connection: AsyncConnection, step: Callable[[], None]) -> None:
        step()
        await asyncio.sleep(60)

    assert await database.write_in_steps(slow) == "done"
    with pytest.raises(StoreUnavailable, match="within 1 seconds"):
        await database.write_in_steps(stuck)
    await database.close()


@pytest.mark.soak
async def test_many_writes_at_once_to_one_file_wait_for_each_other(tmp_path: Path) -> None:
    async def add(connection: AsyncConnection) -> None:
        row = (await connection.execute(text("SELECT max(number) FROM generation"))).scalar()
        await connection.execute(text(f"INSERT INTO generation (tenant, number) VALUES ('{row}', {(row or 0) + 1})"))

    database = Database(f"sqlite:///{tmp_path / 'skills.db'}")
    await asyncio.gather(*(database.write(add) for _ in range(20)))
    assert await database.read(lambda one: one.scalar(text("SELECT max(number) FROM generation"))) == 20
    await database.close()


async def test_what_the_driver_says_of_a_broken_connection_is_tried_again_and_then_said(postgres_url: str) -> None:
    database, tries = Database(postgres_url), 0

    async def breaking(connection: AsyncConnection) -> None:
        nonlocal tries
        tries += 1
        raw = await connection.get_raw_connection()
        raw.driver_connection.pgconn.finish()  # type: ignore[union-attr]
        await raw.driver_connection.set_autocommit(True)  # type: ignore[union-attr]

    with pytest.raises(StoreUnavailable, match=r"PostgreSQL at 127\.0\.0\.1"):
        await database.read(breaking)
    assert tries == TRIES
    assert await database.read(_one) == 1
    await database.close()


async def test_a_closed_database_says_so(database: Database) -> None:
    await database.read(_one)
    await database.close()
    await database.close()
    with pytest.raises(StoreUnavailable, match="is closed"):
        await database.read(_one)


async def test_a_silent_server_is_given_up_and_used_again_when_it_speaks(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy:
        database = Database(proxy.url, timeout=0.3)
        await database.read(_one)
        proxy.fall_silent()
        with pytest.raises(StoreUnavailable, match=r"PostgreSQL at 127\.0\.0\.1:[0-9]+/skillweave_test"):
            await database.read(_one)
        proxy.speak()
        assert await database.read(_one) == 1
        await database.close()


async def test_connections_that_a_restart_broke_are_made_anew(postgres_server: PostgresServer) -> None:
    database = Database(postgres_server.url())
    await database.read(_one)
    postgres_server.restart(crash=True)
    assert await database.read(_one) == 1
    await database.close()


async def test_a_call_is_one_round_trip(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy:
        database = Database(proxy.url)
        await database.read(_one)
        before = proxy.trips
        for _ in range(10):
            await database.read(_one)
        assert proxy.trips == before + 10
        await database.close()


def test_each_event_loop_has_its_own_connections(url: str) -> None:
    database = Database(url)

    async def twice() -> object:
        await database.read(_one)
        return await database.read(_one)

    async def last() -> object:
        try:
            return await database.read(_one)
        finally:
            await database.close()

    assert [asyncio.run(twice()), asyncio.run(last())] == [1, 1]


@pytest.mark.parametrize(
    "bad",
    [
        "mysql://host/db",
        "no url",
        "postgresql://u:p@h/d?timeout=soon",
        "sqlite:///x?connections=0",
        "postgresql://u:a@hush@h/d",
        "postgresql://u:a@b/hush@h/d",
        "postgresql://u:a@b?hush@h/d",
        "postgresql://u:a@hush:1@h/d",
    ],
)
def test_a_url_that_cannot_be_used_is_refused_without_its_password(bad: str) -> None:
    with pytest.raises(InvalidValue) as refusal:
        Database(bad)
    assert "u:p" not in str(refusal.value)
    assert "hush" not in str(refusal.value)


async def test_a_server_that_is_not_there_is_named_without_the_password() -> None:
    database = Database("postgresql://ann:s3cret@127.0.0.1:1/skills?timeout=2")
    with pytest.raises(StoreUnavailable, match=r"PostgreSQL at 127\.0\.0\.1:1/skills does not answer") as refusal:
        await database.read(_one)
    assert "s3cret" not in str(refusal.value)
    assert "ann" not in str(refusal.value)
    await database.close()


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("sqlite:///skills.db?password=hush", "skills.db is given 'password', which means nothing to a SQLite file"),
        ("postgresql://h/d?sslmodus=hush", "PostgreSQL at h:5432/d is given 'sslmodus', which means nothing to"),
    ],
)
def test_an_option_that_nobody_knows_is_refused_without_its_value(url: str, said: str) -> None:
    with pytest.raises(InvalidValue) as refusal:
        Database(url)
    assert said in str(refusal.value)
    assert "hush" not in str(refusal.value)


def test_an_option_of_postgresql_s_own_client_is_taken() -> None:
    url = Database("postgresql://h/d?sslmode=verify-full&sslrootcert=ca.pem&host=a:1&host=b:2&timeout=3").url
    assert "sslmode=verify-full" in url
    assert "timeout" not in url


@pytest.mark.skipif(os.name != "posix", reason="rights are those of POSIX")
async def test_a_new_file_and_those_beside_it_are_its_owners_alone(tmp_path: Path) -> None:
    async with SqlKeys(f"sqlite:///{tmp_path / 'new.db'}") as keys, SqliteStore(tmp_path / "states.db") as store:
        await keys.put(new_key("ours", [Scope.READ], now=7)[0])
        await store.load("c")
        made = rights_in(tmp_path)
        assert {"new.db", "new.db-wal", "new.db-shm", "states.db"} <= made.keys()
        assert set(made.values()) == {0o600}


def rights_in(folder: Path) -> dict[str, int]:
    return {one.name: stat.S_IMODE(one.stat().st_mode) for one in folder.iterdir()}
