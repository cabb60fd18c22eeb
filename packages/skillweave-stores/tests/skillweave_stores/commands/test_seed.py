"""`skillweave store put` and `publish`, on a SQLite file and on PostgreSQL."""

import asyncio
import hashlib
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from skillweave_stores.commands.options import named_store
from skillweave_stores.seed.filling import MOST_ENTRIES

HASH = re.compile(r"[0-9a-f]{64}")


@pytest.fixture
def store(database_url: str) -> str:
    """The URL of an empty store, of each kind."""
    return database_url


@pytest.fixture
def file_store(tmp_path: Path) -> str:
    """The URL of a SQLite file that is not there yet."""
    return f"sqlite:///{tmp_path / 'skills.db'}"


def stored(url: str, tenant: str = "") -> dict[str, str]:
    """The descriptions of the skills in use, by id."""

    async def load() -> dict[str, str]:
        async with named_store(url).for_tenant(tenant) as opened:
            return {skill.id: skill.description for skill in (await opened.load(None)).skills}

    return asyncio.run(load())


def test_skills_are_inserted_and_a_second_run_changes_nothing_and_says_so(cli: Any, small: Path, store: str) -> None:
    first = cli("store", "put", small, "--store", store, "--json")
    assert (first.code, sorted(first.data["inserted"])) == (0, ["coffee", "tea"])
    assert "without phrases that people would type: 2 of 2 skills" in first.err
    assert all(HASH.fullmatch(one) for one in first.data["inserted"].values())
    again = cli("store", "put", small, "--store", store, "--json")
    assert (again.code, again.data["unchanged"]) == (0, first.data["inserted"])
    assert (again.data["inserted"], again.data["updated"]) == ({}, {})
    said = cli("store", "put", small, "--store", store)
    assert said.out.startswith("nothing changed; 2 skills unchanged in ")
    assert stored(store) == {"coffee": "Makes coffee.", "tea": "Makes tea."}


def test_a_changed_skill_is_a_new_version(cli: Any, small: Path, store: str, write: Callable[..., Path]) -> None:
    cli("store", "put", small, "--store", store)
    write(small, "tea", "Makes green tea.")
    done = cli("store", "put", small, "--store", store)
    assert (done.code, done.out.splitlines()[-1].split(" in ")[0]) == (0, "1 skill updated, 1 unchanged")
    assert stored(store)["tea"] == "Makes green tea."


def test_without_paths_the_skills_of_the_project_are_stored(
    cli: Any, small: Path, file_store: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(small.parent)
    assert cli("store", "put", "--store", file_store).code == 0
    assert sorted(stored(file_store)) == ["coffee", "tea"]


def test_a_pack_is_stored_alone_or_beside_paths(cli: Any, small: Path, file_store: str, tmp_path: Path) -> None:
    done = cli("store", "put", small, "--pack", "coding", "--store", file_store, "--json")
    assert {"tea", "coffee"} < set(done.data["inserted"])
    assert len(done.data["inserted"]) > 2


def test_what_of_a_pack_has_no_place_in_a_store_is_said(cli: Any, file_store: str) -> None:
    done = cli("store", "put", "--pack", "support-triage", "--store", file_store)
    assert done.code == 0
    assert "[not-kept]" in done.out
    assert "skill graph" in done.out


def test_the_agents_of_a_pack_are_stored_and_counted(cli: Any, tmp_path: Path, store: str) -> None:
    (tmp_path / "office.yaml").write_text(
        "skills: [{id: a, description: A.}]\nagents: [{id: clerk, skills: [a]}, {id: writer, skills: []}]\n",
        encoding="utf-8",
    )
    done = cli("store", "put", tmp_path / "office.yaml", "--store", store)
    assert (done.code, done.out.splitlines()[-1].split(" in ")[0]) == (0, "1 skill inserted; 2 agents inserted")
    again = cli("store", "put", tmp_path / "office.yaml", "--store", store, "--json")
    assert again.data["agents"] == {"inserted": [], "updated": [], "unchanged": ["clerk", "writer"]}


def test_the_store_and_the_tenant_can_be_configured(
    cli: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "skillweave.toml").write_text('store = "sqlite:///kept/skills.db"\ntenant = "acme"\n', encoding="utf-8")
    (tmp_path / "inner").mkdir()
    monkeypatch.chdir(tmp_path / "inner")
    assert cli("store", "put", small).code == 0
    url = f"sqlite:///{tmp_path / 'kept' / 'skills.db'}"
    assert (sorted(stored(url, "acme")), stored(url)) == (["coffee", "tea"], {})
    monkeypatch.setenv("SKILLWEAVE_STORE", f"sqlite:///{tmp_path / 'other.db'}")
    assert cli("store", "put", small).code == 0
    assert stored(f"sqlite:///{tmp_path / 'other.db'}", "acme")


def test_a_store_is_not_filled_from_itself_as_where_it_is_configured_as_the_skills(
    cli: Any, file_store: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "skillweave.toml").write_text(f'skills = ["{file_store}"]\nstore = "{file_store}"\n', encoding="utf-8")
    done = cli("store", "put")
    assert (done.code, done.out) == (1, "")
    assert "the skills are read from the store itself" in done.err


def test_without_a_store_nothing_is_guessed(cli: Any, small: Path) -> None:
    done = cli("store", "put", small)
    assert (done.code, done.out) == (1, "")
    assert "no store of skills is named; add --store postgresql://" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("folder://skills", "folder://skills can be read and not written to"),
        ("skills.db", "'skills.db' is no store of skills that can be written to"),
        ("postgresql:me:hunter2@db/skills", "'***@db/skills' is no store"),
        (
            "mysql://me:hunter2@db/skills",
            "mysql://***@db/skills is no store of skills; name a database, as postgresql://",
        ),
        ("postgresql://me:hunter1@hunter2@db/skills", "the URL of the database cannot be read"),
        ("postgresql://me:hunter2@db/skills?sslmodus=1", "PostgreSQL at db:5432/skills is given 'sslmodus'"),
        ("postgresql://me:hunter2@db:nonsense/skills", "the URL of the database cannot be read"),
        ("", "no store of skills is named"),
    ],
)
def test_what_is_no_store_is_said_in_one_line_without_its_password(cli: Any, small: Path, url: str, said: str) -> None:
    for more in ((), ("--json",)):
        done = cli("store", "put", small, "--store", url, *more)
        assert done.code == 1
        assert said in done.err
        assert done.err.count("\n") == 1
        assert "hunter2" not in done.out + done.err


