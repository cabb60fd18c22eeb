"""What the adapters of LangChain and LangGraph share: their messages, and the guard at their tools."""

import json
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from enum import StrEnum
from hashlib import sha256
from typing import Any, TypeAlias

from skillweave.adapters.approval import as_replied, from_data, question, read_reply, record
from skillweave.adapters.bridge import Bridge, Judged, is_own
from skillweave.adapters.chat import (
    Call,
    HostMessage,
    all_blocks,
    answer_of_tool,
    only_markers,
    parameters_in,
    read_call,
    words_for,
)
from skillweave.adapters.messages.lists import take_out
from skillweave.adapters.spawning import spawn_id_of
from skillweave.compose.policy import Verdict
from skillweave.compose.spawn import SpawnRejected, SpawnRequest
from skillweave.conversation import Message, Part, Role
from skillweave.disclose.block import TAKEN_OUT
from skillweave.errors import CheckpointNotFound, InvalidSpawn, InvalidTurn, InvalidVerdict, MissingExtra, SkillNotFound
from skillweave.injection import Drop, Injection, PendingCheckpoint
from skillweave.state.state import ApprovalVerdict
from skillweave.weaver.reading import ToolAnswer, ToolSpec

try:
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
    from langchain_core.tools import BaseTool, StructuredTool, Tool
    from langchain_core.utils.function_calling import convert_to_openai_tool
    from langgraph.config import get_config
    from langgraph.errors import GraphInterrupt
    from langgraph.prebuilt.tool_node import ToolCallRequest
    from langgraph.types import Command, interrupt
except ModuleNotFoundError:
    raise MissingExtra("reading LangChain's messages", "langchain-core", "langchain") from None


class Speaker(StrEnum):
    """As whose words skill text stands in a history: most providers refuse a system message in mid-conversation."""

    USER = "user"
    SYSTEM = "system"


MARK = "skillweave"
"""The key in `additional_kwargs` of a message that skillweave put into the history; no provider is sent it."""
_TOLD = "skillweave-told-"
_ROLES = {"human": Role.USER, "ai": Role.ASSISTANT, "system": Role.SYSTEM, "tool": Role.TOOL, "function": Role.TOOL}


def host_messages(messages: Sequence[BaseMessage]) -> list[HostMessage]:
    """Each message that the model reads; raises InvalidTurn for one of a kind that no model is sent.

    What its provider compacted, and skips, it does not read.
    """
    read = [_read(message, f"messages[{index}]") for index, message in enumerate(messages)]
    compacted = (index for index, message in enumerate(messages) if _compacts(message))
    return read[max(compacted, default=0) :]


def _compacts(message: BaseMessage) -> bool:
    """Whether the provider put what stands before into this message, in a form that only it can read."""
    content = message.content if isinstance(message, AIMessage) and isinstance(message.content, list) else ()
    return any(isinstance(part, dict) and part.get("type") == "compaction" for part in content)


def block_messages(injection: Injection, speaker: Speaker = Speaker.USER) -> list[BaseMessage]:
    """The given blocks as messages; their ids are the same in a replay, so that they replace themselves."""
    kind = SystemMessage if Speaker(speaker) is Speaker.SYSTEM else HumanMessage
    skills: dict[str | None, list[str]] = {}
    for block in injection.blocks:
        skills.setdefault(block.id, []).append(block.skill_id)
    return [
        kind(content=message.text, id=message.id, additional_kwargs=_mark("text", skills.get(message.id, [])))
        for message in injection.messages
    ]


def is_skill_message(message: BaseMessage) -> bool:
    """Whether skillweave put the message into the history: a skill's text, an answer of its tools, or a notice.

    For what is shown to people, and for summaries. It is a mark that anybody can set: no rule depends on it.
    """
    return MARK in message.additional_kwargs


def without_skill_text(messages: Sequence[BaseMessage]) -> list[BaseMessage]:
    """The messages for a summary: what skillweave put there left out, a tool's answer kept as a line.

    A skill that is wanted after the summary is given again.
    """
    return [
        message.model_copy(update={"content": TAKEN_OUT}) if is_skill_message(message) else message
        for message in messages
        if isinstance(message, ToolMessage) or not is_skill_message(message)
    ]


def _mark(kind: str, skills: Sequence[str] = ()) -> dict[str, Any]:
    return {MARK: {"kind": kind, "skills": list(skills)} if skills else {"kind": kind}}


