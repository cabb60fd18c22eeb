"""The guard at the tools of LangChain and LangGraph: answers our own, lets others run, wait for a person, or not."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from skillweave.adapters.approval import question, read_reply, record
from skillweave.adapters.bridge import Bridge, is_own
from skillweave.adapters.call import Call, read_call
from skillweave.adapters.langchain_messages import answered, heard, refused
from skillweave.errors import InvalidTurn, InvalidVerdict, MissingExtra
from skillweave.injection import PendingCheckpoint
from skillweave.weaver.tool_table import ToolSpec

try:
    from langchain_core.messages import ToolMessage
    from langchain_core.tools import BaseTool, StructuredTool
    from langgraph.config import get_config
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.types import Command, interrupt
except ModuleNotFoundError:
    raise MissingExtra("an adapter for LangGraph", "langgraph", "langgraph") from None

Ran: TypeAlias = "ToolMessage | Command[Any]"


@dataclass(frozen=True, slots=True)
class Waits:
    """A call that a person has to decide first."""

    call: Call
    pending: tuple[PendingCheckpoint, ...]
    question: dict[str, object]


class ToolGuard:
    """What stands before every tool call of an agent; `wrap` and `awrap` are what a ToolNode or a middleware calls."""

    def __init__(self, bridge: Bridge) -> None:
        self._bridge = bridge

    def wrap(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Ran]) -> Ran:
        """Answer or run one call, pausing the graph where a person must decide first."""
        conversation, run = conversation_of(self._bridge, request.state), self._bridge.weaver.sync.run
        ruled = run(self._rule(request, conversation))
        while isinstance(ruled, Waits):
            ruled = run(self._decided(ruled, conversation, interrupt(ruled.question)))
        return handler(request) if ruled is None else ruled

    async def awrap(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Ran]]) -> Ran:
        """The same, awaited."""
        conversation = conversation_of(self._bridge, request.state)
        ruled = await self._rule(request, conversation)
        while isinstance(ruled, Waits):
            ruled = await self._decided(ruled, conversation, interrupt(ruled.question))
        return await handler(request) if ruled is None else ruled

    async def _rule(self, request: ToolCallRequest, conversation: str) -> ToolMessage | Waits | None:
        call = read_call(request.tool_call["id"], request.tool_call["name"], request.tool_call["args"])
        if is_own(call.name):
            messages = request.state["messages"] if isinstance(request.state, Mapping) else request.state
            return answered(call, await self._bridge.answer(call, conversation, heard(messages)))
        return await self._judged(call, conversation)

    async def _judged(self, call: Call, conversation: str) -> ToolMessage | Waits | None:
        judged = await self._bridge.judge(call, conversation)
        if judged.waits:
            return Waits(call, judged.waits, question(conversation, judged.waits, call))
        return None if judged.runs else refused(call, judged.verdict)

    async def _decided(self, waits: Waits, conversation: str, reply: object) -> ToolMessage | Waits | None:
        try:
            await record(self._bridge.weaver, conversation, waits.pending, read_reply(reply))
        except InvalidVerdict as error:
            return Waits(waits.call, waits.pending, question(conversation, waits.pending, waits.call, str(error)))
        return await self._judged(waits.call, conversation)


def conversation_of(bridge: Bridge, state: object = None) -> str:
    """The conversation of the run: that of a sub-agent's plan, the state's `conversation_id`, else the run's thread.

    Raises InvalidTurn where neither is there.
    """
    if bridge.plan is not None:
        return bridge.plan.conversation
    stated = state.get("conversation_id") if isinstance(state, Mapping) else None
    named = stated or get_config().get("configurable", {}).get("thread_id")
    if not isinstance(named, str) or not named:
        raise InvalidTurn(
            "this run names no conversation; invoke it with config={'configurable': {'thread_id': 'some-id'}}"
        )
    return named


def own_tools(bridge: Bridge) -> list[BaseTool]:
    """The tools of skillweave as LangChain's, to be declared to the model; the guard answers their calls."""
    return [_declared(spec) for spec in bridge.own_tools]


def names_of(tools: Sequence[BaseTool | dict[str, Any]]) -> list[str]:
    """The name of each tool; a provider's own tool without a name goes by its type."""
    return [tool.name if isinstance(tool, BaseTool) else _name_in(tool) for tool in tools]


def _name_in(tool: Mapping[str, Any]) -> str:
    return str(tool.get("name") or tool.get("function", {}).get("name") or tool.get("type"))


def _declared(spec: ToolSpec) -> BaseTool:
    data = spec.to_dict()

    def unguarded(**_: object) -> str:
        raise InvalidTurn(f"{spec.name} ran without the guard that answers it; run tools through the adapter's node")

    return StructuredTool(name=spec.name, description=spec.description, args_schema=data["parameters"], func=unguarded)
