"""What holds for every command, ours and those of other distributions: one visit to each looks at all laws at once."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillweave.cli.app import command as whole
from skillweave.cli.app import load_command
from skillweave.cli.commands import OWN, find_guests
from skillweave.cli.config_file import read_file
from skillweave.cli.configuration import keys_of, problems_of
from skillweave.cli.schema import published, shapes
from tests.cli.published import validator

COMMANDS = {**OWN, **find_guests().taken}
URLS = (
    "nowhere://me:hush@host/0?password=hush",
    "redis://me:hush@127.0.0.1:9/0",
    "postgresql://me:hush@127.0.0.1:9/db?sslpassword=hush",
    "sqlite:///nowhere/state.db?password=hush",
    "postgresql://me:hush hush@127.0.0.1:9/db",
    "postgresql://me:hush@127.0.0.1:port/db",
)
ARGUMENTS = {"message": "tea", "file": "support-triage", "decisions": "d.json", "query": "tea"}
NEVER_CONFIGURED = ("doctor",)
ON_STANDARD_INPUT = ("mcp",)
"""Speak a protocol there, and say nothing to people; their own tests start them."""


def visits() -> Iterator[tuple[tuple[str, ...], Any]]:
    """The words of each command and of each group, with the command as typer runs it."""
    for name, spec in COMMANDS.items():
        made: Any = load_command(name, spec)
        yield (name,), made
        yield from (((name, inner), one) for inner, one in getattr(made, "commands", {}).items())


VISITS = list(visits())
SINGLE = [(words, command) for words, command in VISITS if not hasattr(command, "commands")]


def needed(command: Any) -> list[str]:
    """What the command line must hold."""
    return [
        word
        for one in command.params
        if one.required
        for word in ((ARGUMENTS.get(one.name, "c1"),) if one.param_type_name == "argument" else (one.opts[0], "c1"))
    ]


@pytest.mark.parametrize(("words", "command"), VISITS, ids=[" ".join(words) for words, _ in VISITS])
def test_a_command_explains_itself(cli: Any, words: tuple[str, ...], command: Any) -> None:
    done = cli(*words, "--help")
    typed = " ".join(("skillweave", *words))
    assert (done.code, done.err) == (0, ""), "the help is printed"
    assert done.out.startswith(f"Usage: {typed} [OPTIONS]"), "the help begins with the usage"
    if len(words) == 1:
        assert command.help.splitlines()[0] == COMMANDS[words[0]].promise, "it keeps the promise of the list"
    if hasattr(command, "commands"):
        assert "..." not in done.out.split("Commands:")[1].split("Examples:")[0], "no promise in the list is cut"
    else:
        assert done.out.strip().splitlines()[-1].startswith(f"  {typed}"), "the help ends with an example"


def test_the_list_of_commands_is_complete_and_its_promises_are_not_cut(cli: Any) -> None:
    promises = cli("--help").out.split("Commands:")[1].split("\n\n")[0]
    assert [line.split()[0] for line in promises.strip().splitlines()] == list(COMMANDS)
    assert "..." not in promises


def test_every_command_has_a_schema_that_explains_all_of_its_objects() -> None:
    assert shapes().keys() - {"error", "check-edit"} == {"-".join(words) for words, _ in SINGLE}
    for name in shapes():
        validator(name)
        for kind, definition in published(name).get("$defs", {}).items():
            assert definition["description"], f"{name}: {kind}"


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_that_can_be_configured_is_checked_with_its_place(tmp_path: Path, name: str) -> None:
    program = whole()
    program.list_commands(None)
    keys = keys_of(load_command(name, COMMANDS[name]))
    file = tmp_path / "skillweave.toml"
    file.write_text("\n".join([f"[command.{name}]", *(f"{key} = {{}}" for key in keys)]), encoding="utf-8")
    found = list(problems_of(read_file(file), program, {name}))
    assert len(found) == len(keys)
    for line, (key, problem) in enumerate(zip(keys, found, strict=True), start=2):
        place = f"{file}:{line}" if key != name else f"{file}"  # the table has that name too
        assert problem.startswith(f"{place}: {key!r} is wrong: '{{}}' is not ")


@pytest.mark.parametrize(("words", "command"), SINGLE, ids=[" ".join(words) for words, _ in SINGLE])
def test_a_command_looks_at_its_configuration_and_shows_no_password(
    cli: Any, small: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], command: Any
) -> None:
    monkeypatch.chdir(small.parent)
    given = [*words, *needed(command)]
    options = {spelling for one in command.params for spelling in one.opts}
    places = set() if words[0] in ON_STANDARD_INPUT else {"--ledger", "--skills", "--store"}
    for option in sorted(places & options):
        for place, url in enumerate(URLS):
            done = cli(*given, option, url, *(("--json",) if place % 2 else ()))
            assert "hush" not in done.out + done.err, f"no password is shown: {option} {url}"
            assert done.out or done.err, f"no command is silent: {option} {url}"
    if keys_of(command) and words[0] not in NEVER_CONFIGURED:
        Path("skillweave.toml").write_text(f"[command.{words[0]}]\nno-such-key = 1\n", encoding="utf-8")
        done = cli(*given)
        assert (done.code, done.out) == (1, ""), "a configuration with a mistake stops it"
        assert done.err.startswith("skillweave: skillweave.toml:2: the command"), "and the place is named"
