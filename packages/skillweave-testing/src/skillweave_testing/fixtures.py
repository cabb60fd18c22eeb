"""A pytest plugin: real servers, one for each process that runs tests, and a fresh database for each test.

Loading it imports no optional package and starts nothing; a fixture does, and says what is missing.
"""

import asyncio
import atexit
import itertools
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from skillweave_testing.servers import PostgresServer, RedisServer

if TYPE_CHECKING:
    from psycopg import Connection

POSTGRES = "SKILLWEAVE_TEST_POSTGRES"
"""The URL of a PostgreSQL in which the tests may make and drop databases; none is started then."""
REDIS = "SKILLWEAVE_TEST_REDIS"
"""The URL of a Redis that the tests may empty; none is started then."""
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[PostgresServer]:
    """A PostgreSQL that a test may restart."""
    with PostgresServer() as server:
        yield server


@pytest.fixture(scope="session")
def redis_server() -> Iterator[RedisServer]:
    """A Redis that a test may restart, with each write on the disk before it answers."""
    with RedisServer() as server:
        yield server


@pytest.fixture(scope="session")
def redis_cluster() -> Iterator[RedisServer]:
    """A Redis Cluster of one node."""
    with RedisServer(cluster=True) as server:
        yield server


@pytest.fixture
def postgres_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a new, empty database."""
    yield from new_database(postgres_of(request))


@pytest.fixture(scope="session")
def postgres_with_tables(request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a database that has the tables of this version, for others to be copied from."""
    for url in new_database(postgres_of(request)):
        _make_tables(url)
        yield url.rpartition("/")[2]


@pytest.fixture
def postgres_tables_url(request: pytest.FixtureRequest, postgres_with_tables: str) -> Iterator[str]:
    """The URL of a new database that has the tables of this version, with nothing in them.

    It is there in a third of the time in which an empty one gets its tables: for tests of anything but that.
    """
    yield from new_database(postgres_of(request), postgres_with_tables)


@pytest.fixture(scope="session")
def file_with_tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file that has the tables of this version, for others to be copied from."""
    file = tmp_path_factory.mktemp("tables") / "skills.db"
    _make_tables(f"sqlite:///{file}")
    return file


@pytest.fixture(params=["sqlite", "postgresql"])
def database_kind(request: pytest.FixtureRequest) -> str:
    """Each kind of database that skills can be stored in."""
    kind: str = request.param
    return kind


@pytest.fixture
def database_url(request: pytest.FixtureRequest, database_kind: str, tmp_path: Path) -> str:
    """The URL of a new, empty database, of each kind."""
    if database_kind == "sqlite":
        return f"sqlite:///{tmp_path / 'skills.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def tables_url(request: pytest.FixtureRequest, database_kind: str, tmp_path: Path) -> str:
    """The URL of a new database that has the tables of this version, with nothing in them, of each kind."""
    if database_kind == "sqlite":
        copied = shutil.copy(request.getfixturevalue("file_with_tables"), tmp_path / "skills.db")
        return f"sqlite:///{copied}"
    url: str = request.getfixturevalue("postgres_tables_url")
    return url


@pytest.fixture
def redis_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty Redis database."""
    from redis import Redis

    url = redis_of(request)
    with Redis.from_url(url) as client:
        client.flushdb()
    return url


def postgres_of(request: pytest.FixtureRequest) -> str:
    """Returns the URL of the PostgreSQL in which databases may be made: the named one, else one that is started."""
    return os.environ.get(POSTGRES) or str(request.getfixturevalue("postgres_server").url())


def redis_of(request: pytest.FixtureRequest) -> str:
    """Returns the URL of the Redis that the tests may empty: the named one, else one that is started."""
    return os.environ.get(REDIS) or str(request.getfixturevalue("redis_server").url())


def new_database(server: str, template: str = "template1") -> Iterator[str]:
    """The URL of a new database of that server, which is dropped afterwards: as the template is, which is empty."""
    name = f"skillweave_test_{os.getpid()}_{next(_numbers)}"
    connection = _connection(server)
    # Copying the files is twice as fast as writing their content to the log, which is what servers from 15 on do.
    copying = "STRATEGY file_copy" if connection.info.server_version >= 150_000 else ""
    connection.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}" {copying}')
    try:
        yield f"{server.rpartition('/')[0]}/{name}"
    finally:
        _connection(server).execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')


_connections: dict[str, "Connection[Any]"] = {}


def _connection(server: str) -> "Connection[Any]":
    """The connection that makes and drops databases, which each process keeps; a new one after a test restarted it."""
    import psycopg

    try:
        _connections[server].execute("SELECT 1")
    except (KeyError, psycopg.OperationalError):
        _connections[server] = psycopg.connect(server, autocommit=True)
        atexit.register(_connections[server].close)
    return _connections[server]


def _make_tables(url: str) -> None:
    from skillweave.sources import source_of

    async def made() -> None:
        source: Any = source_of(url)  # the distribution skillweave-stores opens it
        async with source:
            await source.migrate()

    asyncio.run(made())
