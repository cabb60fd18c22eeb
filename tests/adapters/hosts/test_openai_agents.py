"""The adapter for the OpenAI Agents SDK, against the SDK itself."""

from pathlib import Path

from skillweave import Placement, Weaver
from skillweave_testing.hosts import HostedAgent, Script
from skillweave_testing.hosts.play import Workshop
from tests.adapters.hosts.contracts import (
    AdapterContract,
    CallPlacementContract,
    CheckpointContract,
    HistoryPlacementContract,
    StreamingContract,
    SyncContract,
)
from tests.adapters.hosts.openai_agents_agent import OpenAiAgent


class OpenAiAgents:
    placement = Placement.HISTORY

    def agent(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path) -> HostedAgent:
        return OpenAiAgent(weaver, script, workshop, memory, self.placement)


class TestOpenAiAgentsInTheHistory(
    OpenAiAgents, AdapterContract, HistoryPlacementContract, CheckpointContract, StreamingContract
):
    """Runner.run and Runner.run_streamed; what is given is kept beside the ledger, not in the SDK's session."""

    keeps_texts = False


class TestOpenAiAgentsInTheCall(
    OpenAiAgents, AdapterContract, CallPlacementContract, CheckpointContract, StreamingContract
):
    """The same with skill text in the instructions."""

    placement = Placement.CALL


class TestBlocking(OpenAiAgents, SyncContract):
    """Runner.run_sync."""
