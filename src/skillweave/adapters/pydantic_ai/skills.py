"""Skills in an agent of Pydantic AI, as one capability, and people's verdicts for its deferred tools."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

from pydantic_ai import (
    ApprovalRequired,
    DeferredToolRequests,
    DeferredToolResults,
    RunContext,
    Tool,
    ToolApproved,
    ToolDefinition,
    ToolDenied,
    ToolReturn,
    UserPromptNode,
)
from pydantic_ai.capabilities import WrapToolExecuteHandler, WrapToolValidateHandler
from pydantic_ai.exceptions import ToolFailed
from pydantic_ai.messages import (
    CachePoint,
    InstructionPart,
    ModelRequest,
    ModelRequestPart,
    ModelResponse,
    ToolCallPart,
    ToolReturnPart,
    UserPromptPart,
    repair_messages,
)
from pydantic_ai.models import ModelRequestContext, ModelRequestParameters
from pydantic_ai.toolsets import AbstractToolset, FunctionToolset
from pydantic_core import to_jsonable_python

from skillweave.adapters.approval import (
    KIND,
    Replied,
    Reply,
    as_replied,
    question,
    read_asked_call,
    read_question,
    read_reply,
    record,
    require_decided,
)
from skillweave.adapters.bridge import Bridge, Caller, Judged, calling, tail_of
from skillweave.adapters.chat import (
    NOT_RUN,
    Call,
    parameters_in,
    read_call,
)
from skillweave.adapters.pydantic_ai.guarded import (
    GuardingCapability,
    OwnToolset,
    free_part,
    require_guarded,
    require_named,
)
from skillweave.adapters.pydantic_ai.messages import (
    MARK,
    given_parts,
    host_messages,
    open_calls,
    prompt_text,
    prompts_in,
    without_texts,
)
from skillweave.adapters.supported import Unguarded
from skillweave.compose.policy import OWN_TOOLS, Ruling
from skillweave.compose.spawn import SpawnPlan
from skillweave.dialogue import Placement
from skillweave.errors import InvalidTurn, InvalidVerdict
from skillweave.injection import CurrentPolicy, Injection
from skillweave.weaver import Weaver
from skillweave.weaver.tools import TOOLS, ToolSpec

ConversationId: TypeAlias = str | Callable[[RunContext[Any]], str]
"""The id of a run's conversation, or what tells it."""


