"""What a database says of itself: product, version, clock, connections, and the revision of its tables."""

import time

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave.ledger import ServerFacts
from skillweave_stores.facts import connections_in_use, quickest_trip
from skillweave_stores.sql.revisions import NEWEST, revision_of

_CLOCK = text("SELECT extract(epoch FROM clock_timestamp())")
_POSTGRES = text(
    "SELECT current_setting('server_version'), current_setting('max_connections'), "
    "(SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'), pg_is_in_recovery()"
)
_SQLITE = text("SELECT sqlite_version()")


async def facts_of(connection: AsyncConnection) -> ServerFacts:
    """The facts, without the place; nothing is changed."""
    revision = await connection.run_sync(revision_of)
    if connection.dialect.name == "sqlite":
        began = time.perf_counter()
        version = str((await connection.execute(_SQLITE)).scalar_one())
        return ServerFacts(f"SQLite {version}", "", time.perf_counter() - began, 0.0, (), revision, NEWEST)
    version, most, used, replica = (await connection.execute(_POSTGRES)).one()

    async def clock() -> float:
        return float((await connection.execute(_CLOCK)).scalar_one())

    quickest, ahead = await quickest_trip(clock)
    details = (connections_in_use(used, most), *(["a read-only replica"] if replica else []))
    return ServerFacts(f"PostgreSQL {version.split()[0]}", "", quickest, ahead, details, revision, NEWEST)
