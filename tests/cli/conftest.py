"""Commands run in this process through the same entry as the console script, or in a process of their own."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from skillweave.cli.configuration import OF_TESTS
from skillweave.cli.entry import run
from skillweave.schemas import DIALECT
from tests.cli.published import require_published

EXAMPLES = Path(__file__).parents[2] / "examples" / "skills"


@dataclass(frozen=True, slots=True)
class Ran:
    """What a command printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """What was printed as JSON, without the id of its schema, which `require_published` looked at."""
        printed = json.loads(self.out)
        return {key: value for key, value in printed.items() if key != "$schema" or value == DIALECT}


Cli = Callable[..., Ran]


@pytest.fixture(autouse=True)
def unconfigured(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> None:
    """No configuration and no skills of whoever runs the tests, and nothing in their cache folder."""
    for name in os.environ:
        if name.startswith("SKILLWEAVE_") and name not in OF_TESTS:
            monkeypatch.delenv(name)
    for name in ("COLUMNS", "FORCE_COLOR", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path_factory.mktemp("cache")
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(variable, str(folder))
    for variable in ("HOME", "USERPROFILE"):
        monkeypatch.setenv(variable, str(tmp_path_factory.mktemp("home")))


@pytest.fixture
def cli(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    """Run `skillweave` with these arguments in this process; what it prints as JSON fits its published schema."""

    def ran(*arguments: object, stdin: bytes | None = None) -> Ran:
        capsys.readouterr()
        if stdin is not None:
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        words = [str(argument) for argument in arguments]
        code = run(words)
        out, err = capsys.readouterr()
        require_published(words, out)
        return Ran(code, out, err)

    return ran


@pytest.fixture
def process() -> Cli:
    """Run `python -m skillweave` with these arguments, as a shell would."""

    def ran(*arguments: object, stdin: bytes = b"", python: tuple[str, ...] = (), **environment: str) -> Ran:
        words = [os.fsencode(argument) if isinstance(argument, str) else str(argument) for argument in arguments]
        done = subprocess.run(
            [sys.executable, *python, "-m", "skillweave", *words],
            input=stdin,
            capture_output=True,
            env={**os.environ, **environment},
            timeout=120,
            check=False,
        )
        out, err = (stream.decode("utf-8", "surrogateescape") for stream in (done.stdout, done.stderr))
        return Ran(done.returncode, out, err)

    return ran


@pytest.fixture
def examples() -> Path:
    """The example skills of the project."""
    return EXAMPLES


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """Two small skills: quick to load, one with tool rules."""
    write_skill(tmp_path / "skills", "tea", "Makes tea.", "triggers: [tea]", "Boil water.")
    rules = "triggers: [coffee]\nx-skillweave: {tools: {allowed: [kettle], forbidden: [oven]}}"
    write_skill(tmp_path / "skills", "coffee", "Makes coffee.", rules, "Grind beans.")
    return tmp_path / "skills"


def write_skill(folder: Path, name: str, description: str, fields: str = "", body: str = "Do it.") -> Path:
    """A SKILL.md in a folder of its own."""
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: {description}\n{fields}\n---\n\n{body}\n", encoding="utf-8")
    return path


@pytest.fixture
def write() -> Callable[..., Path]:
    """Write a skill: folder, name, description, further fields, body."""
    return write_skill
