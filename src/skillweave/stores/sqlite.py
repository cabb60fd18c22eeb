"""The ledger in one SQLite file, on the standard library: nothing to start, shared by any number of processes."""

import asyncio
import os
import sqlite3
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from skillweave.decisions import Decision
from skillweave.errors import StoreUnavailable, UnreadableState
from skillweave.state.codec import decision_from_json, decision_to_json, state_from_json, state_to_json
from skillweave.state.port import KEEP_DECISIONS_SECONDS, Logged
from skillweave.state.state import State

SCHEMA_VERSION = 1
BUSY_SECONDS = 5.0
"""How long a write waits for another process's write before the store counts as not answering."""

_SCHEMA = """
CREATE TABLE IF NOT EXISTS states (
    conversation TEXT PRIMARY KEY,
    revision INTEGER NOT NULL,
    document TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS decisions (
    conversation TEXT NOT NULL,
    turn_id TEXT NOT NULL,
    place INTEGER NOT NULL,
    at REAL NOT NULL,
    document TEXT NOT NULL,
    PRIMARY KEY (conversation, turn_id, place)
);
CREATE INDEX IF NOT EXISTS decisions_by_age ON decisions (at);
"""

T = TypeVar("T")


class SqliteStore:
    """States and decisions in one file, in WAL mode with `synchronous=NORMAL`.

    A crash of the process loses nothing that was stored; a power cut may lose the last commits, never the file.
    `clock` gives seconds; all processes that share the file should share the clock. Raises StoreUnavailable, naming
    the file, when it cannot be opened, is locked for longer than `busy_seconds`, is damaged, or the disk is full.
    """

    def __init__(
        self, path: str | Path, *, clock: Callable[[], float] = time.time, busy_seconds: float = BUSY_SECONDS
    ) -> None:
        self.path = Path(path)
        self._clock = clock
        self._busy_seconds = busy_seconds
        self._process = 0
        self._start_in_this_process()

    async def load(self, conversation: str) -> tuple[State, float]:
        """The newest State and the clock."""
        return await self._in_thread(lambda connection: self._load(connection, conversation))

    async def swap(self, conversation: str, expected_revision: int, state: State) -> bool:
        """Store the State if its revision in the file is still the expected one."""
        document = state_to_json(replace(state, revision=expected_revision + 1))
        return await self._in_thread(lambda connection: _swap(connection, conversation, expected_revision, document))

    async def append(self, conversation: str, turn_id: str, decisions: Sequence[Decision]) -> None:
        """Keep a turn's decisions once, and forget those past their time."""
        now = self._clock()
        rows = [
            (conversation, turn_id, n, now, decision_to_json(decision.without_message_text()))
            for n, decision in enumerate(decisions)
        ]
        await self._in_thread(lambda connection: _append(connection, rows, now - KEEP_DECISIONS_SECONDS))

    async def read(self, conversation: str) -> tuple[Logged, ...]:
        """All kept decisions, oldest first."""
        rows = await self._in_thread(lambda connection: _read(connection, conversation))
        return tuple(Logged(turn_id, at, decision_from_json(document)) for turn_id, at, document in rows)

    async def count(self) -> int:
        """How many conversations the file keeps."""
        return await self._in_thread(_count)

    async def conversations(self, prefix: str = "", limit: int = 1000) -> tuple[str, ...]:
        """At most `limit` ids that begin so, in their order."""
        return await self._in_thread(lambda connection: _conversations(connection, prefix, limit))

    async def close(self) -> None:
        """Close the file; the store opens it again when used again."""
        await asyncio.get_running_loop().run_in_executor(self._thread, self._close)

    def _start_in_this_process(self) -> None:
        # One thread owns the one connection: sqlite3 objects stay in their thread, and writes of this process queue.
        # A forked child has neither the thread nor any right to the connection, and starts anew.
        if self._process != os.getpid():
            self._process = os.getpid()
            self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="skillweave-sqlite")
            self._opened: sqlite3.Connection | None = None

    async def _in_thread(self, work: Callable[[sqlite3.Connection], T]) -> T:
        self._start_in_this_process()
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._guarded, work)

    def _guarded(self, work: Callable[[sqlite3.Connection], T]) -> T:
        with _explained(self.path):
            return work(self._connection())

    def _connection(self) -> sqlite3.Connection:
        if self._opened is None:
            self._opened = _open(self.path, self._busy_seconds)
        return self._opened

    def _close(self) -> None:
        if self._opened is not None:
            self._opened.close()
            self._opened = None

    def _load(self, connection: sqlite3.Connection, conversation: str) -> tuple[State, float]:
        query = "SELECT revision, document FROM states WHERE conversation = ?"
        revision, document = connection.execute(query, (conversation,)).fetchone() or (0, None)
        try:
            return (State() if document is None else state_from_json(document)), self._clock()
        except StoreUnavailable as error:
            raise UnreadableState(str(error), revision) from error


def _open(path: Path, busy_seconds: float) -> sqlite3.Connection:
    path.parent.mkdir(parents=True, exist_ok=True)
    # Autocommit: each statement is a transaction of its own, and a compare-and-swap is one statement.
    connection = sqlite3.connect(path, timeout=busy_seconds, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("PRAGMA synchronous=NORMAL")
        found = connection.execute("PRAGMA user_version").fetchone()[0]
        if found > SCHEMA_VERSION:
            raise StoreUnavailable(
                f"{path} was written by a newer skillweave (schema {found}, this version reads {SCHEMA_VERSION}); "
                "upgrade skillweave or name another file"
            )
        if found < SCHEMA_VERSION:
            connection.executescript(f"BEGIN IMMEDIATE; {_SCHEMA} PRAGMA user_version={SCHEMA_VERSION}; COMMIT;")
    except BaseException:
        connection.close()
        raise
    return connection


def _swap(connection: sqlite3.Connection, conversation: str, expected: int, document: str) -> bool:
    if expected == 0:
        changed = connection.execute(
            "INSERT INTO states (conversation, revision, document) VALUES (?, 1, ?) ON CONFLICT DO NOTHING",
            (conversation, document),
        )
    else:
        changed = connection.execute(
            "UPDATE states SET revision = ?, document = ? WHERE conversation = ? AND revision = ?",
            (expected + 1, document, conversation, expected),
        )
    return changed.rowcount == 1


def _append(connection: sqlite3.Connection, rows: Sequence[tuple[str, str, int, float, str]], oldest: float) -> None:
    if not rows:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        connection.executemany("INSERT OR IGNORE INTO decisions VALUES (?, ?, ?, ?, ?)", rows)
        connection.execute("DELETE FROM decisions WHERE at < ?", (oldest,))
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def _read(connection: sqlite3.Connection, conversation: str) -> list[tuple[str, float, str]]:
    return connection.execute(
        "SELECT turn_id, at, document FROM decisions WHERE conversation = ? ORDER BY at, rowid", (conversation,)
    ).fetchall()


def _count(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT count(*) FROM states").fetchone()[0])


def _conversations(connection: sqlite3.Connection, prefix: str, limit: int) -> tuple[str, ...]:
    query = (
        "SELECT conversation FROM states WHERE conversation >= ?1 AND substr(conversation, 1, ?2) = ?1 "
        "ORDER BY conversation LIMIT ?3"
    )
    return tuple(name for (name,) in connection.execute(query, (prefix, len(prefix), limit)))


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
        return StoreUnavailable(
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
