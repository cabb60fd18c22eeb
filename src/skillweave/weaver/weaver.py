"""The engine's door: one turn in, one Injection out, the State kept in between."""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TypedDict, Unpack
from uuid import uuid4

from skillweave.blocking import Awaited, Blocked, M, Verb, VerbBlock
from skillweave.cachefile import CacheFolder
from skillweave.checking import Checked
from skillweave.closing import ClosedOnExit, close_all
from skillweave.compose.policy import Ruling, Verdict
from skillweave.conversation import MessageLike, Placement, Turn, TurnFields, nothing_said, turn_of
from skillweave.disclose.fit import Pricing
from skillweave.errors import Contended, StoreUnavailable
from skillweave.events.event import Cause, Event, Observer, event_id
from skillweave.graph.graph import SkillGraph
from skillweave.injection import CurrentPolicy, Injection
from skillweave.knowledge.context import ContextSource
from skillweave.knowledge.entity import EntityGraph
from skillweave.limits import ToolLimits
from skillweave.loop_thread import LoopThread, OnLoopThread
from skillweave.registry import Registry
from skillweave.select.matchers import Matcher
from skillweave.select.selection import DEFAULT as DEFAULT_MATCHERS
from skillweave.select.selection import find_matchers
from skillweave.settings import Settings
from skillweave.state.breaker import WatchedLedger
from skillweave.state.port import Logged, Store
from skillweave.state.state import Delivery, State, confirm, evict, full_key, held_keys, release
from skillweave.tenants import tenant_of
from skillweave.tokens.counter import Tiktoken, TokenCounter
from skillweave.turn.library import Common, Libraries
from skillweave.weaver.approvals import ApprovalsView
from skillweave.weaver.composition import CompositionView
from skillweave.weaver.emit import require_announced
from skillweave.weaver.engine import Engine, OnStoreFailure, View, WhenUnknown
from skillweave.weaver.entities import EntitiesView
from skillweave.weaver.entity_graph import of_tenant, require_one
from skillweave.weaver.judging import ApprovableCall, rule_once
from skillweave.weaver.ledger import LedgerView
from skillweave.weaver.skills import SkillsView
from skillweave.weaver.telling import OBSERVER_SECONDS, Observers
from skillweave.weaver.tools import ToolsView

log = logging.getLogger("skillweave")

FETCH_SECONDS = 2.0
"""The one deadline for artifacts and entity context."""


