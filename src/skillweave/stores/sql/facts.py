"""What a database says of itself: product, version, clock, connections, and the revision of its tables."""

import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave.servers import ServerFacts
from skillweave.stores.sql.revisions import NEWEST, revision_of

T = TypeVar("T")
_TRIPS = 3
"""So many trips are made, of which the quickest counts."""
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
        version, seconds = await _timed(lambda: _scalar(connection))
        return ServerFacts(f"SQLite {version}", "", seconds, 0.0, (), revision, NEWEST)
    version, most, used, replica = (await connection.execute(_POSTGRES)).one()
    quickest, ahead = await _clock(connection)
    details = (f"connections in use: {used} of {most}", *(["a read-only replica"] if replica else []))
    return ServerFacts(f"PostgreSQL {version.split()[0]}", "", quickest, ahead, details, revision, NEWEST)


async def _clock(connection: AsyncConnection) -> tuple[float, float]:
    """The seconds of the quickest round trip, and those by which the server's clock was ahead in the middle of it."""
    trips = []
    for _ in range(_TRIPS):
        began = time.time()
        now, seconds = await _timed(lambda: _now(connection))
        trips.append((seconds, now - (began + seconds / 2)))
    return min(trips)


async def _now(connection: AsyncConnection) -> float:
    return float((await connection.execute(_CLOCK)).scalar_one())


async def _scalar(connection: AsyncConnection) -> str:
    return str((await connection.execute(_SQLITE)).scalar_one())


async def _timed(work: Callable[[], Awaitable[T]]) -> tuple[T, float]:
    began = time.perf_counter()
    answer = await work()
    return answer, time.perf_counter() - began
