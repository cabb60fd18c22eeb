"""The adapter for Microsoft's Agent Framework: a context provider with skills in the instructions of every call."""

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any
from uuid import uuid4

from skillweave.adapters.agent_framework.approval import Verdicts, batch_of
from skillweave.adapters.agent_framework.messages import host_messages, name_of, with_refusals
from skillweave.adapters.approval import require_decided
from skillweave.adapters.bridge import Bridge, is_own, tail_of
from skillweave.adapters.chat import SEPARATOR, Call, words_for
from skillweave.compose.spawn import SpawnPlan
from skillweave.conversation import Placement
from skillweave.errors import InvalidTurn, MissingExtra
from skillweave.injection import Injection
from skillweave.weaver import Weaver
from skillweave.weaver.reading import ToolSpec

try:
    from agent_framework import (
        AgentSession,
        ChatContext,
        ChatMiddleware,
        ChatMiddlewareLayer,
        ChatResponse,
        ChatResponseUpdate,
        Content,
        ContextProvider,
        FunctionInvocationContext,
        FunctionMiddleware,
        FunctionTool,
        Message,
        ResponseStream,
        SessionContext,
        SupportsAgentRun,
    )
    from pydantic_core import to_jsonable_python
except ModuleNotFoundError:
    raise MissingExtra("an adapter for the Agent Framework", "agent-framework-core", "agent-framework") from None

_LAST_REPLY = "last_reply"
_OCCURRENCE = "function_call_occurrence_id"
_APPROVED = "_approved_function_arguments"
CALLER = "skillweave.caller"
"""Where a tool finds whose call it is: the Bridge of the agent, and its conversation."""


class SkillContextProvider(ContextProvider):
    """Puts the right skills into the instructions of every model call of an agent, hides tools and blocks them.

    The conversation is the session's `session_id`, unless `conversation` names it; the framework makes up a session for
    a run without one, which is then a conversation of its own. A `plan` makes the agent a sub-agent: conversation,
    skills, limits and text are the plan's. `max_skills` is the weaver's unless given. `decided_by` is the person named
    in a verdict where the response to an approval request names nobody, as those of ready-made chat windows do.
    Raises InvalidTurn for a `conversation` beside a plan.
    """

    def __init__(
        self,
        weaver: Weaver,
        max_skills: int | None = None,
        *,
        plan: SpawnPlan | None = None,
        conversation: str | None = None,
        decided_by: str | None = None,
        source_id: str = "skillweave",
    ) -> None:
        super().__init__(source_id)
        if plan is not None and conversation is not None:
            raise InvalidTurn(
                f"conversation={conversation[:40]!r} stands beside a plan, which has its own; leave it out"
            )
        self.bridge = Bridge(weaver, Placement.CALL, plan=plan, max_skills=max_skills, append_only=True)
        self._conversation = plan.conversation if plan else conversation
        self._decided_by = decided_by
        self._own_tools = [_declared(spec) for spec in self.bridge.own_tools]

    async def before_run(
        self, *, agent: SupportsAgentRun, session: AgentSession, context: SessionContext, state: dict[str, Any]
    ) -> None:
        """Record what persons decided since the last run, and stand before every call of the model and of a tool.

        A reply is held while other calls of the same reply of the model wait: the run then asks for those again.
        Raises InvalidTurn where the agent's client runs no chat middleware, InvalidVerdict for an approval response
        that does not say who decided.
        """
        if not isinstance(getattr(agent, "client", None), ChatMiddlewareLayer):
            raise InvalidTurn(
                f"{type(agent).__name__} has no chat client with a ChatMiddlewareLayer, so the model would be given no"
                " skill; use an Agent over one of the framework's chat clients"
            )
        conversation = session.session_id if self._conversation is None else self._conversation
        verdicts = Verdicts(self.bridge, conversation, state, self._decided_by)
        batch = batch_of(context.input_messages, session, state)
        await verdicts.read(context.input_messages, batch)
        context.input_messages = batch.kept(context.input_messages, session, state, verdicts.problems)
        written_down = bool(getattr(agent, "require_per_service_call_history_persistence", False))
        chat = SkillChatMiddleware(
            self.bridge, conversation, verdicts, state, batch.asked_again, written_down=written_down
        )
        context.extend_tools(self.source_id, self._own_tools)
        context.extend_middleware(self.source_id, [chat, SkillFunctionMiddleware(self.bridge, verdicts, chat)])


