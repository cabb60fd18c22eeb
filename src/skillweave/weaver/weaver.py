"""The engine's door: one turn in, one Injection out, the State kept in between."""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from copy import copy
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypeVar, Unpack
from uuid import uuid4

from skillweave.blocking import Blocking, BlockingBlock
from skillweave.cachefile import CacheFolder
from skillweave.checking import Checked
from skillweave.closing import ClosedOnExit, close_all
from skillweave.compose.policy import Ruling, Verdict
from skillweave.conversation import MessageLike, Placement, Turn, TurnFields, nothing_said, turn_of
from skillweave.diagnostics import Diagnostic
from skillweave.disclose.fit import Pricing
from skillweave.errors import AgentNotFound, Contended, StoreUnavailable, UnreadableState
from skillweave.events.event import Cause, Event, Observer
from skillweave.graph.findings import graph_findings
from skillweave.graph.graph import SkillGraph
from skillweave.injection import CurrentPolicy, Injection
from skillweave.knowledge.context import ContextSource
from skillweave.knowledge.entity import EntityGraph
from skillweave.knowledge.findings import context_findings
from skillweave.limits import ToolLimits
from skillweave.loop_thread import LoopThread, OnLoopThread
from skillweave.registry import Agent, Changes, Registry, Snapshot
from skillweave.registry.registry import QUIET_SECONDS
from skillweave.relations.rules import check_companions
from skillweave.select.candidates import Selection, within_places
from skillweave.select.matchers import Matcher
from skillweave.select.selection import DEFAULT as DEFAULT_MATCHERS
from skillweave.select.selection import find_matchers
from skillweave.settings import Settings
from skillweave.state.port import Logged, Store
from skillweave.state.state import (
    Delivery,
    State,
    Writes,
    check_lifecycles,
    clear,
    confirm,
    evict,
    full_key,
    held_keys,
    release,
)
from skillweave.tenants import tenant_of
from skillweave.tokens.counter import Tiktoken, TokenCounter
from skillweave.turn.library import Common, Libraries
from skillweave.weaver.emit import emit
from skillweave.weaver.engine import Engine, OnStoreFailure
from skillweave.weaver.entities import found_in, of_tenant, require_one
from skillweave.weaver.reading import Reads
from skillweave.weaver.skill_sets import SkillSets
from skillweave.weaver.surroundings import Surroundings
from skillweave.weaver.telling import OBSERVER_SECONDS, Announcer, Observers
from skillweave.weaver.verdicts import Engagements

T = TypeVar("T")

log = logging.getLogger("skillweave")

FETCH_SECONDS = 2.0
"""The one deadline for artifacts and entity context."""


