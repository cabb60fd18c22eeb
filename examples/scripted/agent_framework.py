"""A scripted chat client for Microsoft's Agent Framework."""

import re
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from typing import Any

from skillweave.errors import MissingExtra
from skillweave_testing.hosts import Asks, Says, Script, Sent, as_json, names

try:
    from agent_framework import (
        BaseChatClient,
        ChatMiddlewareLayer,
        ChatResponse,
        ChatResponseUpdate,
        Content,
        FunctionInvocationLayer,
        FunctionTool,
        Message,
        ResponseStream,
    )
except ModuleNotFoundError:
    raise MissingExtra("a scripted model of the Agent Framework", "agent-framework-core", "agent-framework") from None


class ScriptedChatClient(FunctionInvocationLayer[Any], ChatMiddlewareLayer[Any], BaseChatClient[Any]):
    """A chat client that plays a Script, and records what it was sent; it streams word by word."""

    OTEL_PROVIDER_NAME = "scripted"

    def __init__(self, script: Script, **settings: Any) -> None:  # noqa: ANN401 - those of the framework's layers
        super().__init__(**settings)
        self.script = script

    def _inner_get_response(
        self,
        *,
        messages: Sequence[Message],
        stream: bool,
        options: Mapping[str, Any],
        **kwargs: Any,  # noqa: ANN401 - the signature of BaseChatClient
    ) -> Awaitable[ChatResponse[Any]] | ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
        if stream:
            return self._build_response_stream(self._streamed(messages, options))
        return self._replied(messages, options)

    async def _replied(self, messages: Sequence[Message], options: Mapping[str, Any]) -> ChatResponse[Any]:
        says = self._said(messages, options)
        contents = [*([Content.from_text(says.text)] if says.text else []), *map(_called, says.asks)]
        return ChatResponse(messages=[Message("assistant", contents)])

    async def _streamed(
        self, messages: Sequence[Message], options: Mapping[str, Any]
    ) -> AsyncIterator[ChatResponseUpdate]:
        says = self._said(messages, options)
        pieces = [Content.from_text(piece) for piece in re.findall(r"\s*\S+", says.text)]
        for content in (*pieces, *map(_called, says.asks)):
            yield ChatResponseUpdate(role="assistant", contents=[content])

    def _said(self, messages: Sequence[Message], options: Mapping[str, Any]) -> Says:
        written = tuple(as_json({"role": str(one.role), "contents": _written(one)}) for one in messages)
        tools = options.get("tools") or ()
        declared = tuple(
            as_json(tool.to_json_schema_spec() if isinstance(tool, FunctionTool) else tool) for tool in tools
        )
        return self.script.reply(Sent(options.get("instructions") or "", written, names(tools), declared))


def _called(asks: Asks) -> Content:
    return Content.from_function_call(asks.id, asks.tool, arguments=as_json(dict(asks.arguments)))


def _written(message: Message) -> list[dict[str, object]]:
    # The framework numbers the calls of each run anew; what a model reads is the rest.
    fields = ("type", "text", "call_id", "name", "arguments", "result")
    return [{field: getattr(content, field, None) for field in fields} for content in message.contents]
