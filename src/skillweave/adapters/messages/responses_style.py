"""Lists for OpenAI's Responses API: items instead of messages; what was given stands as a system message of its own.

The whole list goes with every call: what a server keeps by `previous_response_id` or `conversation` cannot be seen
here, so it could not be said what the model still has.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from skillweave.adapters.chat import NOT_RUN, Call, HostMessage, words_for
from skillweave.adapters.messages.items import CALLS, call_in, host_messages
from skillweave.adapters.messages.lists import (
    Reading,
    entries,
    listed,
    offer,
    parts_of,
    plain,
    require_style,
    role_of,
    take_out,
    with_parameters,
)
from skillweave.adapters.messages.openai_style import place, system, with_tail
from skillweave.compose.policy import Verdict
from skillweave.errors import InvalidTurn
from skillweave.weaver.tools import TOOLS, ToolAnswer

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
_OUTPUTS = tuple(f"{kind}_output" for kind in CALLS)
_WHOLE = "send the whole list in every call, without previous_response_id and conversation (store=False is fine)"


@dataclass(frozen=True, slots=True)
class CustomCall(Call):
    """A call of a custom tool, whose `input` is a text; its answer is a `custom_tool_call_output`."""


def go_on(chat: Sequence[Any], said: str | Sequence[Any]) -> list[Any]:
    """A new list with the user's next message, a text or parts; calls that still wait are answered as not run.

    So a chat can go on while a person has yet to approve a call: the question about it is void then.
    """
    return [*chat, *(refuse(call, NOT_RUN) for call in unanswered(chat)), {"role": "user", "content": said}]


def calls(reply: object, tools: Sequence[Any] | None = None) -> tuple[Call, ...]:
    """The function and custom calls of a response, or of items, in order; what runs at the provider is not among them.

    Nor are the calls of the provider's own tools that a host runs (`shell_call`, `apply_patch_call`, `computer_call`):
    judge those by the type of the tool, `injection.tools.authorize("shell")`.
    `tools` are the declarations of all tools of the host: then each call knows its tool's parameters, by which rules
    on arguments are judged. Raises InvalidTurn for a reply of another API, and for one whose history a server keeps.
    """
    require_style(reply, "responses_style")
    response = plain(reply) or {}
    for kept in ("previous_response_id", "conversation"):
        if response.get(kept):
            raise InvalidTurn(f"this response goes on from a {kept}, which hides the chat from skillweave; {_WHOLE}")
    items = listed(response.get("output")) or listed(reply) or [response]
    found = (plain(item) or {} for item in items)
    return with_parameters((_call(item) for item in found if item.get("type") in CALLS), tools)


def skill_tools() -> list[dict[str, Any]]:
    """The declarations of skillweave's own tools, to stand beside the host's; always the same."""
    # Strict is the API's default, and has no optional parameters.
    return [{"type": "function", **spec.to_dict(), "strict": False} for spec in TOOLS.values()]


def answer(call: Call, answer: ToolAnswer) -> dict[str, Any]:
    """The output for a call of one of skillweave's own tools; its text stays as it is, to be recognised again."""
    return _output(call, answer.text)


def refuse(call: Call, why: Verdict | str) -> dict[str, Any]:
    """The output for a call that was not run, written for the model to read."""
    return _output(call, words_for(why))


def _output(call: Call, text: str) -> dict[str, Any]:
    kind = "custom_tool_call_output" if isinstance(call, CustomCall) else "function_call_output"
    return {"type": kind, "call_id": call.id, "output": text}


def _call(item: Mapping[str, Any]) -> Call:
    call = call_in(item)
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
    if kind in CALLS:
        called.add(item.get("call_id"))
    if kind in _OUTPUTS and item.get("call_id") not in called:
        raise InvalidTurn(
            f"{where} is the output of call {str(item.get('call_id'))[:60]!r}, which does not stand before it; {_WHOLE}"
        )
    if kind == "message":
        role = role_of(item, where, _ROLES)
        parts_of(item.get("content"), where, _TEXTS[role])


_reading = Reading(_read)
turn, transcript, unanswered = _reading.turn, _reading.transcript, _reading.unanswered