class Weaver(Engagements, Reads, SkillSets, Surroundings, ClosedOnExit):
    """Puts the right skills into each turn of any number of conversations.

    Build one with `skillweave.open`, or from its parts: a Registry, a Store, Settings. All its state is in the Store,
    so that any number of Weavers over one Store behave as one. `graph` says where its conversations begin and go on; it
    goes before the one that a pack brings. `context` says what is known about an entity; in its place `entities` is a
    graph of them, of which the packs say what is shown. `observers` are told what happened before a verb
    returns, each for at most `observer_seconds`. `cache` is a folder to keep compiled indexes in, for other processes.
    `like` is a Weaver with the same counter: what its registry shows too, in the very same snapshot, is compiled once.

    Raises InvalidValue for an argument of another type than is wanted, UnknownMatcher for a matcher's name.
    """

    def __init__(
        self,
        registry: Registry,
        store: Store,
        settings: Settings | None = None,
        *,
        counter: TokenCounter | None = None,
        context: ContextSource | None = None,
        entities: EntityGraph | None = None,
        graph: SkillGraph | None = None,
        matchers: Sequence[str | Matcher] = DEFAULT_MATCHERS,
        on_store_failure: OnStoreFailure = OnStoreFailure.FAIL_OPEN,
        fetch_seconds: float = FETCH_SECONDS,
        observers: Sequence[Observer] = (),
        observer_seconds: float = OBSERVER_SECONDS,
        tenant: str = "",
        cache: str | os.PathLike[str] | None = None,
        like: "Weaver | None" = None,
        new_id: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        checked = Checked("Weaver")
        if settings is not None:
            checked.kind("settings", settings, Settings, "skillweave.Settings(...), or None")
        if graph is not None:
            checked.kind("graph", graph, SkillGraph, "a skillweave.graph.SkillGraph, or None")
        if counter is not None and not callable(getattr(counter, "count", None)):
            checked.refuse("counter", counter, "a TokenCounter, which has a method `count`, or None")
        require_one(checked, context, entities)
        for position, observer in enumerate(checked.listed("observers", observers, "Observers")):
            if not callable(getattr(observer, "observe", None)):
                checked.refuse(f"observers[{position}]", observer, "an Observer, such as skillweave.Callback(function)")
        self._engine = Engine(
            registry=checked.kind("registry", registry, Registry, "a Registry of sources"),
            store=store,
            settings=settings or Settings(),
            libraries=Libraries(
                Pricing(counter or Tiktoken()),
                None if cache is None else CacheFolder(Path(cache)),
                common=None if like is None else Common(like.registry, like._engine.libraries),  # noqa: SLF001 - another of the same class
            ),
            matchers=find_matchers(matchers),
            context=context,
            on_store_failure=checked.member("on_store_failure", on_store_failure, OnStoreFailure),
            fetch_seconds=checked.number("fetch_seconds", fetch_seconds),
            announcer=Announcer(Observers(tuple(observers), observer_seconds), new_id),
            graph=graph,
            tenant=tenant_of(checked.text("tenant", tenant)),
            entities=entities,
        )
        self._new_id = new_id

    @property
    def registry(self) -> Registry:
        """Where the skills are; what is registered there is used from the next turn on."""
        return self._engine.registry

    @property
    def store(self) -> Store:
        """Where conversations are kept."""
        return self._engine.store

    @property
    def settings(self) -> Settings:
        """What stays the same from turn to turn."""
        return self._engine.settings

    @property
    def matchers(self) -> tuple[str, ...]:
        """The names of the matchers that take part, strongest first."""
        return self._engine.matchers.names

    @property
    def graph(self) -> SkillGraph | None:
        """The skill graph that was given, None where none was, or a pack brings it."""
        return self._engine.graph

    @property
    def tenant(self) -> str:
        """Whose conversations these are; the empty text for the default tenant, also when it was called `default`."""
        return self._engine.tenant

    @property
    def agent(self) -> Agent | None:
        """The agent that this Weaver is for, as it is described now; None for a Weaver with all skills.

        Raises AgentNotFound where it is not described any more.
        """
        agent_id = self._engine.libraries.agent_id
        if agent_id is None:
            return None
        known = self.registry.snapshot.agents
        if agent_id not in known:
            raise AgentNotFound(agent_id, known)
        return known[agent_id]

    @property
    def counter(self) -> TokenCounter:
        """What counts tokens."""
        return self._engine.libraries.pricing.counter

    async def weave(self, message: MessageLike | Turn, **fields: Unpack[TurnFields]) -> Injection:
        """What to give to the model for this message, counted as given on return.

        A text, a Message, or a mapping with `role` and `content` needs `conversation=`; other fields of `Turn` go by
        name. The same turn id again gives the same
        messages and changes nothing. Under a time-out use `delivery`: a `weave` that is cancelled after it wrote counts
        as given. Raises Contended when other turns of the conversation win every race.
        """
        turn = turn_of(message, fields, self._new_id)
        return await self._engine.run(turn, Delivery.GIVEN)

    async def claim(self, message: MessageLike | Turn, **fields: Unpack[TurnFields]) -> Injection:
        """What `weave` answers, claimed for 60 s: `confirm` says that it was delivered, `release` that it was not.

        For a host whose delivery ends in another process; others use `delivery`.
        """
        turn = turn_of(message, fields, self._new_id)
        return await self._engine.run(turn, Delivery.CLAIMED)

    async def preview(self, message: MessageLike | Turn, **fields: Unpack[TurnFields]) -> Injection:
        """What `weave` would answer now; nothing is written."""
        turn = turn_of(message, fields, self._new_id)
        return await self._engine.look(turn)

    @asynccontextmanager
    async def delivery(self, message: MessageLike | Turn, **fields: Unpack[TurnFields]) -> AsyncIterator[Injection]:
        """What `weave` answers, in two phases: claimed inside the block, confirmed on its exit, released if it raises.

        While claimed (at most 60 s) no other turn gives the same text. What is put on `hold` inside the block its end
        neither confirms nor releases.
        """
        turn = turn_of(message, fields, self._new_id)
        try:
            injection = await self._engine.run(turn, Delivery.CLAIMED)
        except asyncio.CancelledError:
            # The store may have written the claim, although nobody waits for it any more.
            await self._close_claim(turn, lambda state, _: release(state, turn.id))
            raise
        try:
            yield injection
        except BaseException:
            await self._close_claim(turn, lambda state, _: release(state, turn.id))
            raise
        await self._close_claim(turn, lambda state, now: confirm(state, turn.id, now))

    async def _close_claim(self, turn: Turn, change: Callable[[State, float], State]) -> None:
        def unless_held(state: State, now: float) -> State:
            return state if held_keys(state, turn.id) else change(state, now)

        try:
            await self._engine.change(turn.conversation, unless_held, cause=Cause.RELEASED, turn_id=turn.id)
        except (StoreUnavailable, Contended):
            # The host's call is over and must not fail for this: the claim ends by itself, then the text counts as
            # not delivered and is given again.
            log.warning("a claim in conversation %r was left to expire", turn.conversation, exc_info=True)

    async def current_policy(
        self,
        conversation: str,
        *,
        tools: Sequence[str] | None = None,
        limits: ToolLimits | None = None,
        placement: Placement = Placement.HISTORY,
        turn_id: str | None = None,
        held: Injection | CurrentPolicy | None = None,
    ) -> CurrentPolicy:
        """The tool policy between two turns and the checkpoints that wait; one look into the ledger, nothing written.

        For a host that judges a tool call in another process than its turn, or after a person's verdict. `held` is what
        it has of this agent already, made with the same tools and limits: while the State is still the same, its
        policy is handed back. While the ledger does not answer, the policy is what `on_store_failure` says, with a
        diagnostic.
        """
        silent = nothing_said(turn_id or self._new_id(), conversation, tools=tools, limits=limits, placement=placement)
        return await self._engine.policy(silent, held)

    async def match(self, message: MessageLike | Turn, **fields: Unpack[TurnFields]) -> Selection:
        """What the matchers say to this message, whatever the conversation already has; nothing is written."""
        selection = await self._engine.match(turn_of(message, fields, self._new_id))
        return within_places(selection, self.settings.max_skills)

    async def authorize(
        self,
        policy: Injection | CurrentPolicy,
        tool: str,
        arguments: Mapping[str, object] | None = None,
        *,
        call_id: str | None = None,
        parameters: Sequence[str] | None = None,
        host_tools: Iterable[str] | None = None,
    ) -> Verdict:
        """What `policy.tools.authorize` rules on a call, and observers are told when it is denied; reads nothing.

        They are never told the arguments. `call_id` is the model's id of the call: a person's yes to one call is known
        by it, and one that is judged twice is told once; `parameters` and `host_tools` are those of
        `ToolPolicy.authorize`.
        """
        verdict = policy.tools.authorize(tool, arguments, call_id=call_id, parameters=parameters, host_tools=host_tools)
        if verdict.ruling is Ruling.DENY:
            await self._engine.announcer.tool_blocked(policy, verdict, call_id)
        return verdict

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
        """Tell observers one of the skill's own events, which must be in its `emits`; the skill must be in force.

        The payload is a JSON object (at most 64 Ki characters, 5,000 values, 32 levels) that fits the schema which a
        pack declares for the event, if one does. The same `key` again tells the same event again, with the same id;
        without one each call is a new event. Raises SkillNotFound, EventRefused, StoreUnavailable, and MissingExtra
        where a schema cannot be checked.
        """
        return await emit(self._engine, conversation, skill_id, event_type, payload, turn_id, key)

    async def evict(self, conversation: str, key: str) -> bool:
        """Forget that something was given, so that it is given again when wanted; False when it was not recorded.

        `key` is a skill's id, or a ledger key such as `artifact:{skill}/{id}` or `context:{entity}:{section}`.
        """
        full = full_key(key)
        return await self._engine.change(conversation, lambda state, _: evict(state, full))

    async def clear(self, conversation: str) -> bool:
        """Forget everything about a conversation but its decisions, also one that cannot be read any more.

        False when nothing was known.
        """
        try:
            return await self._engine.change(conversation, lambda state, _: clear(state), cause=Cause.CLEARED)
        except UnreadableState as error:
            return await self.store.swap(conversation, error.revision, Writes(State()), tenant=self.tenant)

    async def state(self, conversation: str) -> State:
        """All that is kept about a conversation."""
        state, _ = await self.store.load(conversation, tenant=self.tenant)
        return state

    async def why(self, conversation: str, skill_id: str | None = None) -> tuple[Logged, ...]:
        """The kept decisions of a conversation, of one skill or all, oldest first."""
        logged = await self.store.read(conversation, tenant=self.tenant)
        return tuple(entry for entry in logged if skill_id is None or entry.decision.skill_id == skill_id)

    async def snapshot(self) -> Snapshot:
        """The skills as they are now; read at first use."""
        return await self._engine.snapshot()

    async def make_ready(self) -> None:
        """Read and compile the skills now, vectors of an embedder included, so that no turn waits for them.

        Raises what an embedder raises that cannot be used; turns would then rank by words alone, and say so.
        """
        await self._engine.make_ready()

    async def refresh(self) -> Changes:
        """Read again what changed in the sources."""
        return await self._engine.refresh()

    def watch(self, *, quiet_seconds: float = QUIET_SECONDS) -> AsyncGenerator[Changes, None]:
        """Follow the files of the skills; every edit counts from the next turn on. See `Registry.watch`."""
        return self.registry.watch(quiet_seconds=quiet_seconds)

    async def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What there is to say about the skills: from reading them, their triggers, task rules and output contracts.

        Then from the skill graph's checkup, the rules and the file of entities, and the catalog. The schemas of
        contracts are looked at where the package `jsonschema` is installed.
        """
        from skillweave.contracts import check_contracts

        library = await self._engine.library()
        snapshot = library.snapshot
        contracts = await asyncio.to_thread(check_contracts, snapshot.values())
        lifecycles = check_lifecycles(self.settings.lifecycles, snapshot.skills)
        companions = await asyncio.to_thread(check_companions, snapshot)
        about_skills = (*snapshot.diagnostics, *library.index.diagnostics, *companions, *contracts)
        about_graph = await asyncio.to_thread(graph_findings, snapshot, self.graph)
        entities = self._engine.entities
        about_context = context_findings(snapshot, library.entities, entities=entities is not None)
        about_entities = await found_in(entities, library.entities.rules)
        return (*about_skills, *about_graph, *about_context, *about_entities, *library.catalog.diagnostics, *lifecycles)

    async def catalog(self) -> str:
        """The catalog block inside its budget."""
        return (await self._engine.library()).catalog.catalog.text

    async def tokens_of_everything(self) -> int:
        """Tokens of the whole catalog and the instructions of every active skill: what an agent without us would load.

        Counted once for each state of the skills, which takes a while the first time.
        """
        catalog = (await self._engine.library()).catalog
        return await asyncio.to_thread(lambda: catalog.everything)

    def variant(
        self,
        settings: Settings | None = None,
        matchers: Sequence[str | Matcher] | None = None,
        tenant: str | None = None,
    ) -> "Weaver":
        """These skills, this ledger and these observers with other settings, matchers or another tenant.

        For one of several kinds of agents, or of several customers with the same skills; what can be shared is
        compiled once for all. Another tenant has its own part of an entity graph that keeps tenants apart. Who has
        skills of its own in a shared store opens a Weaver of its own.
        """
        whose = self.tenant if tenant is None else tenant_of(tenant)
        engine = replace(
            self._engine,
            settings=settings or self.settings,
            matchers=self._engine.matchers if matchers is None else find_matchers(matchers),
            tenant=whose,
            entities=of_tenant(self._engine.entities, before=self.tenant, now=whose),
            _library=None,
        )
        return self._twin(engine)

    async def for_agent(self, agent_id: str) -> "Weaver":
        """This Weaver for an agent that a source describes: the agent's skills are all that there is.

        Another skill is unknown: no turn gives it, no catalog names it, no tool opens it, and a skill of the agent's
        that requires one is not given (`unmet`). The agent's checkpoints stand at each of its skills beside the skill's
        own, and a verdict is on one skill. Its budget `tokens_per_execution` bounds the tokens of skill text in the
        context of each call, as `Settings.budget.total` does; other budgets are only told, in `agent`.

        It follows the sources: a change of the agent or of a skill counts from the next turn on. An agent that is
        described nowhere any more has neither skills nor rules, so that its turns and policies raise AgentNotFound.

        Raises AgentNotFound, and SourceUnavailable where the skills were never read.
        """
        known = Checked("weaver.for_agent").text("agent_id", agent_id)
        return self._twin(await self._engine.for_agent(known))

    def _twin(self, engine: Engine) -> "Weaver":
        twin = copy(self)
        # One loop, which is what a store's connections are bound to.
        vars(twin)["sync"] = SyncWeaver(twin, self.sync.thread)
        twin._engine = engine  # noqa: SLF001 - a copy of oneself
        return twin

    async def close(self) -> None:
        """Give back what ledger, sources and entity graph hold; a variant shares these, so close one of them, last."""
        await close_all((self.store, self.registry, self._engine.entities))

    @cached_property
    def sync(self) -> "SyncWeaver":
        """These verbs without `await`, also inside a running event loop."""
        return SyncWeaver(self, LoopThread())


class SyncWeaver(OnLoopThread[Weaver]):
    """The verbs of a Weaver, blocking, on one private event-loop thread; made by `weaver.sync`."""

    weave = Blocking(Weaver.weave)
    claim = Blocking(Weaver.claim)
    preview = Blocking(Weaver.preview)
    current_policy = Blocking(Weaver.current_policy)
    match = Blocking(Weaver.match)
    authorize = Blocking(Weaver.authorize)
    emit = Blocking(Weaver.emit)
    evict = Blocking(Weaver.evict)
    clear = Blocking(Weaver.clear)
    state = Blocking(Weaver.state)
    why = Blocking(Weaver.why)
    for_agent = Blocking(Weaver.for_agent)
    snapshot = Blocking(Weaver.snapshot)
    make_ready = Blocking(Weaver.make_ready)
    refresh = Blocking(Weaver.refresh)
    diagnostics = Blocking(Weaver.diagnostics)
    catalog = Blocking(Weaver.catalog)
    tokens_of_everything = Blocking(Weaver.tokens_of_everything)
    read_skill = Blocking(Weaver.read_skill)
    read_artifact = Blocking(Weaver.read_artifact)
    list_skills = Blocking(Weaver.list_skills)
    search_skills = Blocking(Weaver.search_skills)
    call_tool = Blocking(Weaver.call_tool)
    disengage = Blocking(Weaver.disengage)
    unload = Blocking(Weaver.unload)
    hold = Blocking(Weaver.hold)
    confirm = Blocking(Weaver.confirm)
    release = Blocking(Weaver.release)
    mark = Blocking(Weaver.mark)
    decide = Blocking(Weaver.decide)
    consent = Blocking(Weaver.consent)
    reconsider = Blocking(Weaver.reconsider)
    select_skills = Blocking(Weaver.select_skills)
    explain_task = Blocking(Weaver.explain_task)
    complete = Blocking(Weaver.complete)
    validate = Blocking(Weaver.validate)
    compose = Blocking(Weaver.compose)
    check_output = Blocking(Weaver.check_output)
    prepare_spawn = Blocking(Weaver.prepare_spawn)
    spawned = Blocking(Weaver.spawned)
    skill_graph = Blocking(Weaver.skill_graph)
    entity = Blocking(Weaver.entity)
    entity_context = Blocking(Weaver.entity_context)
    delivery = BlockingBlock(Weaver.delivery)
