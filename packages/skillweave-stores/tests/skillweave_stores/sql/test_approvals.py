"""Approvals in a database of each kind: the contract, and what is particular to a database."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.exc import DBAPIError
from tests.skillweave_stores.sql.conftest import ByHand
from tests.skillweave_stores.sql.processes import FEW, race_with_approvals
from tests.skillweave_stores.sql.test_skills_faults import when

from skillweave import State, StoreUnavailable
from skillweave.approvals.case import ApprovalNotFound
from skillweave.errors import InvalidValue
from skillweave_stores.sql import approval_check, approvals
from skillweave_stores.sql.approvals import SqlApprovals
from skillweave_stores.sql.database import Database
from skillweave_stores.sql.keys import SqlKeys
from skillweave_testing import ManualClock
from skillweave_testing.ledger import FULL_STATE
from tests.contracts_of_ports.approvals import DIGEST, NO, PLAIN, REQUEST, YES, ApprovalBookContract
from tests.proxy import Proxy

KEY = bytes(range(32))


class TestSqlApprovals(ApprovalBookContract):
    @pytest_asyncio.fixture
    async def book(self, shared_url: str, clock: ManualClock) -> AsyncIterator[SqlApprovals]:
        async with SqlApprovals(shared_url, KEY, clock=clock) as book:
            yield book


@pytest_asyncio.fixture
async def book(url: str) -> AsyncIterator[SqlApprovals]:
    async with SqlApprovals(url, KEY) as book:
        yield book


@pytest.mark.parametrize("key", [b"", b"short", bytes(31)], ids=len)
def test_a_short_key_is_refused_and_not_shown(key: bytes) -> None:
    with pytest.raises(InvalidValue, match=rf"has {len(key)} bytes; give at least 32") as refused:
        SqlApprovals("sqlite:///x.db", key)
    assert "short" not in str(refused.value)


def test_what_is_shown_of_it_has_no_key_and_no_password() -> None:
    assert repr(SqlApprovals("postgresql://me:hunter2@db/x", KEY)) == "SqlApprovals('PostgreSQL at db:5432/x')"


async def test_approvals_outlive_the_store(url: str) -> None:
    async with SqlApprovals(url, KEY) as book:
        opened = await book.open("a-1", REQUEST, DIGEST, FULL_STATE)
    async with SqlApprovals(url, KEY) as book:
        assert await book.get("a-1") == opened
        assert await book.verify() == ()


async def test_without_a_clock_it_goes_by_the_databases_own(book: SqlApprovals, by_hand: ByHand, url: str) -> None:
    opened = await book.open("a-1", PLAIN, DIGEST, State())
    now = "extract(epoch FROM now())" if url.startswith("postgresql") else "strftime('%s', 'now')"
    ((seconds,),) = by_hand(f"SELECT {now}")
    assert abs(float(seconds) - opened.created_at) < 60


async def test_a_file_that_is_not_there_holds_nothing_and_only_a_question_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "none.db"
    async with SqlApprovals(f"sqlite:///{path}", KEY) as book:
        assert await book.list() == ()
        assert await book.waiting("c-1") == ()
        assert await book.escalate() == ()
        assert await book.log() == ()
        assert await book.verify() == ()
        for asked in (book.get("a-1"), book.decide("a-1", YES), book.applied("a-1"), book.refused("a-1", "why")):
            with pytest.raises(ApprovalNotFound):
                await asked
        assert not path.exists()
        await book.open("a-1", PLAIN, DIGEST, State())
    assert path.exists()


async def test_several_stores_share_the_connections_of_one_database(url: str) -> None:
    database = Database(url, connections=2)
    async with SqlApprovals(database, KEY) as book, SqlKeys(database) as keys:
        await book.open("a-1", PLAIN, DIGEST, State())
        assert await keys.list() == ()
    async with SqlApprovals(database, KEY) as book:
        assert (await book.get("a-1")).id == "a-1"
    await database.close()
    with pytest.raises(StoreUnavailable, match="is closed"):
        await book.get("a-1")


async def test_two_writers_race_on_one_log_and_it_stays_one_chain(url: str) -> None:
    async with SqlApprovals(url, KEY) as ours, SqlApprovals(url, KEY) as theirs:

        async def steps(number: int) -> None:
            mine, other = (ours, theirs) if number % 2 else (theirs, ours)
            await mine.open(f"a-{number}", PLAIN, DIGEST, State())
            await other.decide(f"a-{number}", YES)
            await mine.applied(f"a-{number}")

        await asyncio.gather(*map(steps, range(12)))
        assert [row.number for row in await ours.log()] == list(range(1, 37))
        assert await ours.verify() == await theirs.verify() == ()


def test_processes_that_write_at_once_make_one_chain(url: str) -> None:
    answers = race_with_approvals(url)
    assert sorted(answers) == [f"{number:02}" for number in range(FEW)], answers

    async def found() -> tuple[list[int], list[str], tuple[str, ...]]:
        async with SqlApprovals(url, KEY) as book:
            rows = await book.log()
            return [row.number for row in rows], [row.kind for row in rows], await book.verify()

    numbers, kinds, wrong = asyncio.run(found())
    assert wrong == ()
    assert numbers == list(range(1, len(numbers) + 1))
    # One question of all, which one process decided, and one question of each.
    assert (kinds.count("created"), kinds.count("decided")) == (FEW + 1, FEW + 1)


async def test_escalating_more_than_fit_into_one_transaction_reaches_all(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(approvals, "_ESCALATED", 3)
    clock = ManualClock()
    async with SqlApprovals(url, KEY, clock=clock) as book:
        for number in range(7):
            await book.open(f"a-{number}", REQUEST, DIGEST, State())
        clock.advance(60)
        assert [case.id for case in await book.escalate()] == [f"a-{number}" for number in range(7)]
        assert await book.escalate() == ()


async def test_an_escalation_without_time_comes_to_an_end(url: str) -> None:
    async with SqlApprovals(url, KEY, clock=ManualClock()) as book:
        await book.open("a-1", replace(REQUEST, escalate_seconds=0), DIGEST, State())
        (case,) = await book.escalate()
        assert (case.reviewer, case.due_at, case.escalations) == ("boss", None, 1)
        assert [row.kind for row in await book.log()] == ["created", "escalated", "escalated"]


async def test_looking_for_what_is_due_locks_and_writes_nothing(book: SqlApprovals, statements: list[str]) -> None:
    await book.open("a-1", PLAIN, DIGEST, State())
    statements.clear()
    assert await book.escalate() == ()
    assert [one for one in statements if "UPDATE" in one or "INSERT" in one] == []


async def test_a_long_log_is_checked_in_parts(book: SqlApprovals, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approval_check, "ROWS", 3)
    monkeypatch.setattr(approval_check, "CASES", 2)
    for number in range(6):
        await book.open(f"a-{number}", PLAIN, DIGEST, State())
        await book.decide(f"a-{number}", NO)
    assert await book.verify() == ()


async def test_a_log_is_checked_while_others_write(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approval_check, "ROWS", 2)
    monkeypatch.setattr(approval_check, "CASES", 1)
    async with SqlApprovals(url, KEY) as book, SqlApprovals(url, KEY) as other:
        await book.open("a", PLAIN, DIGEST, State())

        async def write() -> None:
            for number in range(10):
                await other.open(f"b-{number}", PLAIN, DIGEST, State())
                await other.decide(f"b-{number}", YES)

        writing = asyncio.create_task(write())
        while not writing.done():
            assert await book.verify() == ()
        await writing
        assert await book.verify() == ()


async def test_waiting_verdicts_are_found_by_the_index_that_has_only_them(
    book: SqlApprovals, by_hand: ByHand, statements: list[str], url: str
) -> None:
    if url.startswith("postgresql"):
        pytest.skip("of so few rows PostgreSQL reads the whole table")
    await book.open("a-1", PLAIN, DIGEST, State())
    statements.clear()
    await book.waiting("c-1")
    (asked,) = [one for one in statements if "applied" in one]
    plan = by_hand(f"EXPLAIN QUERY PLAN {asked.replace('?', 'NULL')}")
    assert "approvals_waiting" in str(plan)


async def test_a_decision_whose_answer_was_lost_is_written_once(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, SqlApprovals(proxy.url, KEY) as book:
        await book.open("a-1", PLAIN, DIGEST, State())
        lost: list[object] = []

        def lose(connection: object) -> None:
            if not lost:
                lost.append(connection)
                proxy.lose_answer()

        with when("commit", lose):
            said = await book.decide("a-1", YES)
        assert lost
        assert await book.get("a-1") == said
        assert [row.kind for row in await book.log()] == ["created", "decided"]
        assert await book.verify() == ()


async def test_escalations_whose_answer_was_lost_are_told(postgres_url: str) -> None:
    clock = ManualClock()
    async with Proxy(postgres_url) as proxy, SqlApprovals(proxy.url, KEY, clock=clock) as book:
        await book.open("a-1", REQUEST, DIGEST, State())
        clock.advance(60)
        lost: list[object] = []

        def lose(connection: object) -> None:
            if not lost:
                lost.append(connection)
                proxy.lose_answer()

        with when("commit", lose):
            assert [case.reviewer for case in await book.escalate()] == ["boss"]
        assert lost
        assert [row.kind for row in await book.log()] == ["created", "escalated"]


async def test_a_step_that_is_broken_off_leaves_neither_row_nor_approval(book: SqlApprovals) -> None:
    await book.open("a-1", PLAIN, DIGEST, State())

    def fail(_: object, __: object, statement: str, *___: object) -> None:
        if "UPDATE approval_heads" in statement:
            raise RuntimeError("in the middle")

    with when("before_cursor_execute", fail), pytest.raises(RuntimeError, match="in the middle"):
        await book.decide("a-1", YES)
    assert (await book.get("a-1")).status == "pending"
    assert [row.kind for row in await book.log()] == ["created"]
    assert await book.verify() == ()
    assert (await book.decide("a-1", NO)).by == "Bob"


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE approval_log SET document = '{}' WHERE number = 2",
        "UPDATE approval_log SET seal = seal",
        "DELETE FROM approval_log WHERE number = 2",
        "DELETE FROM approval_log",
    ],
)
async def test_the_database_refuses_to_change_its_log(shared_url: str, statement: str) -> None:
    async with SqlApprovals(shared_url, KEY) as book:
        await book.open("kept", PLAIN, DIGEST, State(), tenant="kept")
        await book.decide("kept", YES, tenant="kept")
        with pytest.raises(DBAPIError, match="approval_log is only added to"):
            _run(shared_url, statement)
        assert len(await book.log(tenant="kept")) == 2
        assert await book.verify(tenant="kept") == ()


async def test_postgresql_refuses_to_empty_its_log(postgres_url: str) -> None:
    async with SqlApprovals(postgres_url, KEY) as book:
        await book.open("a-1", PLAIN, DIGEST, State())
        with pytest.raises(DBAPIError, match="approval_log is only added to"):
            _run(postgres_url, "TRUNCATE approval_log")
        assert len(await book.log()) == 1


def _run(url: str, statement: str) -> None:
    engine = create_engine(url, poolclass=NullPool)
    try:
        with engine.begin() as connection:
            connection.execute(text(statement))
    finally:
        engine.dispose()
