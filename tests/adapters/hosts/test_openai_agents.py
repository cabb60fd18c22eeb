"""The adapter for the OpenAI Agents SDK, against the SDK itself."""

from pathlib import Path

from skillweave import Placement, Weaver
from skillweave_testing.hosts import HostedAgent, Script
from skillweave_testing.hosts.play import Workshop
from tests.adapters.hosts.contracts import (
    AdapterContract,
    CallPlacementContract,
    CheckpointContract,
    StreamingContract,
    SyncContract,
)
from tests.adapters.hosts.openai_agents_agent import OpenAiAgent


class OpenAiAgents:
    placement = Placement.CALL

    def agent(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path) -> HostedAgent:
        return OpenAiAgent(weaver, script, workshop, memory)


class TestAwaited(OpenAiAgents, AdapterContract, CallPlacementContract, CheckpointContract, StreamingContract):
    """Runner.run and Runner.run_streamed."""


class TestBlocking(OpenAiAgents, SyncContract):
    """Runner.run_sync."""
