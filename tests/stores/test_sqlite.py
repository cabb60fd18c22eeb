import asyncio
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from skillweave import Registry, SqliteStore, State, StoreUnavailable, Weaver
from skillweave.errors import UnreadableState
from skillweave.ledger import Writes
from skillweave.stores import sqlite as sqlite_store
from skillweave_testing import InsertionsContract, LedgerContract, ManualClock
from skillweave_testing.ledger import DECISION, FULL_STATE

STORED = Path(__file__).parent.parent / "data" / "stores"
VERSION_1, VERSION_2 = STORED / "version-1.db", STORED / "version-2.db"


class TestSqliteStore(LedgerContract):
    @pytest_asyncio.fixture
    async def store(self, clock: ManualClock, tmp_path: Path) -> AsyncIterator[SqliteStore]:
        store = SqliteStore(tmp_path / "state.db", clock=clock)
        yield store
        await store.close()


class TestInsertions(InsertionsContract):
    @pytest_asyncio.fixture
    async def store(self, clock: ManualClock, tmp_path: Path) -> AsyncIterator[SqliteStore]:
        async with SqliteStore(tmp_path / "state.db", clock=clock) as store:
            yield store


async def test_another_process_finds_what_was_stored(tmp_path: Path) -> None:
    one, other = SqliteStore(tmp_path / "state.db"), SqliteStore(tmp_path / "state.db")
    await one.swap("c", 0, Writes(FULL_STATE))
    state, _ = await other.load("c")
    assert state.last_turn == FULL_STATE.last_turn
    await asyncio.gather(one.close(), other.close())


async def test_the_folder_of_the_file_is_made(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "deep" / "er" / "state.db")
    assert await store.swap("c", 0, Writes(State()))
    await store.close()


async def test_a_file_that_is_no_database_is_named_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(b"these are not the bytes of a database " * 50)
    store = SqliteStore(path)
    with pytest.raises(StoreUnavailable, match=r"state\.db is not a readable SQLite file .*move it away"):
        await store.load("c")
    await store.close()
    assert path.read_bytes().startswith(b"these are not"), "a foreign file must stay as it is"


async def test_a_damaged_page_is_named_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = SqliteStore(path)
    for n in range(40):
        await store.swap(f"c{n}", 0, Writes(FULL_STATE))
    await store.close()
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(bytes(content))
    damaged = SqliteStore(path)
    with pytest.raises(StoreUnavailable, match=r"state\.db"):
        await damaged.load("c7")
    await damaged.close()


async def test_a_locked_file_is_named_and_can_be_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = SqliteStore(path, busy_seconds=0.05)
    await store.swap("c", 0, Writes(State()))
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    with pytest.raises(StoreUnavailable, match="locked by another process") as caught:
        await store.swap("c", 1, Writes(State()))
    assert caught.value.retry_after is not None
    other.execute("ROLLBACK")
    other.close()
    assert await store.swap("c", 1, Writes(State()))
    await store.close()


def _being_written(path: Path) -> sqlite3.Connection:
    """Somebody who prepares a write to a fresh file; while that lasts, nobody else can change its journal."""
    writing = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    writing.execute("CREATE TABLE other (a)")
    writing.execute("BEGIN IMMEDIATE")
    return writing


