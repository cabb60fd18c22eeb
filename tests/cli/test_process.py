"""What only a process of its own can show: streams, signals, encodings, imports."""

import os
import signal
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HEAVY = ("numpy", "tiktoken", "re2", "ahocorasick_rs", "yaml", "sqlite3", "rich", "asyncio", "pydantic")


def imported(report: str) -> set[str]:
    return {line.rsplit("|", 1)[-1].strip().split(".")[0] for line in report.splitlines() if "|" in line}


def test_help_imports_nothing_that_it_does_not_use(process: Any) -> None:
    done = process("--help", python=("-X", "importtime"))
    assert done.code == 0
    modules = imported(done.err)
    assert "typer" in modules
    assert modules.isdisjoint(HEAVY)


def test_a_command_without_selection_imports_none_of_it(process: Any, small: Path) -> None:
    done = process("compose", "tea", "--skills", small, python=("-X", "importtime"))
    assert done.code == 0
    modules = imported(done.err)
    assert "yaml" in modules
    assert modules.isdisjoint({"numpy", "tiktoken", "re2", "ahocorasick_rs", "sqlite3", "rich"})


def test_a_terminal_without_unicode_gets_escapes(process: Any, examples: Path) -> None:
    done = process("show", "multilingual-greetings", "--skills", examples, PYTHONIOENCODING="ascii")
    assert (done.code, done.err) == (0, "")
    assert done.out.isascii()
    assert "\\u4f60\\u597d" in done.out


def test_a_message_of_a_megabyte_comes_by_standard_input(process: Any, small: Path) -> None:
    done = process("weave", "-", "--skills", small, "--json", stdin=b"some tea " * 116_509)
    assert done.code == 0
    assert "no more than 65,536 are matched" in done.err
    assert [decision["outcome"] for decision in done.data["decisions"]] == ["injected"]


def test_nul_bytes_in_a_message_do_no_harm(process: Any, small: Path) -> None:
    done = process("weave", "-", "--skills", small, "--json", stdin=b"some\0 tea \0")
    assert done.code == 0
    assert [decision["skill_id"] for decision in done.data["decisions"]] == ["tea"]


def test_a_closed_standard_input_is_an_empty_one(small: Path) -> None:
    line = 'exec "$0" -m skillweave match --skills "$1" - <&-'
    done = subprocess.run(["sh", "-c", line, sys.executable, small], capture_output=True, timeout=120, check=False)
    assert b"Traceback" not in done.stderr
    assert len(done.stderr.splitlines()) <= 1


def test_standard_input_that_is_no_text_is_one_line(process: Any, small: Path) -> None:
    done = process("weave", "-", "--skills", small, stdin=b"tea \xff\xfe")
    assert (done.code, done.out) == (1, "")
    assert done.err == "skillweave: standard input is no UTF-8 text (byte 5); save it as UTF-8 and try again\n"


@pytest.mark.parametrize(
    "words",
    [
        ("weave", "tea \udcff"),
        pytest.param(("match", "tea \udcff"), marks=pytest.mark.soak),
        ("show", "tea\udcff"),
        pytest.param(("compose", "tea\udcff"), marks=pytest.mark.soak),
        pytest.param(("weave", "tea", "--conversation", "c\udcff"), marks=pytest.mark.soak),
        pytest.param(("why", "c\udcff"), marks=pytest.mark.soak),
        ("ledger", "clear", "c\udcff"),
        pytest.param(("weave", "tea", "--transcript", "no\udcff.json"), marks=pytest.mark.soak),
        pytest.param(("weave", "tea", "--ledger", "no\udcff://x"), marks=pytest.mark.soak),
        pytest.param(("check", "--skills", "no\udcff"), marks=pytest.mark.soak),
    ],
    ids=lambda words: " ".join(words).replace("\udcff", "?"),
)
def test_undecodable_arguments_are_one_line(
    process: Any, small: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...]
) -> None:
    monkeypatch.chdir(small.parent)
    done = process(*words)
    assert (done.code, done.out) == (1, "")
    assert done.err.startswith("skillweave: ")
    assert done.err.count("\n") == 1


