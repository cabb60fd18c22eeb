"""What the exchange keeps beside the States on PostgreSQL: found in one statement, kept in another."""

import random
from collections.abc import Collection, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from skillweave.ledger import KEEP_ENTRIES_SECONDS, TOUCH_ENTRIES_SECONDS
from skillweave.values import DEFAULT_TENANT, tenant_of

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncConnection

    from skillweave_stores.sql.database import Database

SWEEP_CHANCE = 0.02
"""How often a write also removes what is too old."""
_NOW = "coalesce(%(now)s::double precision, extract(epoch FROM clock_timestamp()))"
_HERE = "tenant = %(tenant)s AND hash = ANY (%(hashes)s::bytea[])"
_FIND = f"""
WITH touched AS (
    UPDATE insertions SET used = {_NOW}
    WHERE {_HERE} AND used < {_NOW} - {TOUCH_ENTRIES_SECONDS} AND used >= {_NOW} - {KEEP_ENTRIES_SECONDS}
)
SELECT hash, data FROM insertions WHERE {_HERE} AND used >= {_NOW} - {KEEP_ENTRIES_SECONDS}
"""  # noqa: S608 - made of our own constants; what comes from outside is a parameter
_KEEP = f"""
INSERT INTO insertions (tenant, hash, used, data)
SELECT %(tenant)s, hash, {_NOW}, data FROM unnest(%(hashes)s::bytea[], %(data)s::bytea[]) AS new (hash, data)
ON CONFLICT (tenant, hash) DO UPDATE SET used = excluded.used, data = excluded.data
"""  # noqa: S608 - as above
_SWEEP = f"""
DELETE FROM insertions WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM insertions WHERE used < {_NOW} - {KEEP_ENTRIES_SECONDS} LIMIT 1000 FOR UPDATE SKIP LOCKED
))
"""  # noqa: S608 - as above


async def find_entries(
    database: "Database", now: float | None, tenant: str, scope: str, keys: Collection[str]
) -> Mapping[str, bytes]:
    """The entries of these keys that there are."""
    by_hash = {_hash(scope, key): key for key in keys}
    given = {"now": now, "tenant": tenant_of(tenant) or DEFAULT_TENANT, "hashes": list(by_hash)}

    async def work(connection: "AsyncConnection") -> list[Any]:
        return list((await connection.exec_driver_sql(_FIND, given)).all())

    rows = await database.read(work) if by_hash else []
    return {by_hash[bytes(found)]: bytes(data) for found, data in rows}


async def keep_entries(
    database: "Database", now: float | None, tenant: str, scope: str, entries: Mapping[str, bytes]
) -> None:
    """Keep these entries."""
    # In one order everywhere, so that two who write the same never wait for each other.
    rows = sorted((_hash(scope, key), data) for key, data in entries.items())
    given = {
        "now": now,
        "tenant": tenant_of(tenant) or DEFAULT_TENANT,
        "hashes": [found for found, _ in rows],
        "data": [data for _, data in rows],
    }

    async def work(connection: "AsyncConnection") -> None:
        await connection.exec_driver_sql(_KEEP, given)
        if random.random() < SWEEP_CHANCE:  # noqa: S311 - so that processes need not agree on whose turn it is
            await connection.exec_driver_sql(_SWEEP, given)

    if rows:
        await database.read(work)


def _hash(scope: str, key: str) -> bytes:
    return sha256("\0".join((scope, key)).encode("utf-8", "surrogatepass")).digest()
