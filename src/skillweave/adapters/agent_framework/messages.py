"""The messages of the Microsoft Agent Framework as host messages, its tools by name, and words about refused calls."""

import copy
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import groupby
from typing import Any

from agent_framework import Content, FunctionTool
from agent_framework import Message as FrameworkMessage

from skillweave.adapters.chat import Call, HostMessage, parameters_in, read_call, spoken
from skillweave.adapters.messages.lists import texts_left
from skillweave.dialogue import Message, Part, Role, ToolResult
from skillweave.errors import InvalidTurn
from skillweave.injection import Drop

_ROLES = {**{role.value: role for role in Role}, "developer": Role.SYSTEM}


UNNAMED = "UnnamedAgent"
"""Under which name the framework writes what an agent without a name says."""


def host_messages(messages: Sequence[FrameworkMessage], agent: str | None = None) -> list[HostMessage]:
    """Each message that the model is sent, and each result of a tool by itself.

    `agent` is the name of the agent that is sent them: what another agent of a workflow said is said to it, as by a
    user, and what that one's tools answered is nothing that it waits for. Raises InvalidTurn for a message of a role
    that no model is sent.
    """
    theirs = [agent is not None and _is_of_another(message, agent) for message in messages]
    foreign = {
        call.call_id for call in calls_in(message for message, other in zip(messages, theirs, strict=True) if other)
    }
    return [
        _as_told(piece, foreign, other=other)
        for index, (message, other) in enumerate(zip(messages, theirs, strict=True))
        for piece in _read(message, f"messages[{index}]")
    ]


def with_one_request(pieces: Sequence[HostMessage], *, others_last: bool = False) -> list[HostMessage]:
    """The messages, the last of which says all that was said to the agent since its own last words.

    In a workflow that is the user's message and what other agents made of it; an agent that looked at the end alone
    would never read what the user wants. `others_last` says that the words at the end are not the agent's own, whatever
    name they bear.
    """
    if others_last:
        start = max((n for n, piece in enumerate(pieces) if piece.message.role is Role.USER), default=-1) + 1
        told = (_as_told(piece, (), other=piece.result is None) for piece in pieces[start:])
        pieces = [*pieces[:start], *(replace(piece, result=None) for piece in told)]
    last = max((n for n, piece in enumerate(pieces) if piece.message.role is Role.ASSISTANT), default=-1)
    said = [n for n, one in enumerate(pieces) if n > last and one.message.role is Role.USER and one.host_part]
    if len(said) < 2:
        return list(pieces)
    parts = tuple(part for n in said for part in _parts_of(pieces[n]))
    request = Message(Role.USER, parts)
    whole = replace(pieces[said[-1]], host_part=request, said=request)
    return [whole if n == said[-1] else piece for n, piece in enumerate(pieces)]


def speaks_last(messages: Sequence[FrameworkMessage]) -> bool:
    """Whether what a run is given ends with an agent's words: no agent is asked to answer its own."""
    return bool(messages) and str(messages[-1].role) == Role.ASSISTANT.value and not calls_in(messages[-1:])


def call_of(content: Content) -> Call:
    """The tool call that the model asks for in it, a broken one with what is wrong with it."""
    return read_call(content.call_id, content.name, content.arguments)


def calls_in(messages: Iterable[FrameworkMessage]) -> list[Content]:
    """The calls in a reply of the model that the agent, and not the service, is to run."""
    return [content for message in messages for content in message.contents if _is_ours_to_run(content)]


def with_parameters(call: Call, tools: Iterable[object]) -> Call:
    """The call with the names of the parameters that its tool has, where it is among these and says them."""
    named = (tool for tool in tools if isinstance(tool, FunctionTool) and tool.name == call.name)
    tool = next(named, None)
    return call if tool is None else replace(call, parameters=parameters_in(tool.parameters()))


def name_of(tool: object) -> str:
    """The name by which a tool is called; a provider's own tool without a name goes by its type."""
    if not isinstance(tool, Mapping):
        return str(getattr(tool, "name", type(tool).__name__))
    function = tool.get("function")
    inner = function.get("name") if isinstance(function, Mapping) else None
    return str(tool.get("name") or inner or tool.get("type"))


def with_refusals(messages: Sequence[FrameworkMessage], words: Mapping[str, str]) -> list[FrameworkMessage]:
    """The messages with our words in place of the framework's for calls that a person rejected.

    `words` are by the id of the call's occurrence. The messages given are not changed: others keep them.
    """
    return [_told(message, words) for message in messages]


