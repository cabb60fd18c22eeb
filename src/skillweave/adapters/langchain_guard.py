"""What stands before the tools of an agent of LangGraph or LangChain, and in whose name an agent inside a tool acts."""

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from langchain_core.messages import ToolMessage
from langchain_core.tools import BaseTool, Tool
from langchain_core.utils.function_calling import convert_to_openai_tool
from langgraph.config import get_config
from langgraph.errors import GraphInterrupt
from langgraph.prebuilt.tool_node import ToolCallRequest
from langgraph.types import Command, interrupt

from skillweave.adapters.approval import as_replied, from_data, question, read_reply, record
from skillweave.adapters.bridge import CALLER, Bridge, Caller, Judged, calling
from skillweave.adapters.chat import Call, parameters_in, read_call
from skillweave.adapters.langchain_core import answered, host_messages, refused
from skillweave.adapters.spawning import spawn_id_of
from skillweave.compose.policy import OWN_TOOLS
from skillweave.compose.spawn import SpawnRejected, SpawnRequest
from skillweave.errors import CheckpointNotFound, InvalidSpawn, InvalidTurn, InvalidVerdict, SkillNotFound
from skillweave.injection import PendingCheckpoint
from skillweave.state.state import ApprovalVerdict

Ran: TypeAlias = ToolMessage | Command[Any]

_NOTHING = object()


@dataclass(eq=False, slots=True)
class ToolCaller(Caller):
    """An agent of these frameworks one of whose tools is running, and the call.

    `thread` is that of the run, which the run of an agent inside the tool has too.
    """

    thread: str
    call: Call
    _below: dict[Bridge, Bridge] = field(default_factory=dict)

    async def paused(self) -> None:
        """The tool pauses the graph and runs again from its start: a yes that let it through counts again."""
        await self.bridge.give_back(self.call, self.conversation)

    def request(self, asked: ToolCallRequest) -> ToolCallRequest:
        """What is to run: what was asked for, with the arguments that a person gave the call."""
        arguments = dict(self.call.arguments or {})
        if arguments == asked.tool_call["args"]:
            return asked
        return asked.override(tool_call={**asked.tool_call, "args": arguments})

    async def below(self, bridge: Bridge, named: str) -> Bridge:
        """The Bridge of an agent inside the tool: that of a sub-agent, unless its run names a conversation of its own.

        Either is held to what its caller may do.
        """
        if named not in ("", self.conversation, self.thread):
            return bridge
        if bridge not in self._below:
            parent = await self.bridge.current_policy(self.conversation)
            task = SpawnRequest(f"{self.call.name} {json.dumps(self.call.arguments, default=str)}")
            plan = await self.bridge.weaver.composition.prepare_spawn(
                task, parent=parent, spawn_id=spawn_id_of(self.call)
            )
            if isinstance(plan, SpawnRejected):
                raise InvalidSpawn(plan.message)
            self._below[bridge] = bridge.within(plan)
        return self._below[bridge]


def caller() -> ToolCaller | None:
    """The agent whose tool is running, for a tool that acts on that agent's behalf."""
    found = CALLER.get()
    return found if isinstance(found, ToolCaller) else None


@dataclass(frozen=True, slots=True)
class WaitingCall:
    """A call that a person has to decide first, or that was `decided` since the question was asked.

    The same node runs again with each reply, and LangGraph hands replies out by their order: a reply that was given
    here must be taken here again, else it answers the next question, which may be the tool's own.
    """

    call: Call
    pending: tuple[PendingCheckpoint, ...]
    shown: tuple[PendingCheckpoint, ...] | None
    decided: bool = False
    problem: str = ""

    def reply(self, conversation: str) -> object:
        """What the person said; pauses the graph where nobody said anything and the call is not decided yet."""
        try:
            return interrupt(question(conversation, self.pending, self.call, self.problem))
        except GraphInterrupt:
            if self.decided:
                return _NOTHING
            raise