def test_a_reader_that_goes_away_is_no_reason_to_complain(examples: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as nobody:
        words = [sys.executable, "-m", "skillweave", "show", "database-migration", "--skills", str(examples)]
        done = subprocess.run(words, stdout=nobody, stderr=subprocess.PIPE, timeout=120, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_an_output_that_is_full_is_one_line(small: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        words = [sys.executable, "-m", "skillweave", "show", "--skills", str(small), "--json"]
        done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, timeout=120, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(b"skillweave: the output cannot be written: No space left on device")
    assert done.stderr.count(b"\n") == 1


INTERRUPTED = """
import os, signal, sys
from skillweave.cli import main

class Stdin:
    class buffer:
        def read(_):
            os.kill(os.getpid(), signal.SIGINT)
            raise AssertionError("still here")

sys.stdin = Stdin
sys.argv = ["skillweave", "weave", "-", "--skills", sys.argv[1]]
main()
"""


def test_an_interruption_is_one_line_and_code_130(small: Path) -> None:
    words = [sys.executable, "-c", INTERRUPTED, str(small)]
    done = subprocess.run(words, capture_output=True, timeout=120, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (130, b"", b"\nskillweave: interrupted\n")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_long_work_is_said_on_a_terminal_and_can_be_interrupted(tmp_path: Path) -> None:
    import pty

    words = " ".join(f"word{{n}}{letter}" for letter in "abcdefghijklmnopqrstuvwxyz")
    about = ",".join(f'{{name: s-{n}, description: "{words.format(n=n)}"}}' for n in range(3000))
    (tmp_path / "many.yaml").write_text(f"pack: {{name: many}}\nskills: [{about}]\n", encoding="utf-8")
    ours, theirs = pty.openpty()
    command = [
        sys.executable,
        "-m",
        "skillweave",
        "match",
        "word1a and word2b",
        "--skills",
        str(tmp_path / "many.yaml"),
    ]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=theirs)
    os.close(theirs)
    said = b""
    while b"Indexing 3,000 skills ..." not in said:
        said += os.read(ours, 1024)
    running.send_signal(signal.SIGINT)
    assert running.wait(timeout=120) == 130
    assert b"skillweave: interrupted" in said + os.read(ours, 1024)
    os.close(ours)


def test_the_handler_for_interruptions_is_put_back(cli: Any) -> None:
    before = signal.getsignal(signal.SIGINT)
    cli("--version")
    assert signal.getsignal(signal.SIGINT) is before


def test_a_corrupt_ledger_costs_the_ledger_and_not_the_turn(process: Any, small: Path, tmp_path: Path) -> None:
    (tmp_path / "state.db").write_bytes(b"these are not the bytes of a database " * 50)
    done = process("weave", "Some tea", "--skills", small, "--ledger", tmp_path / "state.db", "--json")
    assert done.code == 3
    assert done.data["messages"]
    assert done.err.startswith("skillweave: the ledger does not answer, so skills are given without being recorded: ")
    assert "is not a readable SQLite file" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("words", [("why", "c1"), pytest.param(("ledger", "show", "c1"), marks=pytest.mark.soak)])
def test_a_corrupt_ledger_is_one_line_and_code_3(process: Any, tmp_path: Path, words: tuple[str, ...]) -> None:
    (tmp_path / "state.db").write_bytes(b"these are not the bytes of a database " * 50)
    done = process(*words, "--ledger", tmp_path / "state.db")
    assert (done.code, done.out) == (3, "")
    assert "state.db is not a readable SQLite file" in done.err
    assert done.err.count("\n") == 1


def test_a_locked_ledger_is_one_line_and_code_3(process: Any, small: Path, tmp_path: Path) -> None:
    turn = ("weave", "--skills", small, "--ledger", tmp_path / "state.db")
    assert process(*turn, "Some coffee").code == 0
    connection = sqlite3.connect(tmp_path / "state.db", isolation_level=None)
    connection.execute("BEGIN EXCLUSIVE")
    try:
        done = process(*turn, "And tea", "--json")
    finally:
        connection.close()
    assert done.code == 3
    assert done.data["messages"]
    assert "state.db is locked by another process; try again" in done.err
    assert done.err.count("\n") == 1


def test_another_process_finds_what_was_given(process: Any, small: Path, tmp_path: Path) -> None:
    turn = ("weave", "--skills", small, "--ledger", tmp_path / "state.db", "--conversation", "c1", "--json")
    assert len(process(*turn, "Some tea").data["messages"]) == 1
    assert process(*turn, "More tea").data["messages"] == []
    assert process("ledger", "evict", "c1", "tea", "--ledger", tmp_path / "state.db").code == 0
    assert len(process(*turn, "Tea again").data["messages"]) == 1
    logged = process("why", "c1", "--ledger", tmp_path / "state.db", "--json").data["decisions"]
    assert [one["decision"]["outcome"] for one in logged] == ["injected", "already-present", "injected"]


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_what_never_ends_is_refused_and_not_read(process: Any, small: Path, tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in ("/dev/zero", tmp_path / "pipe"):
        done = process("weave", "Tea", "--skills", small, "--transcript", path)
        assert (done.code, done.out) == (1, "")
        assert "not a regular file; name a JSON file with a list of messages" in done.err


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such files")
def test_standard_input_is_read_up_to_a_limit(small: Path) -> None:
    with Path("/dev/zero").open("rb") as zeros:
        done = subprocess.run(
            [sys.executable, "-m", "skillweave", "weave", "-", "--skills", str(small)],
            stdin=zeros,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert done.returncode == 1
    assert done.stderr == "skillweave: the message on standard input has more than 16 MiB; shorten it\n"
