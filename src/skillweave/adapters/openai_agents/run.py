"""One run of the OpenAI Agents SDK: its conversation, its guarded tools, and its model with the weaving in front."""

import copy
import json
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import isawaitable
from typing import Any

from agents import (
    FunctionTool,
    Model,
    ModelProvider,
    ModelResponse,
    ModelSettings,
    RunContextWrapper,
    Tool,
    ToolGuardrailFunctionOutput,
    ToolInputGuardrail,
    ToolInputGuardrailData,
    custom_span,
)
from agents.items import TResponseInputItem, TResponseStreamEvent
from agents.retry import ModelRetryAdvice, ModelRetryAdviceRequest
from agents.run_config import CallModelData, CallModelInputFilter, ModelInputData
from agents.tool_context import ToolContext

from skillweave.adapters.approval import require_decided
from skillweave.adapters.bridge import Bridge, Caller, Judged, calling
from skillweave.adapters.chat import SEPARATOR, Call, parameters_in, read_call, words_for
from skillweave.adapters.messages.lists import plain, take_out
from skillweave.adapters.messages.responses_style import host_messages
from skillweave.adapters.openai_agents.native import (
    MAKE_IT,
    Answered,
    acts_unguarded,
    bind,
    names_in,
    names_of,
    natively_guarded,
    runs_in_host,
)
from skillweave.adapters.restoring import Form, Restoring
from skillweave.adapters.supported import Unguarded
from skillweave.compose.policy import OWN_TOOLS, Ruling
from skillweave.compose.spawn import SpawnPlan
from skillweave.dialogue import Placement
from skillweave.errors import InvalidTurn, UnguardedAgent
from skillweave.injection import Injection
from skillweave.relations.rules import read_entry
from skillweave.weaver.tools import ToolSpec

NAME_IT = "run it with run_config=skills.run_config(session)"


@dataclass(frozen=True)
class ConversationFilter:
    """The last filter before a run's model; it tells the model behind it which conversation this is.

    `hosts` is the host's own filter, which comes first; `plan` is that of the sub-agent whose run it is.
    """

    conversation: str
    hosts: CallModelInputFilter | None
    plan: SpawnPlan | None = None
    unguarded: Unguarded = Unguarded.REFUSE

    async def __call__(self, data: CallModelData[Any]) -> ModelInputData:
        """The input as the host leaves it; of an agent without skills and tools, unchanged.

        Raises UnguardedAgent for one that has tools, unless `unguarded` allows it, and InvalidTurn for an agent that
        has not the limits of the sub-agent whose run it is, or has another's.
        """
        bridge = getattr(data.agent, "bridge", None)
        if self.plan != getattr(bridge, "plan", None):
            raise InvalidTurn(
                f"agent {data.agent.name!r} and this run are not of one sub-agent; make both, and agents that it hands"
                " to, with the same Skills(weaver, plan=plan)"
            )
        found = data.model_data if self.hosts is None else self.hosts(data)
        left = await found if isawaitable(found) else found
        if not isinstance(bridge, Bridge):
            if self.unguarded is Unguarded.REFUSE and acts_unguarded(data.agent):
                raise UnguardedAgent(data.agent.name, "run with `skills.run_config(...)`", MAKE_IT)
            return left
        answered: Any = getattr(data.agent, "answered", OrderedDict())
        return replace(left, instructions=Instructions(left.instructions or "", bridge, self.conversation, answered))


class Instructions(str):
    """The host's instructions for one call, with what the model's place in front of it needs to weave the call.

    The SDK hands a model its instructions as the filter left them, and nothing else of the run.
    """

    __slots__ = ("answered", "bridge", "conversation")

    bridge: Bridge
    conversation: str
    answered: Answered

    def __new__(cls, text: str, bridge: Bridge, conversation: str, answered: Answered) -> "Instructions":
        """The text, and beside it what it stands for."""
        made = super().__new__(cls, text)
        made.bridge, made.conversation, made.answered = bridge, conversation, answered
        return made


def conversation_of(context: ToolContext[Any]) -> str:
    """The conversation in which a tool is called; raises InvalidTurn where the run names none."""
    run = context.run_config.call_model_input_filter if context.run_config else None
    if not isinstance(run, ConversationFilter):
        raise InvalidTurn(f"this run names no conversation; {NAME_IT}")
    return run.conversation


def id_of(conversation: object) -> str:
    """The id of a conversation that is given by its session, or by the id itself; raises InvalidTurn for neither."""
    named = getattr(conversation, "session_id", conversation)
    if not isinstance(named, str) or not named:
        raise InvalidTurn("a run needs a conversation; give the session that keeps it, or an id of your own")
    return named


