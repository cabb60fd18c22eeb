"""The tools of the coding examples: what they do, and what they do not let a model do."""

import os
import sys
from pathlib import Path

import pytest

from examples.coding_tools import CodingTool, Limits, coding_tools

SPECIFICATION = """# Doubling

## Purpose
Doubles numbers.

## Acceptance criteria
1. A number is doubled.
   Example: double(2) -> 4
2. Zero stays zero.
   Example: double(0) -> 0
"""
CODE = "def double(number):\n    return 2 * number\n"
TEST = """
import unittest
from double import double

class Doubling(unittest.TestCase):
    def test_two(self):
        self.assertEqual(double(2), {})
"""


def tools(folder: Path, **limits: float) -> dict[str, CodingTool]:
    return {tool.name: tool for tool in coding_tools(folder, Limits(**limits))}  # type: ignore[arg-type]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "work"


def run_code(folder: Path, code: str, **limits: float) -> str:
    executor = tools(folder, **limits)["opencode-executor"]
    executor.run(action="write_file", path="code.py", text=code)
    return executor.run(action="run_python", path="code.py")


def test_a_specification_with_numbered_criteria_and_examples_is_stored_and_read_back(folder: Path) -> None:
    spec = tools(folder)["specKit"]
    assert spec.run(action="list") == "specifications: none yet"
    assert (
        spec.run(action="write", name="double", text=SPECIFICATION) == "stored specs/double.md, 2 acceptance criteria"
    )
    assert (folder / "specs/double.md").read_text("utf-8") == SPECIFICATION
    assert spec.run(action="read", name="double") == SPECIFICATION
    assert spec.run(action="list") == "specifications: double"


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("   Example: double(0) -> 0\n", "", "criterion 2 has no example"),
        ("   Example: double(0) -> 0\n", "   Example: double(0)\n", "criterion 2 has no example"),
        ("2. Zero", "3. Zero", "criterion 2 has the number 3"),
        ("## Acceptance criteria", "## Criteria", "there is no line that starts with `1.`"),
        ("1. A number", "- A number", "criterion 1 has the number 2"),
        ("Doubles numbers.\n", "", "nothing says what it is for"),
    ],
)
def test_a_specification_that_cannot_be_checked_is_refused_in_words_and_not_stored(
    folder: Path, old: str, new: str, why: str
) -> None:
    assert old in SPECIFICATION
    said = tools(folder)["specKit"].run(action="write", name="double", text=SPECIFICATION.replace(old, new))
    assert said.startswith("refused: the specification is not stored: ")
    assert why in said
    assert "Example: input -> result" in said
    assert not (folder / "specs").exists()


def test_all_that_is_wrong_with_a_specification_is_said_at_once(folder: Path) -> None:
    said = tools(folder)["specKit"].run(action="write", name="x", text="do it")
    assert "`## Purpose`" in said
    assert "`## Acceptance criteria`" in said


@pytest.mark.parametrize("name", ["", "../double", "a/b", "Double", "x" * 61, "double.md", "do\nuble"])
def test_a_name_that_is_no_name_of_a_specification_is_refused(folder: Path, name: str) -> None:
    assert "is no name of a specification" in tools(folder)["specKit"].run(
        action="write", name=name, text=SPECIFICATION
    )


def test_reading_a_specification_that_is_not_there_names_those_that_are(folder: Path) -> None:
    spec = tools(folder)["specKit"]
    spec.run(action="write", name="double", text=SPECIFICATION)
    assert (
        spec.run(action="read", name="triple") == "refused: there is no specification 'triple'; specifications: double"
    )


def test_code_is_written_and_its_tests_run_green_and_red(folder: Path) -> None:
    executor = tools(folder)["opencode-executor"]
    assert executor.run(action="write_file", path="double.py", text=CODE) == f"wrote double.py, {len(CODE)} characters"
    executor.run(action="write_file", path="test_double.py", text=TEST.format(4))
    assert executor.run(action="run_tests").startswith("exit code 0\n")
    executor.run(action="write_file", path="test_double.py", text=TEST.format(5))
    assert "4 != 5" in executor.run(action="run_tests")


