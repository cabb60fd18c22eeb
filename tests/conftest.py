"""Folders of real input, named by the environment; what is left out without them is printed at the end."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

REAL_INPUT = {
    "skills_sample": ("SKILLWEAVE_SKILLS_SAMPLE", "real public skills"),
    "selection_data": ("SKILLWEAVE_SELECTION", "the labelled selection queries"),
}


def _folder(fixture: str) -> Path:
    variable, what = REAL_INPUT[fixture]
    folder = os.environ.get(variable)
    if not folder:
        pytest.skip(f"{variable} is not set: left out what needs {what}")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"{variable} names {folder}, which is not a folder")
    return path


@pytest.fixture(scope="session")
def skills_sample() -> Path:
    """The folder of real public skills, untidy ones included."""
    return _folder("skills_sample")


@pytest.fixture(scope="session")
def selection_data() -> Path:
    """The folder of labelled queries over public skills."""
    return _folder("selection_data")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> Iterator[None] | None:
    for variable, what in REAL_INPUT.values():
        if not os.environ.get(variable):
            terminalreporter.write_line(f"left out: what needs {what}; name their folder in {variable}")
