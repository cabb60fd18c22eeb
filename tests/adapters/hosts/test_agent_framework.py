"""The adapter for Microsoft's Agent Framework, inside the framework itself."""

from pathlib import Path

from skillweave import Placement, Weaver
from skillweave_testing.hosts import HostedAgent, Script
from skillweave_testing.hosts.play import Workshop
from tests.adapters.hosts.agent_framework_agent import FrameworkAgent
from tests.adapters.hosts.contracts import (
    AdapterContract,
    CallPlacementContract,
    CheckpointContract,
    HistoryPlacementContract,
    StreamingContract,
)


class Framework:
    placement = Placement.CALL

    def agent(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path) -> HostedAgent:
        return FrameworkAgent(weaver, script, workshop, memory, self.placement)


class TestAgentFrameworkInTheCall(
    Framework, AdapterContract, CallPlacementContract, StreamingContract, CheckpointContract
):
    """Skill text in the instructions."""


class TestAgentFrameworkInTheHistory(
    Framework, AdapterContract, HistoryPlacementContract, StreamingContract, CheckpointContract
):
    """Skill text among the messages; it is kept beside the ledger, not in the session."""

    placement = Placement.HISTORY
    keeps_texts = False