def test_files_are_shown_and_listed(folder: Path) -> None:
    executor = tools(folder)["opencode-executor"]
    assert executor.run(action="show") == "files: none yet"
    executor.run(action="write_file", path="src/double.py", text=CODE)
    assert executor.run(action="show") == "files: src/double.py"
    assert executor.run(action="show", path="src/double.py") == CODE
    assert executor.run(action="show", path="other.py") == (
        "refused: there is no file 'other.py'; there are: src/double.py"
    )


def test_a_script_finds_the_modules_of_the_folder_and_is_the_main_module(folder: Path) -> None:
    tools(folder)["opencode-executor"].run(action="write_file", path="double.py", text=CODE)
    assert run_code(folder, "from double import double\nprint(__name__, double(21))") == "exit code 0\n__main__ 42"


def test_the_exit_code_and_the_error_of_a_failing_script_are_told(folder: Path) -> None:
    said = run_code(folder, "raise SystemExit('no good')")
    assert said == "exit code 1\nno good"


@pytest.mark.parametrize(
    "path", ["../out.txt", "a/../../out.txt", "/tmp/out.txt", "", ".", "a\0b", "..\\out.txt", "C:out.txt", "a\nb"]
)
@pytest.mark.parametrize("tool", ["write", "opencode-executor"])
def test_a_path_out_of_the_folder_is_refused(folder: Path, tool: str, path: str) -> None:
    action = {"action": "write_file"} if tool == "opencode-executor" else {}
    assert tools(folder)[tool].run(**action, path=path, text="x").startswith("refused: ")
    assert [place.name for place in folder.parent.rglob("*")] == ["work"]


@pytest.mark.parametrize("action", ["write_file", "show", "run_python"])
def test_a_link_out_of_the_folder_is_not_followed(folder: Path, tmp_path: Path, action: str) -> None:
    executor = tools(folder)["opencode-executor"]
    secret = tmp_path / "secret.py"
    secret.write_text("print('secret')", "utf-8")
    (folder / "link.py").symlink_to(secret)
    (folder / "up").symlink_to(tmp_path)
    text = {"text": "mine"} if action == "write_file" else {}
    for path in ("link.py", "up/secret.py"):
        assert "goes through a link" in executor.run(action=action, path=path, **text)
    assert secret.read_text("utf-8") == "print('secret')"
    assert executor.run(action="show") == "files: none yet"


def test_a_specification_is_not_stored_through_a_link(folder: Path, tmp_path: Path) -> None:
    spec = tools(folder)["specKit"]
    (folder / "specs").symlink_to(tmp_path)
    assert "goes through a link" in spec.run(action="write", name="double", text=SPECIFICATION)
    assert not (tmp_path / "double.md").exists()


def test_a_device_is_neither_read_nor_written(folder: Path) -> None:
    executor = tools(folder)["opencode-executor"]
    os.mkfifo(folder / "pipe")
    assert "there is no file 'pipe'" in executor.run(action="show", path="pipe")
    assert "a folder or a device" in executor.run(action="write_file", path="pipe", text="x")


def test_code_that_does_not_end_is_stopped_with_what_it_had_said(folder: Path) -> None:
    said = run_code(folder, "print('started', flush=True)\nwhile True: pass", seconds=1.0)
    assert said == "stopped: it took longer than 1 seconds\nstarted"


def test_what_a_stopped_run_started_is_stopped_with_it(folder: Path) -> None:
    child = "import time; time.sleep(600)"
    code = f"""
import subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", {child!r}])
print(child.pid, flush=True)
time.sleep(600)
"""
    said = run_code(folder, code, seconds=1.5)
    assert ended(int(said.splitlines()[-1]))


