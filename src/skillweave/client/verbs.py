"""The verbs of the client: one method for each operation of the service."""

import asyncio
import dataclasses
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Coroutine, Mapping, Sequence
from contextlib import aclosing, asynccontextmanager
from typing import Any, TypeVar, Unpack
from urllib.parse import quote

import httpx

from skillweave.api import (
    CURRENT,
    MOST_LISTED,
    AgentPage,
    ApprovalPage,
    ArtifactPage,
    AuthorizeRequest,
    CheckReport,
    CheckRequest,
    ComposeRequest,
    ConversationPage,
    DeliveryMode,
    EntitiesPut,
    EventRequest,
    GraphListed,
    GraphPage,
    LogPage,
    Neighbours,
    RollbackRequest,
    SimulationRequest,
    SkillDefinition,
    SkillListed,
    SkillPage,
    SkillPublished,
    SkillVersion,
    SpawnQuestion,
    ToolCallRequest,
    TurnRequest,
    ValidateRequest,
    VersionPage,
)
from skillweave.approvals.case import ApprovalCase, ApprovalReply, ApprovalRequest, ApprovalStatus, LogRow
from skillweave.blocking import M, Verb, VerbBlock, Verbs, VerbSeries
from skillweave.client.failures import ServiceError, ServiceUnreachable
from skillweave.client.sending import Sent, Wire, at
from skillweave.compose.composition import Composition, Mode
from skillweave.compose.policy import Verdict
from skillweave.compose.spawn import SpawnPlan, SpawnRejected, SpawnRequest
from skillweave.conversation import Message, MessageLike, Placement, Turn, TurnFields, turn_of
from skillweave.disclose.fit import Budget
from skillweave.errors import SkillweaveError
from skillweave.events.event import Event, StreamedEvent
from skillweave.graph.answers import GraphShown, Next, SimulationShown
from skillweave.graph.checked import Checkup
from skillweave.graph.move import MoveContext
from skillweave.injection import Injection
from skillweave.knowledge.entity import Direction, Edge, Entity, NearbyEntities, Point
from skillweave.knowledge.shown import ContextShown
from skillweave.limits import ToolLimits
from skillweave.registry import Agent
from skillweave.relations.validate import ValidationResult
from skillweave.select.candidates import Selection
from skillweave.skill import ArtifactRef, Skill, Status
from skillweave.state.port import Logged
from skillweave.state.state import Record, State
from skillweave.weaver.tools import ToolAnswer, ToolSpec

T = TypeVar("T")
log = logging.getLogger("skillweave.client")

_TURN_FIELDS = tuple(one.name for one in dataclasses.fields(Turn) if one.name != "conversation")


