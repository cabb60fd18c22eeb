"""The adapter for LangChain, in both placements, inside real agents of `create_agent`."""

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
from tests.adapters.hosts.langchain_agent import LangChainAgent


class WithLangChain(HostContract):
    def agent(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path) -> HostedAgent:
        return LangChainAgent(weaver, script, workshop, memory, self.placement)


class LangChainContract(WithLangChain, AdapterContract, StreamingContract, CheckpointContract):
    pass


class TestLangChainInTheHistory(LangChainContract, HistoryPlacementContract):
    placement = Placement.HISTORY


class TestLangChainInTheCall(LangChainContract, CallPlacementContract):
    placement = Placement.CALL


class TestLangChainInTheHistoryWithoutALoop(WithLangChain, SyncContract):
    placement = Placement.HISTORY


class TestLangChainInTheCallWithoutALoop(WithLangChain, SyncContract):
    placement = Placement.CALL
