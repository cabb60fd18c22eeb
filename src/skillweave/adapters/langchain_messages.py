"""LangChain's messages, for LangChain and LangGraph alike: read as what was heard, and ours to be added."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from typing import Any

from skillweave.adapters.call import Call, read_call, words_for
from skillweave.adapters.heard import Heard
from skillweave.adapters.own import all_blocks, without_blocks
from skillweave.compose.verdict import Verdict
from skillweave.conversation import Message, Part, Role, ToolResult
from skillweave.disclose.block import digest_in
from skillweave.errors import InvalidTurn, MissingExtra
from skillweave.injection import Injection
from skillweave.weaver.reading import ToolAnswer

try:
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, SystemMessage, ToolMessage
except ModuleNotFoundError:
    raise MissingExtra("reading LangChain's messages", "langchain-core", "langchain") from None


class Speaker(StrEnum):
    """As whose words skill text stands in a history: most providers refuse a system message in mid-conversation."""

    USER = "user"
    SYSTEM = "system"


_ROLES = {"human": Role.USER, "ai": Role.ASSISTANT, "system": Role.SYSTEM, "tool": Role.TOOL, "function": Role.TOOL}


def heard(messages: Sequence[BaseMessage]) -> list[Heard]:
    """Each message that the model is sent; raises InvalidTurn for one of a kind that no model is sent."""
    return [_read(message, f"messages[{index}]") for index, message in enumerate(messages)]


def given(injection: Injection, speaker: Speaker = Speaker.USER) -> list[BaseMessage]:
    """The given blocks as messages; their ids are the same in a replay, so that they replace themselves."""
    kind = SystemMessage if Speaker(speaker) is Speaker.SYSTEM else HumanMessage
    return [kind(content=message.text, id=message.id) for message in injection.messages]


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
    whole = [read_call(call["id"], call["name"], call["args"]) for call in message.tool_calls]
    broken = [read_call(call["id"], call["name"], call["args"] or "") for call in message.invalid_tool_calls]
    return (*whole, *broken)


def answered(call: Call, answer: ToolAnswer) -> ToolMessage:
    """The result of a call of one of our own tools; its text stays as it is, to be recognised again."""
    status = "error" if answer.failed else "success"
    return ToolMessage(content=answer.text, tool_call_id=call.id, name=call.name, status=status)


def refused(call: Call, why: Verdict | str) -> ToolMessage:
    """The result of a call that was not run, written for the model to read."""
    return ToolMessage(content=words_for(why), tool_call_id=call.id, name=call.name, status="error")


def _read(message: BaseMessage, where: str) -> Heard:
    role = _ROLES.get(message.type.lower().removesuffix("messagechunk"))
    if role is None:
        raise InvalidTurn(f"{where} is of type {message.type!r}, which no model is sent; take it out before the call")
    parts = tuple(_parts(message.content))
    if role is Role.TOOL:
        return _result(message, Message(role, parts, message.id), where)
    asked = calls(message)
    asking = tuple({"type": "tool_call", "id": call.id, "name": call.name} for call in asked)
    whole = Message(role, (*parts, *asking), message.id)
    ours = bool(digest_in(message.id or "")) or (role in (Role.USER, Role.SYSTEM) and all_blocks(parts))
    return Heard(where, whole, None if ours else whole, asked)


def _result(message: BaseMessage, whole: Message, where: str) -> Heard:
    theirs = Message(Role.TOOL, without_blocks(tuple(whole.content or ())), whole.id)
    result = ToolResult(
        tool=message.name or "",
        content=whole.text,
        status=str(getattr(message, "status", "success")),
        call=getattr(message, "tool_call_id", None),
    )
    return Heard(where, whole, theirs, result=result)


def _parts(content: str | Iterable[str | dict[Any, Any]]) -> Iterable[Part]:
    for part in [content] if isinstance(content, str) else content:
        if isinstance(part, str):
            if part:
                yield part
        elif part.get("type") == "text" and isinstance(part.get("text"), str):
            yield part["text"]
        elif part.get("type") != "tool_use":  # a provider's own form of a call, which is read apart
            yield {str(key): value for key, value in part.items()}
