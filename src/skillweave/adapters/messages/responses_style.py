"""Lists for OpenAI's Responses API: items instead of messages; what was given stands as a system message of its own.

The whole list goes with every call: what a server keeps by `previous_response_id` or `conversation` cannot be seen
here, so it could not be said what the model still has.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from itertools import groupby
from typing import Any

from skillweave.adapters.chat import Call, HostMessage, answer_of_tool, read_call, spoken
from skillweave.adapters.messages.lists import Style, entries, listed, offer, parts_of, plain, role_of, take_out
from skillweave.adapters.messages.openai_style import place, system, with_tail
from skillweave.dialogue import Part, Role
from skillweave.errors import InvalidTurn
from skillweave.weaver.tools import ToolSpec

__all__ = [
    "CustomCall",
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

_ROLES = ("user", "assistant", "system", "developer")
_TEXTS = {"user": "input_text", "system": "input_text", "developer": "input_text", "assistant": "output_text"}
_CALLS = ("function_call", "custom_tool_call")
"""The types of items that ask for a tool of the host."""
_OUTPUTS = tuple(f"{kind}_output" for kind in _CALLS)
_SPEAKERS = {"user": Role.USER, "system": Role.SYSTEM, "developer": Role.SYSTEM, "assistant": Role.ASSISTANT}
_TEXT_TYPES = ("input_text", "output_text", "text")
_WHOLE = "send the whole list in every call, without previous_response_id and conversation (store=False is fine)"


@dataclass(frozen=True, slots=True)
class CustomCall(Call):
    """A call of a custom tool, whose `input` is a text; its answer is a `custom_tool_call_output`."""


def host_messages(items: str | Sequence[Any], name: str = "input") -> list[HostMessage]:
    """What the model is sent; all that it said and asked for in one reply is one message.

    `name` is what the list is called in errors.
    """
    plainly = [{"role": "user", "content": items}] if isinstance(items, str) else [plain(item) or {} for item in items]
    return list(_pieces(plainly, name))


def _pieces(items: Sequence[Mapping[str, Any]], name: str) -> Iterator[HostMessage]:
    numbered = ((index, item, _role(item)) for index, item in enumerate(items))
    for role, group in groupby(numbered, key=lambda entry: entry[2]):
        found = [(f"{name}[{index}]", item) for index, item, _ in group]
        if role is Role.ASSISTANT:
            yield _reply(found[0][0], [item for _, item in found])
        else:
            yield from (
                answer_of_tool(where, _parts(item.get("output")), call=item.get("call_id"))
                if role is Role.TOOL
                else spoken(where, role, _parts(item.get("content")), ours=(Role.SYSTEM,))
                for where, item in found
            )


def _role(item: Mapping[str, Any]) -> Role:
    if item.get("role") in _SPEAKERS:
        return _SPEAKERS[item["role"]]
    # What is neither said by somebody nor a tool's answer is a step of the model: a call, a reasoning, a search.
    return Role.TOOL if str(item.get("type")).endswith("_output") else Role.ASSISTANT


def _reply(where: str, items: Sequence[Mapping[str, Any]]) -> HostMessage:
    parts: list[Part] = []
    calls: list[Call] = []
    for item in items:
        if "role" in item:
            parts.extend(_parts(item.get("content")))
            continue
        parts.append({"type": str(item.get("type")), "id": item.get("call_id"), "name": item.get("name")})
        if item.get("type") in _CALLS:
            calls.append(_call_in(item))
    return spoken(where, Role.ASSISTANT, parts, calls)


def _call_in(item: Mapping[str, Any]) -> Call:
    """The call that an item of one of the types of `CALLS` makes."""
    arguments = item.get("arguments") if item["type"] == "function_call" else {"input": item.get("input")}
    return read_call(item.get("call_id"), item.get("name"), arguments)


def _parts(content: object) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (content,) if content else ()
    return tuple(_part(plain(part) or {}) for part in listed(content))


def _part(part: Mapping[str, Any]) -> Part:
    text = part.get("text")
    return text if part.get("type") in _TEXT_TYPES and isinstance(text, str) else part


def _call(item: Mapping[str, Any]) -> Call:
    call = _call_in(item)
    custom = item.get("type") != "function_call"
    return CustomCall(**{one.name: getattr(call, one.name) for one in fields(call)}) if custom else call


def _read(chat: Sequence[Any]) -> list[HostMessage]:
    called: set[object] = set()
    items = []
    for where, item in entries(chat):
        _check(item, where, called)
        items.append(item)
    return host_messages(items, "chat")


def _check(item: Mapping[str, Any], where: str, called: set[object]) -> None:
    kind = item.get("type", "message")
    if kind == "item_reference":
        raise InvalidTurn(f"{where} stands for an item that the server keeps, whose text is not seen here; {_WHOLE}")
    if kind in _CALLS:
        called.add(item.get("call_id"))
    if kind in _OUTPUTS and item.get("call_id") not in called:
        raise InvalidTurn(
            f"{where} is the output of call {str(item.get('call_id'))[:60]!r}, which does not stand before it; {_WHOLE}"
        )
    if kind == "message":
        role = role_of(item, where, _ROLES)
        parts_of(item.get("content"), where, _TEXTS[role])


def _found(reply: Mapping[str, Any]) -> Iterator[Call]:
    for kept in ("previous_response_id", "conversation"):
        if reply.get(kept):
            raise InvalidTurn(f"this response goes on from a {kept}, which hides the chat from skillweave; {_WHOLE}")
    items = (plain(item) or {} for item in listed(reply.get("output")) or [reply])
    return (_call(item) for item in items if item.get("type") in _CALLS)


def _declared(spec: ToolSpec) -> dict[str, Any]:
    # Strict is the API's default, and has no optional parameters.
    return {"type": "function", **spec.to_dict(), "strict": False}


def _result(call: Call, text: str, _: bool) -> dict[str, Any]:  # noqa: FBT001 - as a Style asks
    kind = "custom_tool_call_output" if isinstance(call, CustomCall) else "function_call_output"
    return {"type": kind, "call_id": call.id, "output": text}


STYLE = Style("responses_style", _read, _found, _declared, _result)
turn, transcript, unanswered, go_on = STYLE.turn, STYLE.transcript, STYLE.unanswered, STYLE.go_on
answer, calls, refuse, skill_tools = STYLE.answer, STYLE.calls, STYLE.refuse, STYLE.skill_tools
