from typing import Any

import pytest

from skillweave.cli import known_commands, load_command

COMMANDS = [
    (),
    ("weave",),
    ("chat",),
    ("match",),
    ("catalog",),
    ("show",),
    ("why",),
    ("check",),
    ("compose",),
    ("spawn",),
    ("validate",),
    ("ledger",),
    ("ledger", "list"),
    ("ledger", "show"),
    ("ledger", "evict"),
    ("ledger", "clear"),
    ("ledger", "disengage"),
    ("ledger", "unload"),
    ("ledger", "approve"),
    ("ledger", "reject"),
    ("ledger", "reconsider"),
    ("ledger", "consent"),
    ("entities",),
    ("entities", "load"),
    ("entities", "export"),
    ("entities", "show"),
    ("entities", "near"),
    ("entities", "context"),
    ("graph",),
    ("graph", "next"),
    ("graph", "reachable"),
    ("graph", "check"),
    ("graph", "simulate"),
    ("graph", "show"),
    ("graph", "draw"),
    ("graph", "svg"),
    ("eval",),
    ("eval", "triggers"),
    ("eval", "ranking"),
    ("eval", "tokens"),
    ("eval", "graph"),
    ("eval", "fit"),
    ("eval", "live"),
    ("demo",),
    ("init",),
    ("add",),
    ("list",),
    ("remove",),
    ("seed",),
    ("publish",),
    ("versions",),
    ("rollback",),
    ("unpublish",),
    ("migrate",),
    ("serve",),
    ("keys",),
    ("keys", "new"),
    ("keys", "list"),
    ("keys", "revoke"),
    ("approvals",),
    ("approvals", "verify"),
    ("approvals", "log"),
    ("doctor",),
    ("schema",),
]
GROUPS = [("ledger",), ("entities",), ("graph",), ("eval",), ("keys",), ("approvals",)]


@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_every_command_explains_itself(cli: Any, command: tuple[str, ...]) -> None:
    done = cli(*command, "--help")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith(f"Usage: {' '.join(('skillweave', *command))} [OPTIONS]")


@pytest.mark.parametrize("command", [command for command in COMMANDS if command not in GROUPS], ids=" ".join)
def test_every_command_ends_with_examples(cli: Any, command: tuple[str, ...]) -> None:
    last = cli(*command, "--help").out.strip().splitlines()[-1]
    assert last.startswith(f"  {' '.join(('skillweave', *command))}")


def test_the_list_of_commands_is_complete_and_its_promises_are_not_cut(cli: Any) -> None:
    promises = cli("--help").out.split("Commands:")[1].split("Examples:")[0]
    names = [line.split()[0] for line in promises.strip().splitlines()]
    assert sorted(names) == sorted({command[0] for command in COMMANDS if command})
    assert "..." not in promises


@pytest.mark.parametrize("group", GROUPS, ids=" ".join)
def test_a_group_says_the_whole_promise_of_each_command(cli: Any, group: tuple[str, ...]) -> None:
    promises = cli(*group, "--help").out.split("Commands:")[1].split("Examples:")[0]
    assert "..." not in promises


def test_help_is_as_wide_as_the_variable_columns_says(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    lines = cli("weave", "--help").out.splitlines()
    assert 120 < max(map(len, lines)) < 140


@pytest.mark.parametrize("name", known_commands())
def test_a_command_keeps_the_promise_that_the_list_makes_for_it(name: str) -> None:
    spec = known_commands()[name]
    assert load_command(name, spec).help.splitlines()[0] == spec.promise


def test_options_stand_in_groups(cli: Any) -> None:
    text = cli("weave", "--help").out
    groups = [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert groups == [
        "Arguments",
        "Skills",
        "The turn",
        "Entities",
        "Selection and budget",
        "Conversation",
        "Output",
        "Examples",
    ]


def test_without_a_command_the_help_is_printed(cli: Any) -> None:
    assert cli() == cli("--help")
