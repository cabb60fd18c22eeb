"""What `doctor` says of real servers, and that it leaves them as they are."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from skillweave.cli.health import Finding
from skillweave_testing.servers import PostgresServer, RedisServer


async def nothing() -> AsyncIterator[Finding]:
    """A look that finds nothing."""
    for finding in ():
        yield finding


@pytest.fixture
def doctor(cli: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, small: Path) -> Any:
    """The exit code of doctor with `./skills`, and what it finds about skills and ledger, by section and subject."""
    monkeypatch.chdir(tmp_path)
    for look in ("look_at_the_engine", "look_at_packages", "look_at_extensions"):
        monkeypatch.setattr(f"skillweave.cli.health.installation.{look}", nothing)

    def ran(*words: str) -> tuple[int, dict[tuple[str, str], Any]]:
        done = cli("doctor", "--json", *words)
        return done.code, {(one["section"], one["subject"]): one for one in done.data["findings"]}

    return ran


def tables_of(url: str) -> set[str]:
    """The tables of a database."""
    with psycopg.connect(url) as connection:
        return {name for (name,) in connection.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")}


def test_a_postgres_without_tables_gets_none_by_being_looked_at(doctor: Any, postgres_url: str) -> None:
    code, found = doctor("--ledger", postgres_url)
    assert found["ledger", "tables"]["level"] == "missing"
    assert "skillweave store migrate" in found["ledger", "tables"]["fix"]
    assert ("ledger", postgres_url) not in found
    assert tables_of(postgres_url) == set()
    assert code == 0


def test_a_postgres_that_is_used_is_told_with_its_version_and_what_it_keeps(
    cli: Any, doctor: Any, postgres_url: str
) -> None:
    assert cli("weave", "tea", "--conversation", "c1", "--ledger", postgres_url).code == 0
    code, found = doctor("--ledger", postgres_url)
    shown = postgres_url.replace("postgres@", "***@")
    assert found["ledger", shown]["message"] == "opens and can be written; keeps 1 conversation"
    assert found["ledger", "server"]["message"].startswith("PostgreSQL ")
    assert "connections in use: " in found["ledger", "server"]["message"]
    assert found["ledger", "tables"]["level"] == "ok"
    assert ("ledger", "clock") not in found
    assert code == 0


def test_a_postgres_that_answers_before_it_stores_is_a_warning(cli: Any, doctor: Any, postgres_url: str) -> None:
    assert cli("weave", "tea", "--ledger", postgres_url).code == 0
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f'ALTER DATABASE "{postgres_url.rpartition("/")[2]}" SET synchronous_commit = off')
    code, found = doctor("--ledger", postgres_url)
    lost = found["ledger", "ledger-may-lose-writes"]
    assert (code, lost["level"]) == (0, "warning")
    assert "synchronous_commit=on" in lost["fix"]


@pytest.mark.parametrize(("revision", "level", "ends"), [("0000", "warning", 0), ("9999", "problem", 1)])
def test_tables_of_another_revision_are_told_and_stay_as_they_are(
    cli: Any, doctor: Any, postgres_url: str, revision: str, level: str, ends: int
) -> None:
    assert cli("weave", "tea", "--ledger", postgres_url).code == 0
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("UPDATE alembic_version SET version_num = %s", (revision,))
    code, found = doctor("--ledger", postgres_url)
    assert (code, found["ledger", "tables"]["level"]) == (ends, level)
    with psycopg.connect(postgres_url) as connection:
        assert connection.execute("SELECT version_num FROM alembic_version").fetchall() == [(revision,)]


def test_a_server_that_is_down_is_a_problem_and_code_3(doctor: Any) -> None:
    with PostgresServer() as server:
        url = server.url().replace("postgres@", "postgres:hush@")
    code, found = doctor("--ledger", url)
    (down,) = (one for (section, _), one in found.items() if section == "ledger")
    assert (code, down["level"]) == (3, "problem")
    assert f"127.0.0.1:{server.port}" in down["message"]
    assert "hush" not in str(found)


def test_a_redis_is_told_with_its_version_and_what_it_loses(doctor: Any, redis_server: RedisServer) -> None:
    code, found = doctor("--ledger", redis_server.url())
    assert "connections in use: " in found["ledger", "server"]["message"]
    assert found["ledger", "durability"]["level"] == "ok"
    assert ("ledger", "tables") not in found
    assert code == 0


def test_a_redis_that_answers_before_it_stores_or_evicts_is_a_warning(doctor: Any) -> None:
    careless = {"appendfsync": "everysec", "maxmemory": "100mb", "maxmemory-policy": "allkeys-lru"}
    with RedisServer(**careless) as server:
        code, found = doctor("--ledger", server.url())
    assert {found["ledger", code]["level"] for code in ("ledger-may-lose-writes", "ledger-may-evict")} == {"warning"}
    assert "appendfsync always" in found["ledger", "ledger-may-lose-writes"]["fix"]
    assert "noeviction" in found["ledger", "ledger-may-evict"]["fix"]
    assert ("ledger", "durability") not in found
    assert code == 0


def test_a_redis_that_is_down_is_a_problem_and_code_3(doctor: Any) -> None:
    with RedisServer() as server:
        url = server.url().replace("redis://", "redis://me:hush@")
    code, found = doctor("--ledger", url)
    (down,) = (one for (section, _), one in found.items() if section == "ledger")
    assert (code, down["level"]) == (3, "problem")
    assert "hush" not in str(found)


def test_decisions_beside_a_redis_are_told_to_be_in_the_database_of_the_skills(
    cli: Any, doctor: Any, redis_url: str, postgres_url: str, small: Path
) -> None:
    assert cli("store", "put", small, "--store", postgres_url).code == 0
    _, found = doctor("--ledger", redis_url, "--skills", postgres_url)
    assert found["ledger", "decisions"]["level"] == "note"
    assert "last second" in found["ledger", "decisions"]["message"]
    assert found["skills", "tables"]["level"] == "ok"
    assert ("ledger", "decisions") not in doctor("--ledger", redis_url)[1]


def test_a_database_of_skills_without_tables_gets_none_and_is_no_problem(doctor: Any, postgres_url: str) -> None:
    code, found = doctor("--skills", postgres_url)
    assert (code, found["skills", "tables"]["level"]) == (0, "missing")
    assert tables_of(postgres_url) == set()


def test_a_database_of_skills_that_is_down_is_code_3(doctor: Any) -> None:
    code, found = doctor("--skills", "postgresql://me:hush@127.0.0.1:9/db")
    (down,) = (one for (section, _), one in found.items() if section == "skills")
    assert (code, down["level"]) == (3, "problem")
    assert "hush" not in str(found)


def test_a_file_of_skills_that_is_not_there_is_not_made(doctor: Any, tmp_path: Path) -> None:
    code, found = doctor("--skills", f"sqlite:///{tmp_path / 'new' / 'skills.db'}")
    (missing,) = (one for (section, _), one in found.items() if section == "skills")
    assert (code, missing["level"]) == (0, "missing")
    assert "skillweave store put" in missing["fix"]
    assert not (tmp_path / "new").exists()


def test_a_file_of_skills_is_told_with_its_tables(cli: Any, doctor: Any, tmp_path: Path, small: Path) -> None:
    url = f"sqlite:///{tmp_path / 'skills.db'}"
    assert cli("store", "put", small, "--store", url).code == 0
    code, found = doctor("--skills", url)
    assert found["skills", url]["message"] == "2 skills loaded, 0 skipped, 0 repaired"
    assert found["skills", "server"]["message"].startswith("SQLite ")
    assert found["skills", "tables"]["level"] == "ok"
    assert code == 0
