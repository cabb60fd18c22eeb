"""The contract of an event stream finds mistakes."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.stores.broken_streams import MISTAKES

STREAMS = Path(__file__).with_name("broken_streams.py")


@pytest.fixture(scope="module")
def failures() -> str:
    """What pytest says of the contract for all streams with a mistake."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "--tb=no", "-p", "no:cacheprovider", str(STREAMS)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert "failed" in done.stdout, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("mistake", [mistake.__name__ for mistake in MISTAKES])
def test_a_stream_with_a_mistake_fails_the_contract(failures: str, mistake: str) -> None:
    assert f"::Test{mistake}::" in failures
