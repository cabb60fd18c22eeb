"""The contracts of an event stream, and of a ledger that fills one, find mistakes."""

from pathlib import Path

import pytest

from tests.contract_failures import contract_failures
from tests.stores import broken_event_stores, broken_streams

HERE = Path(__file__).parent

TestStreaming = broken_event_stores.contract_of(broken_event_stores.Streaming)


@pytest.fixture(scope="module")
def failures() -> str:
    """What pytest says of the contracts for all that have a mistake."""
    return contract_failures(HERE / "broken_streams.py", HERE / "broken_event_stores.py")


@pytest.mark.parametrize(
    "mistake", [mistake.__name__ for mistake in (*broken_streams.MISTAKES, *broken_event_stores.MISTAKES)]
)
@pytest.mark.soak
def test_what_has_a_mistake_fails_the_contract(failures: str, mistake: str) -> None:
    assert f"::Test{mistake}::" in failures
