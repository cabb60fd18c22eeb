import pytest

from skillweave.compose.entries import covers, narrow
from skillweave.relations.rules import read_entry


@pytest.mark.parametrize(
    ("wide", "entry", "covered"),
    [
        ("Bash", "Bash", True),
        ("Bash", "Bash(git:*)", True),
        ("Bash(git:*)", "Bash", False),
        ("Bash(git:*)", "Bash(git push:*)", True),
        ("Bash(git push:*)", "Bash(git:*)", False),
        ("Bash(git:*)", "Bash(gitleaks:*)", False),
        ("Bash(git:*)", "Bash(git status)", True),
        ("Bash(git status)", "Bash(git status:*)", False),
        ("Bash(git status)", "Bash(git status)", True),
        ("Bash(*)", "Bash(git:*)", True),
        ("Bash(docs/:*)", "Bash(docs/a/:*)", True),
        ("Bash(docs/:*)", "Bash(docs/a:*)", False),
        ("Bash(docs/:*)", "Bash(docs/../a/:*)", False),
        ("Bash(docs/:*)", "Bash(docs/a)", True),
        ("mcp__x__*", "mcp__x__a", True),
        ("mcp__*", "mcp__x__*", True),
        ("mcp__x__a", "mcp__x__*", False),
        ("read", "write", False),
        ("Bash(", "Bash(", False),
        ("Bash", "Bash(", False),
    ],
)
def test_an_entry_covers_what_it_surely_permits(wide: str, entry: str, covered: bool) -> None:
    assert covers(read_entry(wide), read_entry(entry)) is covered


def test_of_two_entries_the_narrower_is_kept_whichever_list_it_stands_in() -> None:
    assert narrow(["Bash", "read"], ["read(docs/:*)", "Bash(git:*)", "write"]) == ("Bash(git:*)", "read(docs/:*)")
    assert narrow(["Bash(git push:*)"], ["Bash(git:*)"]) == ("Bash(git push:*)",)


def test_entries_of_which_none_covers_the_other_are_left_out() -> None:
    assert narrow(["Bash(git:*)", "Bash(rm x)"], ["Bash(npm:*)"]) == ()


def test_a_star_is_narrowed_to_the_tools_that_there_are() -> None:
    assert narrow(["mcp__x__*"], ["mcp__x__a", "mcp__y__a", "mcp__x__b"]) == ("mcp__x__a", "mcp__x__b")
    assert narrow(["mcp__x__a"], ["mcp__*"]) == ("mcp__x__a",)


def test_nothing_is_left_of_nothing() -> None:
    assert narrow([], ["read"]) == narrow(["read"], []) == ()


def test_each_entry_is_kept_once() -> None:
    assert narrow(["Bash", "*"], ["Bash(git:*)", "Bash(git:*)"]) == ("Bash(git:*)",)


def test_thousands_of_names_are_no_trouble() -> None:
    names = [f"tool_{number}" for number in range(5_000)]
    assert narrow(names, names[::-1]) == tuple(names)
