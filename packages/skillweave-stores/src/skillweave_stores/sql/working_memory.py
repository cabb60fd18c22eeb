"""Working memory of conversations in a SQLite file or a PostgreSQL database (spec 8)."""

import random
import time
from collections.abc import Callable, Mapping
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from sqlalchemy import Double, bindparam, delete, func, select, tuple_, update

from skillweave.ledger import KEEP_MEMORY_SECONDS, memory_from_json, memory_to_json, merged
from skillweave.turns import require_id
from skillweave.values import EMPTY, FrozenJson
from skillweave_stores.sql.database import SERVERS_CLOCK, Database, InDatabase, clock_of, owner_of
from skillweave_stores.sql.tables import WorkingMemoryRow
from skillweave_stores.sql.upserts import put_row

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement, Select
    from sqlalchemy.ext.asyncio import AsyncConnection

SWEEP_CHANCE = 0.02
"""How often a merge also removes what is over."""
MOST_SWEPT = 500
"""Conversations whose time is over and that one merge removes, so that it stays short."""
_SLACK = 60.0
"""So many seconds longer than promised it is kept, so that only one read a minute has to write that it was one."""
_KEPT = KEEP_MEMORY_SECONDS + _SLACK
_ROW = WorkingMemoryRow


def _find(now: "ColumnElement[float]") -> "Select[str, float]":
    row = (_ROW.tenant == bindparam("tenant"), _ROW.conversation_hash == bindparam("conversation_hash"))
    return select(_ROW.document, _ROW.until - now).where(*row, _ROW.until > now)


# Every turn of a service reads: made once, as to put a statement together costs as much as to run it.
_FIND, _FIND_BY_SERVER = _find(bindparam("now", type_=Double)), _find(SERVERS_CLOCK)


class SqlWorkingMemory(InDatabase):
    """Working memory of all tenants in a database: `sqlite:///path` or `postgresql://user:password@host/name`.

    `database` is a URL, or a Database that several stores share. Without a `clock`, which gives seconds, PostgreSQL's
    own counts. Several processes may merge into one conversation at once. A file that is not there holds nothing, and
    only `merge` makes it. Raises InvalidValue for a URL that cannot be read. All methods raise StoreUnavailable,
    which names the server but no password.
    """

    def __init__(self, database: Database | str, *, clock: Callable[[], float] | None = None) -> None:
        super().__init__(database)
        self._clock = clock

    async def read(self, conversation: str, *, tenant: str = "") -> Mapping[str, FrozenJson]:
        """All keys, sorted, with their values; empty where nothing is kept. One round trip, once a minute two."""
        asked = _Asked(conversation, tenant)
        if self._database.is_missing:
            return EMPTY

        async def work(connection: "AsyncConnection") -> str | None:
            if self._clock is None and connection.dialect.name == "postgresql":
                found = (await connection.execute(_FIND_BY_SERVER, asked.key)).first()
            else:
                found = (await connection.execute(_FIND, {**asked.key, "now": (self._clock or time.time)()})).first()
            if found is None:
                return None
            document, left = found
            # More than it ever gets is left after a clock was put back.
            if not KEEP_MEMORY_SECONDS <= left <= _KEPT:
                now = clock_of(connection, self._clock)
                await connection.execute(update(_ROW).where(*asked.alive(now)).values(until=now + _KEPT))
            return str(document)

        document = await self._database.read(work)
        return EMPTY if document is None else memory_from_json(document)

    async def merge(
        self, conversation: str, values: Mapping[str, object], *, tenant: str = ""
    ) -> Mapping[str, FrozenJson]:
        """Set these keys in one transaction, and remove those whose value is None; what is kept afterwards.

        Keys that are not named stay as they are; a value takes the place of the earlier one as a whole. Raises
        MemoryTooLarge, and InvalidValue for what is not JSON: then nothing changes.
        """
        asked = _Asked(conversation, tenant)

        async def work(connection: "AsyncConnection") -> Mapping[str, FrozenJson]:
            await asked.lock(connection)
            now = clock_of(connection, self._clock)
            before = await connection.scalar(select(_ROW.document).where(*asked.alive(now)))
            after = merged(EMPTY if before is None else memory_from_json(before), values)
            if after:
                kept = {"conversation": conversation, "document": memory_to_json(after), "until": now + _KEPT}
                await put_row(connection, _ROW, {**asked.key, **kept})
            else:
                await connection.execute(delete(_ROW).where(*asked.row))
            if random.random() < SWEEP_CHANCE:  # noqa: S311 - so that processes need not agree on whose turn it is
                await _sweep(connection, now)
            return after

        return await self._database.write(work)

    async def forget(self, conversation: str, *, tenant: str = "") -> bool:
        """Remove everything; False where nothing was kept."""
        asked = _Asked(conversation, tenant)
        if self._database.is_missing:
            return False
        found = False

        async def work(connection: "AsyncConnection") -> bool:
            nonlocal found
            now = clock_of(connection, self._clock)
            gone = await connection.scalar(delete(_ROW).where(*asked.row).returning(_ROW.until > now))
            found = found or bool(gone)  # after a try whose answer was lost there is nothing left
            return found

        return await self._database.write(work)


class _Asked:
    """A conversation of a tenant as its row is found. Raises InvalidValue and InvalidTurn for what can be none."""

    def __init__(self, conversation: str, tenant: str) -> None:
        require_id("conversation", conversation, "WorkingMemory")
        owner = owner_of(tenant)
        self.key: Mapping[str, Any] = {
            "tenant": owner,
            "conversation_hash": sha256(conversation.encode()).digest(),
        }
        self.row = (_ROW.tenant == owner, _ROW.conversation_hash == self.key["conversation_hash"])

    def alive(self, now: "ColumnElement[float]") -> "tuple[ColumnElement[bool], ...]":
        """What its row has to meet that counts."""
        return (*self.row, _ROW.until > now)

    async def lock(self, connection: "AsyncConnection") -> None:
        """Let nobody else merge into it until the transaction ends, also where it has no row yet.

        On SQLite the transaction has the whole file already.
        """
        if connection.dialect.name == "postgresql":
            name = f"skillweave memory {self.key['tenant']}".encode() + self.key["conversation_hash"]
            await connection.execute(
                select(func.pg_advisory_xact_lock(int.from_bytes(sha256(name).digest()[:8], signed=True)))
            )


async def _sweep(connection: "AsyncConnection", now: "ColumnElement[float]") -> None:
    # Past what others have locked, so that nobody waits in a circle; on SQLite there are no others.
    over = select(_ROW.tenant, _ROW.conversation_hash).where(_ROW.until <= now).order_by(_ROW.until).limit(MOST_SWEPT)
    over = over.with_for_update(skip_locked=True)
    await connection.execute(delete(_ROW).where(tuple_(_ROW.tenant, _ROW.conversation_hash).in_(over)))
