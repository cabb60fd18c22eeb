"""The adapter for Google's ADK, in both placements, inside its runner."""

from pathlib import Path

from skillweave import Placement, Weaver
from skillweave_testing.hosts import HostedAgent, Script
from skillweave_testing.hosts.play import HostContract, Workshop
from tests.adapters.hosts.contracts import (
    AdapterContract,
    CallPlacementContract,
    CheckpointContract,
    HistoryPlacementContract,
    StreamingContract,
)
from tests.adapters.hosts.google_adk_agent import GoogleAdkAgent


class InGoogleAdk(HostContract):
    def agent(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path) -> HostedAgent:
        return GoogleAdkAgent(weaver, script, workshop, memory, self.placement)


class TestGoogleAdkInTheHistory(
    InGoogleAdk, AdapterContract, CheckpointContract, StreamingContract, HistoryPlacementContract
):
    placement = Placement.HISTORY


class TestGoogleAdkInTheCall(
    InGoogleAdk, AdapterContract, CheckpointContract, StreamingContract, CallPlacementContract
):
    placement = Placement.CALL
