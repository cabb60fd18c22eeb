"""What the exchange keeps beside the States: in this process's memory, and in a SQLite file."""

import sqlite3
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Mapping
from json import dumps
from threading import Lock
from typing import NamedTuple

from skillweave.state.insertions import KEEP_ENTRIES_SECONDS, TOUCH_ENTRIES_SECONDS, Insertions
from skillweave.state.port import Store
from skillweave.tenants import tenant_of

MOST_BYTES = 256 * 1024 * 1024
"""So much is kept in memory; of more, what was unused for longest is forgotten."""
TABLE = """
    CREATE TABLE insertions (
        tenant TEXT NOT NULL,
        scope TEXT NOT NULL,
        key TEXT NOT NULL,
        used REAL NOT NULL,
        data BLOB NOT NULL,
        PRIMARY KEY (tenant, scope, key)
    ) WITHOUT ROWID
"""
INDEX = "CREATE INDEX insertions_by_age ON insertions (used)"


class _Kept(NamedTuple):
    data: bytes
    used: float


class MemoryInsertions:
    """Entries in a dictionary, safe between threads; `clock` gives seconds."""

    def __init__(self, *, clock: Callable[[], float] = time.time, most_bytes: int = MOST_BYTES) -> None:
        self._clock, self._most, self._bytes = clock, most_bytes, 0
        self._kept: OrderedDict[tuple[str, str, str], _Kept] = OrderedDict()
        self._lock = Lock()

    async def find_entries(self, scope: str, keys: Collection[str], *, tenant: str = "") -> Mapping[str, bytes]:
        """The entries of these keys that there are."""
        tenant, now, found = tenant_of(tenant), self._clock(), {}
        with self._lock:
            for key in keys:
                known = self._kept.get((tenant, scope, key))
                if known is not None and known.used >= now - KEEP_ENTRIES_SECONDS:
                    found[key] = known.data
                    self._kept[tenant, scope, key] = known._replace(used=now)
                    self._kept.move_to_end((tenant, scope, key))
        return found

    async def keep_entries(self, scope: str, entries: Mapping[str, bytes], *, tenant: str = "") -> None:
        """Keep these entries, and forget what is too old or too much."""
        tenant, now = tenant_of(tenant), self._clock()
        with self._lock:
            for key, data in entries.items():
                old = self._kept.pop((tenant, scope, key), None)
                self._bytes += len(data) - (0 if old is None else len(old.data))
                self._kept[tenant, scope, key] = _Kept(data, now)
            while self._kept:
                oldest = next(iter(self._kept.values()))
                if self._bytes <= self._most and oldest.used >= now - KEEP_ENTRIES_SECONDS:
                    break
                self._kept.popitem(last=False)
                self._bytes -= len(oldest.data)


def find_in(
    connection: sqlite3.Connection, place: tuple[str, str], keys: Collection[str], now: float
) -> dict[str, bytes]:
    """The entries at a tenant and scope, which are noted as used."""
    listed = dumps(list(keys))
    rows = connection.execute(
        "SELECT key, data, used FROM insertions WHERE tenant = ? AND scope = ? AND used >= ? "
        "AND key IN (SELECT value FROM json_each(?))",
        (*place, now - KEEP_ENTRIES_SECONDS, listed),
    ).fetchall()
    old = [key for key, _, used in rows if used < now - TOUCH_ENTRIES_SECONDS]
    if old:
        connection.execute(
            "UPDATE insertions SET used = ? WHERE tenant = ? AND scope = ? AND key IN (SELECT value FROM json_each(?))",
            (now, *place, dumps(old)),
        )
    return {key: bytes(data) for key, data, _ in rows}


def keep_in(connection: sqlite3.Connection, place: tuple[str, str], entries: Mapping[str, bytes], now: float) -> None:
    """Keep entries at a tenant and scope, and forget those past their time."""
    connection.execute("DELETE FROM insertions WHERE used < ?", (now - KEEP_ENTRIES_SECONDS,))
    connection.executemany(
        "INSERT OR REPLACE INTO insertions VALUES (?, ?, ?, ?, ?)",
        [(*place, key, now, data) for key, data in entries.items()],
    )


def insertions_of(store: Store) -> Insertions:
    """The store itself where it keeps entries too; else this process's memory."""
    return store if callable(getattr(store, "find_entries", None)) else MemoryInsertions()  # type: ignore[return-value]
