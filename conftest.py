"""How all tests run: alike on any machine, on real input where it is named, and what they leave out told."""

import gc
import os
from collections.abc import Generator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from tests.depth import examples

# No test depends on how fast the machine is at the moment, nor on how many odd inputs in a row a constructor refuses.
settings.register_profile(
    "any-machine",
    max_examples=examples(),
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    print_blob=True,
)
settings.load_profile("any-machine")

SLOW = tuple(
    Path(__file__).parent / folder
    for folder in (
        "tests/adapters",
        "tests/cli",
        "tests/docs",
        "tests/examples",
        "tests/flows",
        "tests/packs",
        "tests/graph/checkup",
        "tests/graph/drawing",
        "tests/properties",
        "packages/skillweave-eval/tests/skillweave_eval/commands",
        "packages/skillweave-server/tests/skillweave_server/commands",
        "packages/skillweave-server/tests/skillweave_server/flows",
        "packages/skillweave-stores/tests/skillweave_stores/commands",
        "packages/skillweave-stores/tests/skillweave_stores/flows",
        "packages/skillweave-texas-rrc/tests",
    )
)
"""What `--quick` leaves out: agents, processes and conversations, the pages, pictures, and laws over random input."""


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--quick`."""
    parser.addoption("--quick", action="store_true", help="leave out the slow folders, which conftest.py lists")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave the slow folders out before they are imported, which alone takes longer than their quick tests."""
    return True if config.getoption("--quick") and collection_path in SLOW else None


REAL_INPUT = {
    "skills_sample": ("SKILLWEAVE_SKILLS_SAMPLE", "real public skills"),
    "selection_data": ("SKILLWEAVE_SELECTION", "the labelled selection queries"),
}
"""By fixture, the variable that names its folder, and what lies there."""


@pytest.fixture(scope="session")
def skills_sample() -> Path:
    """The folder of real public skills, untidy ones included."""
    return _folder("skills_sample")


@pytest.fixture(scope="session")
def selection_data() -> Path:
    """The folder of labelled queries over public skills."""
    return _folder("selection_data")


def _folder(fixture: str) -> Path:
    variable, what = REAL_INPUT[fixture]
    folder = os.environ.get(variable)
    if not folder:
        pytest.skip(f"{variable} is not set: left out what needs {what}")
    path = Path(folder)
    if not path.is_dir():
        pytest.fail(f"{variable} names {folder}, which is not a folder")
    return path


KINDS = {"database_kind", "shared_url", "replicas", "store"}
"""Parameters of fixtures that stand for a kind of database."""


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave what runs on each kind of database to `make soak` on PostgreSQL, but for one test of a class or module.

    SQLite tells what a store does; that PostgreSQL does the same is said by those, by the tests that are about
    PostgreSQL alone, and by those that are marked `each_database`, as they are about what differs: races, faults.
    """
    seen = set()
    for item in items:
        params = item.callspec.params if isinstance(item, pytest.Function) and hasattr(item, "callspec") else {}
        if "postgresql" not in [params.get(kind) for kind in KINDS] or item.get_closest_marker("each_database"):
            continue
        if item.parent in seen:
            item.add_marker("soak")
        seen.add(item.parent)


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection() -> Generator[None, object, object]:
    """Collect in half the time: nothing that comes then is garbage, and none of it is ever looked at again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Spell what no encoding can carry, such as a lone surrogate in a failing example: reports travel as UTF-8."""
    report = yield
    text = "" if report.longrepr is None else str(report.longrepr)
    if text != _encodable(text):
        report.longrepr = _encodable(text)
    report.sections = [(_encodable(name), _encodable(content)) for name, content in report.sections]
    return report


def _encodable(text: str) -> str:
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say what was left out."""
    for variable, what in REAL_INPUT.values():
        if not os.environ.get(variable):
            terminalreporter.write_line(f"left out: what needs {what}; name their folder in {variable}")
