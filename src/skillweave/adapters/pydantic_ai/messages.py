"""Pydantic AI's messages as host messages, and skill text among them: given, marked, found again, taken out."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from operator import is_
from typing import Any

from pydantic_ai.messages import (
    CachePoint,
    CompactionPart,
    ModelMessage,
    ModelRequest,
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
)

from skillweave.adapters.chat import Call, HostMessage, answer_of_tool, read_call, spoken
from skillweave.adapters.messages.lists import texts_left
from skillweave.dialogue import Part, Role
from skillweave.disclose.block import TAKEN_OUT
from skillweave.injection import Drop, Injection

MARK = "skillweave"
"""The key in the metadata of what skillweave put into the history; no provider is sent it."""


def host_messages(
    messages: Iterable[ModelMessage], prompt: str | Sequence[UserContent] | None = None
) -> list[HostMessage]:
    """What is said in each part of the messages; parts that only steer the framework say nothing.

    `prompt` is what the user said in this run: what else stands as a prompt behind a tool's result is the tool's.
    """
    return list(_read(messages, prompt))


def open_calls(messages: Sequence[ModelMessage]) -> list[ToolCallPart]:
    """The calls of the model's last reply that nothing has answered."""
    last = max((n for n, one in enumerate(messages) if isinstance(one, ModelResponse)), default=len(messages))
    calls = [part for message in messages[last : last + 1] for part in message.parts if isinstance(part, ToolCallPart)]
    answered = {getattr(part, "tool_call_id", None) for message in messages[last + 1 :] for part in message.parts}
    return [call for call in calls if call.tool_call_id not in answered]


def given_parts(injection: Injection) -> list[UserPromptPart]:
    """The given texts as words of the user, each with a mark that the framework keeps and no provider is sent."""
    skills: dict[str | None, list[str]] = {}
    for block in injection.blocks:
        skills.setdefault(block.id, []).append(block.skill_id)
    marks = [{"kind": "text", "skills": skills.get(message.id, [])} for message in injection.messages]
    return [
        UserPromptPart([TextContent(message.text, metadata={MARK: mark})])
        for message, mark in zip(injection.messages, marks, strict=True)
    ]


def is_skill_part(part: object) -> bool:
    """Whether skillweave put the part into the history: a skill's text, or an answer of its tools.

    For what is shown to people, and for summaries. It is a mark that anybody can set: no rule depends on it.
    """
    content = part.content if isinstance(part, UserPromptPart) and not isinstance(part.content, str) else ()
    marks = [item.metadata for item in content if isinstance(item, TextContent)]
    return any(isinstance(mark, Mapping) and MARK in mark for mark in (*marks, getattr(part, "metadata", None)))


def without_skill_text(messages: Sequence[ModelMessage]) -> list[ModelMessage]:
    """The messages for a summary: what skillweave put there left out, a tool's answer kept as a line.

    A skill that is wanted after the summary is given again.
    """
    asked = [_without_skill_parts(one) if isinstance(one, ModelRequest) else one for one in messages]
    return [one for one in asked if one.parts]


def _without_skill_parts(message: ModelRequest) -> ModelRequest:
    left: list[ModelRequestPart] = []
    for part in message.parts:
        if not is_skill_part(part):
            left.append(part)
        elif isinstance(part, ToolReturnPart):
            left.append(ToolReturnPart(part.tool_name, TAKEN_OUT, part.tool_call_id, outcome=part.outcome))
    return replace(message, parts=left)


def without_texts(messages: Sequence[ModelMessage], drops: Sequence[Drop]) -> list[ModelMessage]:
    """The messages without these texts; a line stands where each stood, so that no message moves."""
    if not drops:
        return list(messages)
    requests = [message for message in messages if isinstance(message, ModelRequest)]
    left = iter(texts_left([_text_of(part) for message in requests for part in message.parts], drops))
    return [_left_of(one, left) if isinstance(one, ModelRequest) else one for one in messages]


def prompts_in(messages: Sequence[ModelMessage]) -> set[str]:
    """The texts of all prompts that are one text and nothing else."""
    return {text for message in messages for part in message.parts if (text := prompt_text(part))}


def _read(messages: Iterable[ModelMessage], prompt: str | Sequence[UserContent] | None) -> Iterator[HostMessage]:
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


def _request_part(part: ModelRequestPart, where: str) -> HostMessage | None:
    match part:
        case UserPromptPart():
            content = [part.content] if isinstance(part.content, str) else part.content
            return spoken(where, Role.USER, tuple(_user_parts(content)))
        case SpeechPart():
            return spoken(where, Role.USER, (part.content,))
        case ToolReturnPart():
            return _result(part, where)
        case SystemPromptPart():
            return spoken(where, Role.SYSTEM, (part.content,))
        case RetryFeedbackPart():
            return spoken(where, Role.SYSTEM, (part.model_response(),))
        case CompactionPart(content=str() as summary):
            return spoken(where, Role.SYSTEM, (summary,))
        case _:
            return None


def _of_a_tool(found: HostMessage) -> HostMessage:
    told = replace(found.message, role=Role.TOOL)
    return replace(found, message=told, host_part=found.host_part and told)


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


def _result(part: ToolReturnPart, where: str) -> HostMessage:
    text = part.content if isinstance(part.content, str) else part.model_response_str()
    status = part.outcome if part.outcome in ("success", "denied") else "error"
    return answer_of_tool(where, (text,), tool=part.tool_name, status=status, call=part.tool_call_id)


def _response(message: ModelResponse, where: str) -> HostMessage:
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
    return spoken(where, Role.ASSISTANT, parts, calls)


def _left_of(message: ModelRequest, left: Iterator[str]) -> ModelRequest:
    pairs: list[tuple[Any, str]] = [(part, next(left)) for part in message.parts]
    parts = [part if text == _text_of(part) else replace(part, content=text) for part, text in pairs]
    return message if all(map(is_, parts, message.parts)) else replace(message, parts=parts)


def _text_of(part: ModelRequestPart) -> str:
    if isinstance(part, ToolReturnPart):
        return part.content if isinstance(part.content, str) else ""
    return prompt_text(part)


def prompt_text(part: object) -> str:
    """The text of a user's prompt that is one text and nothing else, as skillweave gives it."""
    if not isinstance(part, UserPromptPart):
        return ""
    match part.content:
        case str() as text:
            return text
        case [str() as text] | [TextContent(content=text)]:
            return text
        case _:
            return ""
