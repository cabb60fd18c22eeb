"""A host without a framework, for adapter tests: a whole loop over a scripted model that refuses what providers refuse.

The loop is written once; `OpenAiShapes`, `ResponsesShapes` and `AnthropicShapes` say how messages, replies and results
look.
"""

import copy
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol

from skillweave import Injection, Placement, Ruling, Turn, Verdict, Weaver
from skillweave.adapters.messages import Call, anthropic_style, openai_style, responses_style
from tests.recording.anthropic_messages import AnthropicMessages
from tests.recording.chat_completions import ChatCompletions
from tests.recording.responses import Responses

BASE = "You are a helpful assistant."


class Style(Protocol):
    """The verbs of a style module."""

    def turn(self, chat: Sequence[Any], *, conversation: str, **options: Any) -> Turn: ...
    def place(self, chat: Sequence[Any], injection: Injection) -> list[Any]: ...
    def with_tail(self, chat: Sequence[Any], injection: Injection) -> list[Any]: ...
    def system(self, base: Any, injection: Injection) -> Any: ...
    def offer(self, tools: Sequence[Any] | None, injection: Injection) -> list[Any]: ...
    def calls(self, reply: object) -> tuple[Call, ...]: ...
    def refuse(self, call: Call, why: Verdict | str) -> dict[str, Any]: ...
    def unanswered(self, chat: Sequence[Any]) -> tuple[Call, ...]: ...
    def go_on(self, chat: Sequence[Any], said: Any) -> list[Any]: ...


@dataclass(frozen=True)
class Says:
    """One scripted reply: a text, tool calls as (name, arguments) pairs, or both."""

    text: str = ""
    calls: tuple[tuple[str, Mapping[str, object]], ...] = ()


@dataclass(frozen=True)
class Request:
    """What one call of the model was sent."""

    system: Any
    messages: list[Any]
    tools: list[Any]

    def times(self, text: str) -> int:
        """How often the text stands anywhere in the system prompt or the messages."""
        return _written([self.system, self.messages]).count(_written(text)[1:-1])

    def times_in_history(self, text: str) -> int:
        """How often the text stands in the messages."""
        return _written(self.messages).count(_written(text)[1:-1])

    def tool_names(self) -> list[str]:
        """The names of the tools that the model saw."""
        return [tool.get("function", tool)["name"] for tool in self.tools]


