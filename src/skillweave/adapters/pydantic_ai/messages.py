"""Pydantic AI's messages read as what was heard, part by part: it joins neighbouring requests as it goes."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from skillweave.adapters.call import Call, read_call
from skillweave.adapters.heard import Heard
from skillweave.adapters.own import all_blocks, without_blocks
from skillweave.conversation import Message, Part, Role, ToolResult
from skillweave.errors import MissingExtra

try:
    from pydantic_ai.messages import (
        CachePoint,
        CompactionPart,
        ModelMessage,
        ModelRequestPart,
        ModelResponse,
        RetryFeedbackPart,
        SpeechPart,
        SystemPromptPart,
        TextContent,
        TextPart,
        ToolCallPart,
        ToolReturnPart,
        UserContent,
        UserPromptPart,
        repair_messages,
    )
except ModuleNotFoundError:
    raise MissingExtra("the adapter for Pydantic AI", "pydantic-ai-slim", "pydantic-ai") from None


def heard(messages: Sequence[ModelMessage]) -> list[Heard]:
    """What is said in each part of the messages; parts that only steer the framework say nothing."""
    return list(_read(messages))


def about_to_be_sent(
    messages: Sequence[ModelMessage], prompt: str | Sequence[UserContent] | None = None
) -> list[Heard]:
    """The same for messages that go to the model now, with the mends that the framework makes before it sends them.

    `prompt` is what the user said in this run: what else stands as a prompt behind a tool's result is the tool's.
    """
    return list(_read(repair_messages(messages), prompt))


def _read(messages: Iterable[ModelMessage], prompt: str | Sequence[UserContent] | None = None) -> Iterator[Heard]:
    for index, message in enumerate(messages):
        where = f"messages[{index}]"
        if isinstance(message, ModelResponse):
            yield _response(message, where)
        else:
            answered = False
            for number, part in enumerate(message.parts):
                found = _request_part(part, f"{where}.parts[{number}]")
                if found is not None:
                    tools = answered and isinstance(part, UserPromptPart) and part.content != prompt
                    yield _of_a_tool(found) if tools else found
                answered = answered or isinstance(part, ToolReturnPart)


def _request_part(part: ModelRequestPart, where: str) -> Heard | None:
    match part:
        case UserPromptPart():
            content = [part.content] if isinstance(part.content, str) else part.content
            return _said(Role.USER, tuple(_user_parts(content)), where)
        case SpeechPart():
            return _said(Role.USER, (part.content,), where)
        case ToolReturnPart():
            return _result(part, where)
        case SystemPromptPart():
            return _said(Role.SYSTEM, (part.content,), where)
        case RetryFeedbackPart():
            return _said(Role.SYSTEM, (part.model_response(),), where)
        case CompactionPart(content=str() as summary):
            return _said(Role.SYSTEM, (summary,), where)
        case _:
            return None


def _of_a_tool(found: Heard) -> Heard:
    told = replace(found.message, role=Role.TOOL)
    return replace(found, message=told, theirs=found.theirs and told)


def _said(role: Role, parts: tuple[Part, ...], where: str) -> Heard:
    whole = Message(role, parts)
    return Heard(where, whole, None if all_blocks(parts) else whole)


def _user_parts(content: Iterable[UserContent]) -> Iterator[Part]:
    for item in content:
        match item:
            case str():
                yield item
            case TextContent():
                yield item.content
            case CachePoint():  # hosts move it on from call to call
                continue
            case _:
                yield {"type": item.kind, "id": item.identifier}


def _result(part: ToolReturnPart, where: str) -> Heard:
    text = part.content if isinstance(part.content, str) else part.model_response_str()
    result = ToolResult(
        tool=part.tool_name,
        content=text,
        status=part.outcome if part.outcome in ("success", "denied") else "error",
        call=part.tool_call_id,
    )
    return Heard(where, Message(Role.TOOL, (text,)), Message(Role.TOOL, without_blocks((text,))), result=result)


def _response(message: ModelResponse, where: str) -> Heard:
    parts: list[Part] = []
    calls: list[Call] = []
    for part in message.parts:
        if isinstance(part, TextPart | SpeechPart):
            parts.append(part.content)
        elif isinstance(part, ToolCallPart):
            calls.append(read_call(part.tool_call_id, part.tool_name, part.args))
            parts.append({"type": part.part_kind, "id": part.tool_call_id, "name": part.tool_name})
        else:
            parts.append({"type": part.part_kind})
    whole = Message(Role.ASSISTANT, tuple(parts))
    return Heard(where, whole, whole, tuple(calls))
