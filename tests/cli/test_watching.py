"""`check --watch` in a process of its own, on real files, ended as a user ends it."""

import json
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import Queue
from threading import Thread
from typing import Any

import pytest

PATIENCE = 60.0


class Running:
    """A command that goes on, and what it prints, line by line."""

    def __init__(self, *arguments: object) -> None:
        words = [sys.executable, "-m", "skillweave", *map(str, arguments)]
        self.process = subprocess.Popen(
            words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
        )
        self._lines: Queue[str] = Queue()
        Thread(target=self._read, daemon=True).start()

    def line(self) -> str:
        return self._lines.get(timeout=PATIENCE).rstrip("\n")

    def until(self, end: str) -> list[str]:
        """The lines up to the one that has that in it."""
        lines = [self.line()]
        while end not in lines[-1]:
            lines.append(self.line())
        return lines

    def note(self) -> str:
        """The next line on stderr."""
        assert self.process.stderr
        return self.process.stderr.readline()

    def interrupt(self) -> tuple[int, str]:
        self.process.send_signal(signal.SIGINT)
        _, err = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, err

    def _read(self) -> None:
        assert self.process.stdout
        for line in self.process.stdout:
            self._lines.put(line)


@pytest.fixture
def running() -> Iterator[Callable[..., Running]]:
    started: list[Running] = []

    def start(*arguments: object) -> Running:
        started.append(Running(*arguments))
        return started[-1]

    yield start
    for one in started:
        one.process.kill()
        one.process.communicate()


def test_every_edit_is_checked_and_told_by_what_is_new(running: Any, small: Path, write: Any) -> None:
    command = running("check", "--watch", "--skills", small)
    assert command.line() == "2 skills loaded, 0 skipped, 0 repaired: nothing is wrong."
    path = write(small, "milk", "Warms milk.", "allowed-tools: [Read, Grep]")
    edit = command.until("loaded")
    assert edit[1].split() == ["added", "milk"]
    assert "[tools-respelled]" in edit[2]
    assert edit[3] == "3 skills loaded, 0 skipped, 1 repaired: 1 warning."
    path.write_text("broken", encoding="utf-8")
    edit = command.until("loaded")
    assert any("[kept-last-good]" in line for line in edit)
    write(small, "milk", "Warms milk.")
    edit = command.until("loaded")
    assert edit[1].split() == ["changed", "milk"]
    assert any(line.startswith("no longer: ") and "[frontmatter-missing]" in line for line in edit)
    assert edit[-1] == "3 skills loaded, 0 skipped, 0 repaired: nothing is wrong."


def test_it_ends_with_ctrl_c_and_code_130(running: Any, small: Path) -> None:
    command = running("check", "--watch", "--skills", small)
    command.line()
    assert command.note() == "skillweave: following the files; every edit is checked until you press Ctrl-C\n"
    assert command.interrupt() == (130, "\nskillweave: interrupted\n")


def test_json_is_one_object_per_line(running: Any, small: Path, write: Any) -> None:
    command = running("check", "--watch", "--skills", small, "--json")
    first = json.loads(command.line())
    assert first.keys() == {"$schema", "loaded", "skipped", "repaired", "host_keys", "diagnostics", "fixed"}
    write(small, "milk", "Warms milk.", "allowed-tools: [Read, Grep]")
    edit = json.loads(command.line())
    assert edit["$schema"] == "urn:skillweave:schema:check-edit:1"
    assert (edit["added"], edit["changed"], edit["removed"], edit["gone"]) == (["milk"], [], [], [])
    assert [found["code"] for found in edit["diagnostics"]] == ["tools-respelled"]
    assert edit["loaded"] == 3


def test_a_folder_that_is_not_there_is_one_line(cli: Any, tmp_path: Path) -> None:
    done = cli("check", "--watch", "--skills", tmp_path / "none")
    assert (done.code, done.out) == (1, "")
    assert "does not exist" in done.err
    done = cli("check", "--watch", "--skills", tmp_path / "none", "--json")
    assert json.loads(done.out.splitlines()[0])["error"]["type"] == "SourceUnavailable"
    assert len(done.out.splitlines()) == 1


def test_a_missing_package_is_one_line_that_names_the_extra(
    cli: Any, small: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    done = cli("check", "--watch", "--skills", small)
    assert done.code == 1
    assert "pip install 'skillweave[watch]'" in done.err
