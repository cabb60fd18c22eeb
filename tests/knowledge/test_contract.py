"""The contract of an entity graph finds mistakes."""

from pathlib import Path

import pytest

from skillweave.entities import MemoryGraph
from skillweave_testing import EntityGraphContract
from skillweave_testing.entities import EDGES, ENTITIES
from tests.contract_failures import contract_failures
from tests.knowledge.broken_graphs import MISTAKES

GRAPHS = Path(__file__).with_name("broken_graphs.py")


class TestGraphThatOthersFill(EntityGraphContract):
    @pytest.fixture
    def graph(self) -> MemoryGraph:
        return MemoryGraph(ENTITIES, EDGES)


@pytest.fixture(scope="module")
def failures() -> str:
    """What pytest says of the contract for all graphs with a mistake."""
    return contract_failures(GRAPHS)


@pytest.mark.parametrize("mistake", [mistake.__name__ for mistake in MISTAKES])
@pytest.mark.soak
def test_a_graph_with_a_mistake_fails_the_contract(failures: str, mistake: str) -> None:
    assert f"::Test{mistake}::" in failures
