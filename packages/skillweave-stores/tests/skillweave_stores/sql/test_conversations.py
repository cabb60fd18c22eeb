import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from dataclasses import replace

import psycopg
import pytest
import pytest_asyncio
from psycopg import AsyncConnection

import skillweave
from skillweave import Registry, State, StoreUnavailable, Weaver
from skillweave.errors import InvalidValue, UnreadableState
from skillweave.ledger import Writes
from skillweave.state.port import KEEP_DECISIONS_SECONDS
from skillweave_stores import PostgresStore
from skillweave_stores.sql import conversations
from skillweave_stores.sql.statements import MOST_SWEPT, WRITERS
from skillweave_testing import InsertionsContract, LedgerContract, ManualClock
from skillweave_testing.fakes import WordCounter
from skillweave_testing.ledger import DECISION, FULL_STATE
from skillweave_testing.servers import PostgresServer
from tests.proxy import Proxy

WIDE = "\U0001f600"
"""A character of four bytes."""


@pytest.fixture
def postgres_url(postgres_tables_url: str) -> str:
    """The URL of a new database with nothing in its tables."""
    return postgres_tables_url


class TestPostgresStore(LedgerContract):
    @pytest_asyncio.fixture
    async def store(self, clock: ManualClock, postgres_url: str) -> AsyncIterator[PostgresStore]:
        async with PostgresStore(postgres_url, clock=clock) as store:
            yield store


class TestInsertions(InsertionsContract):
    @pytest_asyncio.fixture
    async def store(self, clock: ManualClock, postgres_url: str) -> AsyncIterator[PostgresStore]:
        async with PostgresStore(postgres_url, clock=clock) as store:
            yield store


class TestPostgresStoreInALanguage(LedgerContract):
    """Where the database sorts and compares as a language does."""

    @pytest_asyncio.fixture
    async def store(self, clock: ManualClock, sorted_as_a_language: str) -> AsyncIterator[PostgresStore]:
        async with PostgresStore(sorted_as_a_language, clock=clock) as store:
            await store.count()
            with psycopg.connect(sorted_as_a_language, autocommit=True) as connection:
                connection.execute("TRUNCATE states, decisions")
            yield store


@pytest.fixture(scope="module")
def sorted_as_a_language(postgres_server: PostgresServer) -> Iterator[str]:
    """The URL of a database with an ICU collation, or with another one than C where the server knows no ICU."""
    base, name = postgres_server.url().rpartition("/")[0], "skillweave"
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        known = "SELECT collname FROM pg_collation WHERE collprovider = 'i' AND collname = 'de-x-icu'"
        if connection.execute(known).fetchone():
            locale = "LOCALE_PROVIDER icu ICU_LOCALE 'de' LOCALE 'C'"
        else:
            locale = "LOCALE 'C.UTF-8'"
        connection.execute(f"CREATE DATABASE {name}_sorted TEMPLATE template0 ENCODING 'UTF8' {locale}")  # type: ignore[call-overload]
    try:
        yield f"{base}/{name}_sorted"
    finally:
        with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
            connection.execute(f"DROP DATABASE {name}_sorted WITH (FORCE)")  # type: ignore[call-overload]


# -- names ------------------------------------------------------------------------------------------------------


async def test_names_of_any_length_that_a_turn_may_have_are_kept_apart_and_in_order(
    postgres_store: PostgresStore,
) -> None:
    tenant, last = WIDE * 100, "\U0010ffff"
    names = [WIDE * 499 + one for one in ("a", "b", WIDE, last)] + [last * 500]
    for name in reversed(names):
        assert await postgres_store.swap(name, 0, Writes(State(last_turn=name), name, (DECISION,)), tenant=tenant)
    assert await postgres_store.conversations(tenant=tenant) == tuple(names)
    assert await postgres_store.conversations(WIDE * 499 + "b", tenant=tenant) == (names[1],)
    assert await postgres_store.conversations(last, tenant=tenant) == (names[-1],)
    assert await postgres_store.conversations(WIDE, 2, names[1], tenant=tenant) == tuple(names[2:4])
    for name in names:
        assert (await postgres_store.load(name, tenant=tenant))[0].last_turn == name
        assert [entry.turn_id for entry in await postgres_store.read(name, tenant=tenant)] == [name]