class Skills(GuardingCapability):
    """Weaves before every call of the model, hides tools from it, and judges every call of a tool.

    In history placement skill text stands in the run's messages as words of the user, in call placement in the
    instructions of each call. `conversation` stands in for the run's `conversation_id`, which a run inherits from its
    message history. `plan` is that of a spawned sub-agent. A tool behind a checkpoint ends the run with
    DeferredToolRequests, which the agent's `output_type` has to hold; ApprovalNeeded is raised where a person must
    decide before the model acts at all. Who says something else instead of deciding goes on: the call is answered that
    it was not run. A run is refused with UnguardedAgent where a tool's function refers to an agent that has tools and
    no Skills, and where the provider calls an MCP server whose tools nobody names; `unguarded="allow"` lets them be.
    Nothing that counts is kept here: one object serves any number of conversations.
    """

    def __init__(
        self,
        weaver: Weaver,
        *,
        conversation: ConversationId | None = None,
        placement: Placement = Placement.HISTORY,
        plan: SpawnPlan | None = None,
        unguarded: Unguarded = Unguarded.REFUSE,
    ) -> None:
        self._unguarded = Unguarded(unguarded)
        self._bridge = Bridge(weaver, placement, plan=plan)
        self._conversation = conversation

    @classmethod
    def get_serialization_name(cls) -> str | None:
        """None: a weaver cannot be written into an agent's specification."""
        return None

    def get_toolset(self) -> FunctionToolset[Any]:
        """The tools of skillweave itself."""
        return OwnToolset([self._declared(spec) for spec in TOOLS.values()])

    def get_wrapper_toolset(self, toolset: AbstractToolset[Any]) -> AbstractToolset[Any] | None:
        """None, as nothing is wrapped; the tools of the run are looked through for agents that are not guarded."""
        if self._unguarded is Unguarded.REFUSE:
            toolset.apply(require_guarded)
        return None

    async def before_node_run(self, ctx: RunContext[Any], *, node: Any) -> Any:  # noqa: ANN401 - the alias is a text
        """Answer calls that wait at a checkpoint, where the user goes on instead of deciding; the run then goes on."""
        if isinstance(node, UserPromptNode) and node.user_prompt is not None and node.deferred_tool_results is None:
            left = open_calls(ctx.messages)
            if left and await self._wait(left, self._conversation_of(ctx)):
                told = [ToolReturnPart(one.tool_name, NOT_RUN, one.tool_call_id, outcome="interrupted") for one in left]
                ctx.messages.append(_request(told, ctx))
        return node

    async def _wait(self, calls: Sequence[ToolCallPart], conversation: str) -> bool:
        now = await self._bridge.current_policy(conversation)
        written = [read_call(one.tool_call_id, one.tool_name, one.args) for one in calls]
        return any(now.tools.authorize(one.name, one.arguments).checkpoints for one in written)

    async def prepare_model_request(
        self, ctx: RunContext[Any], request_context: ModelRequestContext
    ) -> ModelRequestContext:
        """Give what belongs into this call, and leave out the tools that engaged skills forbid."""
        messages = request_context.messages
        # A reply that the provider suspended goes on: this is the call again that it belongs to.
        asked = messages[:-1] if isinstance(messages[-1], ModelResponse) else messages
        said = host_messages(repair_messages(asked), ctx.prompt)  # as the framework mends them before it sends them
        settings: dict[str, Any] = {**(request_context.model.settings or {}), **(request_context.model_settings or {})}
        kept = any(settings.get(key) for key in ("openai_previous_response_id", "openai_conversation_id"))
        injection = await self._bridge.weave(said, self._conversation_of(ctx), append_only=_only_grows(settings))
        require_decided(injection)
        given = given_parts(injection)
        if given:
            # What stands in the history, but not in this call, stands there from an attempt at another model, or was
            # left out of this call only.
            left_out = prompts_in(ctx.messages) - prompts_in(asked)
            lasting = [part for part in given if prompt_text(part) not in left_out]
            ctx.messages.extend([_request(lasting, ctx)] if lasting else [])
        if injection.leaving:
            ctx.messages[:] = without_texts(ctx.messages, injection.leaving)
        tail = tail_of(injection, said, kept_by_service=kept)
        # As the user's words: where a provider takes no system prompt in mid-conversation, the framework would explain
        # it in the instructions for as long as there is one, and so change what a request begins with.
        added = [*given, *([UserPromptPart([*_cached_until(settings), tail])] if tail else [])]
        before = without_texts(asked, injection.leaving)
        messages = [*before, *([_request(added, ctx)] if added else []), *messages[len(asked) :]]
        parameters = _within(request_context.model_request_parameters, injection)
        if self._unguarded is Unguarded.REFUSE:
            require_named(parameters.native_tools)
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
        if call.tool_name in OWN_TOOLS:
            return await handler(args)
        conversation = self._conversation_of(ctx)
        now = await self._bridge.current_policy(conversation)
        written = replace(
            read_call(call.tool_call_id, call.tool_name, args),
            parameters=parameters_in(tool_def.parameters_json_schema),
        )
        judged = None if written.problem else await self._judged(written, now, tool_def, ctx)
        ready = await handler(args)
        left = replace(written, arguments=_as_declared(ready, tool_def), problem=None)
        if judged is None or left.arguments != written.arguments:  # others mended or changed it
            judged = await self._judged(left, now, tool_def, ctx)
        if judged.waits:
            raise ApprovalRequired(question(conversation, judged.waits, left))
        taken = await self._bridge.take(judged, left, conversation)
        if not taken.runs:
            raise ToolFailed(taken.verdict.message)
        return ready

    async def wrap_tool_execute(
        self,
        ctx: RunContext[Any],
        *,
        call: ToolCallPart,
        tool_def: ToolDefinition,
        args: dict[str, Any],
        handler: WrapToolExecuteHandler,
    ) -> Any:  # noqa: ANN401 - what the tool returns
        """Hold an agent that runs inside the tool to what this one may do."""
        with calling(Caller(self._bridge, self._conversation_of(ctx))):
            return await handler(args)

    async def _judged(self, call: Call, now: CurrentPolicy, tool_def: ToolDefinition, ctx: RunContext[Any]) -> Judged:
        known = None if ctx.tool_manager is None else ctx.tool_manager.tools
        judged = await self._bridge.judge(call, now.conversation, None if known is None else list(known), now=now)
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
        async def answer(ctx: RunContext[Any], **arguments: object) -> ToolReturn[str]:
            call = read_call(ctx.tool_call_id, spec.name, arguments)
            answer = await self._bridge.answer(call, self._conversation_of(ctx), host_messages(ctx.messages))
            if answer.failed:
                raise ToolFailed(answer.text)
            return ToolReturn(answer.text, metadata={MARK: {"kind": "answer"}})

        data = spec.to_dict()
        return Tool.from_schema(answer, spec.name, spec.description, data["parameters"], takes_ctx=True)


def _as_declared(ready: dict[str, Any], tool_def: ToolDefinition) -> dict[str, Any]:
    try:
        arguments: dict[str, Any] = to_jsonable_python(ready, fallback=str)
    except UnicodeDecodeError:  # bytes that are not text
        arguments = to_jsonable_python(ready, fallback=str, bytes_mode="base64")
    # A model that is a tool's one parameter is declared, and written, by its fields.
    declared = tool_def.parameters_json_schema.get("properties", {})
    if len(arguments) == 1:
        [(name, fields)] = arguments.items()
        if name not in declared and isinstance(fields, dict):
            return fields
    return arguments


