"""Configuration as it reaches commands: every command takes it in the same way, and flags win."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Write = Callable[[str], Path]


@pytest.fixture
def project(tmp_path: Path, small: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with two skills, and the folder in it where somebody works."""
    (tmp_path / "work").mkdir()
    small.rename(tmp_path / "team")
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path


@pytest.fixture
def configure(project: Path) -> Write:
    def write(text: str) -> Path:
        path = project / "skillweave.toml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_every_command_finds_the_configured_skills(cli: Any, configure: Write) -> None:
    configure('skills = ["team"]\n')
    for words in (
        ("check",),
        ("show",),
        ("show", "tea"),
        ("match", "tea"),
        ("weave", "tea"),
        ("compose", "tea", "--validate"),
        ("compose", "tea"),
    ):
        done = cli(*words)
        assert (done.code, done.err) == (0, ""), words


def test_a_variable_wins_over_the_file_and_a_flag_over_both(
    cli: Any, configure: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure('skills = ["team"]\nbudget = 400\n')

    def left(*flags: object) -> int:
        tokens = cli("weave", "nothing", "--catalog", "never", "--json", *flags).data["tokens"]
        return int(tokens["left"])

    by_file = left()
    monkeypatch.setenv("SKILLWEAVE_BUDGET", "300")
    by_variable = left()
    by_flag = left("--budget", 200)
    assert by_file > by_variable > by_flag


def test_a_table_of_a_command_wins_for_that_command(cli: Any, configure: Write) -> None:
    configure('skills = ["nowhere"]\n[command.check]\nskills = ["team"]\n')
    assert cli("check").code == 0
    assert "nowhere" in cli("show").err


def test_all_commands_of_a_group_share_a_table(cli: Any, configure: Write, project: Path) -> None:
    configure('skills = ["team"]\n[command.weave]\nledger = "kept.db"\n[command.ledger]\nledger = "kept.db"\n')
    assert cli("weave", "tea", "--conversation", "c1").code == 0
    assert (project / "kept.db").exists()
    assert cli("ledger", "show", "c1").code == 0
    assert cli("ledger", "clear", "c1").code == 0


def test_an_option_of_one_command_only_has_its_place_in_a_table(cli: Any, configure: Write) -> None:
    configure('skills = ["team"]\n[command.compose]\nmode = "intersection"\n')
    assert cli("compose", "--help").code == cli("compose", "tea").code == 0
    configure('skills = ["team"]\nmode = "intersection"\n')
    assert "skillweave.toml:2: there is no option 'mode' to configure" in cli("show").err


def test_the_flag_strict_can_be_set_by_a_file_and_taken_back_by_a_variable(
    cli: Any, configure: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure('skills = ["team"]\nstrict = true\n')
    assert cli("check").code == 1
    monkeypatch.setenv("SKILLWEAVE_STRICT", "no")
    assert cli("check").code == 0


def test_lists_in_variables_are_paths(cli: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLWEAVE_SKILLS", os.pathsep.join(["../team/tea", "../team/coffee"]))
    assert cli("check").out.startswith("2 skills loaded")


def test_a_pyproject_configures_too(cli: Any, project: Path) -> None:
    (project / "pyproject.toml").write_text("[tool.skillweave]\nskills = ['team']\n", encoding="utf-8")
    assert cli("check").code == 0


def test_keys_may_have_underscores(cli: Any, configure: Write) -> None:
    configure('skills = ["team"]\nmax_skills = 0\n')
    assert cli("match", "tea", "--json").data["chosen"] == []


WRONG = [
    ("skils = ['team']", "../skillweave.toml:1: there is no option 'skils' to configure; did you mean 'skills'?"),
    (
        "\nconversation = 'c1'",
        "../skillweave.toml:2: 'conversation' cannot be configured; give --conversation with the",
    ),
    ("json = true", "../skillweave.toml:1: 'json' cannot be configured; give --json with the command"),
    ("budget = '9x'", "../skillweave.toml:1: 'budget' is wrong: '9x' is not a whole number of at least 0; change it"),
    ("budget = 1.5", "../skillweave.toml:1: 'budget' is wrong: '1.5' is not a whole number of at least 0; change it"),
    ("budget = true", "../skillweave.toml:1: 'budget' is wrong: 'True' is not a text or a number; change it there"),
    ("budget = -1", "../skillweave.toml:1: 'budget' is wrong: '-1' is not a whole number of at least 0; change it"),
    ("catalog = 'no'", "../skillweave.toml:1: 'catalog' is wrong: 'no' is not one of 'auto', 'always', 'fallback'"),
    (
        "[weave]\nbudget = 1",
        "../skillweave.toml:1: there is no table 'weave'; tables are called [command.weave], after a command",
    ),
    ("[command.weve]", "../skillweave.toml:1: there is no command 'weve' to configure; did you mean 'weave'?"),
    ("[command]\nweave = 3", "../skillweave.toml:2: 'weave' must be a table; write [command.weave], and below it"),
    ("command = 3", "../skillweave.toml:1: 'command' holds the tables of commands; write for example [command.weave]"),
    ("[skills]", "../skillweave.toml:1: 'skills' is wrong: '{}' is not a list of texts"),
    ("[team]", "../skillweave.toml:1: there is no table 'team'; tables are called [command.weave], after a command"),
    ("[command.weave]\nall = true", "../skillweave.toml:2: the command weave has no option 'all' to configure; "),
    (
        "budget = ",
        "../skillweave.toml:1: this is no TOML: invalid value; mend it, or leave the file out with --no-config",
    ),
]


@pytest.mark.parametrize(("text", "complaint"), WRONG, ids=[text.strip()[:24] for text, _ in WRONG])
def test_what_is_wrong_in_the_file_is_one_line_with_place_key_and_remedy(
    cli: Any, configure: Write, text: str, complaint: str
) -> None:
    shown = complaint.replace("../skillweave.toml", str(configure(text)))
    done = cli("weave", "tea", "--json")
    assert done.code == 1
    assert done.err.startswith(f"skillweave: {shown}")
    assert done.err.count("\n") == 1
    assert done.data["error"]["type"] == "InvalidConfiguration"


def test_a_wrong_variable_is_named(cli: Any, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLWEAVE_MAX_SKILLS", "many")
    done = cli("weave", "tea", "--skills", project / "team")
    assert done.code == 1
    assert done.err.startswith("skillweave: SKILLWEAVE_MAX_SKILLS: 'max-skills' is wrong: 'many' is not a whole")


def test_a_variable_that_is_neither_yes_nor_no_is_said_so(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILLWEAVE_STRICT", "maybe")
    done = cli("check")
    assert (
        done.err
        == "skillweave: SKILLWEAVE_STRICT: 'strict' is wrong: 'maybe' is not a valid boolean; change it there\n"
    )


def test_an_unknown_variable_is_a_note_and_the_command_goes_on(
    cli: Any, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILLWEAVE_SKILS", "x")
    note = "skillweave: SKILLWEAVE_SKILS is ignored: it configures nothing; did you mean SKILLWEAVE_SKILLS?\n"
    done = cli("check", "--skills", project / "team")
    assert (done.code, done.err) == (0, note)
    failed = cli("check")
    assert failed.code == 1
    assert failed.err.endswith(note)


def test_an_error_about_a_configured_value_says_where_it_stands(cli: Any, configure: Write) -> None:
    path = configure('skills = ["nowhere"]\n')
    done = cli("check")
    assert done.code == 1
    assert done.err == (
        f"skillweave: skill folder '{path.parent}/nowhere' does not exist; create it, or name another one\n"
        f"skillweave: 'skills' is set in {path}:1\n"
    )


def test_an_error_about_something_else_says_nothing_of_the_configuration(cli: Any, configure: Write) -> None:
    configure('skills = ["team"]\nplacement = "history"\nmatcher = ["lexcal"]\n')
    assert cli("show", "water").err.count("\n") == 1
    assert "'matcher' is set in" in cli("match", "tea").err


def test_flags_that_are_wrong_stay_usage_errors(cli: Any, configure: Write) -> None:
    configure("budget = 5\n")
    assert cli("weave", "x", "--budget", "-1").code == 2


def test_another_file_can_be_named(cli: Any, configure: Write, project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    configure("skills = ['nowhere']\n")
    (project / "other.toml").write_text("skills = ['team']\n", encoding="utf-8")
    assert cli("--config", project / "other.toml", "check").code == 0
    monkeypatch.setenv("SKILLWEAVE_CONFIG", "../other.toml")
    assert cli("check").code == 0
    missing = cli("--config", "none.toml", "check")
    assert (missing.code, missing.err.count("\n")) == (1, 1)
    assert "configuration none.toml cannot be read: No such file or directory" in missing.err


def test_no_file_is_read_where_none_is_wanted(cli: Any, configure: Write) -> None:
    configure("this is no TOML")
    assert "no skills are named" in cli("--no-config", "check").err
    both = cli("--no-config", "--config", "x", "check")
    assert both.code == 2
    assert "give one of them" in both.err


@pytest.mark.parametrize("words", [("--help",), ("weave", "--help"), ("ledger", "show", "--help"), ("--version",), ()])
def test_help_reads_no_file_and_says_the_same_everywhere(
    cli: Any, configure: Write, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    plain = cli(*words)
    configure("this is no TOML")
    monkeypatch.setenv("SKILLWEAVE_BUDGET", "7")
    monkeypatch.setenv("SKILLWEAVE_NONSENSE", "7")
    assert cli(*words) == plain
    assert plain.code == 0


def test_a_folder_that_is_gone_configures_nothing(process: Any, small: Path, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    before = Path.cwd()
    os.chdir(gone)
    try:
        gone.rmdir()
        done = process("check", "--skills", small, PYTHONSAFEPATH="1")
    finally:
        os.chdir(before)
    assert (done.code, done.err) == (0, "")
