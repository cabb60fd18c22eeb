"""The ledger in one SQLite file, on the standard library: nothing to start, shared by any number of processes."""

import asyncio
import os
import random
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias, TypeVar

from skillweave.closing import ClosedOnExit
from skillweave.decisions import Decision
from skillweave.errors import StoreSilent, StoreUnavailable
from skillweave.state.codec import decision_from_json, decision_to_json, state_to_json, stored_state
from skillweave.state.port import KEEP_DECISIONS_SECONDS, Logged
from skillweave.state.state import State, Writes
from skillweave.tenants import tenant_of

SCHEMA_VERSION = 2
BUSY_SECONDS = 5.0
"""How long a write waits for another process's write before the store counts as not answering."""
IN_MEMORY = ":memory:"
"""What SQLite takes for a file that it keeps in memory."""
LONGEST_PAUSE = 0.02
"""Seconds between two tries to prepare a file that other processes are preparing."""

_TABLES = (
    """
    CREATE TABLE states (
        tenant TEXT NOT NULL DEFAULT '',
        conversation TEXT NOT NULL,
        revision INTEGER NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (tenant, conversation)
    ) WITHOUT ROWID
    """,
    """
    CREATE TABLE decisions (
        tenant TEXT NOT NULL DEFAULT '',
        conversation TEXT NOT NULL,
        turn_id TEXT NOT NULL,
        place INTEGER NOT NULL,
        at REAL NOT NULL,
        document TEXT NOT NULL,
        PRIMARY KEY (tenant, conversation, turn_id, place)
    )
    """,
    "CREATE INDEX decisions_by_age ON decisions (at)",
)
_STEPS: Mapping[int, tuple[str, ...]] = MappingProxyType(
    {
        0: _TABLES,
        # Version 1 knew no tenants. A key cannot be changed in place, so that the tables are copied, once.
        1: (
            "DROP INDEX IF EXISTS decisions_by_age",
            "ALTER TABLE states RENAME TO states_1",
            "ALTER TABLE decisions RENAME TO decisions_1",
            *_TABLES,
            "INSERT INTO states SELECT '', conversation, revision, document FROM states_1",
            """
            INSERT INTO decisions
            SELECT '', conversation, turn_id, place, at, document FROM decisions_1 ORDER BY rowid
            """,
            "DROP TABLE states_1",
            "DROP TABLE decisions_1",
        ),
    }
)
"""What brings a file of an older version to the present one; 0 is a new file."""

T = TypeVar("T")
_Row: TypeAlias = tuple[str, str, str, int, float, str]
"""Tenant, conversation, turn, place in the turn, time, and the decision as JSON."""


