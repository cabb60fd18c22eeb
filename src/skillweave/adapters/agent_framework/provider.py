"""The adapter for Microsoft's Agent Framework: a context provider with skills in the instructions of every call."""

from asyncio import Lock
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import uuid4

from agent_framework import (
    AgentSession,
    ChatContext,
    ChatMiddleware,
    ChatMiddlewareLayer,
    ChatResponse,
    Content,
    FunctionInvocationContext,
    FunctionMiddleware,
    FunctionTool,
    Message,
    SessionContext,
    SupportsAgentRun,
    UserInputRequiredException,
)
from pydantic_core import to_jsonable_python

from skillweave.adapters.agent_framework.approval import (
    Verdicts,
    hold,
    keep_unsent,
    pause_of,
    require_open,
    with_unsent,
)
from skillweave.adapters.agent_framework.guarded import (
    GuardingProvider,
    free_part,
    names_behind,
    require_guarded,
    require_named,
)
from skillweave.adapters.agent_framework.messages import (
    UNNAMED,
    call_of,
    calls_in,
    counts,
    host_messages,
    name_of,
    said_by_user,
    speaks_last,
    with_one_request,
    with_parameters,
    with_refusals,
    without_texts,
)
from skillweave.adapters.approval import require_decided
from skillweave.adapters.bridge import Bridge, Caller, Judged, calling, tail_of
from skillweave.adapters.chat import SEPARATOR, Call, HostMessage, words_for
from skillweave.adapters.restoring import Form, Restoring
from skillweave.adapters.supported import Unguarded
from skillweave.compose.policy import OWN_TOOLS, Ruling, ToolPolicy
from skillweave.compose.spawn import SpawnPlan
from skillweave.dialogue import Placement
from skillweave.errors import InvalidTurn
from skillweave.injection import Injection
from skillweave.weaver import Weaver
from skillweave.weaver.tools import TOOLS, ToolSpec

_IN_PROVIDERS = 3
_LAST_REPLY = "last_reply"
_OCCURRENCE = "function_call_occurrence_id"
_APPROVED = "_approved_function_arguments"
CALLER = "skillweave.caller"
"""Where a tool finds whose call it is: the Bridge of the agent, and its conversation."""


class SkillContextProvider(GuardingProvider):
    """Puts the right skills into the instructions of every model call of an agent, hides tools and blocks them.

    In history placement skill text stands among the messages of each call, as words of the user, and no provider's
    cache breaks when it comes; it needs a history that the agent itself sends whole. The conversation is the
    session's `session_id`, unless `conversation` names it; the framework makes up a session for a run without one,
    which is then a conversation of its own. A `plan` makes the agent a sub-agent: conversation, skills, limits and
    text are the plan's. `max_skills` is the weaver's unless given. `decided_by` is the person named in a verdict
    where the response to an approval request names nobody, as those of ready-made chat windows do. A run whose
    tools or providers hold another agent that has tools and no such provider is refused with UnguardedAgent, or let
    be with `unguarded="allow"`. Raises InvalidTurn for a `conversation` beside a plan.
    """

    def __init__(
        self,
        weaver: Weaver,
        max_skills: int | None = None,
        *,
        placement: Placement = Placement.CALL,
        plan: SpawnPlan | None = None,
        conversation: str | None = None,
        decided_by: str | None = None,
        unguarded: Unguarded = Unguarded.REFUSE,
    ) -> None:
        super().__init__("skillweave")
        if plan is not None and conversation is not None:
            raise InvalidTurn(
                f"conversation={conversation[:40]!r} stands beside a plan, which has its own; leave it out"
            )
        if max_skills is not None:
            weaver = weaver.variant(replace(weaver.settings, max_skills=max_skills))
        self.bridge = Bridge(weaver, placement, plan=plan, append_only=placement is Placement.CALL)
        self._conversation = plan.conversation if plan else conversation
        self._decided_by = decided_by
        self._unguarded = Unguarded(unguarded)
        self._own_tools = [_declared(spec) for spec in TOOLS.values()]

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Record what persons decided since the last run, and stand before every call of the model and of a tool.

        Where the user goes on while a call waits, it and the others of its reply are answered that they were not run.
        Raises InvalidTurn where the agent's client runs no chat middleware, InvalidVerdict for an approval response
        that does not say who decided, or to a question that the conversation went on without.
        """
        if not isinstance(getattr(agent, "client", None), ChatMiddlewareLayer):
            raise InvalidTurn(
                f"{type(agent).__name__} has no chat client with a ChatMiddlewareLayer, so the model would be given no"
                " skill; use an Agent over one of the framework's chat clients"
            )
        for provider in getattr(agent, "context_providers", ()):
            held_by = f"the provider {provider.source_id!r} of {agent.name or agent.id!r}"
            require_guarded(provider, unguarded=self._unguarded, where=held_by, deepest=_IN_PROVIDERS)
        conversation = session.session_id if self._conversation is None else self._conversation
        verdicts = Verdicts(self.bridge, conversation, state, self._decided_by)
        pause, said = pause_of(session), context.input_messages
        require_open(said, state)
        await verdicts.read(said, pause, session)
        pause.bind(session)
        goes_on = pause.is_ours and pause.is_left(said)
        if goes_on:
            verdicts.close(pause)
            said = pause.closed(said, session, state)
        if goes_on or pause.is_answered_by(said):
            context.input_messages = with_unsent(said, state)
        written_down = bool(getattr(agent, "require_per_service_call_history_persistence", False))
        chat = SkillChatMiddleware(
            self.bridge,
            conversation,
            verdicts,
            state,
            agent=agent.name or UNNAMED,
            others_last=speaks_last(said),
            unguarded=self._unguarded,
            written_down=written_down,
        )
        guard = SkillFunctionMiddleware(self.bridge, verdicts, chat, session, pause.released_by(said))
        context.extend_tools(self.source_id, self._own_tools)
        context.extend_middleware(self.source_id, [chat, guard])

    async def after_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Keep what the service has still to be sent when the run goes on after a person's reply."""
        keep_unsent(session, context.response, state)


