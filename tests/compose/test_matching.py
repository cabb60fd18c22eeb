import pytest

from skillweave.compose import is_plain, matched_text, permits, prohibits
from skillweave.relations import read_entry

NOT_PLAIN = [
    "a; b",
    "a | b",
    "a & b",
    "a `b`",
    "a $(b)",
    "a\nb",
    "a\tb",
    "a\x00b",
    "a <(b)",
    "a > b",
    "a\u200bb",
    "a\ud800",
]


def _permits(entry: str, text: str | None, tool: str = "Bash") -> bool:
    return permits(read_entry(entry), tool, text)


def _prohibits(entry: str, text: str | None, tool: str = "Bash") -> bool:
    return prohibits(read_entry(entry), tool, text)


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_operators_and_control_characters_are_not_plain(text: str) -> None:
    assert not is_plain(text)


@pytest.mark.parametrize("text", ["", "git log --oneline", "echo $HOME (x) [y] {z} * ?", "grüße 日本 😀"])
def test_ordinary_text_is_plain(text: str) -> None:
    assert is_plain(text)


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_what_is_not_plain_never_passes_a_pattern_on_arguments_and_always_meets_a_forbidding_one(
    text: str,
) -> None:
    assert not _permits("Bash(a:*)", text)
    assert not _permits(f"Bash({text})", text)
    assert not _permits("Bash(*)", text)
    assert _prohibits("Bash(zzz:*)", text)
    assert _prohibits("Bash(zzz)", text)


@pytest.mark.parametrize("text", NOT_PLAIN)
def test_a_bare_name_permits_whatever_the_text_is(text: str) -> None:
    assert _permits("Bash", text)


def test_a_call_without_the_matched_text_passes_no_pattern_and_meets_every_forbidding_one() -> None:
    assert not _permits("Bash(git:*)", None)
    assert _prohibits("Bash(git:*)", None)


@pytest.mark.parametrize(
    ("entry", "text", "passes"),
    [
        ("Bash(git:*)", "git", True),
        ("Bash(git:*)", "git status", True),
        ("Bash(git:*)", "  git status ", True),
        ("Bash(git:*)", "gitleaks", False),
        ("Bash(git:*)", "git-evil", False),
        ("Bash(git:*)", "sudo git", False),
        ("Bash(git status)", "git status", True),
        ("Bash(git status)", "git status -s", False),
        ("Bash(*)", "anything at all", True),
        ("Bash(./scripts/:*)", "./scripts/build", True),
        ("Bash(./scripts/:*)", "./scripts/../../bin/sh", False),
        ("Bash(https://a.example:*)", "https://a.example.evil.test", False),
        ("Bash(git", "git", False),
        ("Read", "git", False),
    ],
)
def test_an_allowing_entry_covers_what_it_says_and_no_more(entry: str, text: str, passes: bool) -> None:
    assert _permits(entry, text) is passes


@pytest.mark.parametrize(
    ("entry", "text", "meets"),
    [
        ("Bash", "ls", True),
        ("Bash(rm:*)", "rm -rf x", True),
        ("Bash(rm -rf:*)", "rm  -rf  x", True),
        ("Bash(python:*)", "python3 -c 1", True),
        ("Bash(rm:*)", "ls rm", False),
        ("Bash(rm x)", " rm  x ", True),
        ("Bash(rm x)", "rm xy", False),
        ("Bash(rm * now)", "rm all now", True),
        ("Bash(rm * now)", "ls", False),
        ("Bash(/etc/:*)", "/tmp/../etc/passwd", True),
        ("Bash(/etc/:*)", "/tmp/x", False),
        ("Bash(rm", "ls", True),
        ("Read", "ls", False),
    ],
)
def test_a_forbidding_entry_covers_what_it_says_and_what_is_in_doubt(entry: str, text: str, meets: bool) -> None:
    assert _prohibits(entry, text) is meets


def test_the_matched_text_is_that_of_the_named_argument() -> None:
    arguments = {"command": "ls", "path": "x"}
    assert (matched_text(arguments), matched_text(arguments, "path")) == ("ls", "x")


@pytest.mark.parametrize("arguments", [None, {}, {"command": ["rm", "x"]}, {"command": None}])
def test_no_text_to_match_is_none(arguments: dict[str, object] | None) -> None:
    assert matched_text(arguments) is None


@pytest.mark.parametrize("arguments", ['{"command": "ls"}', ["ls"], 5, True])
def test_arguments_that_are_no_mapping_have_no_text_so_that_rules_judge_them_to_the_safe_side(
    arguments: object,
) -> None:
    assert matched_text(arguments) is None  # type: ignore[arg-type]
