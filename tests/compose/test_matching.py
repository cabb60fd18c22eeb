import pytest

from skillweave.compose.matching import Called, Reading, permits, prohibits, reading_of
from skillweave.relations.rules import read_entry

NOT_PLAIN = ["a; b", "a | b", "a & b", "a `b`", "a $(b)", "a\nb", "a\x00b", "a > b", "(a)", "a\u200bb", "a 'b"]


def _permits(entry: str, text: str | None, tool: str = "Bash", reading: Reading = Reading.SHELL) -> bool:
    return permits(read_entry(entry), tool, text, reading)


def _prohibits(entry: str, text: str | None, tool: str = "Bash", reading: Reading = Reading.SHELL) -> bool:
    return prohibits(read_entry(entry), tool, text, reading)


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
        ("Bash(git:*)", "git commit -m 'mend (it); all'", True),
        ("Bash(git:*)", "gitleaks", False),
        ("Bash(git:*)", "git-evil", False),
        ("Bash(git:*)", "sudo git", False),
        ("Bash(git:*)", "/tmp/git status", False),
        ("Bash(git:*)", "LD_PRELOAD=x git status", False),
        ("Bash(git status)", "git status", True),
        ("Bash(git status)", "git status -s", False),
        ("Bash(*)", "anything at all", True),
        ("Bash(*)", "bash -c 'rm x'", False),
        ("Bash(python:*)", "python -c 1", False),
        ("Bash(python -c:*)", "python -c 1", True),
        ("Bash(./scripts/:*)", "./scripts/build", True),
        ("Bash(./scripts/*)", "./scripts/build", True),
        ("Bash(./scripts/:*)", "./scripts/../../bin/sh", False),
        ("Bash(./scripts/:*)", "./scripts/'..'/../bin/sh", False),
        ("Bash(./scripts/:*)", "./scripts/.?/x", False),
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
        ("Bash(rm -rf:*)", "rm -r -v -f x", True),
        ("Bash(rm -rf:*)", "rm -r x", False),
        ("Bash(python:*)", "python3 -m x", True),
        ("Bash(rm:*)", "ls rm", False),
        ("Bash(rm x)", " rm  x ", True),
        ("Bash(rm x)", "/bin/rm 'x'", True),
        ("Bash(rm x)", "rm xy", False),
        ("Bash(rm * now)", "rm all now", True),
        ("Bash(rm * now)", "ls", False),
        ("Bash(/etc/:*)", "/tmp/../etc/passwd", True),
        ("Bash(/etc/:*)", "/tmp/x", False),
        ("Bash(cat /etc/:*)", "cat -n //etc/./passwd", True),
        ("Bash(cat /etc/:*)", "cat notes.md", False),
        ("Bash(git push:*)", "git -C d --no-pager push origin", True),
        ("Bash(git push:*)", "git commit -m push", False),
        ("Bash(rm", "ls", True),
        ("Read", "ls", False),
    ],
)
def test_a_forbidding_entry_covers_what_it_says_and_what_is_in_doubt(entry: str, text: str, meets: bool) -> None:
    assert _prohibits(entry, text) is meets


@pytest.mark.parametrize(
    "text",
    [
        "(rm -rf /d)",
        '"rm" -rf /d',
        "\\rm -rf /d",
        "r''m -rf /d",
        "env rm -rf /d",
        "/bin/rm -rf /d",
        "FOO=1 rm -rf /d",
        "sudo -u root -- rm -rf /d",
        "nohup nice -n 5 /usr/bin/rm -rf /d",
        "command rm -rf /d",
        "exec -a x rm -rf /d",
        "timeout 5 rm -rf /d",
        "xargs -0 rm -rf",
        "busybox rm -rf /d",
        "busybox.static rm -rf /d",
        "setpriv --reuid=0 rm -rf /d",
        "uv run rm -rf /d",
        "uv run --with x -q rm -rf /d",
        "uv --quiet run rm -rf /d",
        "uvx rm -rf /d",
        "poetry run rm -rf /d",
        "npm exec -- rm -rf /d",
        "docker run -v /:/h x rm -rf /h",
        "/lib64/ld-linux-x86-64.so.2 /bin/rm -rf /d",
        "bash -lc 'rm -rf /d'",
        "/bin/r? -rf /d",
        "$SHELL -c x",
    ],
)
def test_a_forbidden_program_is_known_however_it_is_spelt_or_started(text: str) -> None:
    assert _prohibits("Bash(rm:*)", text)