async def test_a_fresh_file_that_somebody_else_prepares_is_opened_when_that_ends(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    writing = _being_written(path)
    end = threading.Timer(0.2, lambda: writing.execute("COMMIT"))
    end.start()
    async with SqliteStore(path) as store:
        assert await store.count() == 0
    end.join()
    writing.close()


async def test_a_fresh_file_that_somebody_else_goes_on_preparing_is_given_up_in_the_end(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    writing = _being_written(path)
    async with SqliteStore(path, busy_seconds=0.05) as store:
        with pytest.raises(StoreUnavailable, match="locked by another process"):
            await store.count()
    writing.close()


_OPENERS = 8
_OPENER = """
import asyncio, os, sys, time
from skillweave import SqliteStore, State
from skillweave.ledger import Writes

async def main(folder, name, files):
    for number in range(files):
        path = os.path.join(folder, f"{number}.db")
        open(os.path.join(folder, f"{number}-{name}"), "x").close()
        while sum(one.startswith(f"{number}-") for one in os.listdir(folder)) < %d:
            time.sleep(0.0005)
        async with SqliteStore(path) as store:
            assert await store.swap(name, 0, Writes(State()))

asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3])))
"""


def test_processes_that_open_a_fresh_file_at_the_same_moment_all_write_to_it(tmp_path: Path) -> None:
    files = 10
    openers = [
        subprocess.Popen(
            [sys.executable, "-c", _OPENER % _OPENERS, str(tmp_path), str(name), str(files)],
            stderr=subprocess.PIPE,
            text=True,
        )
        for name in range(_OPENERS)
    ]
    for opener in openers:
        _, errors = opener.communicate(timeout=300)
        assert opener.returncode == 0, errors


async def test_a_file_that_is_deleted_while_it_is_open_is_said_once_and_made_anew(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    async with SqliteStore(path) as store:
        await store.swap("c", 0, Writes(FULL_STATE))
        _delete_all(tmp_path)
        with pytest.raises(StoreUnavailable, match=r"state\.db was deleted or replaced while it was open.*restore"):
            await store.load("c")
        assert (await store.load("c"))[0] == State()
        assert await store.swap("c", 0, Writes(FULL_STATE))
    async with SqliteStore(path) as again:
        assert (await again.load("c"))[0].records == FULL_STATE.records


async def test_a_file_that_is_replaced_while_it_is_open_is_said_once_and_then_read(tmp_path: Path) -> None:
    path, other = tmp_path / "state.db", tmp_path / "other.db"
    async with SqliteStore(other) as made:
        await made.swap("moved", 0, Writes(FULL_STATE))
    async with SqliteStore(path) as store:
        await store.swap("c", 0, Writes(State()))
        _replace(path, other)
        with pytest.raises(StoreUnavailable, match="was deleted or replaced"):
            await store.swap("c", 1, Writes(State()))
        assert await store.conversations() == ("moved",)


async def test_a_relative_file_stays_the_same_when_the_process_goes_to_another_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    async with SqliteStore("state.db") as store:
        await store.swap("c", 0, Writes(State()))
        monkeypatch.chdir(tmp_path / "elsewhere")
        assert await store.conversations() == ("c",)
    assert not (tmp_path / "elsewhere" / "state.db").exists()


async def test_a_ledger_in_memory_has_no_file_that_could_be_deleted() -> None:
    async with SqliteStore(":memory:") as store:
        await store.swap("c", 0, Writes(State()))
        assert await store.count() == 1


async def test_a_full_disk_loses_the_write_and_nothing_else(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db")
    await store.swap("c", 0, Writes(FULL_STATE))
    pages = await store._in_thread(lambda connection: connection.execute("PRAGMA page_count").fetchone()[0])
    # SQLite reports a page limit exactly as it reports a full disk.
    await store._in_thread(lambda connection: connection.execute(f"PRAGMA max_page_count={pages}").fetchone())
    with pytest.raises(StoreUnavailable, match="is full; free some space, nothing was written"):
        await store.append("c", "t", [DECISION] * 2000)
    assert await store.read("c") == ()
    assert (await store.load("c"))[0].last_turn == FULL_STATE.last_turn
    await store.close()


async def test_a_folder_in_place_of_the_file_is_named(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path)
    with pytest.raises(StoreUnavailable, match="cannot be opened as a SQLite file"):
        await store.load("c")
    await store.close()


async def test_a_file_in_place_of_the_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    store = SqliteStore(tmp_path / "taken" / "state.db")
    with pytest.raises(StoreUnavailable, match="name a file in a writable folder"):
        await store.load("c")
    await store.close()


async def test_a_read_only_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = SqliteStore(path)
    await store.swap("c", 0, Writes(State()))
    await store._in_thread(lambda connection: connection.execute("PRAGMA query_only=ON"))
    with pytest.raises(StoreUnavailable, match="is read-only; make the file and its folder writable"):
        await store.swap("c", 1, Writes(State()))
    await store.close()
    assert path.stat().st_mode & stat.S_IWUSR


async def test_a_file_of_a_newer_version_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version=99")
    connection.close()
    store = SqliteStore(path)
    with pytest.raises(StoreUnavailable, match="written by a newer skillweave"):
        await store.load("c")
    await store.close()


async def test_a_document_that_nobody_can_read_is_named_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    store = SqliteStore(path)
    await store.swap("c", 0, Writes(State()))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("UPDATE states SET document = '{\"v\": 99}'")
    connection.close()
    with pytest.raises(StoreUnavailable, match="skillweave ledger clear"):
        await store.load("c")
    await store.close()


async def test_a_lone_surrogate_in_an_id_is_refused_by_name(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db")
    with pytest.raises(StoreUnavailable, match="surrogate"):
        await store.swap("c\ud800", 0, Writes(State()))
    await store.close()


async def test_a_conversation_that_cannot_be_read_can_still_be_cleared(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db")
    await store.swap("c", 0, Writes(FULL_STATE))
    _write(tmp_path / "state.db", "UPDATE states SET document = '{}'")
    with pytest.raises(UnreadableState, match="ledger clear CONVERSATION"):
        await store.load("c")
    assert await Weaver(Registry(), store).ledger.clear("c")
    assert (await store.load("c"))[0].records == ()
    await store.close()


async def test_a_decision_that_cannot_be_read_is_named_with_the_remedy(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db")
    await store.append("c", "t1", [DECISION])
    _write(tmp_path / "state.db", "UPDATE decisions SET document = '{}'")
    with pytest.raises(StoreUnavailable, match="stored decision cannot be read"):
        await store.read("c")
    await store.close()


async def test_a_closed_store_says_so_and_how_to_go_on(tmp_path: Path) -> None:
    store = SqliteStore(tmp_path / "state.db")
    assert await store.swap("c", 0, Writes(State()))
    await store.close()
    with pytest.raises(StoreUnavailable, match=r"state\.db is closed; open it again, as with SqliteStore"):
        await store.load("c")
    async with SqliteStore(tmp_path / "state.db") as again:
        assert await again.count() == 1


async def test_a_store_that_was_never_used_can_be_closed(tmp_path: Path) -> None:
    await SqliteStore(tmp_path / "state.db").close()
    assert not (tmp_path / "state.db").exists()


@pytest.fixture
def file_of_version_1(tmp_path: Path) -> Path:
    """A file as the version before tenants wrote it: conversations `c` and `a/b`, three decisions of `c`."""
    path = tmp_path / "state.db"
    path.write_bytes(VERSION_1.read_bytes())
    return path


STORED_STATE = replace(FULL_STATE, entity="")
"""What the stored files hold, written before a State knew what its conversation is about."""


async def test_a_file_of_the_version_before_keeps_its_conversations(file_of_version_1: Path) -> None:
    async with SqliteStore(file_of_version_1, clock=ManualClock()) as store:
        assert await store.conversations() == ("a/b", "c")
        assert (await store.load("a/b"))[0] == replace(STORED_STATE, revision=1)
        assert (await store.load("c"))[0] == replace(STORED_STATE, revision=2, last_turn="turn-2")
        logged = [(entry.turn_id, entry.decision.skill_id) for entry in await store.read("c")]
        assert logged == [("turn-1", "a"), ("turn-1", "b"), ("turn-2", "a")]
        assert await store.count(tenant="a") == 0


async def test_a_file_of_the_version_before_is_written_on(file_of_version_1: Path) -> None:
    async with SqliteStore(file_of_version_1, clock=ManualClock()) as store:
        assert not await store.swap("c", 1, Writes(State()))
        assert await store.swap("c", 2, Writes(State(), "turn-3", (DECISION,)))
        assert await store.swap("c", 0, Writes(State(), "turn-1", (DECISION,)), tenant="a")
        await store.append("c", "turn-2", [DECISION, DECISION])
        assert [entry.turn_id for entry in await store.read("c")] == ["turn-1", "turn-1", "turn-2", "turn-3"]


async def test_a_file_of_the_version_before_is_brought_up_to_date_once_by_many(file_of_version_1: Path) -> None:
    stores = [SqliteStore(file_of_version_1) for _ in range(8)]
    assert await asyncio.gather(*(store.count() for store in stores)) == [2] * 8
    await asyncio.gather(*(store.close() for store in stores))


async def test_what_fails_half_way_leaves_the_file_of_the_version_before_as_it_was(
    file_of_version_1: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    steps = (*sqlite_store._STEPS[1], "INSERT INTO nowhere VALUES (1)")
    with monkeypatch.context() as patched:
        patched.setattr(sqlite_store, "_STEPS", {1: steps})
        failing = SqliteStore(file_of_version_1)
        with pytest.raises(StoreUnavailable, match="nowhere"):
            await failing.count()
        await failing.close()
    async with SqliteStore(file_of_version_1) as store:
        assert await store.count() == 2


_KILLED = """
import asyncio, os, signal, sys
from skillweave import SqliteStore
from skillweave.stores import sqlite

class KilledAfter(tuple):
    def __iter__(self):
        yield from tuple(self[: int(sys.argv[2])])
        os.kill(os.getpid(), signal.SIGKILL)

sqlite._STEPS = {1: KilledAfter(sqlite._STEPS[1])}
asyncio.run(SqliteStore(sys.argv[1]).count())
"""


@pytest.mark.parametrize("statements", [0, 1, 4, len(sqlite_store._STEPS[1])])
async def test_a_process_that_is_killed_while_it_brings_a_file_up_to_date_loses_nothing(
    file_of_version_1: Path, statements: int
) -> None:
    script = [sys.executable, "-c", _KILLED, str(file_of_version_1), str(statements)]
    killed = await asyncio.to_thread(subprocess.run, script, check=False, timeout=60)
    assert killed.returncode == -signal.SIGKILL
    async with SqliteStore(file_of_version_1, clock=ManualClock()) as store:
        assert await store.conversations() == ("a/b", "c")
        assert (await store.load("c"))[0] == replace(STORED_STATE, revision=2, last_turn="turn-2")
        assert len(await store.read("c")) == 3


async def test_a_file_of_the_present_version_is_read_as_it_was_written(tmp_path: Path) -> None:
    path = tmp_path / "state.db"
    path.write_bytes(VERSION_2.read_bytes())
    async with SqliteStore(path, clock=ManualClock()) as store:
        assert (await store.conversations(), await store.conversations(tenant="acme")) == (("a/b", "c"), ("c",))
        assert (await store.load("c"))[0] == replace(STORED_STATE, revision=2, last_turn="turn-2")
        assert (await store.load("c", tenant="acme"))[0] == replace(STORED_STATE, revision=1)
        logged = [(entry.turn_id, entry.decision) for entry in await store.read("c")]
        assert logged == [("turn-1", DECISION), ("turn-1", replace(DECISION, skill_id="b")), ("turn-2", DECISION)]
        assert [entry.decision.skill_id for entry in await store.read("c", tenant="acme")] == ["b"]
        assert len(await store.read("only decisions", tenant="acme")) == 1
    written = sqlite3.connect(path)
    assert written.execute("PRAGMA user_version").fetchone() == (sqlite_store.SCHEMA_VERSION,)
    written.close()


def _write(path: Path, statement: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute(statement)
    connection.close()


def _delete_all(folder: Path) -> None:
    for file in folder.iterdir():
        file.unlink()


def _replace(path: Path, other: Path) -> None:
    for journal in path.parent.glob(f"{path.name}-*"):
        journal.unlink()  # it belongs to the file that is replaced
    other.replace(path)
