"""A scripted model for Google's Agent Development Kit."""

import re
from collections.abc import AsyncGenerator
from typing import Any

from skillweave.errors import MissingExtra
from skillweave_testing.hosts import Says, Script, Sent, as_json

try:
    from google.adk.models.base_llm import BaseLlm
    from google.adk.models.llm_request import LlmRequest
    from google.adk.models.llm_response import LlmResponse
    from google.genai import types
    from pydantic import SkipValidation
except ModuleNotFoundError:
    raise MissingExtra("a scripted model of Google's ADK", "google-adk", "google-adk") from None


_NOTHING_USED = types.GenerateContentResponseUsageMetadata(prompt_token_count=0, candidates_token_count=0)


class ScriptedLlm(BaseLlm):
    """A model that plays a Script, and records what it was sent; it streams word by word."""

    model: str = "scripted"
    script: SkipValidation[Script]

    async def generate_content_async(
        self,
        llm_request: LlmRequest,
        stream: bool = False,  # noqa: FBT001, FBT002 - the signature of BaseLlm
    ) -> AsyncGenerator[LlmResponse, None]:
        """The next reply of the script."""
        says = self.script.reply(_sent(llm_request))
        if stream:
            for piece in re.findall(r"\s*\S+", says.text):
                yield LlmResponse(content=_content([types.Part(text=piece)]), partial=True)
        yield LlmResponse(content=_content(_parts(says)), usage_metadata=_NOTHING_USED)


def _content(parts: list[types.Part]) -> types.Content:
    return types.Content(role="model", parts=parts)


def _parts(says: Says) -> list[types.Part]:
    asked = [types.FunctionCall(id=ask.id, name=ask.tool, args=dict(ask.arguments)) for ask in says.asks]
    said = [types.Part(text=says.text)] if says.text or not asked else []
    return [*said, *(types.Part(function_call=call) for call in asked)]


def _sent(request: LlmRequest) -> Sent:
    instruction = request.config.system_instruction
    tools: list[Any] = [tool for tool in request.config.tools or () if isinstance(tool, types.Tool)]
    declared = [one for tool in tools for one in tool.function_declarations or ()]
    messages = [as_json(content.model_dump(mode="json", exclude_none=True)) for content in request.contents]
    return Sent(
        instruction if isinstance(instruction, str) else "",
        tuple(messages),
        tuple(one.name or "" for one in declared),
        tuple(as_json(one.model_dump(mode="json", exclude_none=True)) for one in declared),
    )