def test_a_server_that_is_down_is_code_3_and_names_it_without_its_password(cli: Any, small: Path) -> None:
    done = cli("store", "put", small, "--store", "postgresql://me:hunter2@127.0.0.1:9/skills?timeout=2", "--json")
    assert (done.code, done.data["error"]["type"]) == (3, "StoreUnavailable")
    assert "127.0.0.1:9" in done.err
    assert "hunter2" not in done.out + done.err


def test_a_file_that_is_no_database_is_code_3_and_stays_as_it_is(cli: Any, small: Path, tmp_path: Path) -> None:
    path = tmp_path / "notes.db"
    path.write_bytes(b"these are not the bytes of a database " * 50)
    done = cli("store", "put", small, "--store", f"sqlite:///{path}")
    assert (done.code, done.out) == (3, "")
    assert "notes.db" in done.err
    assert path.read_bytes() == b"these are not the bytes of a database " * 50


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="rights do not bind this user")
def test_a_folder_without_the_right_to_write_is_code_3(cli: Any, small: Path, tmp_path: Path) -> None:
    (tmp_path / "closed").mkdir(mode=0o500)
    done = cli("store", "put", small, "--store", f"sqlite:///{tmp_path / 'closed' / 'skills.db'}")
    assert (done.code, done.out) == (3, "")
    assert "skills.db" in done.err


def test_an_empty_folder_is_told_and_is_no_error(cli: Any, tmp_path: Path, file_store: str) -> None:
    (tmp_path / "empty").mkdir()
    done = cli("store", "put", tmp_path / "empty", "--store", file_store)
    assert done.code == 0
    assert done.out.startswith("no skills were found, and nothing is stored in ")


def test_a_missing_folder_is_one_line(cli: Any, tmp_path: Path, file_store: str) -> None:
    done = cli("store", "put", tmp_path / "nowhere", "--store", file_store)
    assert (done.code, done.out) == (1, "")
    assert "nowhere' does not exist" in done.err


def test_what_was_stored_before_a_failure_is_told(cli: Any, small: Path, tmp_path: Path, file_store: str) -> None:
    done = cli("store", "put", small, tmp_path / "nowhere", "--store", file_store)
    assert done.code == 1
    assert "skills stored before that: 2; run it again, and the rest follows" in done.err


