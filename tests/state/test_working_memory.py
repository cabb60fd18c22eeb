"""Working memory: how it is merged, and that its contract finds mistakes."""

import subprocess
import sys
from pathlib import Path

import pytest

from skillweave.testing import ManualClock, WorkingMemoryContract
from tests.state.memories import MISTAKES, DictMemory

MEMORIES = Path(__file__).with_name("memories.py")


class TestDictMemory(WorkingMemoryContract):
    @pytest.fixture
    def memory(self, clock: ManualClock) -> DictMemory:
        return DictMemory(clock)


@pytest.fixture(scope="module")
def failures() -> str:
    """What pytest says of the contract for all memories with a mistake."""
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-n0", "--tb=no", "-p", "no:cacheprovider", str(MEMORIES)],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).parents[2],
    )
    assert "failed" in done.stdout, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("mistake", [mistake.__name__ for mistake in MISTAKES])
def test_a_memory_with_a_mistake_fails_the_contract(failures: str, mistake: str) -> None:
    assert f"::Test{mistake}::" in failures