@pytest.mark.parametrize("name", ["a\0b", "a\ud800b"])
async def test_what_a_database_cannot_hold_is_refused_in_words(postgres_store: PostgresStore, name: str) -> None:
    for asked in (
        postgres_store.load(name),
        postgres_store.swap(name, 0, Writes(State())),
        postgres_store.append("c", name, [DECISION]),
        postgres_store.read(name),
        postgres_store.conversations(name),
        postgres_store.conversations(after=name),
    ):
        with pytest.raises(StoreUnavailable, match="NUL or half of a surrogate pair; clean the text first"):
            await asked


async def test_documents_may_hold_what_names_may_not(postgres_store: PostgresStore) -> None:
    strange = replace(DECISION, reason="a\0b\ud800\n'")
    assert await postgres_store.swap("c", 0, Writes(State(last_turn="\0\ud800"), "t", (strange, DECISION)))
    assert (await postgres_store.load("c"))[0].last_turn == "\0\ud800"
    assert [entry.decision for entry in await postgres_store.read("c")] == [strange, DECISION]


async def test_the_default_tenant_has_its_name_in_the_tables(
    postgres_store: PostgresStore, server: AsyncConnection
) -> None:
    await postgres_store.swap("c", 0, Writes(State(), "t", (DECISION,)))
    for table in ("states", "decisions"):
        found = await server.execute(f"SELECT tenant, conversation FROM {table}")  # type: ignore[call-overload]
        assert await found.fetchall() == [("default", "c")]


def test_a_file_of_sqlite_is_no_postgresql() -> None:
    with pytest.raises(InvalidValue, match="a SQLite file, which keeps no conversations here; name the file itself"):
        PostgresStore("sqlite:///state.db")


# -- the clock --------------------------------------------------------------------------------------------------


