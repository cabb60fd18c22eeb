from typing import Any

import pytest


def test_help_is_as_wide_as_the_variable_columns_says(cli: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")
    lines = cli("weave", "--help").out.splitlines()
    assert 120 < max(map(len, lines)) < 140


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
