"""Somebody changes approvals and their log in the tables: the database refuses it, and where it cannot, it shows."""

import asyncio
import itertools
import shutil
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio
from sqlalchemy import NullPool, create_engine, text

from skillweave import State
from skillweave_stores.approvals.log import ApprovalLogBroken
from skillweave_stores.sql.approvals import SqlApprovals
from skillweave_testing.ledger import FULL_STATE
from tests.contracts_of_ports.approvals import DIGEST, NO, PLAIN, REQUEST, YES

KEY = bytes(range(32))
ROWS = 5
_NUMBERS = itertools.count(1)
_COLUMNS = "approval_id, kind, at, document, seal"
ADDED = f"INSERT INTO approval_log SELECT tenant, 6, {_COLUMNS} FROM approval_log WHERE {{mine}} AND number = 5"


@pytest.fixture(scope="module")
def open_url(shared_url: str) -> str:
    """The database of each kind that the tests share, after somebody took the triggers away."""
    engine = create_engine(shared_url, poolclass=NullPool)
    asyncio.run(_migrate(shared_url))
    with engine.begin() as connection:
        if shared_url.startswith("postgresql"):
            connection.execute(text("DROP TRIGGER approval_log_stays ON approval_log"))
        else:
            connection.execute(text("DROP TRIGGER approval_log_stays_update"))
            connection.execute(text("DROP TRIGGER approval_log_stays_delete"))
    engine.dispose()
    return shared_url


async def _migrate(url: str) -> None:
    async with SqlApprovals(url, KEY) as book:
        await book.migrate()


@pytest.fixture
def tenant() -> str:
    """A tenant of the test's own."""
    return f"tenant-{next(_NUMBERS)}"


@pytest_asyncio.fixture
async def book(open_url: str, tenant: str) -> AsyncIterator[SqlApprovals]:
    """A book with three approvals of the tenant and five rows of its log."""
    async with SqlApprovals(open_url, KEY) as book:
        await book.open("a-1", PLAIN, DIGEST, FULL_STATE, tenant=tenant)
        await book.open("a-2", REQUEST, DIGEST, State(), tenant=tenant)
        await book.decide("a-1", YES, tenant=tenant)
        await book.open("a-3", PLAIN, DIGEST, State(), tenant=tenant)
        await book.decide("a-3", NO, tenant=tenant)
        assert await book.verify(tenant=tenant) == ()
        yield book


@pytest.fixture
def attack(open_url: str, tenant: str) -> Callable[[str], None]:
    """Somebody who may do everything; a statement's `{mine}` are the rows of the test's tenant."""

    def run(statement: str) -> None:
        engine = create_engine(open_url, poolclass=NullPool)
        with engine.begin() as connection:
            connection.execute(text(statement.replace("{mine}", f"tenant = '{tenant}'").replace("{tenant}", tenant)))
        engine.dispose()

    return run


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        ("UPDATE approval_log SET document = '{}' WHERE {mine} AND number = 2", "row 2 was changed"),
        ("UPDATE approval_log SET at = at + 0.001 WHERE {mine} AND number = 1", "row 1 was changed"),
        ("UPDATE approval_log SET kind = 'applied' WHERE {mine} AND number = 5", "row 5 was changed"),
        ("UPDATE approval_log SET approval_id = 'a-2' WHERE {mine} AND number = 3", "row 3 was changed"),
        ("UPDATE approval_log SET number = 6 WHERE {mine} AND number = 5", "row 5 is missing"),
        ("DELETE FROM approval_log WHERE {mine} AND number = 3", "row 3 is missing"),
        ("DELETE FROM approval_log WHERE {mine} AND number = 1", "row 1 is missing"),
        ("DELETE FROM approval_log WHERE {mine} AND number = 5", "the log ends at row 4, and its end says 5"),
        ("DELETE FROM approval_log WHERE {mine}", "the log ends at row 0, and its end says 5"),
        ("DELETE FROM approval_heads WHERE {mine}", "the log ends at row 5, and its end says 0"),
        ("UPDATE approval_heads SET number = 4 WHERE {mine}", "the end of the log was changed"),
        ("UPDATE approval_log SET tenant = '{tenant}-2' WHERE {mine} AND number = 5", "the log ends at row 4"),
        (ADDED, "row 6 was changed or put in another place"),
    ],
)
async def test_what_is_done_to_the_log_shows(
    book: SqlApprovals, attack: Callable[[str], None], tenant: str, statement: str, said: str
) -> None:
    attack(statement)
    assert any(said in one for one in await book.verify(tenant=tenant))


