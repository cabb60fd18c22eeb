"""What the adapters of LangChain and LangGraph share: their messages, and how tools are named and declared."""

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any

from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
from langchain_core.tools import BaseTool, StructuredTool

from skillweave.adapters.chat import (
    Call,
    HostMessage,
    all_blocks,
    answer_of_tool,
    only_markers,
    read_call,
    words_for,
)
from skillweave.adapters.messages.lists import take_out
from skillweave.compose.policy import OWN_TOOLS, Verdict
from skillweave.dialogue import Message, Part, Role
from skillweave.disclose.block import TAKEN_OUT
from skillweave.errors import InvalidTurn
from skillweave.injection import Drop, Injection
from skillweave.weaver.tools import TOOLS, ToolAnswer, ToolSpec


class Speaker(StrEnum):
    """As whose words skill text stands in a history: most providers refuse a system message in mid-conversation."""

    USER = "user"
    SYSTEM = "system"


_SAID_BY: Mapping[Speaker, type[HumanMessage] | type[SystemMessage]] = {
    Speaker.USER: HumanMessage,
    Speaker.SYSTEM: SystemMessage,
}
MARK = "skillweave"
"""The key in `additional_kwargs` of a message that skillweave put into the history; no provider is sent it."""
_TOLD = "skillweave-told-"
_ROLES = {"human": Role.USER, "ai": Role.ASSISTANT, "system": Role.SYSTEM, "tool": Role.TOOL, "function": Role.TOOL}


def host_messages(messages: Sequence[BaseMessage]) -> list[HostMessage]:
    """Each message that the model reads; raises InvalidTurn for one of a kind that no model is sent.

    What its provider compacted, and skips, it does not read.
    """
    read = [_read(message, f"messages[{index}]") for index, message in enumerate(messages)]
    listed = ((n, one.content) for n, one in enumerate(messages) if isinstance(one, AIMessage))
    compacted = (n for n, content in listed if isinstance(content, list) and any(map(_is_compaction, content)))
    return read[max(compacted, default=0) :]


def _is_compaction(part: object) -> bool:
    """Whether the provider put what stands before into this part, in a form that only it can read."""
    return isinstance(part, dict) and part.get("type") == "compaction"


def block_messages(injection: Injection, speaker: Speaker = Speaker.USER) -> list[BaseMessage]:
    """The given blocks as messages; their ids are the same in a replay, so that they replace themselves."""
    skills: dict[str | None, list[str]] = {}
    for block in injection.blocks:
        skills.setdefault(block.id, []).append(block.skill_id)
    return [
        _SAID_BY[speaker](
            content=message.text, id=message.id, additional_kwargs=_mark("text", skills.get(message.id, []))
        )
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
    chat = list(messages)
    if marker and chat and isinstance(chat[-1], HumanMessage | ToolMessage):
        chat[-1] = _marked(chat[-1], marker)
    return [*chat, _SAID_BY[speaker](content=tail)]


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
    whole = (read_call(call["id"], call["name"], call["args"]) for call in message.tool_calls)
    broken = (read_call(call["id"], call["name"], call["args"] or "") for call in message.invalid_tool_calls)
    return (*whole, *broken)


def unreadable(reply: BaseMessage) -> list[ToolMessage]:
    """An answer in words to each call of the reply that cannot be read, since no framework runs those."""
    return [refused(call, call.problem) for call in calls(reply) if call.problem]


def notice(words: str, key: str, speaker: Speaker = Speaker.USER) -> BaseMessage:
    """A message of ours that tells the model something; one with an earlier `key` replaces the earlier one."""
    told = f"{_TOLD}{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}"
    return _SAID_BY[speaker](content=words, id=told, additional_kwargs=_mark("notice"))


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
    if not drops:
        return []
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
    if isinstance(message, AIMessage):
        asking = calls(message)
        named = ({"type": "tool_call", "id": call.id, "name": call.name} for call in asking)
        whole = Message(role, (*parts, *named), message.id)
        # Broken calls need no result to go on: LangChain answers them itself where the model is called.
        return HostMessage(where, whole, whole, asking[: len(message.tool_calls)])
    whole = Message(role, parts, message.id)
    return HostMessage(where, whole, None if all_blocks(parts) else whole)


def _parts(content: str | Iterable[str | dict[Any, Any]]) -> Iterable[Part]:
    for part in [content] if isinstance(content, str) else content:
        if isinstance(part, str):
            if part:
                yield part
        elif part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]
        elif part.get("type") != "tool_use":  # a provider's own form of a call, which is read apart
            yield {str(key): value for key, value in part.items()}


def own_tools() -> list[BaseTool]:
    """The tools of skillweave as LangChain's, to be declared to the model; the guard answers their calls."""
    return [_declared(spec) for spec in TOOLS.values()]


def require_other_names(tools: Iterable[BaseTool | dict[str, Any]]) -> None:
    """Raise InvalidTurn where one of the host's tools has the name of one of skillweave's own."""
    taken = next((name for name in names_of([*tools]) if name in OWN_TOOLS), None)
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
