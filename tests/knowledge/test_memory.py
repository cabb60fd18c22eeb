import pytest

from skillweave import MemoryGraph
from skillweave.testing import WritableGraphContract


class TestMemoryGraph(WritableGraphContract):
    @pytest.fixture
    def empty(self) -> MemoryGraph:
        return MemoryGraph()