async def test_rows_that_change_places_show(book: SqlApprovals, attack: Callable[[str], None], tenant: str) -> None:
    for before, after in ((2, 100), (4, 2), (100, 4)):
        attack(f"UPDATE approval_log SET number = {after} WHERE {{mine}} AND number = {before}")
    found = await book.verify(tenant=tenant)
    assert any("row 2 was changed or put in another place" in one for one in found)


async def test_an_end_that_is_cut_with_its_head_shows(
    book: SqlApprovals, attack: Callable[[str], None], tenant: str
) -> None:
    attack("DELETE FROM approval_log WHERE {mine} AND number = 5")
    attack(
        "UPDATE approval_heads SET number = 4, "
        "last_seal = (SELECT seal FROM approval_log WHERE {mine} AND number = 4) WHERE {mine}"
    )
    found = await book.verify(tenant=tenant)
    assert "the end of the log was changed: its seal does not fit" in found
    assert any("approval 'a-3' was changed" in one for one in found)


@pytest.mark.parametrize(
    ("statement", "said"),
    [
        (
            "UPDATE approvals SET document = replace(document, 'Bob', 'Ann') WHERE {mine} AND id = 'a-3'",
            "'a-3' was changed",
        ),
        ("UPDATE approvals SET document = replace(document, 'rejected', 'approved') WHERE {mine}", "'a-3' was changed"),
        ("UPDATE approvals SET document = replace(document, 'ship-1', 'ship-2') WHERE {mine}", "'a-1' was changed"),
        ("UPDATE approvals SET document = '' WHERE {mine} AND id = 'a-2'", "'a-2' was changed"),
        (
            "UPDATE approvals SET status = 'approved' WHERE {mine} AND id = 'a-3'",
            "'a-3' was changed: its column status",
        ),
        ("UPDATE approvals SET decided = NULL WHERE {mine} AND id = 'a-1'", "'a-1' was changed: its column decided"),
        ("UPDATE approvals SET decided = 3 WHERE {mine} AND id = 'a-2'", "'a-2' was changed: its column decided"),
        ("UPDATE approvals SET applied = true WHERE {mine} AND id = 'a-1'", "'a-1' was changed: its column applied"),
        ("UPDATE approvals SET reviewer = 'eve' WHERE {mine} AND id = 'a-2'", "'a-2' was changed: its column reviewer"),
        ("UPDATE approvals SET due_at = NULL WHERE {mine} AND id = 'a-2'", "'a-2' was changed: its column due_at"),
        ("UPDATE approvals SET conversation_hash = '' WHERE {mine}", "'a-1' was changed: its column conversation_hash"),
        ("UPDATE approvals SET id = 'a-9' WHERE {mine} AND id = 'a-2'", "'a-9' is not in the log"),
        ("UPDATE approvals SET id = 'a-9' WHERE {mine} AND id = 'a-2'", "'a-2' was removed"),
        ("DELETE FROM approvals WHERE {mine} AND id = 'a-1'", "'a-1' was removed"),
        ("UPDATE approvals SET tenant = '{tenant}-2' WHERE {mine} AND id = 'a-1'", "'a-1' was removed"),
    ],
)
async def test_what_is_done_to_an_approval_shows(
    book: SqlApprovals, attack: Callable[[str], None], tenant: str, statement: str, said: str
) -> None:
    attack(statement)
    assert any(said in one for one in await book.verify(tenant=tenant)), await book.verify(tenant=tenant)