class SkillChatMiddleware(ChatMiddleware):
    """What stands before each call of the model in one run, also between its tool calls.

    `tools` are the names of all tools of the last call, None before the first. `waiting` are the requests that a person
    has yet to reply to before the model goes on; they are this run's answer. `written_down` says that the framework
    writes each call's messages into the history, so that nothing can be for one call only.
    """

    def __init__(
        self,
        bridge: Bridge,
        conversation: str,
        verdicts: Verdicts,
        state: dict[str, Any],
        waiting: Sequence[Content] = (),
        *,
        written_down: bool = False,
    ) -> None:
        self._bridge = bridge
        self._verdicts = verdicts
        self._state = state
        self._waiting = waiting
        self._written_down = written_down
        self.conversation = conversation
        self.tools: list[str] | None = None
        self._chat: list[Message] = []

    async def process(self, context: ChatContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Set the instructions and the tools of this call; raises ApprovalNeeded where a person must decide first."""
        if self._waiting:
            context.result = _asked_again(self._waiting, streamed=context.stream)
            return
        options = dict(context.options or {})
        tools = list(options.get("tools") or ())
        self.tools = [name_of(tool) for tool in tools]
        self._tell_refusals(context)
        kept_by_service = options.get("conversation_id") is not None
        injection = await self._weave(context.messages, kept_by_service=kept_by_service)
        require_decided(injection)
        offered = set(injection.tools.offers(self.tools))
        # A copy: the framework runs tools from its own list, so that hidden ones come to the guard and are answered.
        options["tools"] = [tool for tool in tools if name_of(tool) in offered]
        options["instructions"] = self._instructions(options.get("instructions"), injection)
        context.options = options
        tail = tail_of(injection, host_messages(self._chat), kept_by_service=kept_by_service)
        if tail and not self._written_down:
            context.messages = [*context.messages, Message("user", [tail])]
        context.stream_result_hooks.append(self._replied)
        await call_next()
        if isinstance(context.result, ChatResponse):
            self._replied(context.result)

    async def _weave(self, sent: Sequence[Message], *, kept_by_service: bool) -> Injection:
        # A service that keeps the history is sent only what is new; of the rest, only what it said last is known here.
        if not kept_by_service:
            self._chat = list(sent)
            return await self._bridge.weave(host_messages(self._chat), self.conversation, tools=self.tools)
        before = self._chat or [Message("assistant", [self._state.get(_LAST_REPLY, "")])]
        self._chat = [*before, *sent]
        return await self._bridge.weave(
            host_messages(self._chat), self.conversation, tools=self.tools, turn_id=uuid4().hex
        )

    def _tell_refusals(self, context: ChatContext) -> None:
        told = with_refusals(context.messages, self._verdicts.refusals)
        for ours, theirs in zip(told, context.messages, strict=True):
            if ours is not theirs:
                context.record_message_replacement(ours, theirs)
        context.messages = told

    def _instructions(self, theirs: str | None, injection: Injection) -> str:
        plan = self._bridge.plan
        texts = (theirs, plan.text if plan else None, injection.instructions)
        return SEPARATOR.join(text for text in texts if text)

    def _replied(self, response: ChatResponse[Any]) -> None:
        self._chat = [*self._chat, *response.messages]
        if response.conversation_id is not None:
            self._state[_LAST_REPLY] = response.text


class SkillFunctionMiddleware(FunctionMiddleware):
    """What stands before each call of a tool: answers our own, lets others run, wait for a person, or not."""

    def __init__(self, bridge: Bridge, verdicts: Verdicts, now: SkillChatMiddleware) -> None:
        self._bridge = bridge
        self._verdicts = verdicts
        self._now = now

    async def process(self, context: FunctionInvocationContext, call_next: Callable[[], Awaitable[None]]) -> None:
        """Answer or run one call, or make an approval request of it."""
        call_id, occurrence = (str(context.metadata.get(key) or "") for key in ("call_id", _OCCURRENCE))
        call = Call(call_id, context.function.name, to_jsonable_python(context.arguments))
        if is_own(call.name):
            context.result = (await self._bridge.answer(call, self._now.conversation, tools=self._now.tools)).text
            return
        changed = self._verdicts.changed(occurrence or call_id)
        if changed is not None:
            call = replace(call, arguments=changed)
        judged = await self._bridge.judge(call, self._now.conversation, self._now.tools)
        if judged.waits:
            context.result = self._verdicts.request(call, occurrence or call_id, judged.waits)
        elif judged.runs:
            context.metadata[CALLER] = (self._bridge, self._now.conversation)
            if changed is not None:
                # The framework binds an approval to the arguments that it asked about; the person gave others.
                context.metadata.pop(_APPROVED, None)
                context.arguments = changed
            await call_next()
        else:
            context.result = words_for(judged.verdict)


def _asked_again(
    requests: Sequence[Content], *, streamed: bool
) -> ChatResponse[Any] | ResponseStream[ChatResponseUpdate, ChatResponse[Any]]:
    if not streamed:
        return ChatResponse(messages=[Message("assistant", list(requests))])

    async def updates() -> AsyncIterator[ChatResponseUpdate]:
        yield ChatResponseUpdate(role="assistant", contents=list(requests))

    return ResponseStream(updates(), finalizer=ChatResponse.from_updates)


def _declared(spec: ToolSpec) -> FunctionTool:
    data = spec.to_dict()

    def unguarded() -> str:
        raise InvalidTurn(f"{spec.name} ran without the middleware that answers it; run it through the agent")

    return FunctionTool(name=spec.name, description=spec.description, func=unguarded, input_model=data["parameters"])
