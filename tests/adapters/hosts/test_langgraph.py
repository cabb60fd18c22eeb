"""The adapter for LangGraph: the ready agent, with what it keeps in a file."""

from pathlib import Path

from skillweave import Placement, Weaver
from skillweave_testing.hosts import HostedAgent, Script
from skillweave_testing.hosts.play import HostContract, Workshop
from tests.adapters.hosts.contracts import (
    AdapterContract,
    CheckpointContract,
    HistoryPlacementContract,
    StreamingContract,
    SyncContract,
)
from tests.adapters.hosts.langgraph_agent import LangGraphAgent


class WithLangGraph(HostContract):
    placement = Placement.HISTORY

    def agent(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path) -> HostedAgent:
        return LangGraphAgent(weaver, script, workshop, memory)


class TestLangGraph(WithLangGraph, AdapterContract, HistoryPlacementContract, StreamingContract, CheckpointContract):
    pass


class TestLangGraphWithoutALoop(WithLangGraph, SyncContract):
    pass
