"""Skills in an agent of Pydantic AI, as one capability; it stands last in the list of capabilities.

So it reads the messages as they are sent, also where another one compacts them for the model that serves the call.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from skillweave.adapters.approval import question, require_decided
from skillweave.adapters.bridge import Bridge, Judged, is_own
from skillweave.adapters.call import Call, read_call
from skillweave.adapters.pydantic_ai.messages import about_to_be_sent, heard
from skillweave.compose.spawn import SpawnPlan
from skillweave.conversation import Placement
from skillweave.errors import InvalidTurn, MissingExtra
from skillweave.injection import Injection
from skillweave.settings import Settings
from skillweave.weaver import Weaver
from skillweave.weaver.reading import ToolSpec

try:
    from pydantic_ai import ApprovalRequired, RunContext, Tool, ToolDefinition
    from pydantic_ai.capabilities import AbstractCapability, WrapToolValidateHandler
    from pydantic_ai.exceptions import ToolFailed
    from pydantic_ai.messages import (
        InstructionPart,
        ModelMessage,
        ModelRequest,
        ModelResponse,
        ToolCallPart,
        UserPromptPart,
    )
    from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
    from pydantic_ai.toolsets import FunctionToolset
    from pydantic_core import to_jsonable_python
except ModuleNotFoundError:
    raise MissingExtra("the adapter for Pydantic AI", "pydantic-ai-slim", "pydantic-ai") from None

ConversationId: TypeAlias = str | Callable[[RunContext[Any]], str]
"""The id of a run's conversation, or what tells it."""


