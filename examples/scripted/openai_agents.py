"""A scripted model for the OpenAI Agents SDK."""

import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

from skillweave.errors import MissingExtra
from skillweave_testing.hosts import Script, Sent, as_json, names

try:
    from agents import Model, ModelResponse, ModelSettings, Tool, Usage
    from agents.items import TResponseInputItem, TResponseOutputItem, TResponseStreamEvent
    from agents.models.fake_id import FAKE_RESPONSES_ID
    from openai.types.responses import (
        Response,
        ResponseCompletedEvent,
        ResponseFunctionToolCall,
        ResponseOutputMessage,
        ResponseOutputText,
        ResponseTextDeltaEvent,
    )
except ModuleNotFoundError:
    raise MissingExtra("a scripted model of the OpenAI Agents SDK", "openai-agents", "openai-agents") from None

_KEPT = ("type", "role", "content", "call_id", "name", "arguments", "output")


class ScriptedModel(Model):
    """A model that plays a Script, and records what it was sent; it streams word by word."""

    def __init__(self, script: Script) -> None:
        self.script = script

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002 - the signature of Model
        model_settings: ModelSettings,
        tools: list[Tool],
        *rest: Any,  # noqa: ANN401
        **named: Any,  # noqa: ANN401
    ) -> ModelResponse:
        """The next reply of the script."""
        return ModelResponse(output=self._said(system_instructions, input, tools), usage=Usage(), response_id=None)

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002
        model_settings: ModelSettings,
        tools: list[Tool],
        *rest: Any,  # noqa: ANN401
        **named: Any,  # noqa: ANN401
    ) -> AsyncIterator[TResponseStreamEvent]:
        """The next reply of the script in pieces, and whole at the end."""
        output = self._said(system_instructions, input, tools)
        words = [word for item in output for word in re.findall(r"\s*\S+", _text(item))]
        for number, word in enumerate(words):
            yield ResponseTextDeltaEvent(
                type="response.output_text.delta",
                delta=word,
                content_index=0,
                item_id=FAKE_RESPONSES_ID,
                logprobs=[],
                output_index=0,
                sequence_number=number,
            )
        whole = Response(
            id=FAKE_RESPONSES_ID,
            created_at=0,
            model="scripted",
            object="response",
            output=output,
            parallel_tool_calls=True,
            tool_choice="auto",
            tools=[],
        )
        yield ResponseCompletedEvent(type="response.completed", response=whole, sequence_number=len(words))

    def _said(
        self, system: str | None, sent: str | list[TResponseInputItem], tools: list[Tool]
    ) -> list[TResponseOutputItem]:
        items: list[Any] = [{"role": "user", "content": sent}] if isinstance(sent, str) else sent
        fields = ("name", "description", "params_json_schema")
        declared = tuple(as_json([getattr(tool, field, None) for field in fields]) for tool in tools)
        written = tuple(as_json(_kept(item)) for item in items)
        says = self.script.reply(Sent(system or "", written, names(tools), declared))
        text = ResponseOutputText(type="output_text", text=says.text, annotations=[])
        spoken = ResponseOutputMessage(
            id=FAKE_RESPONSES_ID, type="message", role="assistant", status="completed", content=[text]
        )
        calls = [
            ResponseFunctionToolCall(
                type="function_call", call_id=ask.id, name=ask.tool, arguments=as_json(dict(ask.arguments))
            )
            for ask in says.asks
        ]
        return [*([spoken] if says.text or not calls else []), *calls]


def _kept(item: Mapping[str, Any]) -> dict[str, Any]:
    return {key: item[key] for key in _KEPT if key in item}


def _text(item: TResponseOutputItem) -> str:
    if not isinstance(item, ResponseOutputMessage):
        return ""
    return "".join(part.text for part in item.content if isinstance(part, ResponseOutputText))
