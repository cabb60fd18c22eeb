import pytest

from skillweave.relations.rules import Form, ToolEntry, read_entry


@pytest.mark.parametrize(
    ("text", "entry"),
    [
        ("Read", ToolEntry("Read")),
        (" Read ", ToolEntry("Read")),
        ("mcp__github__*", ToolEntry("mcp__github__*")),
        ("Bash(git:*)", ToolEntry("Bash", Form.PREFIX, "git")),
        ("Bash(git push:*)", ToolEntry("Bash", Form.PREFIX, "git push")),
        ("Bash(ls *)", ToolEntry("Bash", Form.PREFIX, "ls")),
        ("Bash(*)", ToolEntry("Bash", Form.PREFIX, "")),
        ("Bash(:*)", ToolEntry("Bash", Form.PREFIX, "")),
        ("Bash(git status)", ToolEntry("Bash", Form.EXACT, "git status")),
        ("Bash(echo (hi))", ToolEntry("Bash", Form.EXACT, "echo (hi)")),
    ],
)
def test_the_four_patterns_are_read(text: str, entry: ToolEntry) -> None:
    assert read_entry(text) == entry


@pytest.mark.parametrize("text", ["Bash(git:*", "Bash()", "Bash( )", "(git:*)", "", "mcp__*__read", "mcp__*(x)"])
def test_what_cannot_be_read_is_broken_and_never_an_error(text: str) -> None:
    assert read_entry(text).form is Form.BROKEN


def test_a_star_stands_for_all_names_that_begin_so() -> None:
    entry = read_entry("mcp__github__*")
    assert [entry.names(name) for name in ("mcp__github__search", "mcp__gitlab__search", "Read")] == [
        True,
        False,
        False,
    ]


def test_a_name_is_about_that_tool_alone() -> None:
    assert [read_entry("Read").names(name) for name in ("Read", "read", "ReadAll")] == [True, False, False]
