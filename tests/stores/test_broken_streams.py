"""The contracts of an event stream, and of a ledger that fills one, find mistakes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.stores import broken_event_stores, broken_streams

HERE = Path(__file__).parent

TestStreaming = broken_event_stores.contract_of(broken_event_stores.Streaming)


@pytest.fixture(scope="module")
def failures() -> str:
    """What pytest says of the contracts for all that have a mistake."""
    files = [str(HERE / "broken_streams.py"), str(HERE / "broken_event_stores.py")]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "--tb=no", "-p", "no:cacheprovider", *files],
        capture_output=True,
        text=True,
        check=False,
        cwd=HERE.parents[1],
    )
    assert "failed" in done.stdout, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize(
    "mistake", [mistake.__name__ for mistake in (*broken_streams.MISTAKES, *broken_event_stores.MISTAKES)]
)
def test_what_has_a_mistake_fails_the_contract(failures: str, mistake: str) -> None:
    assert f"::Test{mistake}::" in failures
