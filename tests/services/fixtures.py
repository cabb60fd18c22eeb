"""Fixtures with a server of our own: one for each process that runs tests, a fresh database for each test."""

import itertools
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.services.servers import PostgresServer, RedisServer

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
    named = os.environ.get(POSTGRES)
    yield from new_database(named or request.getfixturevalue("postgres_server").url())


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new, empty database that skills can be stored in, of each kind."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'skills.db'}"
    url: str = request.getfixturevalue("postgres_url")
    return url


@pytest.fixture
def redis_url(request: pytest.FixtureRequest) -> str:
    """The URL of an empty Redis database."""
    from redis import Redis

    url: str = os.environ.get(REDIS) or request.getfixturevalue("redis_server").url()
    with Redis.from_url(url) as client:
        client.flushdb()
    return url


def new_database(server: str) -> Iterator[str]:
    """The URL of a new, empty database of that server, which is dropped afterwards."""
    import psycopg

    name = f"skillweave_test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        yield f"{server.rpartition('/')[0]}/{name}"
    finally:
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE IF EXISTS "{name}" WITH (FORCE)')