class WeaverVerbs(View[M]):
    """The verbs of a Weaver, and its views: awaited on a Weaver, blocking on a SyncWeaver."""

    _loop: LoopThread
    """Runs the verbs of the SyncWeaver; it is started at their first use."""

    @property
    def settings(self) -> Settings:
        """What stays the same from turn to turn."""
        return self._engine.settings

    @property
    def skills(self) -> SkillsView[M]:
        """The skills that turns choose from, and their graph."""
        return SkillsView(self._engine, self._thread)

    @property
    def composition(self) -> CompositionView[M]:
        """Skills by name: for a task, together, for a sub-agent."""
        return CompositionView(self._engine, self._thread)

    @property
    def tools(self) -> ToolsView[M]:
        """Skillweave's own tools, which a model calls."""
        return ToolsView(self._engine, self._thread)

    @property
    def approvals(self) -> ApprovalsView[M]:
        """What people decide at checkpoints."""
        return ApprovalsView(self._engine, self._thread)

    @property
    def ledger(self) -> LedgerView[M]:
        """What is kept of each conversation."""
        return LedgerView(self._engine, self._thread)

    @property
    def entities(self) -> EntitiesView[M]:
        """The things that skills are given context about."""
        return EntitiesView(self._engine, self._thread)

    @Verb
    async def weave(self, message: MessageLike | Turn, **fields: Unpack[TurnFields]) -> Injection:
        """What to give to the model for this message, counted as given on return.

        A text, a Message, or a mapping with `role` and `content` needs `conversation=`; other fields of `Turn` go by
        name. The same turn id again gives the same
        messages and changes nothing. Under a time-out use `delivery`: a `weave` that is cancelled after it wrote counts
        as given. Raises Contended when other turns of the conversation win every race.
        """
        turn = turn_of(message, fields, self._engine.new_id)
        return await self._engine.run(turn, Delivery.GIVEN)

    @Verb
    async def claim(self, message: MessageLike | Turn, **fields: Unpack[TurnFields]) -> Injection:
        """What `weave` answers, claimed for 60 s: `confirm` says that it was delivered, `release` that it was not.

        For a host whose delivery ends in another process; others use `delivery`.
        """
        turn = turn_of(message, fields, self._engine.new_id)
        return await self._engine.run(turn, Delivery.CLAIMED)

    @Verb
    async def preview(self, message: MessageLike | Turn, **fields: Unpack[TurnFields]) -> Injection:
        """What `weave` would answer now; nothing is written."""
        turn = turn_of(message, fields, self._engine.new_id)
        return await self._engine.look(turn)

    @VerbBlock
    @asynccontextmanager
    async def delivery(self, message: MessageLike | Turn, **fields: Unpack[TurnFields]) -> AsyncIterator[Injection]:
        """What `weave` answers, in two phases: claimed inside the block, confirmed on its exit, released if it raises.

        While claimed (at most 60 s) no other turn gives the same text. What `approvals.hold` keeps inside the block its
        end neither confirms nor releases.
        """
        turn = turn_of(message, fields, self._engine.new_id)
        try:
            injection = await self._engine.run(turn, Delivery.CLAIMED)
        except asyncio.CancelledError:
            # The store may have written the claim, although nobody waits for it any more.
            await _close_claim(self._engine, turn, lambda state, _: release(state, turn.id))
            raise
        try:
            yield injection
        except BaseException:
            await _close_claim(self._engine, turn, lambda state, _: release(state, turn.id))
            raise
        await _close_claim(self._engine, turn, lambda state, now: confirm(state, turn.id, now))

    @Verb
    async def confirm(self, conversation: str, turn_id: str) -> bool:
        """What this turn claimed was delivered; False when it has no open claims."""
        return await self._engine.change(conversation, lambda state, now: confirm(state, turn_id, now))

    @Verb
    async def release(self, conversation: str, turn_id: str) -> bool:
        """What this turn claimed was not delivered and is given again when wanted; False when it has no open claims."""
        return await self._engine.change(
            conversation, lambda state, _: release(state, turn_id), cause=Cause.RELEASED, turn_id=turn_id
        )

    @Verb
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
        policy is handed back. While the State cannot be read, the policy is what `when_unknown` says, with a
        diagnostic.
        """
        silent = nothing_said(
            turn_id or self._engine.new_id(), conversation, tools=tools, limits=limits, placement=placement
        )
        return await self._engine.policy(silent, held)

    @Verb
    async def authorize(
        self,
        policy: Injection | CurrentPolicy,
        tool: str,
        arguments: Mapping[str, object] | None = None,
        *,
        call_id: str | None = None,
        parameters: Sequence[str] | None = None,
        host_tools: Iterable[str] | None = None,
        limits: ToolLimits | None = None,
        key: str = "",
    ) -> Verdict:
        """Rules on a call that is about to run; a call that a person approved is let through once.

        Ask it directly before the tool runs. The ledger is asked only where a checkpoint stands before the call: what
        was said of it is used up in the same step, so that of all who ask at one moment one gets `allow`; a question is
        noted, so that a yes which comes after the user's next message is void. Where that cannot be written the call is
        denied with the code STATE_UNAVAILABLE. Observers are told of a denied call, never of its arguments.

        `call_id` is the model's id of the call, by which a person's yes to it is known; `parameters` and `host_tools`
        are those of `ToolPolicy.authorize`, `limits` those of the calling agent's turns, where it was spawned. `key`
        names the request: asked again with the same key, an approved call gets the same answer.
        """
        names = host_tools if host_tools is None or isinstance(host_tools, str) else tuple(host_tools)
        verdict = policy.tools.authorize(tool, arguments, call_id=call_id, parameters=parameters, host_tools=names)
        if verdict.ruling is Ruling.ASK and call_id:
            call = ApprovableCall(tool, arguments, call_id, parameters, names, limits, key)
            verdict = await rule_once(self._engine, policy, verdict, call)
        if verdict.ruling is Ruling.DENY and self._engine.observers.listening:
            from skillweave.weaver.events import blocked_event

            event = blocked_event(policy, verdict, call_id, self._engine.new_id)
            await self._engine.observers.tell(event.conversation, (event,)).ended()
        return verdict

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
        """Tell observers one of the skill's own events, which must be in its `emits`; the skill must be in force.

        The payload is a JSON object (at most 64 Ki characters, 5,000 values, 32 levels) that fits the schema which a
        pack declares for the event, if one does. The same `key` again tells the same event again, with the same id;
        without one each call is a new event. Raises SkillNotFound, EventRefused, StoreUnavailable, and MissingExtra
        where a schema cannot be checked.
        """
        engine = self._engine
        snapshot = await engine.snapshot()
        state, _ = await engine.watched.ledger.load(conversation, tenant=engine.tenant)
        announced = require_announced(snapshot, state, conversation, skill_id, event_type, payload)
        # The host's key becomes part of an id and never one itself: so it can neither forge an id nor break a stream.
        made = engine.new_id() if key is None else event_id(conversation, skill_id, event_type, key)
        event = Event(made, event_type, conversation, turn_id, announced)
        await engine.observers.tell(conversation, (event,)).ended()
        return event

    @Verb
    async def evict(self, conversation: str, key: str) -> bool:
        """Forget that something was given, so that it is given again when wanted; False when it was not recorded.

        `key` is a skill's id, or a ledger key such as `artifact:{skill}/{id}` or `context:{entity}:{section}`.
        """
        full = full_key(key)
        return await self._engine.change(conversation, lambda state, _: evict(state, full))

    @Verb
    async def why(self, conversation: str, skill_id: str | None = None) -> tuple[Logged, ...]:
        """The kept decisions of a conversation, of one skill or all, oldest first."""
        logged = await self._engine.store.read(conversation, tenant=self._engine.tenant)
        return tuple(entry for entry in logged if skill_id is None or entry.decision.skill_id == skill_id)

    @Verb
    async def for_agent(self, agent_id: str) -> "Weaver":
        """This Weaver for an agent that a source describes: the agent's skills are all that there is.

        Another skill is unknown: no turn gives it, no catalog names it, no tool opens it, and a skill of the agent's
        that requires one is not given (`unmet`). The agent's checkpoints stand at each of its skills beside the skill's
        own, and a verdict is on one skill. Its budget `tokens_per_execution` bounds the tokens of skill text in the
        context of each call, as `Settings.budget.total` does; other budgets are only told, in `skills.agent`.

        It follows the sources: a change of the agent or of a skill counts from the next turn on. An agent that is
        described nowhere any more has neither skills nor rules, so that its turns and policies raise AgentNotFound.

        Raises AgentNotFound, and SourceUnavailable where the skills were never read.
        """
        known = Checked("weaver.for_agent").text("agent_id", agent_id)
        return _weaver_with(await self._engine.for_agent(known), self._loop)


async def _close_claim(engine: Engine, turn: Turn, change: Callable[[State, float], State]) -> None:
    def unless_held(state: State, now: float) -> State:
        return state if held_keys(state, turn.id) else change(state, now)

    try:
        await engine.change(turn.conversation, unless_held, cause=Cause.RELEASED, turn_id=turn.id)
    except (StoreUnavailable, Contended):
        # The host's call is over and must not fail for this: the claim ends by itself, then the text counts as
        # not delivered and is given again.
        log.warning("a claim in conversation %r was left to expire", turn.conversation, exc_info=True)


class WeaverOptions(TypedDict, total=False):
    """What a Weaver may be built with beside its parts.

    `graph` says where its conversations begin and go on; it goes before the one that a pack brings. `context` says what
    is known about an entity; in its place `entities` is a graph of them, of which the packs say what is shown.
    `on_store_failure` and `when_unknown` say what becomes of turns and of tool calls while the ledger does not answer.
    `observers` are told what happened before a verb returns, each for at most `observer_seconds`. `cache` is a folder
    to keep compiled indexes in, for other processes. `like` is a Weaver with the same counter: what its registry shows
    too, in the very same snapshot, is compiled once. `fetch_seconds` is the one deadline for artifacts and entity
    context.
    """

    counter: TokenCounter | None
    context: ContextSource | None
    entities: EntityGraph | None
    graph: SkillGraph | None
    matchers: Sequence[str | Matcher]
    on_store_failure: OnStoreFailure
    when_unknown: WhenUnknown
    fetch_seconds: float
    observers: Sequence[Observer]
    observer_seconds: float
    tenant: str
    cache: str | os.PathLike[str] | None
    like: "Weaver | None"
    new_id: Callable[[], str]


class Weaver(WeaverVerbs[Awaited], ClosedOnExit):
    """Puts the right skills into each turn of any number of conversations.

    Build one with `skillweave.open`, or from its parts: a Registry, a Store, Settings. All its state is in the Store,
    so that any number of Weavers over one Store behave as one. Its other arguments are those of WeaverOptions.

    Raises InvalidValue for an argument of another type than is wanted, UnknownMatcher for a matcher's name.
    """

    def __init__(
        self, registry: Registry, store: Store, settings: Settings | None = None, **options: Unpack[WeaverOptions]
    ) -> None:
        unknown = sorted(options.keys() - WeaverOptions.__optional_keys__)
        if unknown:
            raise TypeError(
                f"a Weaver has no option {unknown[0]!r}; use {', '.join(sorted(WeaverOptions.__optional_keys__))}"
            )
        super().__init__(_engine_of(registry, store, settings, options))
        self._loop = LoopThread()

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
        before = self._engine.tenant
        whose = before if tenant is None else tenant_of(tenant)
        engine = replace(
            self._engine,
            settings=settings or self.settings,
            matchers=self._engine.matchers if matchers is None else find_matchers(matchers),
            tenant=whose,
            entities=of_tenant(self._engine.entities, before=before, now=whose),
            _library=None,
        )
        return _weaver_with(engine, self._loop)

    async def close(self) -> None:
        """Give back what ledger, sources and entity graph hold; a variant shares these, so close one of them, last."""
        await close_all((self._engine.store, self._engine.registry, self._engine.entities))

    @cached_property
    def sync(self) -> "SyncWeaver":
        """These verbs and views without `await`, also inside a running event loop."""
        return SyncWeaver(self, self._loop)


class SyncWeaver(WeaverVerbs[Blocked], OnLoopThread[Weaver]):
    """The verbs of a Weaver, blocking, on one private event-loop thread; made by `weaver.sync`."""

    def __init__(self, awaited: Weaver, thread: LoopThread) -> None:
        View.__init__(self, awaited._engine, thread)  # noqa: SLF001 - its twin
        OnLoopThread.__init__(self, awaited, thread)
        self._loop = thread


def _weaver_with(engine: Engine, loop: LoopThread) -> Weaver:
    """A Weaver of the same parts; on one loop, which is what a store's connections are bound to."""
    weaver = Weaver.__new__(Weaver)
    View.__init__(weaver, engine)
    weaver._loop = loop  # noqa: SLF001 - a constructor
    return weaver


