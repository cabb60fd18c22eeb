"""What a database says of itself, without its tables being made."""

import pytest

from skillweave import StoreUnavailable
from skillweave.servers import Served
from skillweave_stores.sql.database import Database
from skillweave_stores.sql.revisions import NEWEST


@pytest.fixture
def url(database_url: str) -> str:
    """The URL of a new, empty database, without tables."""
    return database_url


async def test_a_database_says_what_it_is_and_gets_no_tables_by_that(url: str) -> None:
    database = Database(url)
    assert isinstance(database, Served)
    try:
        facts = await database.server()
        assert facts.product.split()[0] in ("SQLite", "PostgreSQL")
        assert facts.product.split()[1][0].isdigit()
        assert database.place.endswith(facts.place)
        assert facts.round_trip > 0
        assert abs(facts.clock_ahead) < 60
        assert (facts.revision, facts.newest) == (None, NEWEST)
        assert await database.revision() == (None, NEWEST)
        await database.migrate()
        assert (await database.server()).revision == NEWEST
    finally:
        await database.close()


async def test_postgres_says_how_many_connections_it_takes(postgres_url: str) -> None:
    database = Database(postgres_url, connections=7)
    try:
        used, opens = (await database.server()).details
        in_use, most = used.removeprefix("connections in use: ").split(" of ")
        assert int(in_use) >= 1
        assert most == "300"
        assert opens == "this process opens 7 at most"
    finally:
        await database.close()


async def test_a_database_that_is_not_there_is_told_without_its_password() -> None:
    database = Database("postgresql://me:hush@127.0.0.1:9/db")
    with pytest.raises(StoreUnavailable, match=r"PostgreSQL at 127\.0\.0\.1:9/db does not answer") as raised:
        await database.server()
    assert "hush" not in str(raised.value)
