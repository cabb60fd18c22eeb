"""Every command and every line of Python in the README runs, and every output in it is real."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
SESSION = re.compile(r"^```console\n(.*?)^```$", re.MULTILINE | re.DOTALL)
PYTHON = re.compile(r"^```python\n(.*?)^```$", re.MULTILINE | re.DOTALL)
TURN_ID = re.compile(r"\b[0-9a-f]{32}\b|(?<=-)[0-9a-f]{12}\b")
TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC")


def steps() -> list[tuple[str, str]]:
    """Each skillweave command of the tour with the output that follows it."""
    found = []
    for session in SESSION.findall(README):
        for step in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]:
            command, _, output = step.partition("\n")
            if command.startswith("skillweave "):
                found.append((command, output.strip()))
    return found


def settled(output: str) -> str:
    """The output without what changes from run to run: random turn ids and the time."""
    return TIME.sub("TIME", TURN_ID.sub("ID", output)).strip()


@pytest.fixture
def tour(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "examples" / "skills", tmp_path / "skills")
    return tmp_path


def test_the_tour_shows_the_real_output_of_every_command(tour: Path) -> None:
    commands = steps()
    assert len(commands) >= 6
    skillweave = Path(sys.executable).with_name("skillweave")
    for command, expected in commands:
        answer = subprocess.run(
            command.replace("skillweave", str(skillweave), 1),
            shell=True,
            cwd=tour,
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "COLUMNS": "80"},
        )
        assert settled(answer.stdout + answer.stderr) == settled(expected), command


def test_the_python_of_the_readme_runs(tour: Path) -> None:
    script = "\n".join(PYTHON.findall(README)) + "\nimport asyncio\nprint(asyncio.run(turn('Say bonjour to Alice')))\n"
    answer = subprocess.run([sys.executable, "-c", script], cwd=tour, capture_output=True, text=True, check=False)
    assert answer.stderr == ""
    assert "=== Skill Activated: Multilingual Greetings ===" in answer.stdout
    assert "['multilingual-greetings: injected']" in answer.stdout