class OwnTool(FunctionTool):
    """A tool of skillweave itself, told from a host's tool of the same name."""


def declared(bridge: Bridge, spec: ToolSpec) -> FunctionTool:
    """One of skillweave's own tools."""

    async def answer(context: ToolContext[Any], arguments: str) -> str:
        call = read_call(context.tool_call_id, spec.name, arguments)
        if call.problem:
            return call.problem
        return (await bridge.answer(call, conversation_of(context))).text

    data = spec.to_dict()
    return OwnTool(spec.name, spec.description, data["parameters"], answer, strict_json_schema=False)


def guarded(bridge: Bridge, tool: Tool, names: Sequence[str], answered: Answered) -> Tool:
    """A copy of a host's tool that is judged at each call, before the host's own guardrails.

    `names` are those of all tools of the agent; a call in `answered` with other arguments is judged, and run, with
    these. What the provider runs stays as it is. Raises InvalidTurn for a tool with the name of one of skillweave's
    own, whose calls are not judged.
    """
    if isinstance(tool, OwnTool):
        return tool
    if not isinstance(tool, FunctionTool):
        return natively_guarded(bridge, tool, names, answered)
    if tool.name in OWN_TOOLS:
        raise InvalidTurn(f"a tool is named {tool.name!r}, as skillweave's own; give it another name, or leave it out")

    copied = copy.copy(tool)
    guardrail = _guardrail(tool, bridge, names, {}, answered)
    copied.tool_input_guardrails = [guardrail, *(tool.tool_input_guardrails or ())]
    copied.on_invoke_tool = _invoked(tool, bridge, answered)
    return copied


def _invoked(
    tool: FunctionTool, bridge: Bridge, answered: Answered
) -> Callable[[ToolContext[Any], str], Awaitable[Any]]:
    """Runs the tool with the arguments that a person gave; an agent inside it is held to what this one may do."""

    async def invoked(context: ToolContext[Any], arguments: str) -> object:
        conversation = conversation_of(context)
        new = answered.pop((conversation, context.tool_call_id), None)
        if new is not None:
            context.tool_arguments = arguments = json.dumps(new)
        with calling(Caller(bridge, conversation)):
            return await tool.on_invoke_tool(context, arguments)

    return invoked


def _guardrail(
    tool: FunctionTool, bridge: Bridge, names: Sequence[str], known: dict[str, Judged], answered: Answered
) -> ToolInputGuardrail[Any]:
    """Judges each call of the tool, unless it is `known`, by the id of the call, how it was judged just before."""

    async def judged(data: ToolInputGuardrailData) -> ToolGuardrailFunctionOutput:
        written = read_call(data.context.tool_call_id, tool.name, data.context.tool_arguments)
        call = replace(written, parameters=parameters_in(tool.params_json_schema))
        new = answered.get((conversation_of(data.context), call.id)) if answered else None
        if new is not None:
            call = replace(call, arguments=new, problem=None)
        conversation = conversation_of(data.context)
        found = known.pop(call.id, None) or await bridge.judge(call, conversation, names)
        found = await bridge.take(found, call, conversation, names)
        if found.runs:
            return ToolGuardrailFunctionOutput.allow()
        return ToolGuardrailFunctionOutput.reject_content(words_for(found.verdict))

    return ToolInputGuardrail(judged, "skillweave")


def offered(tools: Sequence[Tool], injection: Injection) -> list[Tool]:
    """The tools that the model may see in this call.

    One that runs elsewhere cannot be judged at its calls: it is shown only while all of them are allowed.
    """
    named = frozenset(injection.tools.offers([tool.name for tool in tools]))
    return [tool for tool in tools if tool.name in named and (runs_in_host(tool) or _free(tool, injection))]


def pause(tools: Sequence[Tool], bridge: Bridge, injection: Injection, answered: Answered) -> None:
    """Let the SDK pause before a tool that an open checkpoint guards.

    Only there: with a rule in place, the SDK pauses also before each call whose arguments it cannot read.
    """
    before = [read_entry(one.before) for one in injection.checkpoints if one.blocking and one.before]
    for tool in tools:
        bind(tool, injection.conversation)
        if isinstance(tool, FunctionTool) and any(entry.names(tool.name) for entry in before):
            _pause(tool, bridge, injection.conversation, names_of(tools), answered)


