"""A database of each kind for every test of this folder that asks for one."""

from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any, TypeAlias

import psycopg
import pytest
import pytest_asyncio
from sqlalchemy import Engine, NullPool, create_engine, event, text

from skillweave_stores import PostgresStore, SqlSource
from skillweave_testing.fixtures import new_database, postgres_of

ByHand: TypeAlias = Callable[..., list[Any]]
"""Runs a statement, with values by name, as somebody would who knows nothing of skillweave; its rows."""


@pytest.fixture
def url(tables_url: str) -> str:
    """The URL of a new database with nothing in its tables; what tests how they are made has an empty one instead."""
    return tables_url


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def shared_url(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of a database of each kind that the contract's tests of a file share, each with names of its own."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path_factory.mktemp('shared') / 'skills.db'}"
    else:
        yield from new_database(postgres_of(request))


@pytest_asyncio.fixture
async def postgres_store(postgres_url: str) -> AsyncIterator[PostgresStore]:
    """A new, empty ledger on the server's own clock."""
    async with PostgresStore(postgres_url) as store:
        yield store


@pytest_asyncio.fixture
async def server(postgres_url: str) -> AsyncIterator[psycopg.AsyncConnection]:
    """A connection of our own to the same database, to look and to disturb."""
    async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as connection:
        yield connection


@pytest_asyncio.fixture
async def source(url: str) -> AsyncIterator[SqlSource]:
    """A new, empty store of skills."""
    async with SqlSource(url) as source:
        yield source


@pytest.fixture
def by_hand(url: str) -> Iterator[ByHand]:
    """The same database for somebody who writes SQL."""
    engine = create_engine(url, poolclass=NullPool)

    def run(statement: str, **values: object) -> list[Any]:
        with engine.begin() as connection:
            result = connection.execute(text(statement), values)
            return list(result) if result.returns_rows else []

    yield run
    engine.dispose()


@pytest.fixture
def statements() -> Iterator[list[str]]:
    """Every statement that is sent to any database from here on."""
    sent: list[str] = []

    def note(_: object, __: object, statement: str, *___: object) -> None:
        sent.append(statement)

    event.listen(Engine, "before_cursor_execute", note)
    yield sent
    event.remove(Engine, "before_cursor_execute", note)