async def test_the_servers_clock_counts_whatever_the_process_thinks(
    postgres_store: PostgresStore, server: AsyncConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(time, "time", lambda: 5.0)
    await postgres_store.append("c", "t", [DECISION])
    (logged,) = await postgres_store.read("c")
    _, now = await postgres_store.load("c")
    found = await (await server.execute("SELECT extract(epoch FROM clock_timestamp())::float8")).fetchone()
    assert found is not None
    assert found[0] - 60 < logged.at <= now <= found[0]


async def test_a_claim_ends_by_the_clock_of_the_server(
    postgres_store: PostgresStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    weaver = _weaver(postgres_store)
    async with weaver.delivery("x", conversation="c", turn_id="t", named=["pay"]):
        (record,) = (await weaver.ledger.state("c")).records
        _, now = await postgres_store.load("c")
        assert record.until is not None
        assert now < record.until <= now + 60


# -- trips ------------------------------------------------------------------------------------------------------


async def _trips(proxy: Proxy, *calls: Callable[[], Awaitable[object]]) -> list[int]:
    counted = []
    for call in calls:
        before = proxy.trips
        await call()
        counted.append(proxy.trips - before)
    return counted


async def test_each_call_is_one_trip(postgres_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(conversations, "SWEEP_CHANCE", 1.0)
    async with Proxy(postgres_url) as proxy, PostgresStore(proxy.url) as store:
        await store.load("c")
        trips = await _trips(
            proxy,
            lambda: store.load("c"),
            lambda: store.swap("c", 0, Writes(FULL_STATE, "t1", (DECISION, DECISION))),
            lambda: store.swap("c", 1, Writes(FULL_STATE, "t2", (DECISION,))),
            lambda: store.swap("c", 1, Writes(FULL_STATE)),
            lambda: store.append("c", "t3", [DECISION]),
            lambda: store.read("c"),
            lambda: store.conversations("c"),
            store.count,
        )
    assert trips == [1] * 8


async def test_a_turn_is_one_load_and_one_swap_and_a_judged_call_at_most_one_load(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, PostgresStore(proxy.url) as store:
        weaver = _weaver(store)
        await weaver.weave("x", conversation="warm")

        async def judge() -> None:
            policy = await weaver.current_policy("c")
            policy.tools.authorize("pay_invoice", {"amount": 1})

        given = lambda: weaver.weave("x", conversation="c", named=["pay"])  # noqa: E731
        assert await _trips(proxy, given, judge, given) == [2, 1, 2]


# -- what is too old ----------------------------------------------------------------------------------------------


async def _old(store: PostgresStore, clock: ManualClock, turns: int) -> None:
    """Decisions of so many turns that are too old now."""
    for number in range(turns):
        await store.append("old", f"t{number}", [DECISION])
    clock.advance(KEEP_DECISIONS_SECONDS + 1)


async def test_what_is_too_old_is_removed_in_pieces_by_writes_that_come_anyway(
    postgres_url: str, server: AsyncConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock()
    async with PostgresStore(postgres_url, clock=clock) as store:
        await store.count()
        await server.execute(
            "INSERT INTO decisions (tenant, conversation_hash, turn_hash, conversation, turn_id, at, document) "
            "SELECT 'default', 'old', int4send(n), 'old', n::text, n, '' FROM generate_series(1, %s) AS n",
            (MOST_SWEPT + 10,),
        )
        clock.advance(KEEP_DECISIONS_SECONDS)
        monkeypatch.setattr(conversations, "SWEEP_CHANCE", 1.0)
        left = []
        for turn in ("t1", "t2"):
            await store.append("c", turn, [DECISION])
            left.append(await _count(server, "SELECT count(*) FROM decisions WHERE conversation = 'old'"))
        assert left == [10, 0]
        assert len(await store.read("c")) == 2


async def test_writes_that_remove_at_the_same_time_do_not_wait_for_each_other(
    postgres_url: str, server: AsyncConnection, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ManualClock()
    monkeypatch.setattr(conversations, "SWEEP_CHANCE", 0.0)
    async with PostgresStore(postgres_url, clock=clock) as store:
        await _old(store, clock, 40)
        monkeypatch.setattr(conversations, "SWEEP_CHANCE", 1.0)
        async with server.transaction():
            await server.execute("SELECT 1 FROM decisions WHERE turn_id < 't2' FOR UPDATE")
            turns = (store.swap(f"c{n}", 0, Writes(State(), "t", (DECISION,))) for n in range(20))
            assert await asyncio.gather(*turns) == [True] * 20
        assert await _count(server, "SELECT count(*) FROM decisions WHERE turn_id >= 't2'") == 0


async def _count(server: AsyncConnection, query: str) -> int:
    row = await (await server.execute(query)).fetchone()  # type: ignore[call-overload]
    assert row is not None
    return int(row[0])


# -- an answer that was lost ---------------------------------------------------------------------------------------


async def _until(server: AsyncConnection, query: str) -> None:
    while not await _count(server, query):  # noqa: ASYNC110 - the server tells nobody
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("revision", [0, 1])
async def test_a_swap_whose_answer_is_lost_does_not_lose_against_itself(
    postgres_url: str, server: AsyncConnection, revision: int
) -> None:
    async with Proxy(postgres_url) as proxy, PostgresStore(proxy.url) as store:
        await store.load("c")
        if revision:
            await store.swap("c", 0, Writes(State()))
        proxy.keep_answers()
        swap = asyncio.create_task(store.swap("c", revision, Writes(FULL_STATE, "t", (DECISION,))))
        await _until(server, f"SELECT count(*) FROM states WHERE revision = {revision + 1}")
        proxy.speak()
        proxy.cut()
        assert await swap
        assert (await store.load("c"))[0] == replace(FULL_STATE, revision=revision + 1)
        assert len(await store.read("c")) == 1


async def test_a_swap_whose_answer_is_lost_is_known_also_when_others_wrote_since(
    postgres_url: str, server: AsyncConnection
) -> None:
    async with Proxy(postgres_url) as proxy, PostgresStore(proxy.url) as store, PostgresStore(postgres_url) as other:
        await store.load("c")
        proxy.keep_answers()
        swap = asyncio.create_task(store.swap("c", 0, Writes(FULL_STATE)))
        await _until(server, "SELECT count(*) FROM states")
        for revision in range(1, WRITERS):
            assert await other.swap("c", revision, Writes(State()))
        proxy.speak()
        proxy.cut()
        assert await swap


async def test_a_swap_that_lost_the_race_and_then_its_answer_says_that_it_lost(
    postgres_url: str, server: AsyncConnection
) -> None:
    async with Proxy(postgres_url) as proxy, PostgresStore(proxy.url) as store, PostgresStore(postgres_url) as other:
        await other.swap("c", 0, Writes(State()))
        await store.load("c")
        proxy.keep_answers()
        swap = asyncio.create_task(store.swap("c", 0, Writes(FULL_STATE)))
        await asyncio.sleep(0.1)
        proxy.speak()
        proxy.cut()
        assert not await swap
        assert (await store.load("c"))[0] == State(revision=1)


@pytest.mark.parametrize("level", ["serializable", "repeatable read"])
async def test_races_have_one_winner_however_strictly_the_server_isolates(
    postgres_url: str, server: AsyncConnection, level: str
) -> None:
    name = postgres_url.rpartition("/")[2]
    await server.execute(f"ALTER DATABASE {name} SET default_transaction_isolation = '{level}'")  # type: ignore[call-overload]
    async with PostgresStore(postgres_url) as store:
        for revision in (0, 1):
            writes = [Writes(State(), f"t{revision}-{n}", (DECISION,)) for n in range(20)]
            won = await asyncio.gather(*(store.swap("c", revision, one) for one in writes))
            assert won.count(True) == 1
        assert len(await store.read("c")) == 2


# -- documents that cannot be read -----------------------------------------------------------------------------------


async def test_a_conversation_that_cannot_be_read_can_still_be_cleared(
    postgres_store: PostgresStore, server: AsyncConnection
) -> None:
    await postgres_store.swap("c", 0, Writes(FULL_STATE))
    await server.execute("UPDATE states SET document = '{\"v\": 99}', revision = 7")
    with pytest.raises(UnreadableState, match="skillweave ledger clear"):
        await postgres_store.load("c")
    assert await _weaver(postgres_store).ledger.clear("c")
    assert (await postgres_store.load("c"))[0] == State(revision=8)


async def test_a_decision_that_cannot_be_read_is_named_with_the_remedy(
    postgres_store: PostgresStore, server: AsyncConnection
) -> None:
    await postgres_store.append("c", "t", [DECISION])
    await server.execute("UPDATE decisions SET document = 'no decision'")
    with pytest.raises(StoreUnavailable, match="a stored decision cannot be read"):
        await postgres_store.read("c")


# -- durability -------------------------------------------------------------------------------------------------------


async def test_what_a_server_may_lose_is_said(postgres_url: str, server: AsyncConnection) -> None:
    name = postgres_url.rpartition("/")[2]
    await server.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")  # type: ignore[call-overload]
    fsync = await _count(server, "SELECT (current_setting('fsync') = 'on')::int")
    async with PostgresStore(postgres_url) as store:
        said = [(one.code, one.fix) for one in await store.durability()]
    assert ("ledger-may-lose-writes", "set synchronous_commit=on, at least for this user") in said
    assert (("ledger-may-lose-writes", "set fsync=on") in said) is not bool(fsync)


async def test_a_server_that_loses_nothing_has_nothing_said_of_it() -> None:
    safe = {"fsync": "on", "full_page_writes": "on", "synchronous_commit": "on", "read_only": "off"}
    assert list(conversations._findings("here", safe)) == []


# -- the door ---------------------------------------------------------------------------------------------------------


async def test_a_url_names_a_ledger_with_why(postgres_url: str) -> None:
    skill = {"id": "pay", "description": "d", "triggers": {"keywords": ["invoice"]}}
    async with skillweave.open(skill, ledger=postgres_url, counter=WordCounter()) as weaver:
        assert isinstance(weaver.ledger.store, PostgresStore)
        await weaver.weave("an invoice", conversation="c", turn_id="t")
        assert [(entry.turn_id, entry.decision.outcome) for entry in await weaver.why("c", "pay")] == [
            ("t", "injected")
        ]


@pytest.mark.parametrize("scheme", ["postgresql", "postgres"])
def test_both_schemes_are_known(scheme: str) -> None:
    weaver = skillweave.open(ledger=f"{scheme}://ann:s3cret@db.example:5433/agents?timeout=2")
    assert repr(weaver.ledger.store) == "PostgresStore('PostgreSQL at db.example:5433/agents')"


def _weaver(store: skillweave.Store, skills: Sequence[str] = ("pay",)) -> Weaver:
    registry = Registry()
    for skill in skills:
        registry.register({"id": skill, "description": "d", "text": {"instructions": f"How to {skill}."}})
    return Weaver(registry, store, counter=WordCounter())
