"""`--pack` beside `--skills`, and the options of a task."""

from pathlib import Path
from typing import Any

import pytest

PAIR = ["specification-engine", "opencode-implementer"]


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


@pytest.mark.parametrize(
    "words",
    [
        ("weave", "zzz"),
        ("match", "zzz"),
        ("show",),
        ("show", PAIR[0]),
        ("check",),
        ("compose", "--validate", *PAIR),
        ("compose", *PAIR),
        ("compose", "--spawn", "x"),
    ],
    ids=lambda words: words[0],
)
def test_every_command_about_skills_takes_a_pack_and_needs_no_folder_then(cli: Any, words: tuple[str, ...]) -> None:
    done = cli(*words, "--pack", "coding")
    assert (done.code, done.err) == (0, "")
    assert "--pack" in cli(words[0], "--help").out


def test_a_folder_of_skills_is_still_taken_where_it_is(cli: Any, write: Any) -> None:
    write(Path("skills"), "tea", "Makes tea.")
    answer = cli("show", "--pack", "coding", "--json").data
    assert answer["shown"] == sorted(["tea", *PAIR])


def test_ones_own_skill_goes_before_that_of_a_pack(cli: Any, write: Any) -> None:
    write(Path("skills"), PAIR[0], "My own.")
    assert cli("show", PAIR[0], "--pack", "coding", "--json").data["skill"]["description"] == "My own."


def test_no_pack_is_in_the_catalog_unless_it_is_asked_for(cli: Any, write: Any) -> None:
    write(Path("skills"), "tea", "Makes tea.")
    assert cli("show", "--json").data["shown"] == ["tea"]


def test_an_unknown_pack_is_the_users_mistake(cli: Any) -> None:
    done = cli("show", "--pack", "codin")
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("skillweave: no pack 'codin' is installed; choose from ")


@pytest.mark.parametrize("command", ["weave", "match"])
def test_a_coding_task_gives_the_skills_of_its_rule(cli: Any, command: str) -> None:
    without = cli(command, "zzz", "--pack", "coding", "--json").data
    answer = cli(command, "zzz", "--pack", "coding", "--coding", "--task", "Add a form", "--json").data
    key = "chosen" if command == "match" else "decisions"
    assert [one["skill_id"] for one in answer[key]] == PAIR
    assert without[key] == []


def test_check_reports_task_rules_that_cannot_be_or_give_nothing(cli: Any) -> None:
    skills = "skills:\n  - {id: tea, description: x, instructions: Boil.}\n"
    rules = "task_rules:\n  - {when: {}, skills: [tea]}\n  - {when: {coding: true}, skills: [te]}\n"
    Path("mine.yaml").write_text(f"{skills}{rules}", encoding="utf-8")
    done = cli("check", "--skills", "mine.yaml", "--json")
    assert done.code == 1
    assert [(one["code"], one["line"]) for one in done.data["diagnostics"]] == [
        ("task-rule", 4),
        ("task-rule-unknown-skill", 5),
    ]
    assert (done.data["loaded"], done.data["skipped"]) == (1, 0)
