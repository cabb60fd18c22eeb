"""Several skills together, tool calls and sub-agents over HTTP."""

from collections.abc import Mapping, Sequence
from typing import Any, TypeVar

from skillweave.api.composition import (
    AuthorizeRequest,
    ComposeRequest,
    SpawnQuestion,
    ToolCallRequest,
    ValidateRequest,
)
from skillweave.blocking import M, Verb
from skillweave.client.failures import ServiceError
from skillweave.client.room import Room
from skillweave.client.sending import Asked, at
from skillweave.compose.composition import Composition, Mode
from skillweave.compose.policy import Verdict
from skillweave.compose.spawn import SpawnPlan, SpawnRejected, SpawnRequest
from skillweave.conversation import Message, Placement
from skillweave.limits import ToolLimits
from skillweave.relations.validate import ValidationResult
from skillweave.weaver.tools import ToolAnswer, ToolSpec

T = TypeVar("T")


class Compositions(Room[M]):
    """The verbs about several skills, tools and sub-agents."""

    @Verb
    async def compose(self, skill_ids: Sequence[str], mode: Mode = Mode.UNION) -> Composition:
        """What these skills allow, forbid and prescribe together; raises SkillNotFound."""
        return await self._wire.answer(
            Asked("POST", "/compose", body=ComposeRequest(tuple(skill_ids), mode)), Composition
        )

    @Verb
    async def validate(self, skill_ids: Sequence[str], host_tools: Sequence[str] | None = None) -> ValidationResult:
        """Whether these skills may be used together: every error, and warnings."""
        request = ValidateRequest(tuple(skill_ids), _row(host_tools))
        return await self._wire.answer(Asked("POST", "/validate", body=request), ValidationResult)

    @Verb
    async def authorize(
        self,
        conversation: str,
        tool: str,
        arguments: Mapping[str, object] | None = None,
        *,
        call_id: str | None = None,
        parameters: Sequence[str] | None = None,
        host_tools: Sequence[str] | None = None,
        tools: Sequence[str] | None = None,
        limits: ToolLimits | None = None,
        placement: Placement = Placement.HISTORY,
    ) -> Verdict:
        """Whether a tool may be called in the conversation now: allowed, to be asked about, or denied with the reason.

        `tools`, `limits` and `placement` are those of the conversation's turns; for the others see `Weaver.authorize`.
        """
        request = AuthorizeRequest(
            conversation,
            tool,
            arguments,
            call_id,
            parameters=_row(parameters),
            host_tools=_row(host_tools),
            tools=_row(tools),
            limits=limits,
            placement=placement,
        )
        return await self._wire.answer(Asked("POST", "/authorize", body=request), Verdict)

    @Verb
    async def prepare_spawn(
        self,
        request: SpawnRequest,
        *,
        parent: str | SpawnPlan | None = None,
        tools: Sequence[str] | None = None,
        spawn_id: str | None = None,
    ) -> SpawnPlan | SpawnRejected:
        """All that a sub-agent has to be started with, or why it may not be; nothing is started.

        `parent` is the id of the conversation that spawns, or the plan that a sub-agent was itself started with. The
        same `spawn_id` again is the same spawn; without one each call is a new one, also when it was sent twice.
        """
        whose: dict[str, Any] = {"plan": parent} if isinstance(parent, SpawnPlan) else {"parent": parent}
        own = self._new_id() if spawn_id is None else spawn_id
        question = SpawnQuestion(request, tools=_row(tools), spawn_id=own, **whose)
        try:
            return await self._wire.answer(Asked("POST", "/spawn", body=question), SpawnPlan)
        except ServiceError as error:
            if error.problem.rejected is None:
                raise
            return error.problem.rejected

    @Verb
    async def spawned(self, plan: SpawnPlan) -> None:
        """Say that the sub-agent of this plan was started: those who listen are told."""
        await self._wire.send(Asked("POST", "/spawn/started", body=plan))

    @Verb
    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """The tools of skillweave's own, which a host declares to its model and calls in a conversation."""
        return await self._wire.answer(Asked("GET", "/tools"), tuple[ToolSpec, ...])

    @Verb
    async def call_tool(
        self,
        name: str,
        arguments: Mapping[str, object] | None,
        *,
        conversation: str,
        call_id: str | None = None,
        transcript: Sequence[Message] | None = None,
        tools: Sequence[str] | None = None,
        limits: ToolLimits | None = None,
        placement: Placement | None = None,
    ) -> ToolAnswer:
        """What the model gets for its call of one of skillweave's own tools, also for a call that cannot be made.

        What it loads counts as given with the answer; see `Weaver.tools.call`.
        """
        request = ToolCallRequest(
            name, arguments, call_id, _row(transcript), tools=_row(tools), limits=limits, placement=placement
        )
        headers = self._key(None) if call_id is None else None
        path = at("/conversations/{}/tools", conversation)
        return await self._wire.answer(Asked("POST", path, body=request, headers=headers), ToolAnswer)


def _row(several: Sequence[T] | None) -> tuple[T, ...] | None:
    return None if several is None else tuple(several)