def _within(parameters: ModelRequestParameters, injection: Injection) -> ModelRequestParameters:
    offered = set(injection.tools.offers([tool.name for tool in parameters.function_tools]))
    parts = parameters.instruction_parts
    if injection.instructions:
        parts = [*(parts or ()), InstructionPart(injection.instructions, dynamic=True)]
    return replace(
        parameters,
        function_tools=[tool for tool in parameters.function_tools if tool.name in offered],
        native_tools=[left for native in parameters.native_tools if (left := free_part(native, injection.tools))],
        instruction_parts=parts,
    )


def _only_grows(settings: Mapping[str, Any]) -> bool:
    """Whether nothing can be taken out of what the service keeps; with `auto` the framework sends what changed anew."""
    named = settings.get("openai_previous_response_id")
    return bool(settings.get("openai_conversation_id")) or (bool(named) and named != "auto")


def _cached_until(settings: Mapping[str, Any]) -> list[CachePoint]:
    """A point in front of the tail where the host lets the conversation be cached.

    The provider's own point stands behind the tail, where no later request finds it again. One that lasts longer has to
    come first, so this one lasts at least as long.
    """
    own = [value for key, value in settings.items() if key.endswith(("_cache", "_cache_messages"))]
    values = own or [settings.get("cache")]  # a provider's own settings go before what all have in common
    kept = [value for value in values if value or value == {}]
    if not kept or any(isinstance(value, Mapping) and value.get("messages") is False for value in kept):
        return []
    retentions = {value.get("retention", True) if isinstance(value, Mapping) else value for value in kept}
    return [CachePoint(ttl="5m" if retentions <= {True, "5m"} else "1h")]


def _request(parts: Sequence[ModelRequestPart], ctx: RunContext[Any]) -> ModelRequest:
    return ModelRequest(parts=parts, run_id=ctx.run_id, conversation_id=ctx.conversation_id)


async def approvals(
    weaver: Weaver, requests: DeferredToolRequests, reply: object, *, calls: Sequence[str] | None = None
) -> DeferredToolResults:
    """Keep a person's reply to the calls that wait at checkpoints, as the results with which the next run resumes.

    `reply` is `{"verdict": ..., "by": ..., "note": ..., "call": ..., "arguments": ...}`. It is about the calls with the
    ids `calls`, without these about the one that it names, without that about all that wait.
    Requests of the host's own are left to the host: `update` the results with theirs. Raises InvalidVerdict for a reply
    of another form, for an id that no waiting call has, and where a skill has changed since it was asked about.
    """
    answer = read_reply(reply)
    asked = {call.tool_call_id: requests.metadata.get(call.tool_call_id) or {} for call in requests.approvals}
    ours = {key: read_question(told) for key, told in asked.items() if told.get("kind") == KIND}
    named = tuple(calls) if calls is not None else (answer.call,) if answer.call else tuple(ours)
    for key in named:
        if key not in ours:
            raise InvalidVerdict(
                f"no call {key[:60]!r} waits at a checkpoint; it is one of {', '.join(ours) or 'none'}"
            )
    about = {key: (told, read_asked_call(asked[key])) for key, told in ours.items() if key in named}
    by_conversation: dict[str, list[Replied]] = {}
    for (conversation, pending), call in about.values():
        by_conversation.setdefault(conversation, []).append((pending, answer, call))
    for conversation, replied in by_conversation.items():
        await record(weaver, conversation, *replied)
    results = DeferredToolResults(answered_by=dict.fromkeys(about, answer.by))
    for part in requests.approvals:
        if part.tool_call_id in about:
            (conversation, _), call = about[part.tool_call_id]
            written = call or read_call(part.tool_call_id, part.tool_name, part.args)
            results.approvals[part.tool_call_id] = await _ruled(weaver, conversation, written, answer)
    return results


def approvals_sync(
    weaver: Weaver, requests: DeferredToolRequests, reply: object, *, calls: Sequence[str] | None = None
) -> DeferredToolResults:
    """What `approvals` does, for a program without an event loop."""
    return weaver.sync.run(approvals(weaver, requests, reply, calls=calls))


async def _ruled(weaver: Weaver, conversation: str, call: Call, reply: Reply) -> ToolApproved | ToolDenied:
    left = as_replied(call, reply)
    now = await weaver.current_policy(conversation)
    # The agent's run takes the yes, directly before the tool runs.
    verdict = now.tools.authorize(left.name, left.arguments, call_id=left.id)
    if verdict.ruling is Ruling.DENY:
        return ToolDenied(verdict.message)
    return ToolApproved(override_args=None if reply.arguments is None else dict(reply.arguments))
