"""Tools in one text, with argument patterns."""

import pytest

from skillweave.formats.open_spec import ToolList, join_tools, split_tools


@pytest.mark.parametrize(
    ("text", "tools", "commas"),
    [
        ("", (), False),
        (" Read ", ("Read",), False),
        ("Read Write", ("Read", "Write"), False),
        ("Read, Write,", ("Read", "Write"), True),
        ("Bash(git add:*) Read", ("Bash(git add:*)", "Read"), False),
        ("Bash(a, b),Read", ("Bash(a, b)", "Read"), True),
        ("Bash(f (x) y) Read", ("Bash(f (x) y)", "Read"), False),
        ("Read\n\tWrite", ("Read", "Write"), False),
        ("Bash(git add Read", ("Bash(git", "add", "Read"), False),
        ("a) b", ("a)", "b"), False),
        ("a) (b", ("a)", "(b"), False),
    ],
)
def test_tools_are_parted_outside_parentheses(text: str, tools: tuple[str, ...], commas: bool) -> None:
    assert split_tools(text) == ToolList(tools, commas)


@pytest.mark.parametrize("tools", [("Read", "Bash(git add:*)"), ("mcp__x__y",)])
def test_tools_are_joined_by_spaces(tools: tuple[str, ...]) -> None:
    joined = join_tools(tools)

    assert joined is not None
    assert split_tools(joined).tools == tools


@pytest.mark.parametrize("tools", [("two words",), ("a,",), ("",), ("Bash(a", "b)"), ("(", "a b", ")")])
def test_tools_that_one_text_cannot_hold_are_not_joined(tools: tuple[str, ...]) -> None:
    assert join_tools(tools) is None
