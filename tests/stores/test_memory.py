import pytest

from skillweave.stores.memory import MemoryStore
from skillweave.testing.fakes import ManualClock
from skillweave.testing.ledger import LedgerContract


class TestMemoryStore(LedgerContract):
    @pytest.fixture
    def store(self, clock: ManualClock) -> MemoryStore:
        return MemoryStore(clock=clock)