@dataclass(eq=False)
class SkillChatMiddleware(ChatMiddleware):
    """What stands before each call of the model in one run, also between its tool calls.

    `tools` are the names of all tools of the last call, `calls` what the model asked for in its reply; None before the
    first. `agent` is the name of the agent; `others_last` says that what the run was given ends with another agent's
    words. `written_down` says that the framework writes each call's messages into the history, so that nothing can be
    for one call only.
    """

    bridge: Bridge
    conversation: str
    verdicts: Verdicts
    state: dict[str, Any]
    agent: str
    others_last: bool
    unguarded: Unguarded
    written_down: bool
    tools: list[str] | None = None
    calls: list[Content] | None = None
    _chat: list[Message] = field(default_factory=list)

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Set the instructions and the tools of this call; raises ApprovalNeeded where a person must decide first."""
        options = dict(context.options or {})
        tools = list(options.get("tools") or ())
        self.tools = [name for tool in tools for name in (name_of(tool), *(names_behind(tool) or ()))]
        if self.calls is None:
            # What has the name of one of our own tools is never run: the function middleware answers its calls.
            hosts = [tool for tool in tools if name_of(tool) not in OWN_TOOLS]
            require_guarded(hosts, unguarded=self.unguarded)
            require_named(tools, unguarded=self.unguarded)
        self._tell_refusals(context)
        kept_by_service = options.get("conversation_id") is not None
        read, turn_id = self._read(context.messages, kept_by_service=kept_by_service)
        if self.bridge.placement is Placement.CALL:
            injection = await self.bridge.weave(read, self.conversation, tools=self.tools, turn_id=turn_id)
        else:
            injection = await self._restored(context, kept_by_service=kept_by_service)
        require_decided(injection)
        offered = set(injection.tools.offers(self.tools))
        # A copy: the framework runs tools from its own list, so that hidden ones come to the guard and are answered.
        shown = (free_part(tool, injection.tools) for tool in tools if name_of(tool) in offered)
        options["tools"] = [tool for tool in shown if tool is not None]
        options["instructions"] = self._instructions(options.get("instructions"), injection)
        context.options = options
        tail = tail_of(injection, read, kept_by_service=kept_by_service)
        if tail and not self.written_down:
            context.messages = [*context.messages, said_by_user(tail)]
        context.stream_result_hooks.append(self._replied)
        await call_next()
        if isinstance(context.result, ChatResponse):
            self._replied(context.result)

    async def _restored(self, context: ChatContext, *, kept_by_service: bool) -> Injection:
        if kept_by_service or self.written_down:
            raise InvalidTurn(
                "history placement needs a history that the agent sends whole, and here "
                f"{'the service keeps it' if kept_by_service else 'each call is written into it'}; "
                "use SkillContextProvider(placement=Placement.CALL)"
            )
        form = Form(lambda sent: self._read(sent, kept_by_service=False)[0], said_by_user, counts, without_texts)
        restoring = Restoring(self.bridge, form)
        injection, sent = await restoring.weave(context.messages, self.conversation, tools=self.tools)
        context.messages = sent
        return injection

    def _read(self, sent: Sequence[Message], *, kept_by_service: bool) -> tuple[list[HostMessage], str | None]:
        # A service that keeps the history is sent only what is new; of the rest, only what it said last is known here.
        before = (self._chat or [Message("assistant", [self.state.get(_LAST_REPLY, "")])]) if kept_by_service else []
        self._chat = [*before, *sent]
        others_last = self.others_last and self.calls is None
        read = with_one_request(host_messages(self._chat, self.agent), others_last=others_last)
        return read, uuid4().hex if kept_by_service else None

    def _tell_refusals(self, context: ChatContext) -> None:
        told = with_refusals(context.messages, self.verdicts.refusals)
        for ours, theirs in zip(told, context.messages, strict=True):
            if ours is not theirs:
                context.record_message_replacement(ours, theirs)
        context.messages = told

    def _instructions(self, theirs: str | None, injection: Injection) -> str:
        plan = self.bridge.plan
        texts = (theirs, plan.text if plan else None, injection.instructions)
        return SEPARATOR.join(text for text in texts if text)

    def _replied(self, response: ChatResponse[Any]) -> None:
        self._chat = [*self._chat, *response.messages]
        self.calls = calls_in(response.messages)
        if response.conversation_id is not None:
            self.state[_LAST_REPLY] = response.text


@dataclass(eq=False)
class SkillFunctionMiddleware(FunctionMiddleware):
    """What stands before each call of a tool: answers our own, lets others run, wait for a person, or not.

    `released` are the calls that run before the model is called first: those that a person was asked about, and those
    that waited beside them. While one call of a reply waits, none of the others runs.
    """

    bridge: Bridge
    verdicts: Verdicts
    now: SkillChatMiddleware
    session: AgentSession
    released: Sequence[Content]
    _ruled: tuple[Sequence[Content], Mapping[str, Judged]] | None = None
    _ruling: Lock = field(default_factory=Lock)

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Answer or run one call, or make an approval request of it."""
        call_id, occurrence = (str(context.metadata.get(key) or "") for key in ("call_id", _OCCURRENCE))
        call = Call(call_id, context.function.name, to_jsonable_python(context.arguments))
        call = with_parameters(call, [context.function])
        waiting = await self._waiting(context.tools or ())
        if waiting and occurrence not in waiting:
            self._hold(context, call, occurrence)
        elif call.name in OWN_TOOLS:
            context.result = (await self.bridge.answer(call, self.now.conversation, tools=self.now.tools)).text
        else:
            await self._rule(context, call, occurrence, waiting.get(occurrence), call_next)

    async def _rule(
        self,
        context: FunctionInvocationContext,
        call: Call,
        occurrence: str,
        known: Judged | None,
        call_next: Callable[[], Awaitable[None]],
    ) -> None:
        left = self.verdicts.as_replied(call, occurrence or call.id)
        judged = known or await self.bridge.judge(left, self.now.conversation, self.now.tools)
        judged = await self.bridge.take(judged, left, self.now.conversation, self.now.tools)
        if judged.waits:
            context.result = self.verdicts.request(left, occurrence or call.id, judged.waits)
        elif judged.runs:
            context.metadata[CALLER] = (self.bridge, self.now.conversation)
            if left is not call:
                # The framework binds an approval to the arguments that it asked about; the person gave others.
                context.metadata.pop(_APPROVED, None)
                context.arguments = dict(left.arguments or {})
                self.verdicts.ran(occurrence or call.id)
            with calling(Caller(self.bridge, self.now.conversation)):
                await call_next()
        else:
            context.result = words_for(judged.verdict)

    async def _waiting(self, tools: Sequence[object]) -> Mapping[str, Judged]:
        """The calls that wait among those that run together now, by the id of their occurrence."""
        calls = self.released if self.now.calls is None else self.now.calls
        if len(calls) < 2:
            return {}
        async with self._ruling:
            if self._ruled is None or self._ruled[0] is not calls:
                self._ruled = calls, await self._waits_of(calls, tools)
                if self._ruled[1]:
                    shown = self._ruled[1].keys() if self.now.calls is not None else {str(one.id) for one in calls}
                    hold(self.session, calls, shown)
            return self._ruled[1]

    async def _waits_of(self, calls: Sequence[Content], tools: Sequence[object]) -> Mapping[str, Judged]:
        now = await self.bridge.current_policy(self.now.conversation, self.now.tools)
        written = [(str(one.id), call_of(one)) for one in calls if str(one.name) not in OWN_TOOLS]
        asked = [(occurrence, with_parameters(call, tools)) for occurrence, call in written if not call.problem]
        hosts = [(occurrence, self.verdicts.as_replied(call, occurrence)) for occurrence, call in asked]
        judged = {
            occurrence: await self.bridge.judge(call, self.now.conversation, now=now)
            for occurrence, call in hosts
            if _asks(call, now.tools)
        }
        return {occurrence: one for occurrence, one in judged.items() if one.waits}

    def _hold(self, context: FunctionInvocationContext, call: Call, occurrence: str) -> None:
        if self.now.calls is None:
            # The framework has no hidden place for a call that it was about to run once more.
            context.result = self.verdicts.request(call, occurrence or call.id, ())
            return
        held = next(one for one in self.now.calls if one.id == occurrence)
        raise UserInputRequiredException(contents=[held], message="another call of this reply waits for a person")


def _asks(call: Call, policy: ToolPolicy) -> bool:
    verdict = policy.authorize(call.name, call.arguments, call_id=call.id, parameters=call.parameters)
    return verdict.ruling is Ruling.ASK


def _declared(spec: ToolSpec) -> FunctionTool:
    data = spec.to_dict()

    def unguarded() -> str:
        raise InvalidTurn(f"{spec.name} ran without the middleware that answers it; run it through the agent")

    return FunctionTool(name=spec.name, description=spec.description, func=unguarded, input_model=data["parameters"])