@pytest.mark.parametrize(
    "text", ["uv run pytest -q", "uv pip install x", "npm install", "docker ps", "poetry run pytest"]
)
def test_a_program_that_starts_others_is_no_other_program(text: str) -> None:
    assert not _prohibits("Bash(rm:*)", text)


@pytest.mark.parametrize(
    ("entry", "text", "passes"),
    [
        ("read(docs/:*)", "docs/a.md", True),
        ("read(docs/*)", "docs/R&D (old); it's.md", True),
        ("read(docs/**)", "docs/a/b.md", True),
        ("read(docs/*)", "docs/../secret", False),
        ("read(docs/*)", "docs/%2e%2e/secret", False),
        ("read(docs/*)", "/docs/a", False),
        ("read(docs/*)", "other/docs/a", False),
        ("read(docs/*)", "docs/a\x00", False),
        ("read(a.md)", "a.md", True),
        ("read(a.md)", "b/a.md", False),
    ],
)
def test_an_allowing_entry_covers_a_path_as_it_is_written(entry: str, text: str, passes: bool) -> None:
    assert _permits(entry, text, "read", Reading.PLAIN) is passes


@pytest.mark.parametrize(
    ("entry", "text", "meets"),
    [
        ("read(secret/*)", "secret/x", True),
        ("read(secret/*)", "./secret//x", True),
        ("read(secret/*)", "docs/../secret/x", True),
        ("read(secret/*)", "/home/me/secret/x", True),
        ("read(secret/*)", "SECRET\\x", True),
        ("read(secret/*)", "docs/R&D (old).md", False),
        ("read(secret/*)", "/home/me/docs/x", False),
        ("read(/etc/*)", "/etc/passwd", True),
        ("read(/etc/*)", "//etc/./passwd", True),
        ("read(/etc/*)", "etc", False),
        ("read(/var/log/*)", "log/x", True),
        ("read(/etc/*)", "docs/etc.md", False),
        ("read(~/.ssh/*)", "/home/me/.ssh/id", True),
        ("read(/home/me/.ssh/*)", "~/.ssh/id", True),
        ("read(a.md)", "./a.md", True),
        ("read(a.md)", "b/a.md", False),
        ("read(https://a.example/*)", "HTTPS://A.example/x", True),
        ("read(https://a.example/*)", "https://b.example/x", False),
    ],
)
def test_a_forbidding_entry_covers_a_path_whichever_way_it_is_written(entry: str, text: str, meets: bool) -> None:
    assert _prohibits(entry, text, "read", Reading.PLAIN) is meets


@pytest.mark.parametrize(
    ("parameter", "reading"),
    [
        ("path", Reading.PATH),
        ("file_path", Reading.PATH),
        ("baseUrl", Reading.ADDRESS),
        ("query", Reading.PLAIN),
        ("command", Reading.SHELL),
        ("input", Reading.SHELL),
        ("x", Reading.SHELL),
    ],
)
def test_how_a_text_is_read_is_told_by_its_parameter(parameter: str, reading: Reading) -> None:
    assert reading_of(parameter) is reading


@pytest.mark.parametrize(
    ("entry", "parameters", "named", "about"),
    [
        ("x(path=a/*)", ("path", "command"), None, "path"),
        ("x(path=a/*)", ("command",), None, None),
        ("x(path=a/*)", None, "other", "path"),
        ("x(a)", ("cmd", "mode"), "cmd", "cmd"),
        ("x(a)", ("mode",), "cmd", None),
        ("x(a)", ("mode", "command"), None, "command"),
        ("x(a)", ("cmd",), None, "cmd"),
        ("x(a)", ("cmd", "mode"), None, None),
        ("x(a)", (), None, None),
        ("x(a)", None, None, "command"),
        ("x(CI=1 make)", None, None, "command"),
    ],
)
def test_a_pattern_is_about_one_parameter_that_the_tool_has(
    entry: str, parameters: tuple[str, ...] | None, named: str | None, about: str | None
) -> None:
    assert Called("x", {}, parameters, named).parameter_of(read_entry(entry)) == about


@pytest.mark.parametrize("arguments", [None, {}, {"command": ["rm", "x"]}, {"command": None}])
def test_no_text_to_match_is_none(arguments: dict[str, object] | None) -> None:
    assert Called("Bash", arguments).text_for(read_entry("Bash(a)"))[0] is None


@pytest.mark.parametrize("arguments", ['{"command": "ls"}', ["ls"], 5, True])
def test_arguments_that_are_no_mapping_have_no_text_so_that_rules_judge_them_to_the_safe_side(
    arguments: object,
) -> None:
    assert Called("Bash", arguments).text_for(read_entry("Bash(a)"))[0] is None  # type: ignore[arg-type]