def said_by_user(text: str) -> FrameworkMessage:
    """A text of skillweave's as the user's words."""
    return FrameworkMessage("user", [text])


def counts(message: FrameworkMessage) -> object:
    """What of a message is the same in every call: the framework names its own replies once their run has ended."""
    contents = [one.to_dict(exclude={"id", "raw_representation", "annotations"}) for one in message.contents]
    return [str(message.role), contents]


def without_texts(messages: Sequence[FrameworkMessage], drops: Sequence[Drop]) -> list[FrameworkMessage]:
    """The messages without these texts, a line in place of each; those given are not changed."""
    if not drops:
        return list(messages)
    left = iter(texts_left([_text_in(one) for message in messages for one in message.contents], drops))
    return [_with_texts(message, left) for message in messages]


def _text_in(content: Content) -> str:
    text = content.result if content.type == "function_result" else content.text if content.type == "text" else ""
    return text if isinstance(text, str) else ""


def _with_texts(message: FrameworkMessage, left: Iterator[str]) -> FrameworkMessage:
    pairs = [(one, next(left)) for one in message.contents]
    if all(text == _text_in(one) for one, text in pairs):
        return message
    told = copy.copy(message)
    told.contents = [one if text == _text_in(one) else _with_text(one, text) for one, text in pairs]
    return told


def _with_text(content: Content, text: str) -> Content:
    if content.type == "function_result":
        return Content.from_function_result(content.call_id or "", id=content.id, result=text)
    return Content.from_text(text)


def _read(message: FrameworkMessage, where: str) -> Iterator[HostMessage]:
    for answers, contents in groupby(message.contents, lambda content: content.type == "function_result"):
        if answers:
            yield from (_result(content, where) for content in contents)
        else:
            yield _said(message, list(contents), where)


def _is_of_another(message: FrameworkMessage, agent: str) -> bool:
    return str(message.role) == Role.ASSISTANT.value and message.author_name not in (None, agent)


def _as_told(piece: HostMessage, foreign: Container[str | None], *, other: bool) -> HostMessage:
    if other:
        told = replace(piece.message, role=Role.USER)
        return replace(piece, message=told, host_part=told, calls=())
    if piece.result is not None and piece.result.call in foreign:
        return replace(piece, result=None)
    return piece


def _parts_of(piece: HostMessage) -> tuple[Part, ...]:
    content = piece.host_part.content if piece.host_part else None
    return (content,) if isinstance(content, str) else content or ()


def _said(message: FrameworkMessage, contents: Sequence[Content], where: str) -> HostMessage:
    role = _ROLES.get(str(message.role))
    if role is None:
        raise InvalidTurn(f"{where} has the role {str(message.role)[:40]!r}, which no model is sent; take it out")
    # What the service itself runs, it also answers.
    asked = tuple(call_of(one) for one in contents if _is_ours_to_run(one))
    asking = tuple({"type": "tool_call", "id": call.id, "name": call.name} for call in asked)
    return spoken(where, role, (*_parts(contents), *asking), asked, ours=())


def _result(content: Content, where: str) -> HostMessage:
    whole = Message(Role.TOOL, str(content.result or ""))
    status = "error" if content.exception else "success"
    return HostMessage(where, whole, whole, result=ToolResult("", whole.text, status, content.call_id))


def _parts(contents: Iterable[Content]) -> Iterator[Part]:
    for content in contents:
        if content.type == "text":
            if content.text:
                yield content.text
        elif not _is_ours_to_run(content):
            data: dict[str, Any] = content.to_dict()
            yield data


def _is_ours_to_run(content: Content) -> bool:
    return content.type == "function_call" and not content.informational_only and not content.hosted


def _told(message: FrameworkMessage, words: Mapping[str, str]) -> FrameworkMessage:
    contents = [_refusal(content, words) for content in message.contents]
    if all(ours is theirs for ours, theirs in zip(contents, message.contents, strict=True)):
        return message
    told = copy.copy(message)
    told.contents = contents
    return told


def _refusal(content: Content, words: Mapping[str, str]) -> Content:
    told = words.get(content.id or "") if content.type == "function_result" else None
    return content if told is None else Content.from_function_result(content.call_id or "", id=content.id, result=told)