class OpenAiShapes:
    """Messages, replies and results as OpenAI's chat completions have them."""

    style: Style = openai_style

    def tool(self, name: str) -> dict[str, Any]:
        return {"type": "function", "function": {"name": name, "parameters": {"type": "object"}}}

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "content": text}

    def reply(self, says: Says, ids: Sequence[str]) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": says.text or None}
        if says.calls:
            message["tool_calls"] = [
                {"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                for call_id, (name, arguments) in zip(ids, says.calls, strict=True)
            ]
        return {"choices": [{"index": 0, "message": message}]}

    def heard(self, chat: Sequence[Any], reply: Mapping[str, Any]) -> list[Any]:
        return [*chat, reply["choices"][0]["message"]]

    def ran(self, call: Call, content: str) -> dict[str, Any]:
        return {"role": "tool", "tool_call_id": call.id, "content": content}

    def answered(self, chat: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        return [*chat, *results]

    def ended_by_user(self, chat: list[Any]) -> list[Any]:
        """The chat as it is: the model may answer behind its own message."""
        return chat

    def check(self, request: Request) -> None:
        """Raise what the API would."""
        messages = [{"role": "system", "content": request.system}, *request.messages]
        ChatCompletions().check({"model": "m", "messages": messages, "tools": request.tools or [self.tool("any")]})


class ResponsesShapes:
    """Items, replies and outputs as OpenAI's Responses API has them; the model thinks before it speaks."""

    style: Style = responses_style

    def __init__(self) -> None:
        self._thoughts = count(1)

    def tool(self, name: str) -> dict[str, Any]:
        return {"type": "function", "name": name, "parameters": {"type": "object"}, "strict": False}

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "content": text}

    def reply(self, says: Says, ids: Sequence[str]) -> dict[str, Any]:
        thought = {"type": "reasoning", "id": f"rs_{next(self._thoughts)}", "summary": []}
        part = {"type": "output_text", "text": says.text, "annotations": []}
        said = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
        calls = [
            {"type": "function_call", "call_id": call_id, "name": name, "arguments": json.dumps(arguments)}
            for call_id, (name, arguments) in zip(ids, says.calls, strict=True)
        ]
        return {"object": "response", "output": [thought, *([said] if says.text else []), *calls]}

    def heard(self, chat: Sequence[Any], reply: Mapping[str, Any]) -> list[Any]:
        return [*chat, *reply["output"]]

    def ran(self, call: Call, content: str) -> dict[str, Any]:
        return {"type": "function_call_output", "call_id": call.id, "output": content}

    def answered(self, chat: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        return [*chat, *results]

    def ended_by_user(self, chat: list[Any]) -> list[Any]:
        """The chat as it is: the model may answer behind its own message."""
        return chat

    def check(self, request: Request) -> None:
        """Raise what the API would."""
        Responses().check(
            {"model": "m", "instructions": request.system, "input": request.messages, "tools": request.tools}
        )


class AnthropicShapes:
    """Messages, replies and results as Anthropic's messages API has them."""

    style: Style = anthropic_style

    def tool(self, name: str) -> dict[str, Any]:
        return {"name": name, "input_schema": {"type": "object"}}

    def user(self, text: str) -> dict[str, Any]:
        return {"role": "user", "content": text}

    def reply(self, says: Says, ids: Sequence[str]) -> dict[str, Any]:
        text = [{"type": "text", "text": says.text}] if says.text else []
        calls = [
            {"type": "tool_use", "id": call_id, "name": name, "input": dict(arguments)}
            for call_id, (name, arguments) in zip(ids, says.calls, strict=True)
        ]
        return {"role": "assistant", "content": [*text, *calls], "stop_reason": "tool_use" if calls else "end_turn"}

    def heard(self, chat: Sequence[Any], reply: Mapping[str, Any]) -> list[Any]:
        return [*chat, {"role": "assistant", "content": reply["content"]}]

    def ran(self, call: Call, content: str) -> dict[str, Any]:
        return {"type": "tool_result", "tool_use_id": call.id, "content": content}

    def answered(self, chat: Sequence[Any], results: Sequence[Any]) -> list[Any]:
        return [*chat, {"role": "user", "content": list(results)}]

    def ended_by_user(self, chat: list[Any]) -> list[Any]:
        """The chat with a word of the host where the model spoke last: the API wants a user's message at the end."""
        return chat if chat[-1]["role"] == "user" else [*chat, self.user("Go on.")]

    def check(self, request: Request) -> None:
        """Raise what the API would."""
        tools = request.tools or [self.tool("any")]
        AnthropicMessages().check(
            {"model": "m", "max_tokens": 1000, "system": request.system, "messages": request.messages, "tools": tools}
        )


Shapes = OpenAiShapes | ResponsesShapes | AnthropicShapes
ALL_SHAPES: Mapping[str, Callable[[], Shapes]] = {
    "openai": OpenAiShapes,
    "responses": ResponsesShapes,
    "anthropic": AnthropicShapes,
}


@dataclass
class ScriptedModel:
    """Answers with the next scripted reply, and keeps what it was sent."""

    shapes: Shapes
    script: list[Says]
    sent: list[Request] = field(default_factory=list)
    calls_made: int = 0

    def __call__(self, system: Any, messages: Sequence[Any], tools: Sequence[Any]) -> dict[str, Any]:
        request = Request(*copy.deepcopy((system, list(messages), list(tools))))
        self.shapes.check(request)
        self.sent.append(request)
        says = self.script.pop(0) if self.script else Says("All right.")
        ids = [f"call-{self.calls_made + n}" for n in range(len(says.calls))]
        self.calls_made += len(ids)
        return self.shapes.reply(says, ids)


class Host:
    """An agent loop as people write it by hand: ask, run the tools that may run, ask again."""

    def __init__(
        self, weaver: Weaver, shapes: Shapes, placement: Placement, *script: Says, tools: Sequence[str] = ()
    ) -> None:
        self.weaver = weaver
        self.shapes = shapes
        self.style = shapes.style
        self.placement = placement
        self.model = ScriptedModel(shapes, list(script))
        self.tools = [shapes.tool(name) for name in tools]
        self.chat: list[Any] = []
        self.injections: list[Injection] = []
        self.ran: list[str] = []
        self.refused: list[str] = []

    @property
    def last(self) -> Request:
        """What the model was sent last."""
        return self.model.sent[-1]

    async def say(self, text: str) -> None:
        """One message of the user, and as many calls of the model as it takes."""
        self.chat = [*self.chat, self.shapes.user(text)]
        while await self._called_again():
            pass

    async def weave(self) -> Injection:
        """The injection for the chat as it is now."""
        turn = self.style.turn(self.chat, conversation="c1", placement=self.placement, tools=self.tools or None)
        return await self.weaver.weave(turn)

    async def _called_again(self) -> bool:
        injection = await self.weave()
        self.injections.append(injection)
        self.chat = self.shapes.ended_by_user(self.style.place(self.chat, injection))
        sent = self.style.with_tail(self.chat, injection)
        reply = self.model(self.style.system(BASE, injection), sent, self.style.offer(self.tools, injection))
        self.chat = self.shapes.heard(self.chat, reply)
        calls = self.style.calls(reply)
        if calls:
            self.chat = self.shapes.answered(self.chat, [self._result(call, injection) for call in calls])
        return bool(calls) or "SKILL_SELECT:" in json.dumps(reply)

    def _result(self, call: Call, injection: Injection) -> dict[str, Any]:
        verdict = injection.tools.authorize(call.name, call.arguments)
        if call.problem or verdict.ruling is not Ruling.ALLOW:
            self.refused.append(call.name)
            return self.style.refuse(call, call.problem or verdict)
        self.ran.append(call.name)
        return self.shapes.ran(call, f"{call.name} is done")


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