async def test_an_approval_that_is_put_into_another_tenant_shows_there(
    book: SqlApprovals, attack: Callable[[str], None], tenant: str
) -> None:
    attack("UPDATE approvals SET tenant = '{tenant}-2' WHERE {mine} AND id = 'a-1'")
    assert await book.verify(tenant=f"{tenant}-2") == ("approval 'a-1' is not in the log: it was added",)


@pytest.mark.parametrize(
    "statement",
    [
        "DELETE FROM approval_log WHERE {mine} AND number = 5",
        "DELETE FROM approval_log WHERE {mine}",
        "DELETE FROM approval_heads WHERE {mine}",
        "UPDATE approval_heads SET number = 4 WHERE {mine}",
        "UPDATE approval_heads SET seal = 'ß' WHERE {mine}",
        "UPDATE approval_log SET seal = 'x' WHERE {mine} AND number = 5",
        ADDED,
    ],
)
async def test_nothing_is_added_to_a_log_that_does_not_end_as_it_was_sealed(
    book: SqlApprovals, attack: Callable[[str], None], tenant: str, statement: str
) -> None:
    attack(statement)
    rows = list(await book.log(tenant=tenant))
    for step in (
        book.decide("a-2", NO, tenant=tenant),
        book.applied("a-1", tenant=tenant),
        book.open("a-4", PLAIN, DIGEST, State(), tenant=tenant),
    ):
        with pytest.raises(ApprovalLogBroken, match="does not end as it was sealed"):
            await step
    assert list(await book.log(tenant=tenant)) == rows
    assert (await book.get("a-2", tenant=tenant)).status == "pending"


async def test_another_key_neither_adds_to_a_log_nor_finds_it_whole(
    book: SqlApprovals, open_url: str, tenant: str
) -> None:
    async with SqlApprovals(open_url, KEY[::-1]) as other:
        with pytest.raises(ApprovalLogBroken, match="give the key that it was made with"):
            await other.applied("a-1", tenant=tenant)
        assert len(await other.verify(tenant=tenant)) == ROWS + 1
        assert (await other.get("a-1", tenant=tenant)).by == "Ann"
    assert await book.verify(tenant=tenant) == ()


async def test_what_a_file_without_types_holds_is_told_and_breaks_nothing(
    book: SqlApprovals, attack: Callable[[str], None], tenant: str, open_url: str
) -> None:
    if open_url.startswith("postgresql"):
        pytest.skip("PostgreSQL keeps the types of its columns")
    for column, value in (("at", "'soon'"), ("document", "x'00ff'"), ("seal", "7"), ("kind", "CAST(x'ff' AS TEXT)")):
        attack(f"UPDATE approval_log SET {column} = {value} WHERE {{mine}} AND number = 2")
        assert any("row 2 was changed" in one for one in await book.verify(tenant=tenant))
    assert len(await book.log(tenant=tenant)) == ROWS


async def test_a_whole_file_that_is_put_back_cannot_be_told_from_the_earlier_one(tmp_path: Path) -> None:
    path, copy = tmp_path / "now.db", tmp_path / "earlier.db"
    async with SqlApprovals(f"sqlite:///{path}", KEY) as book:
        await book.open("a-1", PLAIN, DIGEST, State())
    shutil.copy(path, copy)
    async with SqlApprovals(f"sqlite:///{path}", KEY) as book:
        await book.decide("a-1", YES)
        (_, last) = await book.log()
    shutil.copy(copy, path)
    async with SqlApprovals(f"sqlite:///{path}", KEY) as book:
        assert await book.verify() == ()
        # What the page on approvals says to keep elsewhere does tell.
        assert list(await book.log(after=last.number - 1)) != [last]