def _engine_of(registry: Registry, store: Store, settings: Settings | None, options: WeaverOptions) -> Engine:
    checked = Checked("Weaver")
    context, entities, graph = options.get("context"), options.get("entities"), options.get("graph")
    counter, cache, like = options.get("counter"), options.get("cache"), options.get("like")
    if settings is not None:
        checked.kind("settings", settings, Settings, "skillweave.Settings(...), or None")
    if graph is not None:
        checked.kind("graph", graph, SkillGraph, "a skillweave.graph.SkillGraph, or None")
    if counter is not None and not callable(getattr(counter, "count", None)):
        checked.refuse("counter", counter, "a TokenCounter, which has a method `count`, or None")
    require_one(checked, context, entities)
    # Whether a store is silent, those know together that share it.
    beside = None if like is None or like._engine.store is not store else like._engine  # noqa: SLF001
    observers = checked.listed("observers", options.get("observers", ()), "Observers")
    for position, observer in enumerate(observers):
        if not callable(getattr(observer, "observe", None)):
            checked.refuse(
                f"observers[{position}]", observer, "an Observer, such as skillweave.events.Callback(function)"
            )
    return Engine(
        registry=checked.kind("registry", registry, Registry, "a Registry of sources"),
        store=store,
        watched=WatchedLedger(store) if beside is None else beside.watched,
        settings=settings or Settings(),
        libraries=Libraries(
            Pricing(counter or Tiktoken()),
            None if cache is None else CacheFolder(Path(cache)),
            common=None if like is None else Common(like.skills.registry, like._engine.libraries),  # noqa: SLF001
        ),
        matchers=find_matchers(options.get("matchers", DEFAULT_MATCHERS)),
        context=context,
        on_store_failure=checked.member(
            "on_store_failure", options.get("on_store_failure", OnStoreFailure.CONTINUE), OnStoreFailure
        ),
        when_unknown=checked.member("when_unknown", options.get("when_unknown", WhenUnknown.DENY), WhenUnknown),
        fetch_seconds=checked.number("fetch_seconds", options.get("fetch_seconds", FETCH_SECONDS)),
        observers=Observers(observers, options.get("observer_seconds", OBSERVER_SECONDS)),
        new_id=options.get("new_id", lambda: uuid4().hex),
        graph=graph,
        tenant=tenant_of(checked.text("tenant", options.get("tenant", ""))),
        entities=entities,
    )
