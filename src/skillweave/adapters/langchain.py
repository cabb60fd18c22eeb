"""Skills in an agent of LangChain's `create_agent`, as a middleware; it stands last in the list of middleware.

So it sees what the others left: before the model those that rewrite the history have run, around the model's call and
around a tool's call the others stand further out.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import is_
from typing import Annotated, Any, NotRequired

from skillweave.adapters.supported import Unguarded, require_version
from skillweave.errors import MissingExtra

try:
    require_version("langchain", "langchain")
    require_version("langgraph", "langchain")
    from langchain.agents.middleware import (
        AgentMiddleware,
        AgentState,
        ExtendedModelResponse,
        ModelRequest,
        ModelResponse,
        ToolCallRequest,
    )
    from langchain.agents.middleware.types import OmitFromSchema
    from langchain_core.messages import BaseMessage
    from langchain_core.tools import BaseTool
    from langgraph.channels import UntrackedValue
    from langgraph.graph.message import add_messages
    from langgraph.runtime import Runtime
    from langgraph.types import Command, interrupt
except ModuleNotFoundError:
    raise MissingExtra("the adapter for LangChain", "langchain", "langchain") from None

from skillweave.adapters.approval import from_data, question, read_reply, record, to_data, waiting
from skillweave.adapters.bridge import Bridge, tail_of
from skillweave.adapters.chat import last_words
from skillweave.adapters.langchain_core import (
    Speaker,
    block_messages,
    host_messages,
    is_skill_message,
    notice,
    own_tools,
    removals,
    require_other_names,
    with_instructions,
    with_tail,
    without_skill_text,
    wrote_only_markers,
)
from skillweave.adapters.langchain_guard import Ran, ToolGuard, run_of
from skillweave.adapters.langchain_models import (
    kept_by_service,
    require_guarded,
    require_held,
    require_text_kept,
    shown,
)
from skillweave.adapters.langchain_pause import continued, in_place_of_all, require_asked
from skillweave.compose.spawn import SpawnPlan
from skillweave.dialogue import Placement
from skillweave.disclose.block import LOADS_NOTHING
from skillweave.errors import CheckpointNotFound, InvalidVerdict, SkillNotFound
from skillweave.injection import Drop, Injection, PendingCheckpoint
from skillweave.state.approvals import rejection_notice
from skillweave.state.state import Approval, ApprovalVerdict
from skillweave.weaver import Weaver

__all__ = [
    "SkillMiddleware",
    "SkillState",
    "Speaker",
    "Unguarded",
    "is_skill_message",
    "require_asked",
    "without_skill_text",
]

Answered = ModelResponse[Any] | ExtendedModelResponse[Any]


class SkillState(AgentState[Any]):
    """The agent's state; `conversation_id` names the conversation where the run's thread is not to.

    `awaiting` are the checkpoints that a person is asked about before the model is called, `open_checkpoints` all that
    are open then: verdicts are about the texts of then.
    """

    conversation_id: NotRequired[str]
    awaiting: NotRequired[Annotated[list[dict[str, Any]], OmitFromSchema()]]
    open_checkpoints: NotRequired[Annotated[list[dict[str, Any]], OmitFromSchema()]]
    injection: NotRequired[Annotated[Injection | None, UntrackedValue, OmitFromSchema()]]


@dataclass(frozen=True, slots=True)
class _Coming:
    """A call of the model that is about to be made, once nothing is `pending`.

    `rejected` are texts that are to go, `gone` the changes of the history with which they are; the model is told of
    `rejections` in this call. `chat` is the history of the call, without what is at its end for once, `added` is what
    of it is new in the state, `given` are the skills whose text it holds.
    """

    request: ModelRequest[Any]
    bridge: Bridge
    conversation: str
    pending: tuple[PendingCheckpoint, ...]
    problem: str = ""
    rejected: tuple[Drop, ...] = ()
    rejections: tuple[Approval, ...] = ()
    gone: tuple[BaseMessage, ...] = ()
    chat: tuple[BaseMessage, ...] = ()
    added: tuple[BaseMessage, ...] = ()
    given: frozenset[str] = frozenset()

    def answered(self, response: ModelResponse[Any]) -> Answered:
        """What the model node gives back; the loop begins anew where a person has to decide first."""
        update: dict[str, Any] = {"messages": [*self.gone]} if self.gone else {}
        if self.pending:
            update["jump_to"] = "model"
        return ExtendedModelResponse(response, Command(update=update)) if update else response


class SkillMiddleware(AgentMiddleware[SkillState, Any, Any]):
    """Weaves before every call of the model, hides tools from it, and judges every call of a tool.

    In history placement skill text stands in the state's `messages`, as words of `speaker`; in call placement in the
    system prompt of each call. `plan` is that of a spawned sub-agent. A run must name its conversation, else it raises
    InvalidTurn. Nothing that counts is kept here, so that one object serves any number of conversations. An agent
    inside a tool is a sub-agent: it needs a SkillMiddleware too, has a conversation of its own, and may do no more than
    its caller. The first call of the model raises UnguardedAgent for one without, and for what the provider runs past
    every rule, unless `unguarded` is `allow`; it raises InvalidTurn for a mode of the model in which skill text would
    be lost.
    """

    state_schema = SkillState

    def __init__(
        self,
        weaver: Weaver,
        *,
        placement: Placement = Placement.HISTORY,
        speaker: Speaker = Speaker.USER,
        plan: SpawnPlan | None = None,
        unguarded: Unguarded = Unguarded.REFUSE,
    ) -> None:
        super().__init__()
        self._unguarded = Unguarded(unguarded)
        self._bridge = Bridge(weaver, placement, plan=plan)
        self._speaker = Speaker(speaker)
        self._guard = ToolGuard(self._bridge, _unkept=())
        self.tools = own_tools()

    def before_model(self, state: SkillState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """Place what is given into the history, take out what leaves, and note what a person must decide first."""
        return self._bridge.run(self._placed(state))

    async def abefore_model(self, state: SkillState, runtime: Runtime[Any]) -> dict[str, Any] | None:
        """What `before_model` does, awaited."""
        return await self._placed(state)

    def wrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], ModelResponse[Any]]
    ) -> Answered:
        """Call the model with what belongs into its system prompt, and without the tools that it may not use.

        Where a person must decide first, the run pauses here.
        """
        coming = self._bridge.run(self._coming(request))
        response = handler(coming.request)
        if not _says_nothing(coming, response):
            return coming.answered(response)
        again = self._bridge.run(self._once_more(request, coming, response))
        return again.answered(response if again.pending else _joined(response, again, handler(again.request)))

    async def awrap_model_call(
        self, request: ModelRequest[Any], handler: Callable[[ModelRequest[Any]], Awaitable[ModelResponse[Any]]]
    ) -> Answered:
        """What `wrap_model_call` does, awaited."""
        coming = await self._coming(request)
        response = await handler(coming.request)
        if not _says_nothing(coming, response):
            return coming.answered(response)
        again = await self._once_more(request, coming, response)
        return again.answered(response if again.pending else _joined(response, again, await handler(again.request)))

    def wrap_tool_call(self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Ran]) -> Ran:
        """Answer a call of our own tools; let others run, wait for a person, or not."""
        return self._guard.wrap(request, handler)

    async def awrap_tool_call(
        self, request: ToolCallRequest, handler: Callable[[ToolCallRequest], Awaitable[Ran]]
    ) -> Ran:
        """What `wrap_tool_call` does, awaited."""
        return await self._guard.awrap(request, handler)

    async def _placed(self, state: SkillState) -> dict[str, Any]:
        chat = await continued(state["messages"])
        bridge, conversation = await run_of(self._bridge, state)
        injection = await bridge.weave(host_messages(chat), conversation)
        changes: dict[str, Any] = {"injection": injection}
        # What is to leave leaves here, where no other step changes the history too.
        placed: list[Any] = [*removals(chat, injection.leaving), *block_messages(injection, self._speaker)]
        if chat is not state["messages"]:
            before: list[Any] = [*chat]
            whole: Any = add_messages(before, placed)
            changes["messages"] = in_place_of_all(whole)
        elif placed:
            changes["messages"] = placed
        awaiting = to_data(waiting(injection))
        if awaiting != state.get("awaiting", []):
            changes["awaiting"] = awaiting
        if (shown := to_data(injection.checkpoints)) != state.get("open_checkpoints", []):
            changes["open_checkpoints"] = shown
        return changes

    async def _coming(self, request: ModelRequest[Any]) -> _Coming:
        coming = await self._begun(request)
        while coming.pending:
            asked = question(coming.conversation, coming.pending, problem=coming.problem)
            coming = await self._decided(coming, interrupt(asked))
        return coming

    async def _begun(self, request: ModelRequest[Any]) -> _Coming:
        ours = [getattr(tool, "func", None) for tool in self.tools]
        hosts = (tool for tool in request.tools if isinstance(tool, BaseTool))
        require_other_names(tool for tool in hosts if getattr(tool, "func", None) not in ours)
        require_text_kept(request.model, request.model_settings, self._bridge.placement)
        if self._unguarded is Unguarded.REFUSE:
            require_held(request.tools, request.model, request.model_settings)
            require_guarded(request.tools)
        # Of the state, not of the present: a run that resumes starts this step again, and the person's reply is about
        # the text that the person was shown.
        state: Mapping[str, Any] = request.state
        awaiting = from_data(state.get("awaiting", ()))
        coming = _Coming(request, *await run_of(self._bridge, state), awaiting)
        held: Injection | None = state.get("injection")
        if awaiting or held is None or held.waits or held.rejected or not _unchanged(request):
            return coming if awaiting else await self._woven(coming)
        return self._ready(coming, replace(held, messages=(), drop=()))

    async def _once_more(self, request: ModelRequest[Any], coming: _Coming, response: ModelResponse[Any]) -> _Coming:
        """A reply of markers alone answers nobody: one more call, with the skill, or told that none comes.

        Where a person must decide first, the loop begins anew and asks, unless an `after_model` of others comes first.
        """
        chat = [*coming.chat, *response.result]
        injection = await coming.bridge.weave(host_messages(chat), coming.conversation)
        if pending := waiting(injection):
            return replace(coming, pending=pending)
        told = (
            []
            if _skills_of(injection) - coming.given
            else [notice(LOADS_NOTHING, str(response.result[-1].id), self._speaker)]
        )
        before: list[Any] = [*chat, *told]
        again = self._ready(replace(coming, request=request.override(messages=before), rejections=()), injection)
        return replace(
            again, gone=(*coming.gone, *again.gone), added=(*told, *block_messages(injection, self._speaker))
        )

    async def _decided(self, coming: _Coming, reply: object) -> _Coming:
        try:
            judged = await record(coming.bridge.weaver, coming.conversation, (coming.pending, read_reply(reply), None))
        except (InvalidVerdict, SkillNotFound, CheckpointNotFound) as error:
            now = await coming.bridge.current_policy(coming.conversation)
            same = set(coming.pending) <= set(now.checkpoints)
            return replace(coming, problem=str(error)) if same else await self._woven(coming)
        rejected = (await coming.bridge.current_policy(coming.conversation)).rejected
        said_no = [one.approval for one in judged if one.approval.verdict is ApprovalVerdict.REJECTED]
        rejections = (*coming.rejections, *said_no)
        return await self._woven(replace(coming, rejected=rejected, rejections=rejections))

    async def _woven(self, coming: _Coming) -> _Coming:
        # Rejected texts are still in there: were they seen to be gone, a run that starts this step again could not say
        # any more which ones they are.
        state: Mapping[str, Any] = coming.request.state
        chat, held = host_messages(coming.request.messages), state.get("injection")
        # A history that was cut is the same turn while the same was said last: a message counts once.
        same = held is not None and last_words(chat) == last_words(host_messages(state["messages"]))
        turn_id = held.turn_id if held is not None and same else None
        injection = await coming.bridge.weave(chat, coming.conversation, turn_id=turn_id)
        if pending := waiting(injection):
            return replace(coming, pending=pending, problem="")
        return self._ready(coming, injection)

    def _ready(self, coming: _Coming, injection: Injection) -> _Coming:
        request = coming.request
        gone: list[Any] = removals(request.messages, (*coming.rejected, *injection.leaving))
        before: list[Any] = [*request.messages]
        left: Any = add_messages(before, gone) if gone else before
        # Given here is only what replaces a rejected skill, or what another middleware took away.
        missing: list[Any] = block_messages(injection, self._speaker)
        said_no: list[Any] = [notice(rejection_notice(one), str(one.at), self._speaker) for one in coming.rejections]
        chat = [*left, *missing, *said_no]
        kept = kept_by_service(request.model)
        tail = tail_of(injection, host_messages(chat) if kept else (), kept_by_service=kept)
        marker = (request.model_settings or {}).get("cache_control")
        sent: list[Any] = with_tail(chat, tail, self._speaker, marker)
        ready = request.override(
            system_message=with_instructions(request.system_message, injection),
            messages=sent,
            tools=shown(request.tools, injection.tools),
        )
        return replace(
            coming, request=ready, pending=(), gone=tuple(gone), chat=tuple(chat), given=_skills_of(injection)
        )


def _says_nothing(coming: _Coming, response: ModelResponse[Any]) -> bool:
    return bool(response.result) and wrote_only_markers([*coming.chat, *response.result])


def _skills_of(injection: Injection) -> frozenset[str]:
    return frozenset((*injection.present, *(block.skill_id for block in injection.blocks)))


def _joined(first: ModelResponse[Any], again: _Coming, last: ModelResponse[Any]) -> ModelResponse[Any]:
    return replace(last, result=[*first.result, *again.added, *last.result])


def _unchanged(request: ModelRequest[Any]) -> bool:
    """Whether the other middleware left the messages as they stand in the state, our blocks among them."""
    kept: Sequence[BaseMessage] = request.state["messages"]
    return len(kept) == len(request.messages) and all(map(is_, kept, request.messages))
