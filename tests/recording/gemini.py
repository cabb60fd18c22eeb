"""Google's Gemini API: as many results as calls, in the turn right behind them."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from skillweave_testing.hosts import Says, Sent
from tests.recording.rules import Interface, Refused, require, require_keys, require_unique, text_in, written

UNKNOWN = 'Invalid JSON payload received. Unknown name "{}": Cannot find field.'
NAME = re.compile(r"[a-zA-Z_][a-zA-Z0-9_.:-]{0,63}")
KEYS = (
    *("contents", "systemInstruction", "tools", "toolConfig", "generationConfig", "safetySettings", "cachedContent"),
    *("labels", "model", "store", "serviceTier"),
)
COUNTS = (
    "Please ensure that the number of function response parts is equal to the number of function call parts of the"
    " function call turn."
)


class Gemini(Interface):
    """The whole history comes with every request, as turns of the user and the model."""

    path = "/v1beta/models/{model}:generateContent"

    def __init__(self) -> None:
        self._replies = 0

    def check(self, body: Mapping[str, Any]) -> None:
        require_keys(body, KEYS, "", UNKNOWN)
        require(body.get("contents"), "GenerateContentRequest.contents: contents is not specified")
        names = [tool["name"] for tool in _declarations(body)]
        for name in names:
            require(NAME.fullmatch(name), f"Invalid function name {name!r}")
        require_unique(names, "Duplicate function declaration found: {}")
        _check_turns(body["contents"])

    def sent(self, body: Mapping[str, Any]) -> Sent:
        declared = _declarations(body)
        return Sent(
            text_in((body.get("systemInstruction") or {}).get("parts")),
            tuple(written(content) for content in body["contents"]),
            tuple(str(tool["name"]) for tool in declared),
            tuple(written(tool) for tool in declared),
        )

    def reply(self, body: Mapping[str, Any], says: Says) -> dict[str, Any]:
        self._replies += 1
        text = [{"text": says.text}] if says.text else []
        calls = [{"functionCall": {"id": one.id, "name": one.tool, "args": dict(one.arguments)}} for one in says.asks]
        content = {"role": "model", "parts": [*text, *calls]}
        return {
            "candidates": [{"content": content, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
            "responseId": f"reply-{self._replies}",
        }

    def error(self, refused: Refused) -> dict[str, Any]:
        return {"error": {"code": refused.status, "message": refused.message, "status": "INVALID_ARGUMENT"}}


def _declarations(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [one for tool in body.get("tools") or () for one in tool.get("functionDeclarations") or ()]


def _check_turns(contents: Sequence[Mapping[str, Any]]) -> None:
    called: list[str] = []
    before = ""
    for number, content in enumerate(contents):
        place = f"contents[{number}]"
        require(content.get("role") in ("user", "model"), f"{place}: please use a valid role: user, model.")
        parts = content.get("parts") or ()
        require(parts, f"{place}.parts must not be empty.")
        answered = [part["functionResponse"]["name"] for part in parts if "functionResponse" in part]
        require(called or not answered, f"{place}: a function response turn comes right after a function call turn.")
        require(sorted(called) == sorted(answered), COUNTS)
        called = [part["functionCall"]["name"] for part in parts if "functionCall" in part]
        require(
            not called or before == "user",
            f"{place}: a function call turn comes right after a user turn or a function response turn.",
        )
        before = str(content["role"])
    require(not called, COUNTS)
