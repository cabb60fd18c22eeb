import pytest

from skillweave import MemoryStore
from skillweave.testing import LedgerContract, ManualClock


class TestMemoryStore(LedgerContract):
    @pytest.fixture
    def store(self, clock: ManualClock) -> MemoryStore:
        return MemoryStore(clock=clock)
