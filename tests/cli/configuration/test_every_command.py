"""Every option of every command that can be configured is, and is checked, in the same way."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from skillweave.cli import Kind, keys_of, known_commands, load_command

SELF_CHECKING = ("doctor",)


def options() -> Iterator[tuple[tuple[str, ...], str, Kind]]:
    """Each command as it is typed, with what it must be given, and each key that it takes."""
    for name, spec in known_commands().items():
        command: Any = load_command(name, spec)
        inner = getattr(command, "commands", None)
        for words, one in [((name, sub), of) for sub, of in inner.items()] if inner else [((name,), command)]:
            required = [word for param in one.params if param.required for word in given(param)]
            for key in keys_of(one.callback).values():
                yield (*words, *required), key.name, key.kind


def given(param: Any) -> tuple[str, ...]:
    """What a command line must hold for an argument or an option that is required."""
    return ("x",) if param.param_type_name == "argument" else (param.opts[0], "x")


OPTIONS = [option for option in options() if option[0][0] not in SELF_CHECKING]


@pytest.mark.parametrize(("words", "key", "kind"), OPTIONS, ids=[f"{' '.join(o[0])} {o[1]}" for o in OPTIONS])
def test_a_wrong_type_is_refused_with_the_place(
    cli: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], key: str, kind: Kind
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "skillweave.toml").write_text(f"[command.{words[0]}]\n{key} = {{}}\n", encoding="utf-8")
    done = cli(*words)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith(f"skillweave: skillweave.toml:2: {key!r} is a table, and must be {kind.value}")


def test_there_are_options_to_configure() -> None:
    assert {words[0] for words, _, _ in OPTIONS} >= {"weave", "match", "check", "catalog", "ledger", "init"}
