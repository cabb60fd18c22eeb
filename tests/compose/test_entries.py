import pytest

from skillweave.compose.entries import inside, intersection, meet, union, without


def test_a_union_keeps_the_first_position() -> None:
    assert union([("b", "a"), ("c", "b")]) == ("b", "a", "c")


def test_an_intersection_is_what_stands_in_every_list_spelt_the_same() -> None:
    assert intersection([("b", "Bash(git:*)", "a"), ("a", "Bash", "b")]) == ("b", "a")


def test_an_intersection_of_no_lists_is_empty() -> None:
    assert intersection([]) == ()


@pytest.mark.parametrize(
    ("entries", "forbidden", "left"),
    [
        (("Read", "Bash"), (), ("Read", "Bash")),
        (("Read", "Bash(git:*)", "Bash"), ("Bash",), ("Read",)),
        (("Bash(git:*)", "Bash"), ("Bash(git:*)",), ("Bash",)),
        (("Bash(ls:*)",), ("Bash(ls *)",), ()),
        (("Bash",), ("Bash(rm:*)",), ("Bash",)),
        (("mcp__x__a", "mcp__x__*", "mcp__y__a"), ("mcp__x__*",), ("mcp__y__a",)),
        (("mcp__x__*",), ("mcp__x__a",), ("mcp__x__*",)),
        (("Bash(git:*)",), ("Bash(rm",), ()),
    ],
    ids=["nothing", "bare name", "same entry", "same meaning", "argument only", "names", "one of them", "broken"],
)
def test_forbidden_entries_are_taken_away_whole(
    entries: tuple[str, ...], forbidden: tuple[str, ...], left: tuple[str, ...]
) -> None:
    assert without(entries, forbidden) == left


def test_inside_a_limit_is_the_same_entry_or_a_part_of_a_bare_name() -> None:
    assert inside(("Bash(git:*)", "Read", "Write"), ("Bash", "Read")) == ("Bash(git:*)", "Read")


def test_a_bare_name_is_not_inside_a_rule_on_arguments() -> None:
    assert inside(("Bash",), ("Bash(git:*)",)) == ()


@pytest.mark.parametrize(
    ("entries", "limit", "left"),
    [
        (("Bash", "Read"), ("Read", "Write"), ("Read",)),
        (("Bash(git:*)",), ("Bash",), ("Bash(git:*)",)),
        (("Bash",), ("Bash(git:*)",), ("Bash(git:*)",)),
        (("mcp__x__*",), ("mcp__x__a", "Read", "mcp__x__b"), ("mcp__x__a", "mcp__x__b")),
        (("Bash(git:*)",), ("Bash(git status)",), ("Bash(git:*)",)),
    ],
    ids=["names", "narrower inside", "limit narrower", "names of a server", "two rules on arguments"],
)
def test_two_lists_meet_in_the_narrower_entries(
    entries: tuple[str, ...], limit: tuple[str, ...], left: tuple[str, ...]
) -> None:
    assert meet(entries, limit) == left