def test_what_an_ended_run_left_behind_is_stopped(folder: Path) -> None:
    code = f"""
import subprocess, sys
null = subprocess.DEVNULL
print(subprocess.Popen([{sys.executable!r}, "-c", "import time; time.sleep(600)"], stdout=null, stderr=null).pid)
"""
    said = run_code(folder, code)
    assert said.startswith("exit code 0")
    assert ended(int(said.splitlines()[-1]))


def ended(pid: int) -> bool:
    """Whether the process is gone, or waits only for whoever inherited it to take note."""
    try:
        return "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text("utf-8") or gone_soon(pid)
    except (FileNotFoundError, ProcessLookupError):
        return True


def gone_soon(pid: int) -> bool:
    for _ in range(1000):
        try:
            if "\nState:\tZ" in Path(f"/proc/{pid}/status").read_text("utf-8"):
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        os.sched_yield()
    return False


def test_output_without_end_is_cut_while_it_is_read(folder: Path) -> None:
    said = run_code(folder, "while True: print('x' * 1000)", output=5000, seconds=60.0)
    assert said.startswith("stopped: it wrote more than 5000 bytes\nxxx")
    assert len(said) < 5100


def test_output_that_is_no_text_is_shown_as_far_as_it_is(folder: Path) -> None:
    assert run_code(folder, r"import os; os.write(1, b'\xff ok')") == "exit code 0\n\ufffd ok"


def test_a_run_gets_no_secret_of_the_environment_and_no_input(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "hush")
    said = run_code(folder, "import os, sys; print(sorted(os.environ), sys.stdin.read() == '')")
    assert "SOME_API_KEY" not in said
    assert said.endswith("True")


def test_nothing_is_read_by_a_shell(folder: Path) -> None:
    executor = tools(folder)["opencode-executor"]
    executor.run(action="write_file", path="$(touch out).py", text="print('ran')")
    assert executor.run(action="run_python", path="$(touch out).py") == "exit code 0\nran"
    assert not (folder / "out").exists()


def test_a_text_that_no_file_can_hold_is_refused_and_what_stands_there_stays(folder: Path) -> None:
    write = tools(folder)["write"]
    write.run(path="code.py", text=CODE)
    assert "half of a character" in write.run(path="code.py", text="\ud800")
    assert (folder / "code.py").read_text("utf-8") == CODE


def test_a_file_that_is_too_long_is_refused(folder: Path) -> None:
    said = tools(folder)["write"].run(path="long.txt", text="x" * 100_001)
    assert "100001 characters are more than the 100000" in said
    assert not (folder / "long.txt").exists()


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        ({}, "`action` is missing"),
        ({"action": "dance"}, "there is no action 'dance'; there are write_file, show, run_python, run_tests"),
        ({"action": "write_file", "path": "a.py"}, "write_file needs `text`"),
        ({"action": "run_python"}, "run_python needs `path`"),
        ({"action": "show", "path": 3}, "`path` is int; give a text"),
        ({"action": "show", "self": "x"}, "opencode-executor has no parameter 'self'"),
        ({"action": "show", "shell": "true"}, "opencode-executor has no parameter 'shell'"),
    ],
)
def test_a_mistake_in_the_arguments_is_answered_in_words(folder: Path, arguments: dict[str, object], why: str) -> None:
    assert f"refused: {why}" in tools(folder)["opencode-executor"].run(**arguments)


def test_the_ordinary_tools_write_and_edit_files(folder: Path) -> None:
    plain = tools(folder)
    assert plain["write"].run(path="notes.txt", text="one two") == "wrote notes.txt, 7 characters"
    assert plain["edit"].run(path="notes.txt", old="two", new="three") == "changed notes.txt"
    assert (folder / "notes.txt").read_text("utf-8") == "one three"
    assert "stands 3 times" in plain["edit"].run(path="notes.txt", old="e", new="x")
    assert "stands 0 times" in plain["edit"].run(path="notes.txt", old="", new="x")
