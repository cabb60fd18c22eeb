"""The adapter for plain message lists, in each style and both placements, inside a loop written by hand."""

from pathlib import Path

from skillweave import Placement, Weaver
from skillweave_testing.hosts import HostedAgent, Script
from skillweave_testing.hosts.play import Workshop
from tests.adapters.hosts.contracts import (
    AdapterContract,
    CallPlacementContract,
    CheckpointContract,
    HistoryPlacementContract,
)
from tests.adapters.hosts.message_agent import MessageAgent
from tests.chatting import AnthropicShapes, OpenAiShapes, ResponsesShapes, Shapes


class MessagesContract(AdapterContract, CheckpointContract):
    shapes: type[Shapes]

    def agent(self, weaver: Weaver, script: Script, workshop: Workshop, memory: Path) -> HostedAgent:
        return MessageAgent(weaver, script, workshop, memory, self.shapes(), self.placement)  # type: ignore[return-value]


class TestOpenAiStyleInTheHistory(MessagesContract, HistoryPlacementContract):
    shapes, placement = OpenAiShapes, Placement.HISTORY


class TestOpenAiStyleInTheCall(MessagesContract, CallPlacementContract):
    shapes, placement = OpenAiShapes, Placement.CALL


class TestResponsesStyleInTheHistory(MessagesContract, HistoryPlacementContract):
    shapes, placement = ResponsesShapes, Placement.HISTORY


class TestResponsesStyleInTheCall(MessagesContract, CallPlacementContract):
    shapes, placement = ResponsesShapes, Placement.CALL


class TestAnthropicStyleInTheHistory(MessagesContract, HistoryPlacementContract):
    shapes, placement = AnthropicShapes, Placement.HISTORY


class TestAnthropicStyleInTheCall(MessagesContract, CallPlacementContract):
    shapes, placement = AnthropicShapes, Placement.CALL