def test_a_broken_skill_is_told_the_others_are_stored_and_the_code_is_1(cli: Any, small: Path, file_store: str) -> None:
    (small / "bad").mkdir()
    (small / "bad" / "SKILL.md").write_text("---\nname: [\n---\n", encoding="utf-8")
    done = cli("store", "put", small, "--store", file_store)
    assert done.code == 1
    assert "bad/SKILL.md" in done.out.splitlines()[0]
    assert "2 skills inserted in " in done.out
    errors = [
        one for one in cli("store", "put", small, "--store", file_store, "--json").data["diagnostics"] if one["path"]
    ]
    assert [one["path"] for one in errors if one["severity"] == "error"] == [f"{small}/bad/SKILL.md"]


def test_a_skill_with_a_huge_document_is_refused_with_place_and_fix(cli: Any, small: Path, file_store: str) -> None:
    (small / "tea" / "references").mkdir()
    (small / "tea" / "references" / "x.md").write_text("x" * (1 << 21), encoding="utf-8")
    done = cli("store", "put", small, "--store", file_store, "--json")
    assert (done.code, list(done.data["inserted"])) == (1, ["coffee"])
    (refused,) = done.data["refused"]
    assert (refused["skill"], refused["path"], refused["code"]) == ("tea", f"{small}/tea/SKILL.md", "not-stored")
    assert "more than the limit of 1 MiB" in refused["message"]
    assert ", 1 refused in " in cli("store", "put", small, "--store", file_store).out


@pytest.mark.parametrize("kind", ["huge", "a pipe", "not UTF-8"])
def test_a_skill_file_that_cannot_be_read_is_told_and_the_others_are_stored(
    cli: Any, small: Path, file_store: str, kind: str
) -> None:
    path = small / "bad" / "SKILL.md"
    path.parent.mkdir()
    if kind == "a pipe":
        os.mkfifo(path)
    else:
        path.write_bytes(b"---\nname: bad\ndescription: x\n---\n" + (b"x" * (1 << 21) if kind == "huge" else b"\xff"))
    done = cli("store", "put", small, "--store", file_store)
    assert done.code == 1
    assert done.out.startswith(f"{small}/bad/SKILL.md")
    assert sorted(stored(file_store)) == ["coffee", "tea"]


def test_skills_of_one_store_are_copied_into_another(cli: Any, examples: Path, store: str, tmp_path: Path) -> None:
    first = cli("store", "put", examples, "--store", store, "--json").data["inserted"]
    copy = f"sqlite:///{tmp_path / 'copy.db'}"
    assert cli("store", "put", store, "--store", copy, "--json").data["inserted"] == dict(sorted(first.items()))


def test_who_may_only_read_a_database_is_told_what_it_needs(cli: Any, small: Path, postgres_url: str) -> None:
    import psycopg
    from sqlalchemy import make_url

    assert cli("store", "put", small, "--store", postgres_url).code == 0
    role = f"reader_{os.getpid()}"
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE ROLE {role} LOGIN PASSWORD 'hunter2'")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {role}")
        try:
            named = make_url(postgres_url).set(username=role, password="hunter2")
            url = named.render_as_string(hide_password=False)
            assert cli("store", "put", small, "--store", url).out.startswith("nothing changed")
            (small / "tea" / "SKILL.md").write_text("---\nname: tea\ndescription: New.\n---\n", encoding="utf-8")
            done = cli("store", "put", small, "--store", url)
        finally:
            connection.execute(f"DROP OWNED BY {role}")
            connection.execute(f"DROP ROLE {role}")
    assert (done.code, done.out) == (3, "")
    assert "does not allow this user to do that; grant it all rights on the tables" in done.err
    assert "hunter2" not in done.err


