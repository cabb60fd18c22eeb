"""OpenAI-style chats: what was given stands as a system message behind the message that called for it (seed 000)."""

from collections.abc import Mapping, Sequence
from typing import Any, overload

from skillweave.adapters.chat import SEPARATOR, Call, HostMessage, answer_of_tool, read_call, spoken
from skillweave.adapters.messages.lists import Style, entries, listed, offer, parts_of, plain, role_of, take_out
from skillweave.dialogue import Part, Role
from skillweave.injection import Injection
from skillweave.weaver.tools import ToolSpec

__all__ = [
    "answer",
    "calls",
    "go_on",
    "offer",
    "place",
    "refuse",
    "skill_tools",
    "system",
    "take_out",
    "transcript",
    "turn",
    "unanswered",
    "with_tail",
]

_ROLES = {
    "system": Role.SYSTEM,
    "developer": Role.SYSTEM,
    "user": Role.USER,
    "assistant": Role.ASSISTANT,
    "tool": Role.TOOL,
    "function": Role.TOOL,
}
_SPEECHLESS = ("tool_calls", "function_call", "refusal", "audio")
"""What an assistant's message may hold instead of content."""


def place(chat: Sequence[Any], injection: Injection) -> list[Any]:
    """A new list with the given blocks as system messages at its end, and without the texts that leave: the history.

    Keep it; `chat` stays as it is. Blocks are recognised by their text: the API refuses keys that it does not know.
    Nothing is added in call placement.
    """
    return [*take_out(chat, injection.leaving), *(_system(message.text) for message in injection.messages)]


def with_tail(chat: Sequence[Any], injection: Injection) -> list[Any]:
    """The messages or items of this call only: behind the chat, as a system message, what the model may open.

    Give it the chat that `place` made, and don't keep it: the next call has another tail, or none.
    """
    return [*chat, *([_system(injection.tail)] if injection.tail else [])]


@overload
def system(base: str, injection: Injection) -> str: ...
@overload
def system(base: Mapping[str, Any], injection: Injection) -> dict[str, Any]: ...
def system(base: str | Mapping[str, Any], injection: Injection) -> str | dict[str, Any]:
    """The system prompt of this call only: base, catalog, in call placement all skill text.

    A text gives a text, a message gives a message of the same role.
    """
    if isinstance(base, str):
        return SEPARATOR.join(part for part in (base, injection.instructions) if part)
    content = base.get("content")
    if content is None or isinstance(content, str):
        return {**base, "content": system(content or "", injection)}
    added = [{"type": "text", "text": injection.instructions}] if injection.instructions else []
    return {**base, "content": [*content, *added]}


def _system(text: str) -> dict[str, Any]:
    return {"role": "system", "content": text}


def _read(chat: Sequence[Any]) -> list[HostMessage]:
    return [_message(message, where) for where, message in entries(chat)]


def _message(message: Mapping[str, Any], where: str) -> HostMessage:
    role = _ROLES[role_of(message, where, tuple(_ROLES))]
    parts = _parts(message, role, where)
    if role is Role.TOOL:
        return answer_of_tool(where, parts, tool=str(message.get("name") or ""), call=message.get("tool_call_id"))
    calls = _calls(message) if role is Role.ASSISTANT else ()
    return spoken(where, role, parts, calls, ours=(Role.SYSTEM,))


def _parts(message: Mapping[str, Any], role: Role, where: str) -> tuple[Part, ...]:
    content = message.get("content")
    if role is not Role.ASSISTANT:
        return parts_of(content, where)
    called = tuple(part for raw in listed(message.get("tool_calls")) if (part := plain(raw)) is not None)
    if content is None and ("content" in message or any(message.get(key) for key in _SPEECHLESS)):
        return called
    return (*parts_of(content, where), *called)


def _calls(message: Mapping[str, Any]) -> tuple[Call, ...]:
    return tuple(_call(plain(raw) or {}) for raw in listed(message.get("tool_calls")))


def _call(raw: Mapping[str, Any]) -> Call:
    custom = plain(raw.get("custom"))
    if custom is not None:
        return read_call(raw.get("id"), custom.get("name"), {"input": custom.get("input")})
    function = plain(raw.get("function")) or {}
    return read_call(raw.get("id"), function.get("name"), function.get("arguments"))


def _found(reply: Mapping[str, Any]) -> tuple[Call, ...]:
    # The first choice counts.
    choices = listed(reply.get("choices"))
    first = plain(choices[0]) or {} if choices else {}
    return _calls(plain(first.get("message")) or reply)


def _declared(spec: ToolSpec) -> dict[str, Any]:
    return {"type": "function", "function": spec.to_dict()}


def _result(call: Call, text: str, _: bool) -> dict[str, Any]:  # noqa: FBT001 - as a Style asks
    return {"role": "tool", "tool_call_id": call.id, "content": text}


STYLE = Style("openai_style", _read, _found, _declared, _result)
turn, transcript, unanswered, go_on = STYLE.turn, STYLE.transcript, STYLE.unanswered, STYLE.go_on
answer, calls, refuse, skill_tools = STYLE.answer, STYLE.calls, STYLE.refuse, STYLE.skill_tools
