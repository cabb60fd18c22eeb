import pytest

from skillweave.compose.shell import LONGEST_COMMAND, commands_in, real_name, words_in

T = "timeout -k 5 10 nice -n 3 rm"
UNREADABLE = [
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
    "(rm x)",
    "{ rm x",
    "{rm,-rf,x}",
    "$HOME/rm x",
    "'rm",
    '"rm" "x',
    '"$(rm)"',
    "cat <<EOF",
    "rm\\",
]


@pytest.mark.parametrize("text", UNREADABLE)
def test_what_is_no_single_plain_command_has_no_words(text: str) -> None:
    assert words_in(text) is None
    assert commands_in(text) is None


def test_a_command_that_is_too_long_is_not_read() -> None:
    assert commands_in("ls " + "x" * LONGEST_COMMAND) is None
    assert words_in("ls " + "x" * (LONGEST_COMMAND - 3)) is not None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("git log --oneline", ("git", "log", "--oneline")),
        ("\"rm\" -r'f' \\x", ("rm", "-rf", "x")),
        ("grüße 日本 😀", ("grüße", "日本", "😀")),
        ("echo 'a; b' \"(c)\"", ("echo", "a; b", "(c)")),
        ("ls '*' *.md", ("ls", "*", "*.md")),
        ("", ()),
    ],
)
def test_words_are_those_of_a_shell(text: str, words: tuple[str, ...]) -> None:
    assert words_in(text) == words


@pytest.mark.parametrize(
    "text",
    [
        "bash -c 'rm x'",
        "sh -ec 'rm x'",
        "python3.11 -Ic 'import os'",
        "perl -pe 1",
        "node --eval=1",
        "env -S 'rm x'",
        "sudo -s rm",
        "sudo --unheard-of rm x",
        "eval rm x",
        ". ./x.sh",
        "find . -exec rm x",
        "ssh host rm x",
        "awk 'BEGIN { system(1) }'",
        "if rm x",
        "/bin/r? x",
        "env /bin/r[m] x",
        "env -* rm",
        "'' rm",
    ],
)
def test_which_programs_start_is_not_guessed(text: str) -> None:
    assert commands_in(text) is None


@pytest.mark.parametrize(
    ("text", "commands"),
    [
        ("rm x", [("rm", "x")]),
        ("env -i A=1 rm x", [("env", "-i", "A=1", "rm", "x"), ("A=1", "rm", "x"), ("rm", "x")]),
        ("sudo -nu me -- rm x", [("sudo", "-nu", "me", "--", "rm", "x"), ("rm", "x")]),
        (
            "timeout -k 5 10 nice -n 3 rm",
            [("timeout", "-k", "5", "10", "nice", "-n", "3", "rm"), ("nice", "-n", "3", "rm"), ("rm",)],
        ),
        ("A=1 rm x", [("A=1", "rm", "x"), ("rm", "x")]),
        ("xargs --max-args=1 rm", [("xargs", "--max-args=1", "rm"), ("rm",)]),
        ("python -m build --wheel", [("python", "-m", "build", "--wheel")]),
        ("A=1", [("A=1",)]),
        ("", []),
    ],
)
def test_what_a_command_starts_is_told_outermost_first(text: str, commands: list[tuple[str, ...]]) -> None:
    assert commands_in(text) == tuple(commands)


@pytest.mark.parametrize("program", ["rm", "/bin/rm", "./RM", "C:\\bin\\rm.EXE", "../bin/rm"])
def test_a_program_is_known_by_its_own_name(program: str) -> None:
    assert real_name(program) == "rm"