def with_tail(
    messages: Sequence[BaseMessage],
    tail: str,
    speaker: Speaker = Speaker.USER,
    marker: Mapping[str, Any] | None = None,
) -> list[BaseMessage]:
    """The messages of this call only: the chat, and the tail behind it as a message of its own.

    `marker` is what Anthropic's models are told to cache the chat with: the provider would set it behind the tail,
    where no later call finds it, so it is set in front too.
    """
    if not tail:
        return list(messages)
    kind = SystemMessage if Speaker(speaker) is Speaker.SYSTEM else HumanMessage
    chat = list(messages)
    if marker and chat and isinstance(chat[-1], HumanMessage | ToolMessage):
        chat[-1] = _marked(chat[-1], marker)
    return [*chat, kind(content=tail)]


def _marked(message: BaseMessage, marker: Mapping[str, Any]) -> BaseMessage:
    content = message.content
    parts: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else list(content)
    if not content or not isinstance(parts[-1], dict):
        return message
    return message.model_copy(update={"content": [*parts[:-1], {"cache_control": dict(marker), **parts[-1]}]})


def with_instructions(system: SystemMessage | None, injection: Injection) -> SystemMessage | None:
    """The system message of this call: the host's own words first, then what belongs into the call."""
    if not injection.instructions:
        return system
    if system is None:
        return SystemMessage(content=injection.instructions)
    if isinstance(system.content, str):
        return system.model_copy(update={"content": f"{system.content}\n\n{injection.instructions}"})
    return system.model_copy(
        update={"content": [*system.content, {"type": "text", "text": f"\n\n{injection.instructions}"}]}
    )


def calls(message: BaseMessage) -> tuple[Call, ...]:
    """The tool calls in a message of the model, broken ones too, each with what is wrong with it."""
    if not isinstance(message, AIMessage):
        return ()
    broken = (read_call(call["id"], call["name"], call["args"] or "") for call in message.invalid_tool_calls)
    return (*_whole(message), *broken)


def unreadable(reply: BaseMessage) -> list[ToolMessage]:
    """An answer in words to each call of the reply that cannot be read, since no framework runs those."""
    return [refused(call, call.problem) for call in calls(reply) if call.problem]


def notice(words: str, key: str, speaker: Speaker = Speaker.USER) -> BaseMessage:
    """A message of ours that tells the model something; one with an earlier `key` replaces the earlier one."""
    kind = SystemMessage if Speaker(speaker) is Speaker.SYSTEM else HumanMessage
    told = f"{_TOLD}{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
    return kind(content=words, id=told, additional_kwargs=_mark("notice"))


def wrote_only_markers(messages: Sequence[BaseMessage]) -> bool:
    """Whether the last of these is a reply of nothing but markers, and the first such since somebody said something."""
    if not _only_markers(messages[-1]):
        return False
    earlier = messages[:-1]
    for piece, message in zip(reversed(host_messages(earlier)), reversed(earlier), strict=False):
        if _only_markers(message):
            return False
        if piece.message.role is Role.USER and piece.host_part is not None:
            break
    return True


def _only_markers(message: BaseMessage) -> bool:
    return isinstance(message, AIMessage) and not message.tool_calls and only_markers(str(message.text))


def removals(messages: Sequence[BaseMessage], drops: Sequence[Drop]) -> list[BaseMessage]:
    """The changed and removed messages with which these texts leave the history; a tool's result keeps a line."""
    chat = [{"role": "user", "content": message.content} for message in messages]
    left = take_out(chat, drops)
    pairs = zip(messages, chat, left, strict=True)
    return [_without(message, now["content"]) for message, before, now in pairs if now is not before]


def _without(message: BaseMessage, content: Any) -> BaseMessage:  # noqa: ANN401 - as messages hold it
    if content == TAKEN_OUT and message.id and not isinstance(message, ToolMessage):
        return RemoveMessage(id=message.id)
    return message.model_copy(update={"content": content})


def answered(call: Call, answer: ToolAnswer) -> ToolMessage:
    """The result of a call of one of our own tools; its text stays as it is, to be recognised again."""
    status = "error" if answer.failed else "success"
    return ToolMessage(
        content=answer.text, tool_call_id=call.id, name=call.name, status=status, additional_kwargs=_mark("answer")
    )


def refused(call: Call, why: Verdict | str) -> ToolMessage:
    """The result of a call that was not run, written for the model to read."""
    return ToolMessage(content=words_for(why), tool_call_id=call.id, name=call.name, status="error")


def _whole(message: BaseMessage) -> tuple[Call, ...]:
    # Broken calls need no result to go on: LangChain answers them itself where the model is called.
    if not isinstance(message, AIMessage):
        return ()
    return tuple(read_call(call["id"], call["name"], call["args"]) for call in message.tool_calls)


