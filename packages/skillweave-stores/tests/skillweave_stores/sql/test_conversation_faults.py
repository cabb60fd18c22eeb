"""What may happen to a PostgreSQL and on the way to it, each on a real server."""

import asyncio
import contextlib
import os
import subprocess
import sys
import threading
import traceback
from collections.abc import AsyncIterator, Iterator

import psycopg
import pytest

import skillweave
from skillweave import State, StoreUnavailable
from skillweave.ledger import Writes
from skillweave_stores import PostgresStore
from skillweave_stores.sql import conversations
from skillweave_stores.sql.migrating import _LOCK_KEY
from skillweave_testing.fakes import WordCounter
from skillweave_testing.ledger import DECISION, FULL_STATE
from skillweave_testing.servers import PostgresServer
from tests.proxy import Proxy

SKILL = {
    "id": "pay",
    "description": "d",
    "triggers": {"keywords": ["invoice"]},
    "text": {"instructions": "How to pay."},
}
SHORT = 0.5
"""Seconds that a call may take in these tests."""


@pytest.fixture
def restarted(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a new database of the server that the test may restart."""
    name = f"skillweave_restarted_{os.getpid()}"
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {name}")  # type: ignore[call-overload]
        connection.execute(f"CREATE DATABASE {name}")  # type: ignore[call-overload]
    yield postgres_server.url(name)
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute(f"DROP DATABASE {name} WITH (FORCE)")  # type: ignore[call-overload]


# -- the server restarts in the middle of a turn -------------------------------------------------------------------


@pytest.mark.parametrize("crash", [False, True], ids=["in order", "by a crash"])
async def test_a_restart_between_load_and_swap_loses_neither_what_was_stored_nor_the_turn(
    restarted: str, postgres_server: PostgresServer, crash: bool
) -> None:
    async with PostgresStore(restarted) as store:
        assert await store.swap("c", 0, Writes(FULL_STATE, "t1", (DECISION,)))
        state, _ = await store.load("c")
        postgres_server.restart(crash=crash)
        assert await store.swap("c", state.revision, Writes(state, "t2", (DECISION,)))
        assert (await store.load("c"))[0].revision == 2
        assert [entry.turn_id for entry in await store.read("c")] == ["t1", "t2"]


@pytest.mark.parametrize("crash", [False, True], ids=["in order", "by a crash"])
async def test_a_restart_while_a_turn_is_delivered_loses_nothing(
    restarted: str, postgres_server: PostgresServer, crash: bool
) -> None:
    async with skillweave.open(SKILL, ledger=restarted, counter=WordCounter()) as weaver:
        async with weaver.delivery("an invoice", conversation="c", turn_id="t") as injection:
            postgres_server.restart(crash=crash)
        assert injection.skills == ("pay",)
        assert [(one.key, one.state) for one in (await weaver.ledger.state("c")).records] == [("skill:pay", "given")]
        assert [entry.turn_id for entry in await weaver.why("c")] == ["t"]
        assert (await weaver.weave("an invoice", conversation="c")).skills == ()


@pytest.mark.parametrize("crash", [False, True], ids=["in order", "by a crash"])
async def test_what_was_acknowledged_before_the_server_ended_is_there_when_it_is_back(
    restarted: str, postgres_server: PostgresServer, crash: bool
) -> None:
    acknowledged = []

    async def write(store: PostgresStore) -> None:
        for revision in range(100_000):
            assert await store.swap("c", revision, Writes(State()))
            acknowledged.append(revision + 1)

    async with PostgresStore(restarted) as store:
        await store.count()
        writing = asyncio.create_task(write(store))
        while len(acknowledged) < 20:  # noqa: ASYNC110 - the writer tells nobody
            await asyncio.sleep(0.001)
        await asyncio.to_thread(postgres_server.kill if crash else postgres_server.stop)
        with pytest.raises(StoreUnavailable, match=r"PostgreSQL at 127\.0\.0\.1"):
            await writing
        await asyncio.to_thread(postgres_server.start)
        revision = (await store.load("c"))[0].revision
        # A last write may be stored that nobody could be told of.
        assert revision in (acknowledged[-1], acknowledged[-1] + 1)


async def test_a_server_that_is_down_does_not_end_a_turn(restarted: str, postgres_server: PostgresServer) -> None:
    async with skillweave.open(SKILL, ledger=restarted, counter=WordCounter()) as weaver:
        await weaver.weave("hello", conversation="c")
        postgres_server.stop()
        try:
            injection = await weaver.weave("an invoice", conversation="c")
        finally:
            postgres_server.start()
        assert injection.skills == ("pay",)
        assert [one.code for one in injection.diagnostics] == ["ledger-unavailable"]
        assert (await weaver.weave("an invoice", conversation="c")).skills == ("pay",)


# -- the network stalls --------------------------------------------------------------------------------------------


async def test_a_stalled_network_is_given_up_and_used_again_when_it_moves(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, PostgresStore(proxy.url, timeout=SHORT) as store:
        await store.swap("c", 0, Writes(FULL_STATE))
        proxy.fall_silent()
        with pytest.raises(StoreUnavailable, match=r"did not answer within 0\.5 seconds"):
            await store.load("c")
        with pytest.raises(StoreUnavailable, match=r"gave no connection within 0\.5 seconds"):
            await store.load("c")
        proxy.speak()
        assert (await store.load("c"))[0].revision == 1


async def test_a_network_that_stalls_before_the_first_call_is_given_up_too(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, PostgresStore(proxy.url, timeout=SHORT) as store:
        proxy.fall_silent()
        calls = [store.load(f"c{number}") for number in range(50)]
        answers = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 20 * SHORT)
        assert all(isinstance(answer, StoreUnavailable) for answer in answers)
        proxy.speak()
        assert (await store.load("c"))[0] == State()


async def test_who_waits_for_a_connection_is_told_in_time_as_well(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, PostgresStore(proxy.url, timeout=SHORT, connections=2) as store:
        await asyncio.gather(*(store.load(f"c{number}") for number in range(4)))
        proxy.fall_silent()
        calls = [store.load(f"c{number}") for number in range(20)]
        answers = await asyncio.wait_for(asyncio.gather(*calls, return_exceptions=True), 20 * SHORT)
        said = [str(answer) for answer in answers if isinstance(answer, StoreUnavailable)]
        assert len(said) == 20
        assert sum("or all 2 are in use" in one for one in said) == 18
        proxy.speak()
        assert (await store.load("c"))[0] == State()


@pytest.mark.parametrize("connected", [True, False])
async def test_who_gives_up_is_let_go_at_once_also_while_the_network_stalls(postgres_url: str, connected: bool) -> None:
    async with Proxy(postgres_url) as proxy, PostgresStore(proxy.url, timeout=3600, connections=1) as store:
        if connected:
            await store.load("c")
        proxy.fall_silent()
        calls = [asyncio.create_task(store.load(f"c{number}")) for number in range(3)]
        await asyncio.sleep(0.05)
        for call in calls:
            call.cancel()
        ended, waiting = await asyncio.wait(calls, timeout=60)
        assert (len(ended), len(waiting), all(call.cancelled() for call in ended)) == (3, 0, True)
        proxy.speak()
        assert (await store.load("c"))[0] == State()


async def test_a_statement_that_nobody_waits_for_ends_on_the_server_too(postgres_url: str) -> None:
    async with (
        PostgresStore(postgres_url, timeout=SHORT) as store,
        await psycopg.AsyncConnection.connect(postgres_url) as holder,
    ):
        await store.swap("c", 0, Writes(State()))
        await holder.execute("SELECT 1 FROM states FOR UPDATE")
        with pytest.raises(StoreUnavailable):
            await store.swap("c", 1, Writes(State()))
        await holder.commit()
        await holder.set_autocommit(True)
        running = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE '%UPDATE states%' AND state = 'active' \
            AND pid <> pg_backend_pid() AND datname = current_database()"
        while (await (await holder.execute(running)).fetchone()) != (0,):  # noqa: ASYNC110 - the server tells nobody
            await asyncio.sleep(0.01)


# -- too many at once ------------------------------------------------------------------------------------------------


@pytest.mark.soak
async def test_five_hundred_turns_at_once_share_the_connections(postgres_url: str) -> None:
    async with skillweave.open(SKILL, ledger=f"{postgres_url}?timeout=120", counter=WordCounter()) as weaver:
        turns = (weaver.weave("an invoice", conversation=f"c{number}") for number in range(500))
        injections = await asyncio.gather(*turns)
        assert {injection.skills for injection in injections} == {("pay",)}
        assert [one for injection in injections for one in injection.diagnostics] == []
        assert await weaver.ledger.store.count() == 500


async def test_a_server_without_free_connections_is_named_with_the_remedy(
    postgres_url: str, postgres_server: PostgresServer
) -> None:
    name = postgres_url.rpartition("/")[2]
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute(_user("crowd"))
        connection.execute("ALTER USER crowd CONNECTION LIMIT 1")
        connection.execute(f"GRANT ALL ON DATABASE {name} TO crowd")  # type: ignore[call-overload]
    async with PostgresStore(postgres_url) as owner:
        await owner.count()
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("GRANT ALL ON ALL TABLES IN SCHEMA public TO crowd")
    as_crowd = postgres_url.replace("postgres@", "crowd@")
    async with await psycopg.AsyncConnection.connect(as_crowd), PostgresStore(as_crowd) as store:
        with pytest.raises(StoreUnavailable, match=r"has no connection left; let it have more \(max_connections\)"):
            await store.load("c")


# -- what a server refuses -------------------------------------------------------------------------------------------


@pytest.fixture
def guarded() -> Iterator[PostgresServer]:
    """A server of its own that asks the user `ann` for her password, `s3cret`."""
    with PostgresServer() as server:
        with psycopg.connect(server.url(), autocommit=True) as connection:
            connection.execute("CREATE USER ann PASSWORD 's3cret'")
            connection.execute("CREATE DATABASE agents")
        rules = server.folder / "data" / "pg_hba.conf"
        rules.write_text(f"host all ann 127.0.0.1/32 scram-sha-256\n{rules.read_text()}")
        server.restart()
        yield server


async def test_what_a_server_refuses_is_said_in_words_with_the_remedy_and_never_the_password(
    guarded: PostgresServer,
) -> None:
    port = guarded.port
    refused = {
        f"postgresql://ann:wr0ng@127.0.0.1:{port}/agents": "refuses the password; check it",
        f"postgresql://ann@127.0.0.1:{port}/agents": "refuses the password; check it",
        f"postgresql://ann:s3cret@127.0.0.1:{port}/nowhere": "has no database of that name; create it",
        f"postgresql://bob:s3cret@127.0.0.1:{port}/agents": "refuses the user; check its name",
        f"postgresql://ann:s3cret@127.0.0.1:{port}/agents": "does not allow this user to do that; grant it",
        f"postgresql://postgres:s3cret@127.0.0.1:{port}/agents?options=-cdefault_transaction_read_only%3Don": (
            "is read-only, as a replica is; name the primary"
        ),
        f"postgresql://postgres:s3cret@127.0.0.1:{port}/agents?options=-cwork_mem%3Dnonsense": "refuses (",
        "postgresql://ann:s3cret@no-such-host.invalid/agents": "does not answer",
        "postgresql://ann:s3cret@/agents?host=/nowhere": "PostgreSQL at /nowhere/agents does not answer",
        "postgresql://ann@127.0.0.1:1/agents?password=s3cret": "does not answer",
    }
    for url, expected in refused.items():
        async with PostgresStore(url, timeout=20) as store:
            with pytest.raises(StoreUnavailable) as refusal:
                await store.load("c")
            everything = f"{''.join(traceback.format_exception(refusal.value))} {store!r} {vars(store)!r}"
        assert expected in str(refusal.value), url
        assert "s3cret" not in everything, url
        assert "wr0ng" not in everything, url


async def test_a_statement_that_the_server_ends_is_named_with_the_remedy(postgres_url: str) -> None:
    limited = f"{postgres_url}?options=-cstatement_timeout%3D100"
    async with PostgresStore(postgres_url) as store:
        await store.swap("c", 0, Writes(State()))
    async with (
        PostgresStore(limited) as store,
        await psycopg.AsyncConnection.connect(postgres_url) as holder,
    ):
        await holder.execute("SELECT 1 FROM states FOR UPDATE")
        with pytest.raises(StoreUnavailable, match="ended the statement, which took too long"):
            await store.swap("c", 1, Writes(State()))


async def test_a_replica_can_be_read_and_says_that_it_takes_no_writes(postgres_url: str) -> None:
    async with PostgresStore(postgres_url) as store:
        await store.swap("c", 0, Writes(State()))
    async with PostgresStore(f"{postgres_url}?options=-cdefault_transaction_read_only%3Don") as replica:
        assert (await replica.load("c"))[0].revision == 1
        with pytest.raises(StoreUnavailable, match="is read-only, as a replica is; name the primary"):
            await replica.swap("c", 1, Writes(State()))
        assert "ledger-read-only" in [one.code for one in await replica.durability()]


async def test_missing_rights_on_a_table_are_named(postgres_url: str, postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute(_user("reader"))
    async with PostgresStore(postgres_url) as store:
        await store.swap("c", 0, Writes(State()))
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader")
    async with PostgresStore(postgres_url.replace("postgres@", "reader@")) as store:
        assert (await store.load("c"))[0].revision == 1
        with pytest.raises(StoreUnavailable, match="does not allow this user to do that; grant it all rights"):
            await store.swap("c", 1, Writes(State()))


async def test_a_database_in_another_encoding_says_what_it_cannot_hold(postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("DROP DATABASE IF EXISTS latin")
        connection.execute("CREATE DATABASE latin TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'")
    async with PostgresStore(postgres_server.url("latin")) as store:
        assert await store.swap("é", 0, Writes(State()))
        with pytest.raises(StoreUnavailable, match="make the database with the encoding UTF8"):
            await store.swap("Ω", 0, Writes(State()))


async def _failing(url: str, code: str, times: int) -> None:
    """Have the next so many writes to the table of States fail with a code, as the server itself would."""
    async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
        await connection.execute("CREATE SEQUENCE failures")
        await connection.execute(
            f"""
            CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF nextval('failures') <= {times} THEN RAISE EXCEPTION 'failing' USING ERRCODE = '{code}'; END IF;
                RETURN NEW;
            END $$
            """  # type: ignore[call-overload]
        )
        await connection.execute("CREATE TRIGGER failing BEFORE INSERT ON states FOR EACH ROW EXECUTE FUNCTION fail()")


@pytest.mark.parametrize("code", ["40001", "40P01"])
async def test_a_write_that_lost_to_another_one_is_tried_again(postgres_url: str, code: str) -> None:
    async with PostgresStore(postgres_url) as store:
        await store.count()
        await _failing(postgres_url, code, times=2)
        assert await store.swap("c", 0, Writes(FULL_STATE, "t", (DECISION,)))
        assert ((await store.load("c"))[0].revision, len(await store.read("c"))) == (1, 1)


async def test_a_write_that_goes_on_losing_is_given_up(postgres_url: str) -> None:
    async with PostgresStore(postgres_url) as store:
        await store.count()
        await _failing(postgres_url, "40P01", times=3)
        with pytest.raises(StoreUnavailable) as failure:
            await store.swap("c", 0, Writes(FULL_STATE, "t", (DECISION,)))
        assert failure.value.retry_after is not None
        assert await store.swap("c", 0, Writes(FULL_STATE, "t", (DECISION,)))


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("53100", "has a full disk, and nothing was written; free some space"),
        ("53200", "has no memory left; try again, or give it more"),
        ("XX000", r"refuses \(XX000 failing\); see what its log says"),
    ],
)
async def test_what_fails_at_the_server_is_tried_once_stores_nothing_and_is_said_with_the_remedy(
    postgres_url: str, code: str, said: str
) -> None:
    async with PostgresStore(postgres_url) as store:
        await store.count()
        await _failing(postgres_url, code, times=1)
        with pytest.raises(StoreUnavailable, match=said) as failure:
            await store.swap("c", 0, Writes(FULL_STATE, "t", (DECISION,)))
        assert failure.value.retry_after is not None
        assert ((await store.load("c"))[0], await store.read("c")) == (State(), ())
        assert await store.swap("c", 0, Writes(FULL_STATE, "t", (DECISION,)))


def _user(name: str) -> str:
    return f"DO $$ BEGIN CREATE USER {name}; EXCEPTION WHEN duplicate_object THEN NULL; END $$"


# -- loops, threads, processes ---------------------------------------------------------------------------------------


async def test_one_weaver_serves_a_running_loop_and_its_own_thread_and_closes_both(postgres_url: str) -> None:
    weaver = skillweave.open(SKILL, ledger=postgres_url, counter=WordCounter())
    assert (await weaver.weave("an invoice", conversation="c")).skills == ("pay",)
    # The thread must close connections of this loop, which is not running meanwhile.
    assert weaver.sync.weave("an invoice", conversation="c").skills == ()
    weaver.sync.close()
    with pytest.raises(StoreUnavailable, match="is closed"):
        await weaver.ledger.state("c")


def test_threads_with_loops_of_their_own_share_a_store(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    won: list[bool] = []

    def race() -> None:
        won.append(asyncio.run(store.swap("c", 0, Writes(State()))))

    threads = [threading.Thread(target=race) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 7 + [True]
    asyncio.run(store.close())


_FORKING = """
import asyncio, os, sys
import skillweave
from skillweave_testing.fakes import WordCounter

skill = {"id": "a-b", "description": "d", "triggers": {"keywords": ["go"]}}
weaver = skillweave.open(skill, ledger=sys.argv[1], counter=WordCounter())
weaver.sync.weave("go", conversation="parent")
child = os.fork()
if child == 0:
    print(weaver.sync.weave("go", conversation="c").skills, flush=True)
    weaver.sync.close()
    sys.exit()
_, status = os.waitpid(child, 0)
print(status, weaver.sync.weave("go", conversation="c").skills, weaver.sync.weave("go", conversation="parent").skills)
weaver.sync.close()
"""


def test_a_forked_child_leaves_the_connections_of_its_parent_alone(postgres_url: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-c", _FORKING, postgres_url], capture_output=True, text=True, timeout=120, check=True
    )
    assert (answer.stdout, answer.stderr) == ("('a-b',)\n0 () ()\n", "")


_LEAVING = """
import asyncio, sys
from skillweave import State
from skillweave.ledger import Writes
from skillweave_stores import PostgresStore

store = PostgresStore(sys.argv[1])
print(asyncio.run(store.swap("c", 0, Writes(State()))))
"""


@pytest.mark.soak
def test_a_program_that_never_closes_its_ledger_ends_without_complaint(postgres_url: str) -> None:
    answer = subprocess.run(
        [sys.executable, "-X", "dev", "-W", "default", "-c", _LEAVING, postgres_url],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert answer.stdout == "True\n"
    assert "Traceback" not in answer.stderr


async def test_closing_while_calls_run_lets_them_end(postgres_url: str) -> None:
    store = PostgresStore(postgres_url)
    await store.count()
    calls = [asyncio.create_task(store.swap(f"c{number}", 0, Writes(State()))) for number in range(50)]
    await asyncio.sleep(0)
    await store.close()
    for call in calls:
        with contextlib.suppress(StoreUnavailable):
            assert await call


# -- poolers, and packages that are missing ----------------------------------------------------------------------------


_TLS, _GSS = 80877103, 80877104
"""What a client asks for before anything else."""


@contextlib.asynccontextmanager
async def _pooler(server: PostgresServer) -> AsyncIterator[int]:
    """The port of something in between that refuses options at the start, as poolers do."""
    tasks: list[asyncio.Task[None] | None] = []
    writers: list[asyncio.StreamWriter] = []

    async def forward(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await source.read(65536):
                target.write(data)
        target.transport.abort()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        tasks.append(asyncio.current_task())
        writers.append(writer)
        while True:
            size = await reader.readexactly(4)
            start = await reader.readexactly(int.from_bytes(size) - 4)
            if int.from_bytes(start[:4]) not in (_TLS, _GSS):
                break
            writer.write(b"N")
        if b"\0options\0" in start:
            said = b"SFATAL\0C08P01\0Munsupported startup parameter: options\0\0"
            writer.write(b"E" + (len(said) + 4).to_bytes(4) + said)
            writer.close()
            return
        there, back = await asyncio.open_connection("127.0.0.1", server.port)
        writers.append(back)
        back.write(size + start)
        await asyncio.gather(forward(reader, back), forward(there, writer))

    listening = await asyncio.start_server(connected, "127.0.0.1", 0)
    yield listening.sockets[0].getsockname()[1]
    listening.close()
    for writer in writers:
        writer.transport.abort()
    await asyncio.gather(*(task for task in tasks if task is not None), return_exceptions=True)


async def test_a_pooler_that_takes_no_options_is_no_hindrance(
    postgres_url: str, postgres_server: PostgresServer
) -> None:
    async with _pooler(postgres_server) as port:
        through = postgres_url.replace(f":{postgres_server.port}/", f":{port}/")
        async with PostgresStore(through) as store:
            assert await store.swap("c", 0, Writes(FULL_STATE))
            assert (await store.load("c"))[0].revision == 1


@pytest.mark.soak
def test_neither_the_import_nor_the_first_ledger_in_memory_needs_the_packages() -> None:
    script = (
        "import sys, skillweave, skillweave.cli.app; skillweave.open(); "
        "print({'sqlalchemy', 'psycopg', 'alembic'} & {*sys.modules})"
    )
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert answer.stdout == "set()\n"


@pytest.mark.soak
def test_a_ledger_is_opened_without_the_package_of_migrations() -> None:
    script = "import sys, skillweave; skillweave.open(ledger='postgresql://h/d'); print('alembic' in sys.modules)"
    answer = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60, check=True)
    assert answer.stdout == "False\n"


async def test_while_others_bring_the_tables_up_to_date_a_turn_waits_for_a_while_only(
    postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(conversations, "PATIENCE", SHORT)
    async with (
        await psycopg.AsyncConnection.connect(postgres_url) as migrating,
        PostgresStore(postgres_url) as store,
    ):
        await migrating.execute("SELECT pg_advisory_xact_lock(%s)", (_LOCK_KEY,))
        for _ in range(2):
            async with asyncio.timeout(30):
                with pytest.raises(StoreUnavailable, match="still being brought up to date"):
                    await store.load("c")
        await migrating.rollback()
        monkeypatch.undo()
        while True:
            with contextlib.suppress(StoreUnavailable):
                assert (await store.load("c"))[0] == State()
                break
            await asyncio.sleep(0.05)
