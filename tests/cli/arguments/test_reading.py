"""Commands read regular files and bounded input: nothing that has no end, and no pipe that nobody writes to."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from skillweave.cli.arguments import reading, turn

DEVICE = pytest.mark.skipif(not Path("/dev/zero").exists(), reason="the system has no such device")


@pytest.fixture
def pipe(tmp_path: Path) -> Path:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    return path


@pytest.mark.parametrize(
    "command",
    [
        ("weave", "--transcript", "{}", "Some tea"),
        ("match", "--transcript", "{}", "Some tea"),
        ("match", "--fitted", "{}", "Some tea"),
        ("graph", "check", "{}"),
    ],
)
@DEVICE
def test_a_device_is_refused_by_name(cli: Any, small: Path, command: tuple[str, ...]) -> None:
    skills = () if command[0] == "graph" else ("--skills", small)
    words = [word.format("/dev/zero") for word in command]
    done = cli(*words, *skills)
    assert (done.code, done.out) == (1, "")
    assert "/dev/zero" in done.err
    assert "it is a device, not a regular file" in done.err


@pytest.mark.parametrize("command", [("weave", "--transcript", "{}", "Some tea"), ("--config", "{}", "show")])
def test_a_pipe_is_refused_without_waiting_for_a_writer(
    cli: Any, small: Path, pipe: Path, command: tuple[str, ...]
) -> None:
    done = cli(*(word.format(pipe) for word in command), "--skills", small)
    assert done.code != 0
    assert "it is a pipe, not a regular file" in done.err


def test_a_transcript_over_the_limit_is_refused_with_both_sizes(
    cli: Any, small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(turn, "MOST_TRANSCRIPT_BYTES", 1024)
    (tmp_path / "chat.json").write_text("[" + " " * 2048 + "]")
    done = cli("weave", "--transcript", tmp_path / "chat.json", "--skills", small, "Some tea")
    assert done.code == 1
    assert "it has 2.0 KiB, more than the limit of 1 KiB" in done.err


@DEVICE
@pytest.mark.parametrize("command", [("weave", "-"), ("match", "-")])
def test_standard_input_without_end_is_read_up_to_the_limit(small: Path, command: tuple[str, ...]) -> None:
    with Path("/dev/zero").open("rb") as endless:
        done = subprocess.run(
            [sys.executable, "-m", "skillweave", *command, "--skills", str(small)],
            stdin=endless,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
    assert done.returncode == 1
    assert "on standard input has more than 16 MiB; shorten it" in done.stderr


@pytest.mark.parametrize("line", [b"x" * 11, b"x" * 10 + b"\n"])
def test_a_line_of_input_over_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch, line: bytes) -> None:
    monkeypatch.setattr(reading, "MOST_BYTES", 10)
    read, write = os.pipe()
    os.write(write, b"short\n" + line)
    os.close(write)
    with os.fdopen(read) as given:
        monkeypatch.setattr(sys, "stdin", given)
        lines = reading.input_lines("a message")
        assert next(lines) == b"short\n"
        with pytest.raises(reading.Mistake, match="in one line"):
            next(lines)
