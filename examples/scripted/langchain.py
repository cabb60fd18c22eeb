"""A scripted chat model for LangChain and LangGraph."""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import ConfigDict

from skillweave.errors import MissingExtra
from skillweave_testing.hosts import Says, Script, Sent, as_json

try:
    from langchain_core.callbacks import CallbackManagerForLLMRun
    from langchain_core.language_models.chat_models import BaseChatModel
    from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, SystemMessage, ToolCall, ToolCallChunk
    from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
    from langchain_core.runnables import Runnable
    from langchain_core.utils.function_calling import convert_to_openai_tool
except ModuleNotFoundError:
    raise MissingExtra("a scripted model of LangChain", "langchain-core", "langchain") from None


class ScriptedChatModel(BaseChatModel):
    """A chat model that plays a Script, and records what it was sent; it streams word by word."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    script: Script
    tools: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(
        self,
        tools: Sequence[Any],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,  # noqa: ANN401 - the signature of BaseChatModel
    ) -> Runnable[Any, AIMessage]:
        """This model with these tools shown to it."""
        declared = [convert_to_openai_tool(tool) for tool in tools]
        shown = {
            "tools": tuple(tool["function"]["name"] for tool in declared),
            "declared": tuple(map(as_json, declared)),
        }
        return self.model_copy(update=shown)

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> ChatResult:
        says = self._said(messages)
        called = [ToolCall(name=ask.tool, args=dict(ask.arguments), id=ask.id) for ask in says.asks]
        return ChatResult(generations=[ChatGeneration(message=AIMessage(content=says.text, tool_calls=called))])

    def _stream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,  # noqa: ANN401
    ) -> Iterator[ChatGenerationChunk]:
        says = self._said(messages)
        for piece in re.findall(r"\s*\S+", says.text):
            yield ChatGenerationChunk(message=AIMessageChunk(content=piece))
        called = [
            ToolCallChunk(name=ask.tool, args=as_json(dict(ask.arguments)), id=ask.id, index=index)
            for index, ask in enumerate(says.asks)
        ]
        yield ChatGenerationChunk(message=AIMessageChunk(content="", tool_call_chunks=called, chunk_position="last"))

    def _said(self, messages: Sequence[BaseMessage]) -> Says:
        leading = [message for message in messages[:1] if isinstance(message, SystemMessage)]
        rest = messages[len(leading) :]
        written = tuple(as_json({"role": one.type, "content": one.content, "id": _call_of(one)}) for one in rest)
        return self.script.reply(Sent("".join(one.text for one in leading), written, self.tools, self.declared))


def _call_of(message: BaseMessage) -> object:
    calls = getattr(message, "tool_calls", None)
    return [call["id"] for call in calls] if calls else getattr(message, "tool_call_id", None)
