"""Databases that hold data are brought up to date: whole or not at all, whoever is interrupted in it."""

import asyncio
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from tests.skillweave_stores.sql.conftest import ByHand
from tests.skillweave_stores.sql.stored import FILES, check, check_graph, check_service, fill, fill_with_skills

from skillweave import StoreUnavailable
from skillweave_stores import SqlSource
from skillweave_stores.sql import database, migrating
from skillweave_stores.sql.database import Database
from skillweave_stores.sql.revisions import NEWEST

pytestmark = pytest.mark.each_database

_LATER = """
import os, signal
import sqlalchemy as sa
from alembic import op

revision, down_revision, branch_labels, depends_on = "later", {newest!r}, None, None

def upgrade():
    with op.batch_alter_table("skills") as table:
        table.add_column(sa.Column("reviewer", sa.Text()))
    op.execute("UPDATE skills SET reviewer = 'nobody'")
    if os.environ.get("DIE_IN_IT"):
        os.kill(os.getpid(), signal.SIGKILL)
    op.create_table("reviews", sa.Column("id", sa.Integer(), primary_key=True))
"""
"""A step that a later version might bring: it changes a table that holds data, and adds one."""
_CHILD = """
import asyncio, sys
from pathlib import Path
from skillweave_stores.sql import migrating
from skillweave_stores.sql.database import Database
migrating.MIGRATIONS, migrating.NEWEST = Path(sys.argv[2]), "later"
print(asyncio.run(Database(sys.argv[1]).migrate()))
"""
_DYING_IN_THE_FIRST = """
import asyncio, os, signal, sys
from sqlalchemy import event
from skillweave_stores import SqlSource
from skillweave_stores.sql.tables import SkillArtifactRow

def die(*_, **__):
    os.kill(os.getpid(), signal.SIGKILL)

event.listen(SkillArtifactRow.__table__, "before_create", die)
asyncio.run(SqlSource(sys.argv[1]).put_agents([]))
"""
_SINCE_THE_FIRST = (
    *("entity_aliases", "entity_edges", "entities", "api_keys", "working_memory"),
    *("approvals", "approval_log", "approval_heads"),
)


@pytest.fixture
def url(database_url: str) -> str:
    """The URL of a new, empty database, without tables."""
    return database_url


@pytest.fixture
def later(tmp_path: Path) -> Path:
    """The migrations of a later version."""
    folder = tmp_path / "migrations"
    shutil.copytree(migrating.MIGRATIONS, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "versions" / "later.py").write_text(_LATER.format(newest=NEWEST))
    return folder


def _upgrade(monkeypatch: pytest.MonkeyPatch, later: Path) -> None:
    """Work with the later version's tables from here on."""
    monkeypatch.setattr(migrating, "MIGRATIONS", later)
    for module in (migrating, database):
        monkeypatch.setattr(module, "NEWEST", "later")


def _run(code: str, *arguments: str, **environment: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        check=False,
    )


def test_a_process_that_is_killed_while_it_makes_the_tables_leaves_none(url: str, by_hand: ByHand) -> None:
    assert _run(_DYING_IN_THE_FIRST, url).returncode == -signal.SIGKILL
    tables = "information_schema.tables WHERE table_schema = 'public'" if "postgres" in url else "sqlite_master"
    assert by_hand(f"SELECT count(*) FROM {tables}") == [(0,)]
    asyncio.run(fill(url))
    asyncio.run(check(url))


def test_a_database_with_data_is_migrated_with_its_data(
    url: str, by_hand: ByHand, later: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(fill(url))
    _upgrade(monkeypatch, later)
    assert asyncio.run(_migrated(url)) == (NEWEST, "later")
    assert {row[0] for row in by_hand("SELECT reviewer FROM skills")} == {"nobody"}
    asyncio.run(check(url))


@pytest.mark.soak
def test_a_migration_that_is_killed_in_the_middle_is_completed_by_the_next_start(
    url: str, by_hand: ByHand, later: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asyncio.run(fill(url))
    killed = _run(_CHILD, url, str(later), DIE_IN_IT="yes")
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    asyncio.run(check(url))
    done = _run(_CHILD, url, str(later))
    assert done.returncode == 0, done.stderr
    assert "later" in done.stdout
    assert {row[0] for row in by_hand("SELECT reviewer FROM skills")} == {"nobody"}
    _upgrade(monkeypatch, later)
    asyncio.run(check(url))


def test_a_database_of_the_first_revision_is_migrated_with_its_skills_and_takes_entities(
    url: str, by_hand: ByHand
) -> None:
    asyncio.run(fill_with_skills(url))
    for table in _SINCE_THE_FIRST:
        by_hand(f"DROP TABLE {table}")
    if "postgres" in url:
        by_hand("DROP FUNCTION approval_log_stays")
    by_hand("UPDATE alembic_version SET version_num = '0001'")
    asyncio.run(check_graph(url, since=False))
    assert asyncio.run(_migrated(url)) == (NEWEST, NEWEST)
    asyncio.run(check(url))


async def test_a_database_that_a_newer_version_migrated_is_refused(url: str, by_hand: ByHand) -> None:
    async with SqlSource(url) as source:
        await source.put_agents([])
    by_hand("UPDATE alembic_version SET version_num = '9999'")
    async with SqlSource(url) as source:
        with pytest.raises(StoreUnavailable, match=r"was migrated by a newer skillweave \(revision 9999.*upgrade"):
            await source.load()


@pytest.mark.parametrize("stored", sorted(FILES.glob("skills-*.db")), ids=lambda path: str(path.stem))
def test_a_stored_file_of_each_revision_opens_with_all_its_data(stored: Path, tmp_path: Path) -> None:
    path = tmp_path / stored.name
    shutil.copy(stored, path)
    asyncio.run(check(f"sqlite:///{path}"))
    asyncio.run(check_graph(f"sqlite:///{path}", since=stored.stem > "skills-0001"))
    asyncio.run(check_service(f"sqlite:///{path}", since=stored.stem > "skills-0002"))


def test_there_is_a_stored_file_of_each_revision() -> None:
    scripts = (migrating.MIGRATIONS / "versions").glob("[0-9]*.py")
    known = {path.name.partition("_")[0] for path in scripts} | {"0001", "0002"}
    assert {path.stem.removeprefix("skills-") for path in FILES.glob("skills-*.db")} == known


def test_the_stored_file_of_the_newest_revision_has_the_tables_that_are_made_now(tmp_path: Path) -> None:
    asyncio.run(_migrated(f"sqlite:///{tmp_path / 'new.db'}"))
    newest = FILES / f"skills-{NEWEST}.db"
    assert _schema(tmp_path / "new.db") == _schema(newest)


async def _migrated(url: str) -> tuple[str | None, str]:
    opened = Database(url)
    try:
        return await opened.migrate()
    finally:
        await opened.close()


def _schema(path: Path) -> list[tuple[str, str]]:
    connection = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    try:
        return connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL ORDER BY name").fetchall()
    finally:
        connection.close()