class Skills(AbstractCapability[Any]):
    """Weaves before every call of the model, hides tools from it, and judges every call of a tool.

    In history placement skill text stands in the run's messages as words of the user, in call placement in the
    instructions of each call. `conversation` stands in for the run's `conversation_id`, which a run inherits from its
    message history. `plan` is that of a spawned sub-agent; `max_skills`, `settings` and `matchers` stand in for the
    weaver's. A tool behind a checkpoint ends the run with DeferredToolRequests, which the agent's `output_type` has to
    hold; ApprovalNeeded is raised where a person must decide before the model acts at all. Nothing that counts is kept
    here: one object serves any number of conversations.
    """

    def __init__(
        self,
        weaver: Weaver,
        *,
        conversation: ConversationId | None = None,
        placement: Placement = Placement.HISTORY,
        max_skills: int | None = None,
        plan: SpawnPlan | None = None,
        matchers: Sequence[str] | None = None,
        settings: Settings | None = None,
    ) -> None:
        self._bridge = Bridge(weaver, placement, plan=plan, max_skills=max_skills, matchers=matchers, settings=settings)
        self._conversation = conversation

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """None: a weaver cannot be written into an agent's specification."""
        return None

    def get_toolset(self) -> FunctionToolset[Any]:
        """The tools of skillweave itself."""
        return FunctionToolset([self._declared(spec) for spec in self._bridge.own_tools])

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Give what belongs into this call, and leave out the tools that the skills in force forbid."""
        messages = request_context.messages
        # A reply that the provider suspended goes on: this is the call again that it belongs to.
        asked = messages[:-1] if isinstance(messages[-1], ModelResponse) else messages
        injection = await self._bridge.weave(about_to_be_sent(asked, ctx.prompt), self._conversation_of(ctx))
        require_decided(injection)
        given = [UserPromptPart(message.text) for message in injection.messages]
        if given:
            messages = [*asked, _request(given, ctx), *messages[len(asked) :]]
            # What stands in the history, but not in this call, stands there from an attempt at another model, or was
            # left out of this call only.
            left_out = _prompts(ctx.messages) - _prompts(asked)
            kept = [part for part in given if part.content not in left_out]
            ctx.messages.extend([_request(kept, ctx)] if kept else [])
        parameters = _within(request_context.model_request_parameters, injection)
        return replace(request_context, messages=messages, model_request_parameters=parameters)

    async def wrap_tool_validate(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: str | dict[str, Any],
        handler: WrapToolValidateHandler,
    ) -> dict[str, Any]:
        """Let a call pass, wait for a person, or answer it with what the model may do instead.

        Here and not at execution, because a tool that runs outside of the agent is only ever validated.
        """
        if is_own(call.tool_name):
            return await handler(args)
        conversation = self._conversation_of(ctx)
        written = read_call(call.tool_call_id, call.tool_name, args)
        judged = None if written.problem else await self._judged(written, conversation, tool_def)
        ready = await handler(args)
        left = replace(written, arguments=_as_declared(ready, tool_def), problem=None)
        if judged is None or left.arguments != written.arguments:  # others mended or changed it
            judged = await self._judged(left, conversation, tool_def)
        if judged.waits:
            raise ApprovalRequired(question(conversation, judged.waits, left))
        return ready

    async def _judged(self, call: Call, conversation: str, tool_def: ToolDefinition) -> Judged:
        judged = await self._bridge.judge(call, conversation)
        # A tool that runs outside of the agent has no approval of the framework: a person decides, then it is called.
        if judged.runs or (judged.waits and tool_def.kind != "external"):
            return judged
        raise ToolFailed(judged.verdict.message)

    def _conversation_of(self, ctx: RunContext[Any]) -> str:
        if self._bridge.plan is not None:
            return self._bridge.plan.conversation
        told = self._conversation(ctx) if callable(self._conversation) else self._conversation
        named = ctx.conversation_id if self._conversation is None else told
        if not isinstance(named, str) or not named:
            raise InvalidTurn(
                "this run names no conversation; give Skills(conversation=...) a text or a function of the RunContext"
                " that returns one, or leave it out and run with conversation_id='some-id'"
            )
        return named

    def _declared(self, spec: ToolSpec) -> Tool[Any]:
        async def answer(ctx: RunContext[Any], **arguments: object) -> str:
            call = read_call(ctx.tool_call_id, spec.name, arguments)
            answer = await self._bridge.answer(call, self._conversation_of(ctx), heard(ctx.messages))
            if answer.failed:
                raise ToolFailed(answer.text)
            return answer.text

        data = spec.to_dict()
        return Tool.from_schema(answer, spec.name, spec.description, data["parameters"], takes_ctx=True)


def _as_declared(ready: dict[str, Any], tool_def: ToolDefinition) -> dict[str, Any]:
    try:
        arguments: dict[str, Any] = to_jsonable_python(ready, fallback=str)
    except UnicodeDecodeError:  # bytes that are no text
        arguments = to_jsonable_python(ready, fallback=str, bytes_mode="base64")
    # A model that is a tool's one parameter is declared, and written, by its fields.
    declared = tool_def.parameters_json_schema.get("properties", {})
    if len(arguments) == 1:
        [(name, fields)] = arguments.items()
        if name not in declared and isinstance(fields, dict):
            return fields
    return arguments


def _within(parameters: ModelRequestParameters, injection: Injection) -> ModelRequestParameters:
    # A tool that the provider runs itself is never called here: it is only ever left out, by its kind.
    kinds = [native.kind for native in parameters.native_tools]
    offered = set(injection.tools.offers([*(tool.name for tool in parameters.function_tools), *kinds]))
    parts = parameters.instruction_parts
    if injection.instructions:
        parts = [*(parts or ()), InstructionPart(injection.instructions, dynamic=True)]
    return replace(
        parameters,
        function_tools=[tool for tool in parameters.function_tools if tool.name in offered],
        native_tools=[native for native in parameters.native_tools if native.kind in offered],
        instruction_parts=parts,
    )


def _request(parts: Sequence[UserPromptPart], ctx: RunContext[Any]) -> ModelRequest:
    return ModelRequest(parts=parts, run_id=ctx.run_id, conversation_id=ctx.conversation_id)


def _prompts(messages: Sequence[ModelMessage]) -> set[str]:
    parts = (part for message in messages for part in message.parts)
    return {part.content for part in parts if isinstance(part, UserPromptPart) and isinstance(part.content, str)}
