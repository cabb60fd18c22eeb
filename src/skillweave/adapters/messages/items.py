"""Items of the Responses API read as host messages, as plain lists and the OpenAI Agents SDK keep and send them."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from skillweave.adapters.chat import Call, HostMessage, all_blocks, answer_of_tool, read_call
from skillweave.adapters.messages.lists import listed, plain
from skillweave.conversation import Message, Part, Role

_ROLES = {"user": Role.USER, "system": Role.SYSTEM, "developer": Role.SYSTEM, "assistant": Role.ASSISTANT}
_TEXTS = ("input_text", "output_text", "text")
CALLS = ("function_call", "custom_tool_call")
"""The types of items that ask for a tool of the host."""


def host_messages(items: str | Sequence[Any], name: str = "input") -> list[HostMessage]:
    """What the model is sent; all that it said and asked for in one reply is one message.

    `name` is what the list is called in errors.
    """
    entries = [{"role": "user", "content": items}] if isinstance(items, str) else [plain(item) or {} for item in items]
    return list(_read(entries, name))


def _read(entries: Sequence[Mapping[str, Any]], name: str) -> Iterator[HostMessage]:
    numbered = ((index, item, _role(item)) for index, item in enumerate(entries))
    for role, group in groupby(numbered, key=lambda entry: entry[2]):
        found = [(f"{name}[{index}]", item) for index, item, _ in group]
        if role is Role.ASSISTANT:
            yield _reply(found[0][0], [item for _, item in found])
        else:
            yield from (
                answer_of_tool(where, _parts(item.get("output")), call=item.get("call_id"))
                if role is Role.TOOL
                else _said(where, role, item)
                for where, item in found
            )


def _role(item: Mapping[str, Any]) -> Role:
    if item.get("role") in _ROLES:
        return _ROLES[item["role"]]
    # What is neither said by somebody nor a tool's answer is a step of the model: a call, a reasoning, a search.
    return Role.TOOL if str(item.get("type")).endswith("_output") else Role.ASSISTANT


def _said(where: str, role: Role, item: Mapping[str, Any]) -> HostMessage:
    parts = _parts(item.get("content"))
    whole = Message(role, parts)
    return HostMessage(where, whole, None if role is Role.SYSTEM and all_blocks(parts) else whole)


def _reply(where: str, items: Sequence[Mapping[str, Any]]) -> HostMessage:
    parts: list[Part] = []
    calls: list[Call] = []
    for item in items:
        if "role" in item:
            parts.extend(_parts(item.get("content")))
            continue
        parts.append({"type": str(item.get("type")), "id": item.get("call_id"), "name": item.get("name")})
        if item.get("type") in CALLS:
            calls.append(call_in(item))
    whole = Message(Role.ASSISTANT, tuple(parts))
    return HostMessage(where, whole, whole, tuple(calls))


def call_in(item: Mapping[str, Any]) -> Call:
    """The call that an item of one of the types of `CALLS` makes."""
    arguments = item.get("arguments") if item["type"] == "function_call" else {"input": item.get("input")}
    return read_call(item.get("call_id"), item.get("name"), arguments)


def _parts(content: object) -> tuple[Part, ...]:
    if isinstance(content, str):
        return (content,) if content else ()
    return tuple(_part(plain(part) or {}) for part in listed(content))


def _part(part: Mapping[str, Any]) -> Part:
    text = part.get("text")
    return text if part.get("type") in _TEXTS and isinstance(text, str) else part
