from pathlib import Path
from typing import Any

import pytest

import skillweave


def test_the_version_is_the_packages(cli: Any) -> None:
    assert cli("--version").out == f"skillweave {skillweave.__version__}\n"


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("weave",), "missing argument 'MESSAGE'; `skillweave weave --help` shows how it is used"),
        (("wave", "x"), "no such command 'wave'. Did you mean 'weave'? `skillweave --help` shows how it is used"),
        (("weave", "x", "--nonsense"), "no such option: --nonsense; `skillweave weave --help` shows how it is used"),
        (("ledger",), "missing command; `skillweave ledger --help` shows how it is used"),
    ],
)
def test_a_usage_error_is_one_line_and_code_2(cli: Any, words: tuple[str, ...], line: str) -> None:
    done = cli(*words)
    assert (done.code, done.out) == (2, "")
    assert done.err == f"skillweave: {line}\n"


@pytest.mark.parametrize("option", [("--role", "bot"), ("--budget", "-1"), ("--memory", "x"), ("--catalog", "no")])
def test_a_value_that_cannot_be_is_a_usage_error(cli: Any, option: tuple[str, str]) -> None:
    done = cli("weave", "x", *option)
    assert done.code == 2
    assert done.err.startswith(f"skillweave: invalid value for '{option[0]}': ")
    assert done.err.count("\n") == 1


def test_with_json_an_error_is_json_too(cli: Any, small: Path) -> None:
    done = cli("show", "te", "--skills", small, "--json")
    assert done.code == 1
    assert done.data == {
        "error": {
            "type": "SkillNotFound",
            "message": "skill 'te' is not in the registry; did you mean 'tea'?",
            "exit_code": 1,
        }
    }
    assert done.err == "skillweave: skill 'te' is not in the registry; did you mean 'tea'?\n"


def test_with_json_a_usage_error_is_json_too(cli: Any) -> None:
    done = cli("weave", "--json")
    assert done.code == 2
    assert done.data["error"]["type"] == "UsageError"


def test_a_message_is_not_taken_for_the_option(cli: Any, small: Path) -> None:
    assert cli("match", "--skills", small, "--", "--json").out.startswith("No skill is about this message.\n")


@pytest.mark.parametrize(
    "words",
    [
        ("show", "water"),
        ("compose", "water"),
        ("compose", "tea", "water"),
    ],
)
def test_an_unknown_skill_is_the_users_mistake_in_every_command(cli: Any, small: Path, words: tuple[str, ...]) -> None:
    done = cli(*words, "--skills", small)
    assert (done.code, done.out) == (1, "")
    remedy = "there are 2 skills; list them with `skillweave show`"
    assert done.err == f"skillweave: skill 'water' is not in the registry; {remedy}\n"


def test_an_unknown_marker_is_a_decision(cli: Any, small: Path) -> None:
    done = cli("weave", "--skills", small, "--role", "assistant", "SKILL_SELECT:te", "--json")
    assert done.code == 0
    (decision,) = done.data["decisions"]
    assert (decision["skill_id"], decision["outcome"]) == ("te", "unknown")


WITH_SKILLS = [
    ("weave", "x"),
    ("match", "x"),
    ("show",),
    ("show", "tea"),
    ("check",),
    ("compose", "tea"),
    ("compose", "tea", "--validate"),
]


@pytest.mark.parametrize("words", WITH_SKILLS, ids=lambda words: words[0])
def test_a_missing_folder_is_one_line_in_every_command(cli: Any, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = cli(*words, "--skills", tmp_path / "none")
    assert (done.code, done.out) == (1, "")
    assert done.err == f"skillweave: skill folder '{tmp_path}/none' does not exist; create it, or name another one\n"


@pytest.mark.parametrize("words", WITH_SKILLS, ids=lambda words: words[0])
def test_a_file_in_place_of_a_folder_is_one_line_in_every_command(
    cli: Any, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (tmp_path / "notes.txt").write_text("x", encoding="utf-8")
    done = cli(*words, "--skills", tmp_path / "notes.txt")
    assert (done.code, done.out) == (1, "")
    assert "notes.txt' is not a folder of skills; name the folder of a SKILL.md" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize(
    "words", [("weave", "x"), ("match", "x"), ("show",), ("compose", "tea", "--validate")], ids=" ".join
)
def test_an_empty_folder_is_said_in_one_line(cli: Any, tmp_path: Path, words: tuple[str, ...]) -> None:
    done = cli(*words, "--skills", tmp_path)
    assert done.code == (1 if words[0] == "compose" else 0)
    assert done.err.startswith(f"skillweave: '{tmp_path}' holds no skill: ")
    assert done.err.count("\n") == 1


def test_an_unknown_kind_of_ledger_is_the_users_mistake(cli: Any, small: Path) -> None:
    done = cli("weave", "--skills", small, "x", "--ledger", "nowhere://host")
    assert done.code == 1
    assert "no ledger for nowhere:// is installed; use one of memory, postgres" in done.err
