"""A database of each kind for every test of this folder that asks for one."""

from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
import pytest_asyncio

from skillweave import PostgresStore


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new, empty database."""
    if request.param == "sqlite":
        return f"sqlite:///{tmp_path / 'skills.db'}"
    postgres: str = request.getfixturevalue("postgres_url")
    return postgres


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
