"""A scripted model for Pydantic AI."""

import re
from collections.abc import AsyncIterator, Iterable, Sequence
from itertools import takewhile
from typing import Any

from skillweave.errors import MissingExtra
from skillweave_testing.hosts import Says, Script, Sent, as_json, names

try:
    from pydantic_ai.messages import (
        InstructionPart,
        ModelMessage,
        ModelMessagesTypeAdapter,
        ModelResponse,
        TextPart,
        ToolCallPart,
    )
    from pydantic_ai.models.function import AgentInfo, DeltaToolCall, DeltaToolCalls, FunctionModel
except ModuleNotFoundError:
    raise MissingExtra("a scripted model of Pydantic AI", "pydantic-ai-slim", "pydantic-ai") from None

_BOOKKEEPING = ("timestamp", "run_id", "conversation_id", "usage", "instructions", "metadata", "model_name")
"""What the framework keeps with a message and no provider is sent."""


def scripted_model(script: Script) -> FunctionModel:
    """A model that plays a Script, and records what it was sent; it streams word by word."""

    async def reply(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        says = script.reply(_sent(messages, info))
        called = [ToolCallPart(ask.tool, dict(ask.arguments), ask.id) for ask in says.asks]
        said = [TextPart(says.text)] if says.text or not called else []
        return ModelResponse(parts=[*said, *called])

    async def stream(messages: list[ModelMessage], info: AgentInfo) -> AsyncIterator[str | DeltaToolCalls]:
        says: Says = script.reply(_sent(messages, info))
        for piece in re.findall(r"\s*\S+", says.text):
            yield piece
        for index, ask in enumerate(says.asks):
            written = as_json(dict(ask.arguments))
            yield {index: DeltaToolCall(name=ask.tool, json_args=written, tool_call_id=ask.id)}

    return FunctionModel(reply, stream_function=stream)


def _sent(messages: Sequence[ModelMessage], info: AgentInfo) -> Sent:
    parts = [part for message in messages for part in _parts(message)]
    # Only what stands before everything else is the system prompt.
    leading = list(takewhile(lambda part: part["part_kind"] == "system-prompt", parts))
    instructions = InstructionPart.join(info.model_request_parameters.instruction_parts or [])
    system = "\n\n".join(part for part in [*(str(one["content"]) for one in leading), instructions] if part)
    tools = [*info.function_tools, *info.output_tools]
    declared = tuple(as_json([one.name, one.description, one.parameters_json_schema]) for one in tools)
    return Sent(system, tuple(map(as_json, parts[len(leading) :])), names(tools), declared)


def _parts(message: ModelMessage) -> Iterable[dict[str, Any]]:
    [dumped] = ModelMessagesTypeAdapter.dump_python([message], mode="json")
    for part in dumped["parts"]:
        yield {key: value for key, value in part.items() if key not in _BOOKKEEPING}
