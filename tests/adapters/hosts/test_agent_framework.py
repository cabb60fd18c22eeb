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
    StreamingContract,
)


class TestAgentFramework(AdapterContract, CallPlacementContract, StreamingContract, CheckpointContract):
    placement = Placement.CALL

    def agent(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path) -> HostedAgent:
        return FrameworkAgent(weaver, script, workshop, memory)
