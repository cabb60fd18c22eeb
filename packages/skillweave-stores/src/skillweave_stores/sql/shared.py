"""What several of the service's stores have in common: one database for all of them, and its clock."""

import time
from collections.abc import Callable

from sqlalchemy import ColumnElement, Double, cast, extract, func, literal, select, type_coerce
from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave.ledger import ServerFacts
from skillweave.values import DEFAULT_TENANT, ClosedOnExit, tenant_of
from skillweave_stores.sql.database import Database

SERVERS_CLOCK: ColumnElement[float] = type_coerce(
    select(cast(extract("epoch", func.clock_timestamp()), Double)).scalar_subquery(), Double
)


class InDatabase(ClosedOnExit):
    """A store in the database of that URL, or in one that it shares with others, over the same connections.

    One that is handed in stays open when the store is closed. Raises as `Database` does.
    """

    def __init__(self, database: Database | str) -> None:
        self._shares = isinstance(database, Database)
        self._database = database if isinstance(database, Database) else Database(database)
        self.place = self._database.place

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.place!r})"

    async def server(self) -> ServerFacts:
        """What the server says of itself, or SQLite's library of the file; nothing is changed."""
        return await self._database.server()

    async def migrate(self) -> tuple[str | None, str]:
        """Bring the tables up to date; the revisions before and after."""
        return await self._database.migrate()

    async def close(self) -> None:
        """Give back the connections, where they are its own; a second call does nothing."""
        if not self._shares:
            await self._database.close()


def clock_of(connection: AsyncConnection, clock: Callable[[], float] | None) -> ColumnElement[float]:
    """The seconds of the clock for a statement; without one the server's, so that other machines' mean nothing.

    A server's clock is a query of its own: one that is asked for each row would leave an index unused.
    """
    if clock is None and connection.dialect.name == "postgresql":
        return SERVERS_CLOCK
    return literal(float((clock or time.time)()), Double)


def owner_of(tenant: str) -> str:
    """The tenant by the name that it has in every table. Raises InvalidValue."""
    return tenant_of(tenant) or DEFAULT_TENANT
