"""Anthropic's messages: results of tools stand first in the user's message behind the calls, and roles take turns."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from anthropic.types import ToolResultBlockParam, ToolUseBlockParam
from anthropic.types.message_create_params import MessageCreateParamsNonStreaming

from skillweave_testing.hosts import Says, Sent
from tests.recording.rules import (
    Interface,
    Refused,
    keys_of,
    require,
    require_keys,
    require_unique,
    text_in,
    written,
)

UNKNOWN = "{}: Extra inputs are not permitted"
NAME = re.compile(r"[a-zA-Z0-9_-]{1,128}")
MARKERS = 4
KEYS = {"tool_use": keys_of(ToolUseBlockParam), "tool_result": keys_of(ToolResultBlockParam)}


class AnthropicMessages(Interface):
    """The whole history comes with every request, the system prompt apart."""

    path = "/v1/messages"

    def __init__(self) -> None:
        self._replies = 0

    def check(self, body: Mapping[str, Any]) -> None:
        require_keys(body, keys_of(MessageCreateParamsNonStreaming), "", UNKNOWN)
        for key in ("model", "max_tokens", "messages"):
            require(body.get(key), f"{key}: Field required", key)
        _check_tools(body)
        for block in _blocks(body.get("system")):
            require(block.get("type") == "text" and block.get("text"), "system: text content blocks must be non-empty")
        for number, message in enumerate(body["messages"]):
            _check_message(message, number, messages=body["messages"])
        _check_calls(body["messages"])
        used = sum("cache_control" in block for block in _all_blocks(body)) + ("cache_control" in body)
        require(used <= MARKERS, f"A maximum of {MARKERS} blocks with cache_control may be provided. Found {used}.")

    def sent(self, body: Mapping[str, Any]) -> Sent:
        tools = body.get("tools") or ()
        return Sent(
            text_in(body.get("system")),
            tuple(written(message) for message in body["messages"]),
            tuple(str(tool["name"]) for tool in tools),
            tuple(written(tool) for tool in tools),
        )

    def reply(self, body: Mapping[str, Any], says: Says) -> dict[str, Any]:
        self._replies += 1
        text = [{"type": "text", "text": says.text, "citations": None}] if says.text else []
        calls = [
            {"type": "tool_use", "id": one.id, "name": one.tool, "input": dict(one.arguments)} for one in says.asks
        ]
        return {
            "id": f"msg_{self._replies}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": [*text, *calls],
            "stop_reason": "tool_use" if calls else "end_turn",
            "stop_sequence": None,
            "usage": {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 10},
        }

    def error(self, refused: Refused) -> dict[str, Any]:
        what = {"type": "invalid_request_error", "message": refused.message}
        return {"type": "error", "error": what, "request_id": "req_refused"}


def _blocks(content: object) -> list[Mapping[str, Any]]:
    if isinstance(content, list):
        return content
    return [] if content is None else [{"type": "text", "text": content}]


def _all_blocks(body: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    yield from body.get("tools") or ()
    yield from _blocks(body.get("system"))
    for message in body["messages"]:
        for block in _blocks(message["content"]):
            yield block
            if block.get("type") == "tool_result":
                yield from _blocks(block.get("content"))


def _check_tools(body: Mapping[str, Any]) -> None:
    tools = body.get("tools") or ()
    for number, tool in enumerate(tools):
        name = tool.get("name")
        require(isinstance(name, str) and NAME.fullmatch(name), f"tools.{number}.name: {name!r} is no name")
        schema = tool.get("input_schema")
        own = "type" in tool and tool["type"] != "custom"
        require(own or (schema or {}).get("type") == "object", f"tools.{number}.input_schema.type: Field required")
    require_unique([tool["name"] for tool in tools], "tools: Tool names must be unique, {!r} is not.")
    chosen = (body.get("tool_choice") or {}).get("name")
    require(
        chosen is None or chosen in [tool["name"] for tool in tools], f"Tool '{chosen}' not found in provided tools"
    )
    used = [block for message in body["messages"] for block in _blocks(message["content"]) if "tool" in block["type"]]
    require(tools or not used, "tools: required where messages have tool_use or tool_result blocks")


def _check_message(message: Mapping[str, Any], number: int, messages: Sequence[Mapping[str, Any]]) -> None:
    place = f"messages.{number}"
    require_keys(message, ("role", "content"), place, UNKNOWN)
    # The provider's own service joins messages of one role; other services of the same models refuse them.
    expected = ("user", "assistant")[number % 2]
    require(message.get("role") == expected, f"{place}: roles take turns, from 'user' on; expected {expected!r}")
    blocks = _blocks(message.get("content"))
    require(blocks, f"{place}: all messages must have non-empty content")
    for block in blocks:
        require_keys(block, KEYS.get(block["type"], block), place, UNKNOWN)
        empty = block["type"] == "text" and not str(block.get("text", "")).strip()
        require(not empty, f"{place}: text content blocks must contain non-whitespace text")
    last = number == len(messages) - 1
    require(not last or expected == "user", "the conversation must end with a user message: no prefill by this model")


def _check_calls(messages: Sequence[Mapping[str, Any]]) -> None:
    calls = [block for message in messages for block in _blocks(message["content"]) if block["type"] == "tool_use"]
    require_unique([call["id"] for call in calls], "messages: `tool_use` ids must be unique, {!r} is not")
    missing: list[str] = []
    for number, message in enumerate(messages):
        blocks = _blocks(message["content"])
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        first = [block["tool_use_id"] for block in blocks[: len(results)] if block["type"] == "tool_result"]
        require_unique(results, f"messages.{number}: several `tool_result` blocks with id {{!r}}")
        for found in results:
            require(
                found in missing,
                f"messages.{number}: unexpected `tool_use_id` found in `tool_result` blocks: {found}. Each must have a"
                " corresponding `tool_use` block in the previous message.",
            )
        left = [one for one in missing if one not in first]
        require(
            not left,
            f"messages.{number - 1}: `tool_use` ids were found without `tool_result` blocks immediately after:"
            f" {', '.join(left)}.",
        )
        missing = [block["id"] for block in blocks if block["type"] == "tool_use"]
