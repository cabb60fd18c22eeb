"""Completion as a real bash asks for it: the script is sourced, and what it offers is read from COMPREPLY."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")

ASK = """
set -u
source "$SCRIPT"
COMP_WORDS=("$@"); COMP_CWORD=$(( $# - 1 ))
_skillweave_completion skillweave
printf '%s\\n' "${COMPREPLY[@]:-}"
"""
NO_RICH = "import sys; sys.modules['rich'] = None; from skillweave.cli import main; main()"

Complete = Callable[..., list[str]]


@pytest.fixture(scope="module")
def script(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("completion") / "skillweave.bash"
    program = Path(sys.executable).with_name("skillweave")
    environment = {**os.environ, "_SKILLWEAVE_COMPLETE": "source_bash"}
    path.write_bytes(subprocess.run([program], env=environment, capture_output=True, check=True, timeout=60).stdout)
    return path


@pytest.fixture
def complete(script: Path) -> Complete:
    """What bash offers for the last of these words; nothing may be said beside it."""

    def ask(*words: str, **environment: str) -> list[str]:
        path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        done = subprocess.run(
            ["bash", "--norc", "-c", ASK, "bash", "skillweave", *words],
            env={**os.environ, "PATH": path, "SCRIPT": str(script), **environment},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.stderr == ""
        return done.stdout.split("\n")[:-1]

    return ask


@pytest.fixture
def kept(small: Path, tmp_path: Path, cli: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with ./skills and a ledger with two conversations."""
    monkeypatch.chdir(tmp_path)
    for conversation in ("chat-1", "chat-2"):
        assert cli("weave", "Some tea", "--conversation", conversation).code == 0
    return tmp_path


def test_commands_and_the_options_of_a_command_that_is_loaded_when_used(complete: Complete) -> None:
    assert complete("we") == ["weave"]
    assert {"show", "evict", "clear", "approve", "unload"} <= set(complete("ledger", ""))
    assert {"--matcher", "--max-skills"} <= set(complete("weave", "--ma"))
    assert complete("ledger", "show", "--led") == ["--ledger"]
    assert complete("weave", "--placement", "") == ["history", "call"]


def test_skills_are_offered_from_where_they_are_named(complete: Complete, small: Path, tmp_path: Path) -> None:
    assert complete("show", "--skills", str(small), "") == ["coffee", "tea"]
    assert complete("compose", "--skills", str(small), "tea", "") == ["coffee"]
    assert complete("compose", "--skills", str(small), "t") == ["tea"]


def test_skills_are_offered_from_the_default_folder(complete: Complete, kept: Path) -> None:
    assert complete("show", "") == ["coffee", "tea"]


def test_conversations_and_skills_are_offered(complete: Complete, kept: Path) -> None:
    assert complete("why", "") == ["chat-1", "chat-2"]
    assert complete("ledger", "evict", "chat-") == ["chat-1", "chat-2"]
    assert complete("weave", "--conversation", "chat-2") == ["chat-2"]
    assert complete("ledger", "evict", "chat-1", "") == ["coffee", "tea"]
    assert complete("why", "chat-1", "") == ["coffee", "tea"]


def test_of_a_graph_its_commands_and_choices_are_offered(complete: Complete) -> None:
    assert {"next", "reachable", "check", "simulate", "show", "draw"} == set(complete("graph", ""))


def test_matchers_and_packs_are_offered(complete: Complete) -> None:
    assert {"explicit", "triggers", "lexical"} <= set(complete("match", "--matcher", ""))
    assert "coding" in complete("match", "--pack", "cod")


def test_what_a_shell_would_take_apart_or_run_is_not_offered(complete: Complete, kept: Path, cli: Any) -> None:
    for conversation in ("$(touch pwned)", "a b", "*", "`touch pwned`", "-x", "a;b", "tenant:1"):
        assert cli("weave", "Some tea", f"--conversation={conversation}").code == 0
    assert complete("why", "") == ["chat-1", "chat-2"]
    assert not (kept / "pwned").exists()


@pytest.mark.parametrize(
    "words",
    [
        ("show", "--skills", "nowhere", ""),
        ("why", "--ledger", "nothing.db", ""),
        ("why", "--ledger", "nowhere://x", ""),
        ("show", "--pack", "none", ""),
        ("wave", "--x"),
        ("weave", "--skills", "'open quote"),
    ],
)
def test_what_goes_wrong_is_never_said_in_the_middle_of_a_line(
    complete: Complete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "skillweave.toml").write_text("this is no TOML", encoding="utf-8")
    assert complete(*words) == [""]


def test_completing_does_nothing(complete: Complete, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    home = str(tmp_path)
    assert "weave" in complete("--install-completion", "", HOME=home)
    assert "weave" in complete("--version", "", HOME=home)
    assert complete("why", "", HOME=home) == [""]
    assert list(tmp_path.iterdir()) == []


def test_it_works_without_rich(tmp_path: Path) -> None:
    environment = {
        **os.environ,
        "_SKILLWEAVE_COMPLETE": "complete_zsh",
        "_TYPER_COMPLETE_ARGS": "skillweave weave --sk",
    }
    done = subprocess.run(
        [sys.executable, "-c", NO_RICH],
        env={**environment, "TYPER_USE_RICH": "0"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert '"--skills"' in done.stdout


def test_the_demos_of_packs_are_offered(complete: Complete) -> None:
    assert complete("demo", "") == ["texas-rrc"]
