"""The answers to zsh and fish, which show a few words beside each value; zsh evaluates what it gets."""

import re
from pathlib import Path
from typing import Any

import pytest

HOSTILE = r"Makes \$(touch pwned) `touch pwned` 'tea' \"x\" [red]hot[/red]; \\$(id) $HOME"
SAFE = re.compile(r"""_arguments '\*: :\(\("tea"\)\)'""")


@pytest.fixture
def hostile(tmp_path: Path, write: Any) -> Path:
    write(tmp_path / "skills", "tea", f"'{HOSTILE.replace(chr(39), chr(39) * 2)}'")
    return tmp_path / "skills"


def test_zsh_gets_no_character_that_it_would_evaluate(process: Any, hostile: Path) -> None:
    line = f"skillweave show --skills {hostile} "
    done = process(_SKILLWEAVE_COMPLETE="complete_zsh", _TYPER_COMPLETE_ARGS=line)
    assert (done.code, done.err) == (0, "")
    assert SAFE.fullmatch(done.out.strip()), done.out


def test_fish_gets_values_and_words_and_is_told_when_to_offer_files(process: Any, hostile: Path) -> None:
    line = f"skillweave show --skills {hostile} "
    asked = {"_SKILLWEAVE_COMPLETE": "complete_fish", "_TYPER_COMPLETE_ARGS": line}
    offered = process(**asked, _TYPER_COMPLETE_FISH_ACTION="get-args")
    assert offered.out.startswith("tea")
    assert process(**asked, _TYPER_COMPLETE_FISH_ACTION="is-args").code == 0
    nothing = {**asked, "_TYPER_COMPLETE_ARGS": "skillweave show --skills nowhere "}
    done = process(**nothing, _TYPER_COMPLETE_FISH_ACTION="is-args")
    assert (done.code, done.out, done.err) == (1, "", "")


def test_an_empty_variable_asks_for_nothing(process: Any) -> None:
    assert process("--version", _SKILLWEAVE_COMPLETE="").out.startswith("skillweave ")