def _pause(tool: FunctionTool, bridge: Bridge, conversation: str, names: Sequence[str], answered: Answered) -> None:
    hosts: Any = tool.needs_approval
    invoke = tool.on_invoke_tool
    known: dict[str, Judged] = {}

    async def waits(context: RunContextWrapper[Any], arguments: dict[str, Any], call_id: str) -> bool:
        call = Call(call_id, tool.name, arguments, parameters=parameters_in(tool.params_json_schema))
        judged = await bridge.judge(call, conversation, names)
        if judged.waits:
            return True
        asked = hosts if isinstance(hosts, bool) else hosts(context, arguments, call_id)
        if await asked if isawaitable(asked) else asked:
            return True
        known[call_id] = judged  # the guardrail comes next, without a pause
        return False

    async def invoked(context: ToolContext[Any], arguments: str) -> object:
        return await invoke(context, arguments)

    tool.needs_approval = waits
    tool.tool_input_guardrails = [
        _guardrail(tool, bridge, names, known, answered),
        *(tool.tool_input_guardrails or ())[1:],
    ]
    if isinstance(hosts, bool):
        # Behind an invoker of its own the SDK would ask about every call that leaves a default to the tool.
        tool.on_invoke_tool = invoked


def _free(tool: Tool, injection: Injection) -> bool:
    return all(injection.tools.authorize(name).ruling is Ruling.ALLOW for name in names_in(tool))


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
        instructions, sent, shown = await self._woven(system_instructions, input, tools, named)
        return await self._model.get_response(instructions, sent, model_settings, shown, *rest, **named)

    async def stream_response(
        self,
        system_instructions: str | None,
        input: str | list[TResponseInputItem],  # noqa: A002
        model_settings: ModelSettings,
        tools: list[Tool],
        *rest: Any,  # noqa: ANN401
        **named: Any,  # noqa: ANN401
    ) -> AsyncIterator[TResponseStreamEvent]:
        """The model's reply to the woven call, in pieces."""
        instructions, sent, shown = await self._woven(system_instructions, input, tools, named)
        stream = self._model.stream_response(instructions, sent, model_settings, shown, *rest, **named)
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
    ) -> tuple[str | None, str | list[TResponseInputItem], list[Tool]]:
        if not isinstance(instructions, Instructions):
            if self._agent:
                raise InvalidTurn(f"this run of agent {self._agent!r} names no conversation; {NAME_IT}")
            return instructions, sent, tools
        _require_whole(named)
        bridge = instructions.bridge
        said: list[TResponseInputItem] = [{"role": "user", "content": sent}] if isinstance(sent, str) else list(sent)
        with custom_span("skillweave") as span:
            injection, said = await woven_into(said, bridge, instructions.conversation, tools=names_of(tools))
            span.span_data.data.update(_told(injection))
        require_decided(injection)
        pause(tools, bridge, injection, instructions.answered)
        written = SEPARATOR.join(part for part in (str(instructions), injection.instructions) if part)
        # Behind the SDK's own bookkeeping: neither session nor run state ever has the tail.
        tail = [_said_by_user(injection.tail)] if injection.tail else []
        return written or None, [*said, *tail], offered(tools, injection)


def _told(injection: Injection) -> dict[str, Any]:
    """What the SDK's trace is told of a call: names and numbers, no texts."""
    tokens = injection.tokens
    return {
        "skills": list(injection.skills),
        "offered": list(injection.offered),
        "waiting": [one.name for one in injection.checkpoints if one.blocking],
        "tokens": {"injected": tokens.injected, "catalog": tokens.catalog, "left": tokens.left},
        "diagnostics": [one.code for one in injection.diagnostics],
    }


async def woven_into(
    sent: list[TResponseInputItem], bridge: Bridge, conversation: str, *, tools: Sequence[str]
) -> tuple[Injection, list[TResponseInputItem]]:
    """The Injection for a call, and what is sent with the texts that stand in it."""
    if bridge.placement is Placement.CALL:
        return await bridge.weave(host_messages(sent), conversation, tools=tools), sent
    return await Restoring(bridge, _FORM).weave(sent, conversation, tools=tools)


def _said_by_user(text: str) -> TResponseInputItem:
    return {"role": "user", "content": text}


def _counts(item: TResponseInputItem) -> object:
    """What of an item is the same before and after the SDK wrote it into a session."""
    data = plain(item) or {}
    return {key: value for key, value in data.items() if key not in ("id", "status")}


_FORM: Form[TResponseInputItem] = Form(host_messages, _said_by_user, _counts, take_out)


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
