import sqlite3
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from skillweave.cli.health import Finding


@pytest.fixture
def project(tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ./skills, and a home of its own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    return tmp_path


@pytest.fixture
def doctor(cli: Any, monkeypatch: pytest.MonkeyPatch) -> Any:
    """What doctor finds, by section and subject, and its exit code; without the time that the vocabularies take."""
    monkeypatch.setattr("skillweave.cli.health.installation.look_at_the_engine", nothing)

    def ran(*words: object) -> tuple[int, dict[tuple[str, str], Any]]:
        done = cli(*words, "doctor", "--json") if words and words[0] in BEFORE else cli("doctor", "--json", *words)
        return done.code, {(one["section"], one["subject"]): one for one in done.data["findings"]}

    return ran


async def nothing() -> AsyncIterator[Finding]:
    """A look that finds nothing."""
    for finding in ():
        yield finding


BEFORE = ("--config", "--no-config")


def test_where_all_is_well_the_code_is_0(cli: Any, project: Path) -> None:
    done = cli("doctor")
    assert (done.code, done.err) == (0, "")
    assert "\n\nNothing is wrong; " in done.out
    data = cli("doctor", "--json").data
    assert (data["ok"], data["problems"]) == (True, 0)


def test_every_finding_is_one_of_three_and_what_is_not_well_says_what_to_do(doctor: Any, project: Path) -> None:
    _, found = doctor("--skills", "nowhere")
    assert {one["level"] for one in found.values()} == {"ok", "missing", "problem"}, found
    for one in found.values():
        assert one["level"] == "ok" or one["fix"] or ";" in one["message"], one


def test_the_extra_of_maintainers_is_not_listed(doctor: Any, project: Path) -> None:
    _, found = doctor()
    assert ("extras", "langchain") in found
    assert ("extras", "dev") not in found


async def test_the_vocabularies_load_and_a_turn_runs() -> None:
    from skillweave.cli.health.installation import look_at_the_engine
    from skillweave.tokens.ranks import VOCABULARIES

    found = [one async for one in look_at_the_engine()]
    assert [(one.subject, one.level.value) for one in found] == [(name, "ok") for name in (*VOCABULARIES, "a turn")]


async def test_a_damaged_vocabulary_is_a_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    from dataclasses import replace

    from skillweave.cli.health.installation import look_at_the_engine
    from skillweave.tokens import counter, few, ranks

    damaged = {name: replace(one, sha256="0" * 64) for name, one in ranks.VOCABULARIES.items()}
    monkeypatch.setattr(ranks, "VOCABULARIES", damaged)
    for kept in (ranks.ranks_of, few.few_texts, counter._encoding):
        kept.cache_clear()
    found = [one async for one in look_at_the_engine()]
    assert [(one.subject, one.level.value) for one in found][:2] == [(name, "problem") for name in damaged]
    assert all("is damaged" in one.message for one in found[:2])


def test_skills_are_counted(doctor: Any, project: Path) -> None:
    code, found = doctor()
    assert found["skills", "skills"]["message"] == "2 skills loaded, 0 skipped, 0 repaired"
    assert code == 0


def test_skills_that_are_left_out_are_a_problem(doctor: Any, project: Path) -> None:
    (project / "skills" / "bad").mkdir()
    (project / "skills" / "bad" / "SKILL.md").write_text("no front matter", encoding="utf-8")
    code, found = doctor()
    one = found["skills", "skills"]
    assert (code, one["level"]) == (1, "problem")
    assert one["message"] == "2 skills loaded, 1 skipped, 0 repaired"
    assert one["fix"] == "see why: skillweave check --skills skills"


def test_without_skills_there_is_advice_and_no_problem(doctor: Any, project: Path) -> None:
    (project / "skills").rename(project / "elsewhere")
    code, found = doctor()
    assert (code, found["skills", "skills"]["level"]) == (0, "missing")
    assert "skillweave init" in found["skills", "skills"]["fix"]


def test_packs_are_looked_at_too(doctor: Any, project: Path) -> None:
    code, found = doctor("--pack", "coding", "--pack", "nothing")
    assert found["skills", "pack coding"]["level"] == "ok"
    assert found["skills", "pack nothing"]["level"] == "problem"
    assert code == 1


def test_a_ledger_that_is_not_there_yet_is_not_made(doctor: Any, project: Path) -> None:
    before = sorted(project.rglob("*"))
    code, found = doctor()
    assert (code, found["ledger", ".skillweave/state.db"]["level"]) == (0, "missing")
    assert sorted(project.rglob("*")) == before


def test_a_ledger_tells_what_it_keeps_and_is_left_as_it_is(cli: Any, doctor: Any, project: Path) -> None:
    for conversation in ("c1", "c2"):
        assert cli("weave", "tea", "--conversation", conversation).code == 0
    before = cli("ledger", "show", "c1", "--json").data
    code, found = doctor()
    assert found["ledger", ".skillweave/state.db"]["message"] == "opens and can be written; keeps 2 conversations"
    assert code == 0
    assert cli("ledger", "show", "c1", "--json").data == before


def test_a_ledger_that_cannot_be_read_is_a_problem_and_code_3(doctor: Any, project: Path) -> None:
    (project / "team.db").write_bytes(b"these are not the bytes of a database " * 50)
    code, found = doctor("--ledger", "team.db")
    assert (code, found["ledger", "team.db"]["level"]) == (3, "problem")
    assert "team.db is not a readable SQLite file" in found["ledger", "team.db"]["message"]


def test_a_ledger_that_cannot_be_written_is_a_problem_and_code_3(cli: Any, doctor: Any, project: Path) -> None:
    assert cli("weave", "tea", "--ledger", "team.db").code == 0
    connection = sqlite3.connect(project / "team.db")
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    code, found = doctor("--ledger", "team.db")
    assert (code, found["ledger", "team.db"]["level"]) == (3, "problem")
    assert "was written by a newer skillweave" in found["ledger", "team.db"]["message"]


def test_a_ledger_of_no_known_kind_is_a_problem(doctor: Any, project: Path) -> None:
    code, found = doctor("--ledger", "nowhere://me:secret@host/0")
    assert (code, found["ledger", "nowhere://***@host/0"]["level"]) == (1, "problem")


def test_a_password_is_never_shown(cli: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "skillweave.toml").write_text('ledger = "nowhere://me:hush@host/0?password=hush"\n', encoding="utf-8")
    for words in (("doctor",), ("doctor", "--json")):
        assert "hush" not in cli(*words).out


def test_each_value_says_where_it_comes_from(cli: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / "skillweave.toml").write_text("budget = 5\nmax-skills = 2\nstrict = false\n", encoding="utf-8")
    monkeypatch.setenv("SKILLWEAVE_MAX_SKILLS", "4")
    configuration = cli("doctor", "--skills", "skills", "--json").data["configuration"]
    values = {one.pop("key"): one for one in configuration["values"]}
    assert configuration["file"] == "skillweave.toml"
    assert values["budget"] == {"value": 5, "origin": "file", "place": "skillweave.toml:1"}
    assert values["max-skills"] == {"value": 4, "origin": "environment", "place": "SKILLWEAVE_MAX_SKILLS"}
    assert values["skills"] == {"value": ["skills"], "origin": "flag", "place": "--skills"}
    assert values["catalog"] == {"value": "auto", "origin": "default", "place": None}


def test_a_variable_means_what_its_flag_would_mean(
    doctor: Any, project: Path, write: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor()[1]["skills", "skills"]["level"] == "ok"
    monkeypatch.setenv("SKILLWEAVE_STRICT", "yes")
    assert doctor()[1]["skills", "skills"]["level"] == "problem"
    monkeypatch.setenv("SKILLWEAVE_STRICT", "no")
    assert doctor()[1]["skills", "skills"]["level"] == "ok"


def test_all_that_is_wrong_in_the_configuration_is_found_at_once(
    cli: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "budget = -1\ncatlog = 'x'\nmax-skills = '3'\n[command.weave]\nbudgte = 3\n[command.weve]\n"
    (project / "skillweave.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("SKILLWEAVE_PLACEMENT", "somewhere")
    monkeypatch.setenv("SKILLWEAVE_NONSENSE", "1")
    done = cli("doctor", "--json")
    problems = [
        one["message"] for one in done.data["findings"] if one["section"] == "configuration" and one["fix"] != 0
    ]
    together = "\n".join(problems)
    for part in ("toml:1", "toml:2", "toml:5", "toml:6", "SKILLWEAVE_PLACEMENT", "SKILLWEAVE_NONSENSE"):
        assert part in together, part
    assert done.code == 1


def test_a_configuration_that_cannot_be_read_does_not_stop_it(doctor: Any, project: Path) -> None:
    (project / "skillweave.toml").write_text("this is no TOML", encoding="utf-8")
    code, found = doctor()
    assert (code, found["configuration", "file"]["level"]) == (1, "problem")
    assert found["skills", "skills"]["level"] == "ok"
    assert doctor("--no-config")[0] == 0


def test_one_screen_has_what_matters_and_all_has_the_rest(cli: Any, project: Path) -> None:
    done, everything = cli("doctor"), cli("doctor", "--all")
    assert len(done.out.splitlines()) < 24
    assert "pyyaml" not in done.out
    assert "`skillweave doctor --all` shows" in done.out
    assert {"packages", "extras", "extensions"} <= set(everything.out.splitlines())
    assert "budget: 25000" in everything.out


def test_a_part_that_cannot_be_looked_at_does_not_stop_the_others(
    doctor: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise RuntimeError("broken in two")

    monkeypatch.setattr("skillweave.cli.health.surroundings.look_at_ledger", fail)
    code, found = doctor()
    assert code == 1
    assert found["ledger", ".skillweave/state.db"]["message"] == "cannot be looked at: RuntimeError: broken in two"
    assert ("skills", "skills") in found


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs /proc, where nobody can make a file")
def test_a_folder_that_cannot_hold_a_ledger_is_a_problem(doctor: Any, project: Path) -> None:
    code, found = doctor("--ledger", "/proc/state.db")
    one = found["ledger", "/proc/state.db"]
    assert (code, one["level"], one["message"]) == (3, "problem", "there is none yet, and /proc cannot be written")
