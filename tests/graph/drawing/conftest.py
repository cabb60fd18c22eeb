"""The real Mermaid for the tests of what is written for it."""

from collections.abc import Iterator

import pytest

from tests.graph.drawing import real_mermaid


@pytest.fixture(scope="session")
def mermaid() -> Iterator[real_mermaid.Mermaid]:
    """The real Mermaid package; one process for all tests."""
    with real_mermaid.running() as process:
        yield process