def _read(message: BaseMessage, where: str) -> HostMessage:
    role = _ROLES.get(message.type.lower().removesuffix("messagechunk"))
    if role is None:
        raise InvalidTurn(f"{where} is of type {message.type!r}, which no model is sent; take it out before the call")
    parts = tuple(_parts(message.content))
    if role is Role.TOOL:
        return answer_of_tool(
            where,
            parts,
            tool=message.name or "",
            status=str(getattr(message, "status", "success")),
            call=getattr(message, "tool_call_id", None),
            message_id=message.id,
        )
    asking = tuple({"type": "tool_call", "id": call.id, "name": call.name} for call in calls(message))
    whole = Message(role, (*parts, *asking), message.id)
    ours = role in (Role.USER, Role.SYSTEM) and all_blocks(parts)
    return HostMessage(where, whole, None if ours else whole, _whole(message))


def _parts(content: str | Iterable[str | dict[Any, Any]]) -> Iterable[Part]:
    for part in [content] if isinstance(content, str) else content:
        if isinstance(part, str):
            if part:
                yield part
        elif part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]
        elif part.get("type") != "tool_use":  # a provider's own form of a call, which is read apart
            yield {str(key): value for key, value in part.items()}


Ran: TypeAlias = ToolMessage | Command[Any]

_NOTHING = object()


@dataclass(eq=False, slots=True)
class Caller:
    """An agent one of whose tools is running, and the call: what an agent inside the tool is bound by.

    `thread` is that of the run, which the run of an agent inside the tool has too.
    """

    bridge: Bridge
    conversation: str
    thread: str
    call: Call
    _below: dict[tuple[int, str], Bridge] = field(default_factory=dict)

    def request(self, asked: ToolCallRequest) -> ToolCallRequest:
        """What is to run: what was asked for, with the arguments that a person gave the call."""
        arguments = dict(self.call.arguments or {})
        if arguments == asked.tool_call["args"]:
            return asked
        return asked.override(tool_call={**asked.tool_call, "args": arguments})

    async def above(self, bridge: Bridge, named: str) -> Bridge:
        """The Bridge of an agent inside the tool: held to what its caller may do, in a conversation of its own.

        It has the conversation that its run names, where that is not its caller's.
        """
        key = (id(bridge), named)
        if key not in self._below:
            parent = await self.bridge.current_policy(self.conversation)
            task = SpawnRequest(f"{self.call.name} {json.dumps(self.call.arguments, default=str)}")
            plan = await self.bridge.weaver.prepare_spawn(task, parent=parent, spawn_id=spawn_id_of(self.call))
            if isinstance(plan, SpawnRejected):
                raise InvalidSpawn(plan.message)
            own = plan if named in ("", self.conversation, self.thread) else replace(plan, conversation=named)
            self._below[key] = bridge.within(own)
        return self._below[key]


_CALLER: ContextVar[Caller | None] = ContextVar("skillweave-caller", default=None)


def caller() -> Caller | None:
    """The agent whose tool is running, for a tool that acts on that agent's behalf."""
    return _CALLER.get()


@contextmanager
def _called_by(one: Caller) -> Iterator[None]:
    token = _CALLER.set(one)
    try:
        yield
    finally:
        _CALLER.reset(token)


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