@pytest.mark.parametrize("more", [(), ("--json",)])
def test_doctor_shows_a_configured_store_without_its_password(
    cli: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, more: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SKILLWEAVE_STORE", "postgresql://me:hunter2@db.internal/skills")
    done = cli("doctor", *more)
    assert "db.internal/skills" in done.out
    assert "hunter2" not in done.out + done.err


def test_of_two_folders_the_first_one_counts_and_the_other_is_told(
    cli: Any, small: Path, tmp_path: Path, file_store: str, write: Callable[..., Path]
) -> None:
    write(tmp_path / "other", "tea", "Makes other tea.")
    done = cli("store", "put", small, tmp_path / "other", "--store", file_store)
    assert done.code == 0
    assert "[shadowed]" in done.out
    assert stored(file_store)["tea"] == "Makes tea."


def test_findings_that_cost_nothing_are_counted(cli: Any, small: Path, file_store: str) -> None:
    path = small / "tea" / "SKILL.md"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    done = cli("store", "put", small, "--store", file_store)
    assert done.code == 0
    assert "1 more finding in the skill files; `skillweave check` lists them" in done.err


@pytest.mark.soak
def test_as_a_module_it_does_the_same(small: Path, file_store: str) -> None:
    words = [sys.executable, "-m", "skillweave_stores.seed", str(small), "--store", file_store]
    done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 skills inserted in " in done.stdout


def many(folder: Path, count: int) -> Path:
    """A folder of skills, each with a document."""
    for number in range(count):
        path = folder / f"skill-{number:05}" / "references" / "notes.md"
        path.parent.mkdir(parents=True)
        path.write_text(f"Notes of {number}.\n" * 20, encoding="utf-8")
        (path.parents[1] / "SKILL.md").write_text(
            f"---\nname: skill-{number:05}\ndescription: Does thing {number}.\n---\n\nText.\n", encoding="utf-8"
        )
    return folder


@pytest.mark.skipif(sys.platform == "win32", reason="needs a signal that a process can catch")
@pytest.mark.soak
def test_interrupted_in_the_middle_it_keeps_whole_chunks_and_the_next_run_stores_the_rest(
    tmp_path: Path, store: str
) -> None:
    count = MOST_ENTRIES * 30
    folder = many(tmp_path / "many", count)
    words = [sys.executable, "-m", "skillweave", "store", "put", str(folder), "--store", store, "--json"]
    running = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    while running.poll() is None and not _begun(store):
        time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=120)
    assert (running.returncode, out) == (130, "")
    told = re.search(r"interrupted; skills that are stored: ([\d,]+)\. Run it again, and the rest follows", err)
    assert told is not None, err
    there = len(stored(store))
    assert there % MOST_ENTRIES == 0
    assert int(told[1].replace(",", "")) <= there < count
    done = subprocess.run(words, capture_output=True, text=True, timeout=300, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(stored(store)) == count


def _begun(store: str) -> bool:
    """Whether something is stored already; a file must not be made by looking."""
    if store.startswith("sqlite") and not Path(store.removeprefix("sqlite:///")).exists():
        return False
    return bool(stored(store))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.soak
def test_on_a_terminal_a_bar_goes_up_to_the_end(tmp_path: Path, file_store: str) -> None:
    import pty

    folder = many(tmp_path / "many", MOST_ENTRIES * 3)
    ours, theirs = pty.openpty()
    words = [sys.executable, "-m", "skillweave", "store", "put", str(folder), "--store", file_store]
    running = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    said = b""
    with suppress(OSError):  # the other end is closed, and all of it was read
        while piece := os.read(ours, 4096):
            said += piece
    os.close(ours)
    assert running.wait(timeout=120) == 0
    assert b"Reading skills" in said
    assert b"100%" in said


def test_without_a_terminal_there_is_no_bar(tmp_path: Path, file_store: str, cli: Any) -> None:
    folder = many(tmp_path / "many", MOST_ENTRIES * 3)
    assert cli("store", "put", folder, "--store", file_store).err.count("\n") == 1  # the line about phrases


def test_a_published_skill_is_told_with_its_version(cli: Any, small: Path, store: str) -> None:
    done = cli("store", "put", small / "tea" / "SKILL.md", small / "coffee", "--store", store)
    digest = hashlib.sha256((small / "tea" / "SKILL.md").read_bytes()).hexdigest()
    assert done.code == 0
    assert done.out.splitlines()[0].split() == ["inserted", "tea", digest[:12]]
    assert cli("store", "put", small / "tea", "--store", store, "--json").data["unchanged"] == {"tea": digest}
    assert sorted(stored(store)) == ["coffee", "tea"]


def test_publishing_an_edited_skill_updates_it_and_the_text_before_puts_the_first_in_use_again(
    cli: Any, small: Path, store: str, write: Callable[..., Path]
) -> None:
    first = cli("store", "put", small / "tea", "--store", store, "--json").data["inserted"]["tea"]
    before = (small / "tea" / "SKILL.md").read_bytes()
    write(small, "tea", "Makes green tea.")
    assert "updated" in cli("store", "put", small / "tea", "--store", store).out
    (small / "tea" / "SKILL.md").write_bytes(before)
    assert cli("store", "put", small / "tea", "--store", store, "--json").data["updated"] == {"tea": first}
    assert stored(store) == {"tea": "Makes tea."}


def test_what_holds_no_skill_is_said(cli: Any, tmp_path: Path, file_store: str) -> None:
    (tmp_path / "empty").mkdir()
    done = cli("store", "put", tmp_path / "empty", "--store", file_store)
    assert (done.code, done.out.startswith("no skills were found, and nothing is stored")) == (0, True)
