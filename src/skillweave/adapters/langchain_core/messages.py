"""LangChain's messages, for LangChain and LangGraph alike: read as what was heard, and ours to be added."""

from collections.abc import Iterable, Sequence
from enum import StrEnum
from hashlib import sha256
from typing import Any

from skillweave.adapters.call import Call, read_call, words_for
from skillweave.adapters.heard import Heard
from skillweave.adapters.messages.take_out import take_out
from skillweave.adapters.own import all_blocks, without_blocks
from skillweave.compose.policy import Verdict
from skillweave.conversation import Message, Part, Role, ToolResult
from skillweave.disclose.block import digest_in
from skillweave.errors import InvalidTurn, MissingExtra
from skillweave.injection import Drop, Injection
from skillweave.weaver.reading import ToolAnswer

try:
    from langchain_core.messages import AIMessage, BaseMessage, HumanMessage, RemoveMessage, SystemMessage, ToolMessage
except ModuleNotFoundError:
    raise MissingExtra("reading LangChain's messages", "langchain-core", "langchain") from None


class Speaker(StrEnum):
    """As whose words skill text stands in a history: most providers refuse a system message in mid-conversation."""

    USER = "user"
    SYSTEM = "system"


_TOLD = "skillweave-told-"
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
    broken = (read_call(call["id"], call["name"], call["args"] or "") for call in message.invalid_tool_calls)
    return (*_whole(message), *broken)


def unreadable(reply: BaseMessage) -> list[ToolMessage]:
    """The results of those calls in a reply that cannot be read, which no framework runs, in words for the model."""
    return [refused(call, call.problem) for call in calls(reply) if call.problem]


def told(words: str, key: str, speaker: Speaker = Speaker.USER) -> BaseMessage:
    """A line for the model that nobody said; the same `key` replaces it."""
    kind = SystemMessage if Speaker(speaker) is Speaker.SYSTEM else HumanMessage
    return kind(content=words, id=f"{_TOLD}{sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:32]}")


def taken_out(messages: Sequence[BaseMessage], drops: Sequence[Drop]) -> list[BaseMessage]:
    """The changes, by message id, with which the texts are gone; in a tool's result a line is left in their place."""
    chat = [{"role": "user", "content": message.content} for message in messages]
    left = take_out(chat, drops)
    pairs = zip(messages, chat, left, strict=True)
    return [_without(message, now["content"]) for message, before, now in pairs if now is not before]


def _without(message: BaseMessage, content: Any) -> BaseMessage:  # noqa: ANN401 - as messages hold it
    if digest_in(message.id or ""):
        return RemoveMessage(id=message.id or "")
    return message.model_copy(update={"content": content})


def answered(call: Call, answer: ToolAnswer) -> ToolMessage:
    """The result of a call of one of our own tools; its text stays as it is, to be recognised again."""
    status = "error" if answer.failed else "success"
    return ToolMessage(content=answer.text, tool_call_id=call.id, name=call.name, status=status)


def refused(call: Call, why: Verdict | str) -> ToolMessage:
    """The result of a call that was not run, written for the model to read."""
    return ToolMessage(content=words_for(why), tool_call_id=call.id, name=call.name, status="error")


def _whole(message: BaseMessage) -> tuple[Call, ...]:
    # Broken calls need no result to go on: LangChain answers them itself where the model is called.
    if not isinstance(message, AIMessage):
        return ()
    return tuple(read_call(call["id"], call["name"], call["args"]) for call in message.tool_calls)


def _read(message: BaseMessage, where: str) -> Heard:
    role = _ROLES.get(message.type.lower().removesuffix("messagechunk"))
    if role is None:
        raise InvalidTurn(f"{where} is of type {message.type!r}, which no model is sent; take it out before the call")
    parts = tuple(_parts(message.content))
    if role is Role.TOOL:
        return _result(message, Message(role, parts, message.id), where)
    asking = tuple({"type": "tool_call", "id": call.id, "name": call.name} for call in calls(message))
    whole = Message(role, (*parts, *asking), message.id)
    known = bool(digest_in(message.id or "")) or (message.id or "").startswith(_TOLD)
    ours = known or (role in (Role.USER, Role.SYSTEM) and all_blocks(parts))
    return Heard(where, whole, None if ours else whole, _whole(message))


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