class ClientVerbs(Verbs[M]):
    """The verbs of a Client, awaited on it and blocking on a SyncClient."""

    _wire: Wire
    _new_id: Callable[[], str]

    @Verb
    async def weave(
        self, message: MessageLike | Turn, *, budget: Budget | None = None, **fields: Unpack[TurnFields]
    ) -> Injection:
        """See `Weaver.weave`; the conversation's memory at the service counts too, `budget` is for this turn."""
        return await self._turn(turn_of(message, fields, self._new_id), DeliveryMode.GIVEN, budget)

    @Verb
    async def claim(
        self, message: MessageLike | Turn, *, budget: Budget | None = None, **fields: Unpack[TurnFields]
    ) -> Injection:
        """What `weave` answers, claimed for 60 s: `confirm` says that it was delivered, `release` that it was not."""
        return await self._turn(turn_of(message, fields, self._new_id), DeliveryMode.TWO_PHASE, budget)

    @VerbBlock
    @asynccontextmanager
    async def delivery(
        self, message: MessageLike | Turn, *, budget: Budget | None = None, **fields: Unpack[TurnFields]
    ) -> AsyncIterator[Injection]:
        """`weave` in two phases: claimed (for 60 s) inside the block, then confirmed, or released if it raises."""
        turn = turn_of(message, fields, self._new_id)
        try:
            injection = await self._turn(turn, DeliveryMode.TWO_PHASE, budget)
        except asyncio.CancelledError:
            # The service may have written the claim, although nobody waits for it any more.
            await _end(self._ended(turn.conversation, turn.id, "release"))
            raise
        try:
            yield injection
        except BaseException:
            await _end(self._ended(turn.conversation, turn.id, "release"))
            raise
        await _end(self._ended(turn.conversation, turn.id, "confirm"))

    @Verb
    async def confirm(self, conversation: str, turn_id: str) -> None:
        """Says that a claimed turn was delivered; again changes nothing. Raises ServiceError (409) if it is over."""
        await self._ended(conversation, turn_id, "confirm")

    @Verb
    async def release(self, conversation: str, turn_id: str) -> None:
        """Say that what the turn claimed was not delivered: it is given again when wanted. Again changes nothing."""
        await self._ended(conversation, turn_id, "release")

    @Verb
    async def why(self, conversation: str, skill_id: str | None = None) -> tuple[Logged, ...]:
        """The kept decisions of the conversation, of one skill or all, oldest first; for thirty days."""
        query = {"skill": skill_id}
        return await self._ask(tuple[Logged, ...], "GET", "/conversations/{}/why", conversation, query=query)

    @VerbSeries
    def list_conversations(self, prefix: str = "") -> AsyncGenerator[str, None]:
        """The ids of the conversations that are kept and begin with `prefix`, in the order of their characters."""
        return self._entries(ConversationPage, "/ledger", query={"prefix": prefix or None})

    @Verb
    async def state(self, conversation: str) -> State:
        """All that is kept about the conversation; of one that nobody knows an empty State, with revision 0."""
        return await self._ask(State, "GET", "/ledger/{}", conversation)

    @Verb
    async def show_record(self, conversation: str, key: str) -> Record:
        """The record of one text; `key` is a skill's id or a ledger key. Raises ServiceError (404) where none is."""
        return await self._ask(Record, "GET", "/ledger/{}/{}", conversation, key)

    @Verb
    async def mark(self, conversation: str, key: str) -> Record:
        """Note that the host has this skill in its context already; it is not given; see `weaver.ledger.mark`."""
        return await self._ask(Record, "PUT", "/ledger/{}/{}", conversation, key)

    @Verb
    async def evict(self, conversation: str, key: str) -> None:
        """Forget that something was given, so that it is given again when wanted; again changes nothing."""
        await self._send("DELETE", "/ledger/{}/{}", conversation, key)

    @Verb
    async def clear(self, conversation: str) -> None:
        """Forget everything about the conversation but its decisions; again changes nothing."""
        await self._send("DELETE", "/ledger/{}", conversation)

    @Verb
    async def read_memory(self, conversation: str) -> Mapping[str, object]:
        """The conversation's working memory, empty where nothing is kept; kept for 24 hours after the last use."""
        return await self._ask(dict[str, object], "GET", "/memory/{}", conversation)

    @Verb
    async def merge_memory(self, conversation: str, changes: Mapping[str, object]) -> Mapping[str, object]:
        """Sets these keys, removes those that are None, and returns the rest. Raises MemoryTooLarge over 64 KiB."""
        return await self._ask(dict[str, object], "PUT", "/memory/{}", conversation, body=changes)

    @Verb
    async def forget_memory(self, conversation: str) -> None:
        """Forget all keys of the working memory; again changes nothing."""
        await self._send("DELETE", "/memory/{}", conversation)

    @VerbSeries
    def list_skills(self, status: Status | None = None) -> AsyncGenerator[SkillListed, None]:
        """The skills by their ids; those of one status, or all."""
        return self._entries(SkillPage, "/skills", query={"status": status})

    @Verb
    async def search_skills(self, text: str) -> Selection:
        """What the matchers say to this text; no conversation is asked or changed."""
        return await self._ask(Selection, "GET", "/skills:search", query={"q": text})

    @Verb
    async def get_skill(self, skill_id: str) -> Skill:
        """The definition that is in use; raises SkillNotFound."""
        return await self._ask(Skill, "GET", "/skills/{}", skill_id)

    @Verb
    async def publish_skill(self, skill_id: str, definition: SkillDefinition) -> SkillPublished:
        """Stores a version and puts it in use. Raises ServiceError (422) with `findings` if something would be lost."""
        return await self._ask(SkillPublished, "PUT", "/skills/{}", skill_id, body=definition)

    @Verb
    async def remove_skill(self, skill_id: str) -> None:
        """Take the skill out of use; its versions stay, and can be rolled back to. Raises SkillNotFound."""
        await self._send("DELETE", "/skills/{}", skill_id)

    @VerbSeries
    def list_versions(self, skill_id: str) -> AsyncGenerator[SkillVersion, None]:
        """Every version that was published, the latest first; raises SkillNotFound."""
        return self._entries(VersionPage, "/skills/{}/versions", skill_id)

    @Verb
    async def roll_back_skill(self, skill_id: str, content_hash: str) -> SkillPublished:
        """Put an earlier version in use; again changes nothing. Raises SkillNotFound and VersionNotFound."""
        return await self._ask(
            SkillPublished, "POST", "/skills/{}/rollback", skill_id, body=RollbackRequest(content_hash)
        )

    @VerbSeries
    def list_artifacts(self, skill_id: str) -> AsyncGenerator[ArtifactRef, None]:
        """The documents of the skill by their ids; raises SkillNotFound."""
        return self._entries(ArtifactPage, "/skills/{}/artifacts", skill_id)

    @Verb
    async def get_artifact(self, skill_id: str, artifact_id: str) -> bytes:
        """The content of one document; raises SkillNotFound and ArtifactNotFound."""
        return (await self._send("GET", "/skills/{}/artifacts/{}", skill_id, artifact_id)).content

    @Verb
    async def check_definitions(self, request: CheckRequest) -> CheckReport:
        """What is wrong with these skills as a set, as `skillweave check` says it; nothing is stored."""
        return await self._ask(CheckReport, "POST", "/skills:check", body=request)

    @VerbSeries
    def list_agents(self) -> AsyncGenerator[Agent, None]:
        """The agents by their ids."""
        return self._entries(AgentPage, "/agents")

    @Verb
    async def get_agent(self, agent_id: str) -> Agent:
        """The agent as it is described now; raises AgentNotFound."""
        return await self._ask(Agent, "GET", "/agents/{}", agent_id)

    @Verb
    async def compose(self, skill_ids: Sequence[str], mode: Mode = Mode.UNION) -> Composition:
        """What these skills allow, forbid and prescribe together; raises SkillNotFound."""
        return await self._ask(Composition, "POST", "/compose", body=ComposeRequest(tuple(skill_ids), mode))

    @Verb
    async def validate(self, skill_ids: Sequence[str], host_tools: Sequence[str] | None = None) -> ValidationResult:
        """Whether these skills may be used together: every error, and warnings."""
        request = ValidateRequest(tuple(skill_ids), _row(host_tools))
        return await self._ask(ValidationResult, "POST", "/validate", body=request)

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
        key: str | None = None,
    ) -> Verdict:
        """Whether a tool may be called now; the same `key` gets the same answer. See `Weaver.authorize`."""
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
        return await self._ask(Verdict, "POST", "/authorize", body=request, headers=self._key(key))

    @Verb
    async def prepare_spawn(
        self,
        request: SpawnRequest,
        *,
        parent: str | SpawnPlan | None = None,
        tools: Sequence[str] | None = None,
        spawn_id: str | None = None,
    ) -> SpawnPlan | SpawnRejected:
        """All that a sub-agent has to be started with, or why it may not be; the same `spawn_id` is the same spawn."""
        whose: dict[str, Any] = {"plan": parent} if isinstance(parent, SpawnPlan) else {"parent": parent}
        own = self._new_id() if spawn_id is None else spawn_id
        question = SpawnQuestion(request, tools=_row(tools), spawn_id=own, **whose)
        try:
            return await self._ask(SpawnPlan, "POST", "/spawn", body=question)
        except ServiceError as error:
            if error.problem.rejected is None:
                raise
            return error.problem.rejected

    @Verb
    async def spawned(self, plan: SpawnPlan) -> None:
        """Say that the sub-agent of this plan was started: those who listen are told."""
        await self._send("POST", "/spawn/started", body=plan)

    @Verb
    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """The tools of skillweave's own, which a host declares to its model and calls in a conversation."""
        return await self._ask(tuple[ToolSpec, ...], "GET", "/tools")

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
        """The answer to the model's call of one of skillweave's own tools; see `Weaver.tools.call`."""
        request = ToolCallRequest(
            name, arguments, call_id, _row(transcript), tools=_row(tools), limits=limits, placement=placement
        )
        headers = self._key(None) if call_id is None else {}
        return await self._ask(
            ToolAnswer, "POST", "/conversations/{}/tools", conversation, body=request, headers=headers
        )

    @Verb
    async def list_graphs(self) -> tuple[GraphListed, ...]:
        """The graph that conversations move in; nothing where there is none."""
        return (await self._ask(GraphPage, "GET", "/graphs")).items

    @Verb
    async def get_graph(self, graph: str = CURRENT) -> GraphShown:
        """The whole graph: its skills with what engages them, and what is drawn of it."""
        return await self._ask(GraphShown, "GET", "/graphs/{}", graph)

    @Verb
    async def check_graph(self, graph: str = CURRENT, known_tools: Sequence[str] | None = None) -> Checkup:
        """What is wrong with the wiring, with the loaded skills as the known ones."""
        return await self._ask(Checkup, "GET", "/graphs/{}/checkup", graph, query={"known_tools": known_tools})

    @Verb
    async def draw_graph_as_mermaid(
        self, graph: str = CURRENT, *, visited: Sequence[str] | None = None, current: str | None = None
    ) -> str:
        """The graph as the text of a Mermaid flowchart, with a run on top where one is named."""
        query = {"visited": visited, "current": current}
        return (await self._send("GET", "/graphs/{}/mermaid", graph, query=query)).text

    @Verb
    async def draw_graph_as_svg(
        self, graph: str = CURRENT, *, visited: Sequence[str] | None = None, current: str | None = None
    ) -> str:
        """The graph as a picture, with a run on top where one is named."""
        query = {"visited": visited, "current": current}
        return (await self._send("GET", "/graphs/{}/svg", graph, query=query)).text

    @Verb
    async def find_next_skill(self, moment: MoveContext, graph: str = CURRENT) -> Next:
        """Where a conversation goes from this moment, what decided it, and what lost; nothing is stored."""
        return await self._ask(Next, "POST", "/graphs/{}/next", graph, body=moment)

    @Verb
    async def simulate_graph(self, request: SimulationRequest, graph: str = CURRENT) -> SimulationShown:
        """Play a script through the graph, move by move."""
        return await self._ask(SimulationShown, "POST", "/graphs/{}/simulate", graph, body=request)

    @Verb
    async def find_nearby_entities(
        self, point: Point, radius_ft: float = 5280.0, label: str | None = None, limit: int = 20
    ) -> NearbyEntities:
        """The entities about a place, nearest first, with their distance in feet."""
        place = {"latitude": point.latitude, "longitude": point.longitude, "datum": point.datum}
        query = {**place, "radius_ft": radius_ft, "label": label, "limit": limit}
        return await self._ask(NearbyEntities, "GET", "/entities:near", query=query)

    @Verb
    async def get_entity(self, entity: str) -> Entity:
        """The entity of that id or other name; raises EntityNotFound, and AmbiguousEntity with `problem.choices`."""
        return await self._ask(Entity, "GET", "/entities/{}", entity)

    @Verb
    async def list_neighbours(
        self,
        entity: str,
        *,
        relation: str | None = None,
        direction: Direction = Direction.BOTH,
        limit: int = 100,
    ) -> Neighbours:
        """What the entity is connected with, by relation and then by id; `direction` says which of its edges count."""
        query = {"relation": relation, "direction": direction, "limit": limit}
        return await self._ask(Neighbours, "GET", "/entities/{}/neighbours", entity, query=query)

    @Verb
    async def assemble_context(self, entity: str, tags: Sequence[str]) -> ContextShown:
        """What a skill with these domain tags is told of the entity, line by line."""
        return await self._ask(ContextShown, "GET", "/context/assemble/{}", entity, query={"tags": tags})

    @Verb
    async def put_entities(self, entities: Sequence[Entity] = (), edges: Sequence[Edge] = ()) -> None:
        """Add or replace entities and edges, all or none; one that is replaced keeps its edges."""
        await self._send("PUT", "/entities", body=EntitiesPut(tuple(entities), tuple(edges)))

    @Verb
    async def remove_entity(self, entity: str) -> None:
        """Take the entity with that id out, with all its edges; raises EntityNotFound."""
        await self._send("DELETE", "/entities/{}", entity)

    @Verb
    async def ask_for_approval(self, request: ApprovalRequest, *, key: str | None = None) -> ApprovalCase:
        """Asks a person to let the agent pass a checkpoint; the same `key` asks once, none each time."""
        return await self._ask(ApprovalCase, "POST", "/approvals", body=request, headers=self._key(key))

    @VerbSeries
    def list_approvals(
        self,
        *,
        status: ApprovalStatus | None = None,
        conversation: str | None = None,
        reviewer: str | None = None,
    ) -> AsyncGenerator[ApprovalCase, None]:
        """Approvals, the oldest first, without the conversations that they were asked in; `reviewer` is asked now."""
        query = {"status": status, "conversation": conversation, "reviewer": reviewer}
        return self._entries(ApprovalPage, "/approvals", query=query)

    @Verb
    async def show_approval(self, approval: str) -> ApprovalCase:
        """The approval with that id, with the conversation as it was when it was asked; raises ApprovalNotFound."""
        return await self._ask(ApprovalCase, "GET", "/approvals/{}", approval)

    @Verb
    async def decide_approval(self, approval: str, reply: ApprovalReply) -> ApprovalCase:
        """Says yes, no, or yes with other arguments. Raises ApprovalNotFound, AlreadyDecided, InvalidVerdict."""
        return await self._ask(ApprovalCase, "POST", "/approvals/{}/decide", approval, body=reply)

    @Verb
    async def escalate_approvals(self) -> tuple[ApprovalCase, ...]:
        """Hand every approval whose time is over to the next reviewer; answers with those that were handed on."""
        return await self._ask(tuple[ApprovalCase, ...], "POST", "/approvals/escalate", safe=False)

    @VerbSeries
    def read_approval_log(self) -> AsyncGenerator[LogRow, None]:
        """The rows of the log, the oldest first: what was asked, decided, refused, applied and escalated."""
        return self._entries(LogPage, "/approvals/log")

    @Verb
    async def verify_approval_log(self) -> tuple[str, ...]:
        """What is wrong with the log, and where an approval differs from what its log says; empty where nothing is."""
        return await self._ask(tuple[str, ...], "GET", "/approvals/verify")

    @Verb
    async def emit(
        self,
        conversation: str,
        skill_id: str,
        event_type: str,
        payload: Mapping[str, object],
        *,
        turn_id: str | None = None,
        key: str | None = None,
    ) -> Event:
        """Tells listeners one of the skill's own events, once for a `key`; see `Weaver.emit`."""
        known = self._new_id() if key is None else key
        request = EventRequest(skill_id, event_type, payload, turn_id, known)
        return await self._ask(Event, "POST", "/conversations/{}/events", conversation, body=request)

    @VerbSeries
    async def stream(self, conversation: str, after: str | None = None) -> AsyncGenerator[StreamedEvent, None]:
        """Yields every event after that position, once and in order; None for only what comes, empty for all kept.

        A broken stream is taken up again. Raises StreamGap, ServiceUnreachable after too many tries, ServiceError.
        """
        path = at("/conversations/{}/stream", conversation)
        failures, seen = 0, ""
        while True:
            try:
                async with aclosing(self._wire.listen(path, after, seen)) as listening:
                    async for position, streamed in listening:
                        # Once it is open nothing may be missed, also where nothing was kept yet and so no position is.
                        failures, seen, after = 0, position, ""
                        if streamed is not None:
                            yield streamed
            except (ServiceError, ServiceUnreachable) as error:
                failures += 1
                if not await self._wire.waited(failures, error):
                    raise
            else:
                await self._wire.rested()

    async def _ask(self, answers: type[T], method: str, path: str, *parts: str, **sent: Unpack[Sent]) -> T:
        return await self._wire.answer(answers, method, at(path, *parts), **sent)

    async def _send(self, method: str, path: str, *parts: str, **sent: Unpack[Sent]) -> httpx.Response:
        return await self._wire.send(method, at(path, *parts), **sent)

    async def _entries(
        self, page: type[Any], path: str, *parts: str, query: Mapping[str, object] | None = None
    ) -> AsyncGenerator[Any, None]:
        after: str | None = None
        while True:
            asked = {**(query or {}), "after": after, "limit": MOST_LISTED}
            found = await self._ask(page, "GET", path, *parts, query=asked)
            for one in found.items:
                yield one
            after = found.next
            if after is None:
                return

    def _key(self, key: str | None) -> dict[str, str]:
        """The header by which a request that is sent again is done once, with a new key where none is given."""
        # A header carries ASCII only; keys that differ stay different.
        return {"Idempotency-Key": self._new_id() if key is None else quote(key, safe="!#$&'()*+,/:;=?@[]^`{|}~")}

    async def _ended(self, conversation: str, turn_id: str, how: str) -> None:
        await self._send("POST", "/conversations/{}/turns/{}/{}", conversation, turn_id, how)

    async def _turn(self, turn: Turn, delivery: DeliveryMode, budget: Budget | None) -> Injection:
        # Made of the Turn, which has an id before the first try: sent again it is the same turn.
        shared = {name: getattr(turn, name) for name in _TURN_FIELDS}
        request = TurnRequest(**shared, delivery=delivery, budget=budget)
        return await self._ask(Injection, "POST", "/conversations/{}/turns", turn.conversation, body=request)


async def _end(ending: Coroutine[Any, Any, None]) -> None:
    """End a claim; the host's call is over and must not fail for this: a claim that is left ends by itself."""
    try:
        await ending
    except SkillweaveError:
        log.warning("a claim was left to expire", exc_info=True)


def _row(several: Sequence[T] | None) -> tuple[T, ...] | None:
    return None if several is None else tuple(several)