class SqliteStore(ClosedOnExit):
    """States and decisions in one file, in WAL mode with `synchronous=NORMAL`.

    A crash of the process loses nothing that was stored; a power cut may lose the last commits, never the file.
    `clock` gives seconds; all processes that share the file should share the clock. Raises StoreUnavailable, naming
    the file, when it cannot be opened, is locked for longer than `busy_seconds`, is damaged, the disk is full, the
    store was closed, or, once, when the file was deleted or replaced since the last call.
    """

    keeps_events = False

    def __init__(
        self, path: str | Path, *, clock: Callable[[], float] = time.time, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        self.path = Path(path)
        # The process may go to another folder, and the ledger must not go with it.
        self._place = self.path if str(path) == IN_MEMORY else self.path.absolute()
        self._clock = clock
        self._busy_seconds = busy_seconds
        self._closed = False
        self._start()

    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        """The newest State and the clock."""
        tenant = tenant and tenant_of(tenant)
        return await self._in_thread(lambda connection: self._load(connection, tenant, conversation))

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        """Store the State and the decisions in one transaction if the file's revision is still the expected one."""
        tenant = tenant and tenant_of(tenant)
        document = state_to_json(replace(writes.state, revision=expected_revision + 1))
        rows, oldest = self._rows(tenant, conversation, writes.turn_id, writes.decisions)

        def work(connection: sqlite3.Connection) -> bool:
            if not rows:
                return _swap(connection, tenant, conversation, expected_revision, document)
            with _transaction(connection):
                swapped = _swap(connection, tenant, conversation, expected_revision, document)
                if swapped:
                    _append(connection, rows, oldest)
                return swapped

        return await self._in_thread(work)

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision], *, tenant: str = "") -> None:
        """Keep a turn's decisions once, and forget those past their time."""
        rows, oldest = self._rows(tenant_of(tenant), conversation, turn_id, decisions)

        def work(connection: sqlite3.Connection) -> None:
            if rows:
                with _transaction(connection):
                    _append(connection, rows, oldest)

        await self._in_thread(work)

    async def read(self, conversation: str, *, tenant: str = "") -> tuple[Logged, ...]:
        """All kept decisions, oldest first."""
        tenant, oldest = tenant_of(tenant), self._clock() - KEEP_DECISIONS_SECONDS
        rows = await self._in_thread(lambda connection: _read(connection, tenant, conversation, oldest))
        return tuple(self._logged(conversation, row) for row in rows)

    async def conversations(
        self, prefix: str = "", limit: int = 1000, after: str = "", *, tenant: str = ""
    ) -> tuple[str, ...]:
        """At most `limit` ids that begin with `prefix` and come after `after`, in their order."""
        tenant = tenant_of(tenant)
        return await self._in_thread(lambda connection: _conversations(connection, tenant, prefix, limit, after))

    async def count(self, *, tenant: str = "") -> int:
        """How many conversations the file keeps."""
        query, whose = "SELECT count(*) FROM states WHERE tenant = ?", (tenant_of(tenant),)
        return await self._in_thread(lambda connection: int(connection.execute(query, whose).fetchone()[0]))

    async def close(self) -> None:
        """Close the file and end the thread; afterwards every call raises StoreUnavailable."""
        if self._closed:
            return
        self._closed = True
        # A forked child has neither the thread nor any right to the connection.
        if self._process == os.getpid():
            await asyncio.get_running_loop().run_in_executor(self._thread, self._close)
            self._thread.shutdown(wait=False)

    def _rows(
        self, tenant: str, conversation: str, turn_id: str, decisions: Sequence[Decision]
    ) -> tuple[list[_Row], float]:
        """The rows of a turn's decisions, and the time before which those of others are forgotten."""
        now = self._clock()
        rows = [
            (tenant, conversation, turn_id, place, now, decision_to_json(decision.without_message_text()))
            for place, decision in enumerate(decisions)
        ]
        return rows, now - KEEP_DECISIONS_SECONDS

    def _start(self) -> None:
        # One thread owns the one connection: sqlite3 objects stay in their thread, and writes of this process queue.
        # A forked child has neither the thread nor any right to the connection, and starts anew.
        self._process = os.getpid()
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="skillweave-sqlite")
        self._opened: sqlite3.Connection | None = None
        self._file: tuple[int, int] | None = None

    async def _in_thread(self, work: Callable[[sqlite3.Connection], T]) -> T:
        if self._closed:
            raise StoreUnavailable(
                f"the ledger {self.path} is closed; open it again, as with SqliteStore({str(self.path)!r})"
            )
        if self._process != os.getpid():
            self._start()
        try:
            answer = asyncio.get_running_loop().run_in_executor(self._thread, self._guarded, work)
        except RuntimeError:  # at the end of the program, when no thread takes new work
            return self._guarded(work)
        return await answer

    def _guarded(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with _explained(self.path):
            return work(self._connection())

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            self._opened = _open(self._place, self._busy_seconds)
            self._file = _file_at(self._place)
        elif self._file != _file_at(self._place):
            # To go on in a file without a name would be to keep what nobody finds again.
            self._close()
            raise StoreUnavailable(
                f"{self.path} was deleted or replaced while it was open: what it held of conversations is gone from "
                "there; restore it from a backup, or go on with the file that is there now, a new one if there is none",
                retry_after=0.0,
            )
        return self._opened

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _load(self, connection: sqlite3.Connection, tenant: str, conversation: str) -> tuple[State, float]:
        query = "SELECT revision, document FROM states WHERE tenant = ? AND conversation = ?"
        revision, document = connection.execute(query, (tenant, conversation)).fetchone() or (0, None)
        if document is None:
            return State(), self._clock()
        if not isinstance(revision, int):
            raise self._damaged("states", conversation, f"revision {revision!r:.40}")
        return stored_state(document, revision), self._clock()

    def _logged(self, conversation: str, row: tuple[str, float, str]) -> Logged:
        turn_id, at, document = row
        if not isinstance(at, float):
            raise self._damaged("decisions", conversation, f"time {at!r:.40}")
        return Logged(turn_id, at, decision_from_json(document))

    def _damaged(self, table: str, conversation: str, what: str) -> StoreUnavailable:
        return StoreUnavailable(
            f"a row of conversation {conversation!r:.100} in the table {table} of {self.path} is damaged ({what}); "
            "remove it with SQLite's own tool, restore a backup, or name another ledger"
        )


def _open(path: Path, busy_seconds: float) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Autocommit: each statement is a transaction of its own, and a compare-and-swap is one statement.
    if path.name != ":memory:" and not path.exists():
        path.touch(mode=0o600)  # conversations are their owner's; SQLite would let everybody read them
    connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
    try:
        _prepare_within(busy_seconds, connection, path)
    except BaseException:
        connection.close()
        raise
    return connection


def _prepare_within(seconds: float, connection: sqlite3.Connection, path: Path) -> None:
    """Prepare the file, again and again while others do: to a change of its journal SQLite says `locked` at once."""
    end = time.monotonic() + seconds
    while True:
        try:
            return _prepare(connection, path)
        except sqlite3.OperationalError as error:
            if time.monotonic() >= end or "locked" not in str(error):
                raise
        time.sleep(random.uniform(0.001, LONGEST_PAUSE))  # noqa: S311 - so that those who wait don't meet again


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    connection.execute("PRAGMA journal_mode=WAL")
    connection.execute("PRAGMA synchronous=NORMAL")
    if _schema_of(connection, path) < SCHEMA_VERSION:
        with _transaction(connection):
            # Asked again, as another process may have been faster.
            found = _schema_of(connection, path)
            for statement in _STEPS.get(found, ()):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


def _file_at(path: Path) -> tuple[int, int] | None:
    """Which file the path names, by its device and its number there; None where there is none."""
    try:
        found = path.stat()
    except FileNotFoundError:
        return None
    return found.st_dev, found.st_ino


def _schema_of(connection: sqlite3.Connection, path: Path) -> int:
    found = int(connection.execute("PRAGMA user_version").fetchone()[0])
    if found > SCHEMA_VERSION:
        raise StoreUnavailable(
            f"{path} was written by a newer skillweave (schema {found}, this version reads {SCHEMA_VERSION}); "
            "upgrade skillweave or name another file"
        )
    return found


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _swap(connection: sqlite3.Connection, tenant: str, conversation: str, expected: int, document: str) -> bool:
    if expected == 0:
        changed = connection.execute(
            "INSERT INTO states (tenant, conversation, revision, document) VALUES (?, ?, 1, ?) ON CONFLICT DO NOTHING",
            (tenant, conversation, document),
        )
    else:
        changed = connection.execute(
            "UPDATE states SET revision = ?, document = ? WHERE tenant = ? AND conversation = ? AND revision = ?",
            (expected + 1, document, tenant, conversation, expected),
        )
    return changed.rowcount == 1


def _append(connection: sqlite3.Connection, rows: Sequence[_Row], oldest: float) -> None:
    connection.execute("DELETE FROM decisions WHERE at < ?", (oldest,))
    turn = "SELECT 1 FROM decisions WHERE tenant = ? AND conversation = ? AND turn_id = ?"
    if connection.execute(turn, rows[0][:3]).fetchone() is None:
        connection.executemany("INSERT INTO decisions VALUES (?, ?, ?, ?, ?, ?)", rows)


def _read(
    connection: sqlite3.Connection, tenant: str, conversation: str, oldest: float
) -> list[tuple[str, float, str]]:
    query = (
        "SELECT turn_id, at, document FROM decisions WHERE tenant = ? AND conversation = ? AND at >= ? "
        "ORDER BY at, rowid"
    )
    return connection.execute(query, (tenant, conversation, oldest)).fetchall()


def _conversations(connection: sqlite3.Connection, tenant: str, prefix: str, limit: int, after: str) -> tuple[str, ...]:
    query = (
        "SELECT conversation FROM states WHERE tenant = ?1 AND conversation >= ?2 AND conversation > ?3 "
        "AND substr(conversation, 1, ?4) = ?2 ORDER BY conversation LIMIT ?5"
    )
    arguments = (tenant, prefix, after, len(prefix), max(limit, 0))
    return tuple(name for (name,) in connection.execute(query, arguments))


@contextmanager
def _explained(path: Path) -> Iterator[None]:
    try:
        yield
    except sqlite3.OperationalError as error:
        raise _operational(path, error) from error
    except sqlite3.DatabaseError as error:
        raise StoreUnavailable(
            f"{path} is not a readable SQLite file ({error}); move it away to start anew, or restore a backup"
        ) from error
    except OSError as error:
        raise StoreUnavailable(
            f"the folder of {path} cannot be made or read ({error.strerror or error}); name a file in a writable folder"
        ) from error
    except UnicodeEncodeError as error:
        raise StoreUnavailable(
            f"a name cannot be stored in {path} because it holds half of a surrogate pair; clean the text first"
        ) from error


def _operational(path: Path, error: sqlite3.OperationalError) -> StoreUnavailable:
    text = str(error)
    if "locked" in text or "busy" in text:
        return StoreSilent(
            f"{path} is locked by another process; try again, or end the process that holds it", retry_after=1.0
        )
    if "full" in text:
        return StoreUnavailable(
            f"the disk that holds {path} is full; free some space, nothing was written", retry_after=30.0
        )
    if "readonly" in text:
        return StoreUnavailable(f"{path} is read-only; make the file and its folder writable, or name another file")
    if "unable to open" in text:
        return StoreUnavailable(f"{path} cannot be opened as a SQLite file; check that it is a file that you may write")
    return StoreUnavailable(f"{path} does not answer ({text}); check the file and try again", retry_after=1.0)
