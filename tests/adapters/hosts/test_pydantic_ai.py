"""The adapter for Pydantic AI, in both placements, inside its agent."""

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
    SyncContract,
)
from tests.adapters.hosts.pydantic_ai_agent import PydanticAgent


class InPydanticAi(HostContract):
    def agent(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path) -> HostedAgent:
        return PydanticAgent(weaver, script, workshop, memory, self.placement)


class TestPydanticAiInTheHistory(
    InPydanticAi, AdapterContract, CheckpointContract, StreamingContract, HistoryPlacementContract
):
    placement = Placement.HISTORY


class TestPydanticAiInTheCall(
    InPydanticAi, AdapterContract, CheckpointContract, StreamingContract, CallPlacementContract
):
    placement = Placement.CALL


class TestPydanticAiBlockingInTheHistory(InPydanticAi, SyncContract):
    placement = Placement.HISTORY


class TestPydanticAiBlockingInTheCall(InPydanticAi, SyncContract):
    placement = Placement.CALL
