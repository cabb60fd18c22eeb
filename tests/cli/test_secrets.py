"""No command shows a password that stands in a URL it was given, wherever it was given and however it ends."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillweave.cli import known_commands, load_command

URLS = (
    "nowhere://me:hush@host/0?password=hush",
    "redis://me:hush@127.0.0.1:9/0",
    "postgresql://me:hush@127.0.0.1:9/db?sslpassword=hush",
    "sqlite:///nowhere/state.db?password=hush",
    "postgresql://me:hush hush@127.0.0.1:9/db",
    "postgresql://me:hush@127.0.0.1:port/db",
)
ARGUMENTS = {"message": "tea", "file": "support-triage", "decisions": "d.json", "query": "tea"}


def commands() -> Iterator[tuple[str, ...]]:
    """Each command that takes a ledger, skills or a store: its words, the option, and what each argument needs."""
    for name, spec in known_commands().items():
        made: Any = load_command(name, spec)
        for inner, command in getattr(made, "commands", {"": made}).items():
            options = {spelling for one in command.params for spelling in one.opts}
            needed = [one for one in command.params if one.param_type_name == "argument" and one.required]
            given = [ARGUMENTS.get(one.name, "c1") for one in needed]
            for option in sorted({"--ledger", "--skills", "--store"} & options):
                yield tuple(filter(None, (name, inner, *given, option)))


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, small: Path) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("words", list(commands()), ids=" ".join)
@pytest.mark.parametrize("url", URLS)
def test_no_command_shows_the_password_of_a_url(cli: Any, words: tuple[str, ...], url: str) -> None:
    for more in ((), ("--json",)):
        done = cli(*words, url, *more)
        assert "hush" not in done.out + done.err
        assert done.out or done.err


@pytest.mark.parametrize("url", URLS)
def test_a_password_that_is_configured_is_not_shown(cli: Any, folder: Path, url: str) -> None:
    (folder / "skillweave.toml").write_text(f'ledger = "{url}"\n', encoding="utf-8")
    for words in (("weave", "tea"), ("weave", "tea", "--json"), ("ledger", "list"), ("why", "c1"), ("doctor",)):
        done = cli(*words)
        assert "hush" not in done.out + done.err


def test_a_password_in_a_variable_is_not_shown(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LEDGER", "SKILLS"):
        monkeypatch.setenv(f"SKILLWEAVE_{name}", URLS[0])
    for words in (("weave", "tea"), ("ledger", "list"), ("check",), ("doctor",), ("doctor", "--json")):
        done = cli(*words)
        assert "hush" not in done.out + done.err


def test_a_url_where_a_list_is_wanted_is_refused_without_its_password(cli: Any, folder: Path) -> None:
    (folder / "skillweave.toml").write_text('skills = "postgresql://me:hush@db/skills"\n', encoding="utf-8")
    for words in (("check",), ("doctor",)):
        done = cli(*words)
        assert done.code == 1
        assert "hush" not in done.out + done.err
        assert "postgresql://***@db" in done.out + done.err


def test_shell_completion_says_nothing_of_a_ledger_that_does_not_answer(process: Any) -> None:
    line = f"skillweave why --ledger '{URLS[1]}' "
    asked = {"_SKILLWEAVE_COMPLETE": "complete_bash", "COMP_WORDS": line, "COMP_CWORD": "4"}
    done = process(**asked, PATH=os.environ["PATH"])
    assert "hush" not in done.out + done.err
