"""OpenAI's responses: items instead of messages, each call answered behind it, and a history that it keeps."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, get_args

from openai.types.responses.easy_input_message_param import EasyInputMessageParam
from openai.types.responses.response_create_params import ResponseCreateParamsNonStreaming
from openai.types.responses.response_input_item_param import ResponseInputItemParam

from skillweave_testing.hosts import Says, Sent
from tests.recording.rules import (
    Interface,
    Refused,
    keys_of,
    openai_error,
    require,
    require_keys,
    require_unique,
    written,
)

UNKNOWN = "Unknown parameter: '{}'."
NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
BEGINS = {"message": "msg", "function_call": "fc", "reasoning": "rs", "function_call_output": "fc"}
PARTS = {"assistant": ("output_text", "refusal")}
SAID = ("input_text", "input_image", "input_file")


def _kinds() -> dict[str, frozenset[str]]:
    found = {"message": keys_of(EasyInputMessageParam)}
    for kind in get_args(ResponseInputItemParam):
        named = re.search(r"Literal\['(\w+)'\]", str(kind.__annotations__["type"]))
        if named:
            found[named[1]] = found.get(named[1], frozenset()) | keys_of(kind)
    return found


KEYS = _kinds()


class Responses(Interface):
    """A request brings the whole history, or what is new behind an earlier response that the provider keeps."""

    path = "/v1/responses"

    def __init__(self, *, thinks: bool = False) -> None:
        self._kept: dict[str, list[Mapping[str, Any]]] = {}
        self._made = 0
        self._thinks = thinks
        self._thought: dict[str, str] = {}
        self._forgotten: set[str] = set()

    def check(self, body: Mapping[str, Any]) -> None:
        require_keys(body, keys_of(ResponseCreateParamsNonStreaming), "", UNKNOWN)
        require(isinstance(body.get("model"), str), "Missing required parameter: 'model'.", "model")
        require(body.get("input"), 'One of "input" or "previous_response_id" or \'prompt\' must be provided.', "input")
        _check_tools(body)
        before = body.get("previous_response_id")
        if before is not None and before not in self._kept:
            raise Refused(
                f"Previous response with id '{before}' not found.",
                "previous_response_id",
                "previous_response_not_found",
            )
        new = _items(body)
        for number, item in enumerate(new):
            _check_item(item, f"input[{number}]")
        self._check_thoughts(new)
        whole = [*self._kept.get(str(before), ()), *new]
        require_unique([one["id"] for one in whole if one.get("id")], "Duplicate item found with id {}.", "input")
        _check_calls(whole)

    def sent(self, body: Mapping[str, Any]) -> Sent:
        before = self._kept.get(str(body.get("previous_response_id")), ())
        tools = body.get("tools") or ()
        return Sent(
            str(body.get("instructions") or ""),
            tuple(written(item) for item in (*before, *_items(body))),
            tuple(str(tool.get("name") or tool["type"]) for tool in tools),
            tuple(written(tool) for tool in tools),
        )

    def reply(self, body: Mapping[str, Any], says: Says) -> dict[str, Any]:
        output = list(self._output(says))
        named = self._next("resp")
        if body.get("store", True):
            before = self._kept.get(str(body.get("previous_response_id")), ())
            self._kept[named] = [*before, *_items(body), *output]
        else:
            self._forgotten |= {item["id"] for item in output}
        return {
            "id": named,
            "object": "response",
            "created_at": 1_700_000_000 + self._made,
            "status": "completed",
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "metadata": {},
            "model": body["model"],
            "output": output,
            "parallel_tool_calls": True,
            "previous_response_id": body.get("previous_response_id"),
            "temperature": 1.0,
            "tool_choice": "auto",
            "tools": [],
            "top_p": 1.0,
            "usage": {
                "input_tokens": 1,
                "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
                "output_tokens": 1,
                "output_tokens_details": {"reasoning_tokens": 0},
                "total_tokens": 2,
            },
        }

    def error(self, refused: Refused) -> dict[str, Any]:
        return openai_error(refused)

    def _next(self, kind: str) -> str:
        self._made += 1
        return f"{kind}_{self._made}"

    def _output(self, says: Says) -> Sequence[dict[str, Any]]:
        items: list[dict[str, Any]] = []
        if says.text:
            part = {"type": "output_text", "text": says.text, "annotations": [], "logprobs": []}
            items.append(
                {"id": self._next("msg"), "type": "message", "role": "assistant", "status": "completed"}
                | {"content": [part]}
            )
        items += [
            {"id": self._next("fc"), "type": "function_call", "call_id": one.id, "name": one.tool}
            | {"arguments": written(one.arguments), "status": "completed"}
            for one in says.asks
        ]
        if self._thinks and items:
            thought = {"id": self._next("rs"), "type": "reasoning", "summary": []}
            self._thought[items[0]["id"]] = thought["id"]
            items.insert(0, thought)
        return items

    def _check_thoughts(self, new: Sequence[Mapping[str, Any]]) -> None:
        """What the model thought and what it then said go together, or neither comes back by its id."""
        for number, item in enumerate(new):
            found, kind = item.get("id"), item.get("type", "message")
            if kind == "reasoning":
                if found in self._forgotten and not item.get("encrypted_content"):
                    raise Refused(f"Item with id '{found}' not found. It was not stored.", "input", status=404)
                follows = new[number + 1] if number + 1 < len(new) else {"type": "nothing"}
                told = follows.get("type", "message") in ("message", "function_call") and follows.get("role") != "user"
                ours = found not in self._thought.values() or self._thought.get(str(follows.get("id"))) == found
                require(
                    told and ours,
                    f"Item '{found}' of type 'reasoning' was provided without its required following item.",
                    "input",
                )
            elif found in self._thought:
                before = new[number - 1].get("id") if number else None
                require(
                    before == self._thought[found],
                    f"Item '{found}' of type '{kind}' was provided without its required 'reasoning' item:"
                    f" '{self._thought[found]}'.",
                    "input",
                )


def _items(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    given = body["input"]
    return [{"role": "user", "content": given}] if isinstance(given, str) else given


def _check_tools(body: Mapping[str, Any]) -> None:
    names = []
    for number, tool in enumerate(body.get("tools") or ()):
        if tool.get("type") == "function":
            place = f"tools[{number}].name"
            name = tool.get("name")
            require(isinstance(name, str) and NAME.fullmatch(name), f"Missing required parameter: '{place}'.", place)
            names.append(name)
    require_unique(names, "the tool {!r} is declared twice", "tools")
    chosen = body.get("tool_choice")
    named = chosen.get("name") if isinstance(chosen, Mapping) else None
    require(named is None or named in names, f"Tool choice '{named}' not found in 'tools' parameter.", "tool_choice")


def _check_item(item: Mapping[str, Any], place: str) -> None:
    kind = item.get("type", "message" if "role" in item else None)
    require(kind in KEYS, f"Invalid value: {kind!r}.", f"{place}.type", "invalid_value")
    require_keys(item, KEYS[str(kind)], place, UNKNOWN)
    begins, named = BEGINS.get(str(kind), ""), item.get("id")
    require(
        named is None or str(named).startswith(begins),
        f"Invalid '{place}.id': '{named}'. Expected an ID that begins with '{begins}'.",
        f"{place}.id",
    )
    if kind == "message":
        _check_content(item, place)
    if kind == "function_call":
        for key in ("call_id", "name", "arguments"):
            require(isinstance(item.get(key), str), f"Missing required parameter: '{place}.{key}'.", f"{place}.{key}")
    if kind == "function_call_output":
        for key in ("call_id", "output"):
            require(item.get(key) is not None, f"Missing required parameter: '{place}.{key}'.", f"{place}.{key}")


def _check_content(item: Mapping[str, Any], place: str) -> None:
    role, content = item.get("role"), item.get("content")
    require(role in ("user", "system", "developer", "assistant"), f"Invalid value: {role!r}.", f"{place}.role")
    require(content is not None, f"Missing required parameter: '{place}.content'.", f"{place}.content")
    kinds = PARTS.get(str(role), SAID)
    for number, part in enumerate(content if isinstance(content, list) else ()):
        where = f"{place}.content[{number}]"
        supported = " and ".join(f"'{one}'" for one in kinds)
        require(
            part.get("type") in kinds,
            f"Invalid value: '{part.get('type')}'. Supported values are: {supported}.",
            where,
            "invalid_value",
        )


def _check_calls(items: Sequence[Mapping[str, Any]]) -> None:
    waiting: list[str] = []
    known: list[str] = []
    for item in items:
        if item.get("type") == "function_call":
            require(item["call_id"] not in known, f"Duplicate call_id {item['call_id']}.", "input")
            known.append(item["call_id"])
            waiting.append(item["call_id"])
        if item.get("type") == "function_call_output":
            answered = item["call_id"]
            require(
                answered in waiting, f"No tool call found for function call output with call_id {answered}.", "input"
            )
            waiting.remove(answered)
    require(not waiting, f"No tool output found for function call {''.join(waiting[:1])}.", "input")
