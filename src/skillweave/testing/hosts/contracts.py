"""The contract suites that an adapter inherits, by what its framework can do."""

from skillweave.testing.hosts.checkpoints import CheckpointContract
from skillweave.testing.hosts.contract import AdapterContract
from skillweave.testing.hosts.placements import CallPlacementContract, HistoryPlacementContract
from skillweave.testing.hosts.ways import StreamingContract, SyncContract

__all__ = [
    "AdapterContract",
    "CallPlacementContract",
    "CheckpointContract",
    "HistoryPlacementContract",
    "StreamingContract",
    "SyncContract",
]
