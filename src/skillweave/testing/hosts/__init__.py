"""The contract of adapters: an agent in any framework, a scripted model inside it, and what has to hold for both."""

from skillweave.testing.hosts.agent import HostedAgent, Tool
from skillweave.testing.hosts.checkpoints import CheckpointContract
from skillweave.testing.hosts.contract import AdapterContract
from skillweave.testing.hosts.placements import CallPlacementContract, HistoryPlacementContract
from skillweave.testing.hosts.script import Asks, Says, Script, Sent
from skillweave.testing.hosts.ways import StreamingContract, SyncContract

__all__ = [
    "AdapterContract",
    "Asks",
    "CallPlacementContract",
    "CheckpointContract",
    "HistoryPlacementContract",
    "HostedAgent",
    "Says",
    "Script",
    "Sent",
    "StreamingContract",
    "SyncContract",
    "Tool",
]
