"""OpenAI's chat completions: each tool call is answered once, right behind the message that made it."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from openai.types import chat
from openai.types.chat.completion_create_params import CompletionCreateParamsNonStreaming

from skillweave_testing.hosts import Says, Sent
from tests.recording.rules import (
    Interface,
    Refused,
    keys_of,
    openai_error,
    require,
    require_keys,
    require_unique,
    text_in,
    written,
)

UNKNOWN = "Unrecognized request argument supplied: {}"
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
KEYS = {
    "system": keys_of(chat.ChatCompletionSystemMessageParam),
    "developer": keys_of(chat.ChatCompletionDeveloperMessageParam),
    "user": keys_of(chat.ChatCompletionUserMessageParam),
    "assistant": keys_of(chat.ChatCompletionAssistantMessageParam),
    "tool": keys_of(chat.ChatCompletionToolMessageParam),
}
PARTS = {"user": ("text", "image_url", "input_audio", "file"), "assistant": ("text", "refusal")}


class ChatCompletions(Interface):
    """The whole history comes with every request, and nothing is kept."""

    path = "/v1/chat/completions"

    def __init__(self) -> None:
        self._replies = 0

    def check(self, body: Mapping[str, Any]) -> None:
        require_keys(body, keys_of(CompletionCreateParamsNonStreaming), "", UNKNOWN)
        require(isinstance(body.get("model"), str), "you must provide a model parameter", "model")
        messages = body.get("messages")
        require(isinstance(messages, list) and messages, "[] is too short - 'messages'", "messages")
        _check_tools(body)
        for number, message in enumerate(body["messages"]):
            _check_message(message, f"messages.[{number}]")
        _check_answers(body["messages"])

    def sent(self, body: Mapping[str, Any]) -> Sent:
        messages = body["messages"]
        first = next((n for n, one in enumerate(messages) if one["role"] not in ("system", "developer")), len(messages))
        declared = [tool.get("function") or tool for tool in body.get("tools") or ()]
        return Sent(
            "\n\n".join(text_in(message["content"]) for message in messages[:first]),
            tuple(written(message) for message in messages[first:]),
            tuple(str(tool["name"]) for tool in declared),
            tuple(written(tool) for tool in declared),
        )

    def reply(self, body: Mapping[str, Any], says: Says) -> dict[str, Any]:
        self._replies += 1
        message: dict[str, Any] = {"role": "assistant", "content": says.text or None, "refusal": None}
        if says.asks:
            message["tool_calls"] = [
                {"id": one.id, "type": "function", "function": {"name": one.tool, "arguments": written(one.arguments)}}
                for one in says.asks
            ]
        finish = "tool_calls" if says.asks else "stop"
        return {
            "id": f"chatcmpl-{self._replies}",
            "object": "chat.completion",
            "created": 1_700_000_000 + self._replies,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": finish, "logprobs": None}],
            "usage": {
                "prompt_tokens": 100,
                "prompt_tokens_details": {"cached_tokens": 40},
                "completion_tokens": 10,
                "total_tokens": 110,
            },
        }

    def error(self, refused: Refused) -> dict[str, Any]:
        return openai_error(refused)


def _check_tools(body: Mapping[str, Any]) -> None:
    if "tools" not in body:
        require("parallel_tool_calls" not in body, "'parallel_tool_calls' is only allowed when 'tools' are specified.")
        require("tool_choice" not in body, "'tool_choice' is only allowed when 'tools' are specified.", "tool_choice")
        return
    require(body["tools"], "[] is too short - 'tools'", "tools")
    names = [(tool.get("function") or tool.get("custom") or {}).get("name") for tool in body["tools"]]
    for number, name in enumerate(names):
        place = f"tools[{number}].function.name"
        require(isinstance(name, str) and NAME.fullmatch(name), f"Invalid '{place}': {name!r} is no name", place)
    require_unique(names, "the tool {!r} is declared twice", "tools")
    chosen = body.get("tool_choice")
    named = (chosen.get("function") or {}).get("name") if isinstance(chosen, Mapping) else None
    require(named is None or named in names, f"Tool choice '{named}' not found in 'tools' parameter.", "tool_choice")


def _check_message(message: Mapping[str, Any], place: str) -> None:
    role = message.get("role")
    require(role in KEYS, f"Invalid value: {role!r}. Supported values are: {', '.join(KEYS)}.", f"{place}.role")
    require_keys(message, KEYS[str(role)], place, UNKNOWN)
    content = message.get("content")
    if content is None:
        spoken = role == "assistant" and any(message.get(key) for key in ("tool_calls", "refusal", "audio"))
        require(spoken, "Invalid value for 'content': expected a string, got null.", f"{place}.content")
    if isinstance(content, list):
        require(content, f"[] is too short - '{place}.content'", f"{place}.content")
        for part in content:
            kinds = PARTS.get(str(role), ("text",))
            require(part.get("type") in kinds, f"Invalid value: {part.get('type')!r}.", f"{place}.content")
    for call in message.get("tool_calls") or ():
        written_as = (call.get("function") or {}).get("arguments", "{}")
        require(isinstance(written_as, str), "Invalid type for 'arguments': expected a string.", f"{place}.tool_calls")
    require(message.get("tool_calls") != [], f"[] is too short - '{place}.tool_calls'", f"{place}.tool_calls")


def _check_answers(messages: Sequence[Mapping[str, Any]]) -> None:
    require_unique(
        [call["id"] for message in messages for call in message.get("tool_calls") or ()],
        "the tool call id {!r} was used before",
        "messages",
    )
    missing: list[str] = []
    for number, message in enumerate(messages):
        place = f"messages.[{number}].role"
        if message["role"] == "tool":
            require(
                message.get("tool_call_id") in missing,
                "Invalid parameter: messages with role 'tool' must be a response to a preceding message with"
                " 'tool_calls'.",
                place,
            )
            missing.remove(message["tool_call_id"])
            continue
        _require_answered(missing, place)
        missing = [call["id"] for call in message.get("tool_calls") or ()]
    _require_answered(missing, f"messages.[{len(messages)}].role")


def _require_answered(missing: Sequence[str], place: str) -> None:
    require(
        not missing,
        "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'."
        f" The following tool_call_ids did not have response messages: {', '.join(missing)}",
        place,
    )
