"""A model of the OpenAI Agents SDK with the weaving in front: there alone is all known of what it will be sent."""

from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any

from skillweave.adapters.approval import require_decided
from skillweave.adapters.openai_agents.items import heard
from skillweave.adapters.openai_agents.run import NAME_IT, Instructions
from skillweave.adapters.openai_agents.tools import offered, pause
from skillweave.adapters.own import SEPARATOR
from skillweave.errors import InvalidTurn, MissingExtra

try:
    from agents import Model, ModelProvider, ModelResponse, ModelSettings, Tool
    from agents.items import TResponseInputItem, TResponseStreamEvent
    from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest
except ModuleNotFoundError:
    raise MissingExtra("the adapter for the OpenAI Agents SDK", "openai-agents", "openai-agents") from None


class Woven(Model):
    """A model that is sent the woven call; an agent's own one (`agent` is its name) is never called without skills."""

    def __init__(self, model: Model, agent: str = "") -> None:
        self._model: Model = model._model if isinstance(model, Woven) else model  # noqa: SLF001 - its own class
        self._agent = agent

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever else the host's model has
        if name == "_model":  # a copy that is being made has none yet
            raise AttributeError(name)
        return getattr(self._model, name)

    async def get_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002 - the signature of Model
        model_settings: ModelSettings,
        tools: list[Tool],
        *rest: Any,  # noqa: ANN401
        **named: Any,  # noqa: ANN401
    ) -> ModelResponse:
        """The model's reply to the woven call."""
        instructions, shown = await self._woven(system_instructions, input, tools, named)
        return await self._model.get_response(instructions, input, model_settings, shown, *rest, **named)

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002
        model_settings: ModelSettings,
        tools: list[Tool],
        *rest: Any,  # noqa: ANN401
        **named: Any,  # noqa: ANN401
    ) -> AsyncIterator[TResponseStreamEvent]:
        """The same in pieces."""
        instructions, shown = await self._woven(system_instructions, input, tools, named)
        stream = self._model.stream_response(instructions, input, model_settings, shown, *rest, **named)
        try:
            async for event in stream:
                yield event
        finally:
            if isinstance(stream, AsyncGenerator):
                await stream.aclose()

    def get_retry_advice(self, request: ModelRetryAdviceRequest) -> ModelRetryAdvice | None:
        """As the host's model advises."""
        return self._model.get_retry_advice(request)

    async def close(self) -> None:
        """Close the host's model."""
        await self._model.close()

    async def _cleanup_on_run_end(self, owner: object) -> None:
        # Part of what a Model is to the SDK: connections that a run opened are closed by it.
        await self._model._cleanup_on_run_end(owner)  # noqa: SLF001

    async def _woven(
        self,
        instructions: str | None,
        sent: str | list[TResponseInputItem],
        tools: list[Tool],
        named: Mapping[str, Any],
    ) -> tuple[str | None, list[Tool]]:
        if not isinstance(instructions, Instructions):
            if self._agent:
                raise InvalidTurn(f"this run of agent {self._agent!r} names no conversation; {NAME_IT}")
            return instructions, tools
        _require_whole(named)
        bridge = instructions.bridge
        injection = await bridge.weave(heard(sent), instructions.conversation, tools=[tool.name for tool in tools])
        require_decided(injection)
        pause(tools, bridge, injection)
        written = SEPARATOR.join(part for part in (str(instructions), injection.instructions) if part)
        return written or None, offered(tools, injection)


class WovenProvider(ModelProvider):
    """The host's provider, whose models are sent woven calls."""

    def __init__(self, provider: ModelProvider) -> None:
        self._provider = provider

    def get_model(self, model_name: str | None) -> Model:
        """The host's model of this name, with the weaving in front."""
        return Woven(self._provider.get_model(model_name))

    async def aclose(self) -> None:
        """Close the host's provider."""
        await self._provider.aclose()


def _require_whole(named: Mapping[str, Any]) -> None:
    if named.get("conversation_id") or named.get("previous_response_id"):
        raise InvalidTurn(
            "the provider keeps this conversation, and the model is sent only what is new in it;"
            " keep it in a session, without conversation_id and previous_response_id"
        )