@dataclass(frozen=True, slots=True)
class ToolGuard:
    """What stands before every tool call of an agent; `wrap` and `awrap` are what a ToolNode or a middleware calls.

    `tools` are the names of all tools with which the agent's turns are woven, None where they are woven without.
    `unkept` are the checkpoints that were open as the model was called where the state keeps none: nobody knows (None)
    in a graph of the host's own, none were (empty) in an agent whose state is written where some are.
    """

    _bridge: Bridge
    _tools: Sequence[str] | None = None
    _unkept: tuple[PendingCheckpoint, ...] | None = None

    def wrap(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Ran]) -> Ran:
        """Answer or run one call, pausing the graph where a person must decide first."""
        ruled = self._bridge.run(self._ruled(request))
        if isinstance(ruled, ToolMessage):
            return ruled
        try:
            with calling(ruled):
                return handler(ruled.request(request))
        except GraphInterrupt:
            self._bridge.run(ruled.paused())
            raise

    async def awrap(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Ran]]) -> Ran:
        """What `wrap` does, awaited."""
        ruled = await self._ruled(request)
        if isinstance(ruled, ToolMessage):
            return ruled
        try:
            with calling(ruled):
                return await handler(ruled.request(request))
        except GraphInterrupt:
            await ruled.paused()
            raise

    async def _ruled(self, request: ToolCallRequest) -> ToolMessage | ToolCaller:
        """What the model is told in place of running the tool, or on whose behalf the tool is to run."""
        written = read_call(request.tool_call["id"], request.tool_call["name"], request.tool_call["args"])
        call = replace(written, parameters=_parameters_of(request.tool))
        bridge, conversation = await run_of(self._bridge, request.state)
        here = ToolCaller(bridge, conversation, _thread(), call)
        ruled = await self._rule(here, request)
        while isinstance(ruled, WaitingCall):
            ruled = await self._replied(ruled, here, ruled.reply(conversation))
        return ruled if isinstance(ruled, ToolMessage) else replace(here, call=ruled)

    async def _rule(self, here: ToolCaller, request: ToolCallRequest) -> ToolMessage | WaitingCall | Call:
        call = here.call
        if call.name in OWN_TOOLS:
            messages = request.state["messages"] if isinstance(request.state, Mapping) else request.state
            chat = host_messages(messages)
            return answered(call, await here.bridge.answer(call, here.conversation, chat, self._tools))
        kept = request.state.get("open_checkpoints") if isinstance(request.state, Mapping) else None
        shown = self._unkept if kept is None else from_data(kept)
        judged = await here.bridge.judge(
            call,
            here.conversation,
            self._tools,
            shown=shown or (),
            host_tools=[tool.name for tool in request.runtime.tools],
        )
        if judged.waited and not judged.waits:
            return WaitingCall(call, judged.waited, shown, decided=True)
        return await self._settled(here, call, judged, shown)

    async def _replied(self, waits: WaitingCall, here: ToolCaller, said: object) -> ToolMessage | WaitingCall | Call:
        """Keep the reply as the verdict, except a yes to what others have decided since, and rule on the call again."""
        try:
            reply = None if said is _NOTHING else read_reply(said)
            if reply and (not waits.decided or reply.verdict is not ApprovalVerdict.APPROVED):
                await record(here.bridge.weaver, here.conversation, (waits.pending, reply, waits.call))
        except InvalidVerdict as error:
            return replace(waits, problem=str(error))
        except (SkillNotFound, CheckpointNotFound) as error:
            return refused(waits.call, f"not run: {error}")
        left = waits.call if reply is None else as_replied(waits.call, reply)
        judged = await here.bridge.judge(left, here.conversation, self._tools)
        if reply and reply.refuses and (judged.runs or judged.waits):
            # Another call's approval was kept behind it; this call was rejected all the same.
            return refused(waits.call, f"not run: {reply.by!r} rejected this call")
        return await self._settled(here, left, judged, waits.shown)

    async def _settled(
        self, here: ToolCaller, call: Call, judged: Judged, shown: tuple[PendingCheckpoint, ...] | None
    ) -> ToolMessage | WaitingCall | Call:
        digests = {(one.skill_id, one.name): one.digest for one in shown or ()}
        for one in judged.waits if shown is not None else ():
            known = digests.get((one.skill_id, one.name))
            if known != one.digest:
                # The model has not seen this text, and a reply that comes now may be about the earlier one.
                what = "has changed since" if known else "was loaded beside this call"
                return refused(call, f"not run: the skill {one.skill_id!r} {what}; read it, then call again")
        if judged.waits and judged.verdict.used_at is not None:
            # A node that runs again is handed the earlier reply once more, whatever it asks now.
            return refused(call, f"not run: {judged.verdict.message}; look what it did, then call again if need be")
        if judged.waits:
            return WaitingCall(call, judged.waits, shown)
        judged = await here.bridge.take(judged, call, here.conversation, self._tools)
        return call if judged.runs else refused(call, judged.verdict)


async def run_of(bridge: Bridge, state: object = None) -> tuple[Bridge, str]:
    """The Bridge for this run and its conversation; inside a tool of another guarded agent that of a sub-agent.

    Raises InvalidTurn where the run names no conversation.
    """
    outer = caller()
    if outer is not None and bridge.plan is None:
        bridge = await outer.below(bridge, _named(state))
    return bridge, conversation_of(bridge, state)


def conversation_of(bridge: Bridge, state: object = None) -> str:
    """The conversation of the run: that of a sub-agent's plan, the state's `conversation_id`, else the run's thread.

    Raises InvalidTurn where neither is there.
    """
    named = bridge.plan.conversation if bridge.plan is not None else _named(state)
    if not named:
        raise InvalidTurn(
            "this run names no conversation; invoke it with config={'configurable': {'thread_id': 'some-id'}}"
        )
    return named


def _named(state: object) -> str:
    stated = state.get("conversation_id") if isinstance(state, Mapping) else None
    return str(stated) if stated else _thread()


def _thread() -> str:
    thread = get_config().get("configurable", {}).get("thread_id")
    return "" if thread is None else str(thread)  # LangGraph takes numbers and UUIDs too


def _parameters_of(tool: BaseTool | None) -> tuple[str, ...] | None:
    """The names of the parameters that the model is shown; None for a tool that declares none by name."""
    if tool is None or (isinstance(tool, Tool) and tool.args_schema is None):
        return None
    return parameters_in(convert_to_openai_tool(tool)["function"].get("parameters"))