class ToolGuard:
    """What stands before every tool call of an agent; `wrap` and `awrap` are what a ToolNode or a middleware calls.

    `tools` are the names of all tools with which the agent's turns are woven, None where they are woven without.
    """

    def __init__(self, bridge: Bridge, tools: Sequence[str] | None = None) -> None:
        self._bridge = bridge
        self._tools = tools

    def wrap(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Ran]) -> Ran:
        """Answer or run one call, pausing the graph where a person must decide first."""
        ruled = self._bridge.run(self._ruled(request))
        if isinstance(ruled, ToolMessage):
            return ruled
        with _called_by(ruled):
            return handler(ruled.request(request))

    async def awrap(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Ran]]) -> Ran:
        """What `wrap` does, awaited."""
        ruled = await self._ruled(request)
        if isinstance(ruled, ToolMessage):
            return ruled
        with _called_by(ruled):
            return await handler(ruled.request(request))

    async def _ruled(self, request: ToolCallRequest) -> ToolMessage | Caller:
        """What the model is told in place of running the tool, or on whose behalf the tool is to run."""
        written = read_call(request.tool_call["id"], request.tool_call["name"], request.tool_call["args"])
        call = replace(written, parameters=_parameters_of(request.tool))
        bridge, conversation = await run_of(self._bridge, request.state)
        here = Caller(bridge, conversation, _thread(), call)
        ruled = await self._rule(here, request)
        while isinstance(ruled, WaitingCall):
            ruled = await self._replied(ruled, here, ruled.reply(conversation))
        return ruled if isinstance(ruled, ToolMessage) else replace(here, call=ruled)

    async def _rule(self, here: Caller, request: ToolCallRequest) -> ToolMessage | WaitingCall | Call:
        call = here.call
        if is_own(call.name):
            messages = request.state["messages"] if isinstance(request.state, Mapping) else request.state
            chat = host_messages(messages)
            return answered(call, await here.bridge.answer(call, here.conversation, chat, self._tools))
        shown = _shown_in(request.state)
        judged = await here.bridge.judge(call, here.conversation, self._tools, shown=shown or ())
        if judged.waited and not judged.waits:
            return WaitingCall(call, judged.waited, shown, decided=True)
        return _ruling(call, judged, shown)

    async def _replied(self, waits: WaitingCall, here: Caller, said: object) -> ToolMessage | WaitingCall | Call:
        """Keep the reply as the verdict, except a yes to what others have decided since, and rule on the call again."""
        try:
            reply = None if said is _NOTHING else read_reply(said)
            if reply and (not waits.decided or reply.verdict is not ApprovalVerdict.APPROVED):
                await record(here.bridge.weaver, here.conversation, waits.pending, reply, waits.call)
        except InvalidVerdict as error:
            return replace(waits, problem=str(error))
        except (SkillNotFound, CheckpointNotFound) as error:
            return refused(waits.call, f"not run: {error}")
        left = waits.call if reply is None else as_replied(waits.call, reply)
        judged = await here.bridge.judge(left, here.conversation, self._tools)
        ruled = _ruling(left, judged, waits.shown)
        if reply and reply.refuses and not isinstance(ruled, ToolMessage):
            # Another call's approval was kept behind it; this call was rejected all the same.
            return refused(waits.call, f"not run: {reply.by!r} rejected this call")
        return ruled


def _ruling(
    call: Call, judged: Judged, shown: tuple[PendingCheckpoint, ...] | None
) -> ToolMessage | WaitingCall | Call:
    digests = {(one.skill_id, one.name): one.digest for one in shown or ()}
    for one in judged.waits if shown is not None else ():
        known = digests.get((one.skill_id, one.name))
        if known != one.digest:
            # The model has not seen this text, and a reply that comes now may be about the earlier one.
            what = "has changed since" if known else "was loaded beside this call"
            return refused(call, f"not run: the skill {one.skill_id!r} {what}; read it, then call again")
    if judged.waits:
        return WaitingCall(call, judged.waits, shown)
    return call if judged.runs else refused(call, judged.verdict)


async def run_of(bridge: Bridge, state: object = None) -> tuple[Bridge, str]:
    """The Bridge for this run and its conversation; inside a tool of another guarded agent that of a sub-agent.

    Raises InvalidTurn where the run names no conversation.
    """
    outer = caller()
    if outer is not None and bridge.plan is None:
        bridge = await outer.above(bridge, _named(state))
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


def _shown_in(state: object) -> tuple[PendingCheckpoint, ...] | None:
    """The checkpoints that the state keeps; None in a graph of the host's own that keeps none."""
    shown = state.get("open_checkpoints") if isinstance(state, Mapping) else None
    return None if shown is None else from_data(shown)


def own_tools(bridge: Bridge) -> list[BaseTool]:
    """The tools of skillweave as LangChain's, to be declared to the model; the guard answers their calls."""
    return [_declared(spec) for spec in bridge.own_tools]


def require_other_names(tools: Iterable[BaseTool | dict[str, Any]]) -> None:
    """Raise InvalidTurn where one of the host's tools has the name of one of skillweave's own."""
    taken = next(filter(is_own, names_of([*tools])), None)
    if taken:
        raise InvalidTurn(f"a tool of the host is named {taken!r}, as one of skillweave's own; rename it")


def names_of(tools: Sequence[BaseTool | dict[str, Any]]) -> list[str]:
    """The name of each tool; a provider's own tool without a name goes by its type."""
    return [tool.name if isinstance(tool, BaseTool) else name_in(tool) for tool in tools]


def name_in(tool: Mapping[str, Any]) -> str:
    """The name of a tool in a provider's form; one without a name goes by its type, else by its first key."""
    return str(tool.get("name") or tool.get("function", {}).get("name") or tool.get("type") or next(iter(tool), ""))


class OwnTool(StructuredTool):
    """One of skillweave's own tools: an agent that has it has the guard that answers it."""


def _declared(spec: ToolSpec) -> BaseTool:
    data = spec.to_dict()

    def unguarded(**_: object) -> str:
        raise InvalidTurn(f"{spec.name} ran without the guard that answers it; run tools through the adapter's node")

    return OwnTool(name=spec.name, description=spec.description, args_schema=data["parameters"], func=unguarded)
