"""The engine's door: one turn in, one Injection out, the State kept in between."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Unpack
from uuid import uuid4

from skillweave.compose.verdict import Ruling, Verdict
from skillweave.conversation import Placement, Turn
from skillweave.diagnostics import Diagnostic
from skillweave.disclose.pricing import Pricing
from skillweave.errors import UnreadableState
from skillweave.events.cause import Cause
from skillweave.events.event import Event
from skillweave.events.observer import Observer
from skillweave.graph.findings import graph_findings
from skillweave.graph.graph import SkillGraph
from skillweave.injection import Injection
from skillweave.knowledge.context import ContextSource
from skillweave.limits import ToolLimits
from skillweave.registry import Changes, Registry, Snapshot
from skillweave.registry.registry import QUIET_SECONDS
from skillweave.select.candidates import Selection
from skillweave.select.limit import within_places
from skillweave.select.select import DEFAULT as DEFAULT_MATCHERS
from skillweave.settings import Settings
from skillweave.state.port import Logged, Store
from skillweave.state.state import Delivery, State, check_lifecycles, full_key
from skillweave.state.transitions import clear, evict
from skillweave.tokens.counter import CountedOnce, TokenCounter
from skillweave.tokens.vocabulary import Tiktoken
from skillweave.weaver.announce import Announcer
from skillweave.weaver.blocking import SyncWeaver
from skillweave.weaver.deliveries import Deliveries
from skillweave.weaver.emit import emit
from skillweave.weaver.engagements import Engagements
from skillweave.weaver.engine import Engine, OnStoreFailure
from skillweave.weaver.observers import OBSERVER_SECONDS, Observers
from skillweave.weaver.reads import Reads
from skillweave.weaver.skill_sets import SkillSets
from skillweave.weaver.turns import TurnFields, nothing_said, turn_of

log = logging.getLogger("skillweave")

FETCH_SECONDS = 2.0
"""The one deadline for artifacts and entity context."""


class Weaver(Deliveries, Engagements, Reads, SkillSets):
    """Puts the right skills into each turn of any number of conversations.

    Build one with `skillweave.open`, or from its parts: a Registry, a Store, Settings. All its state is in the Store,
    so that any number of Weavers over one Store behave as one. `graph` says where its conversations begin and go on; it
    goes before the one that a pack brings. `observers` are told what happened before a verb
    returns, each for at most `observer_seconds`.
    """

    def __init__(
        self,
        registry: Registry,
        store: Store,
        settings: Settings | None = None,
        *,
        counter: TokenCounter | None = None,
        context: ContextSource | None = None,
        graph: SkillGraph | None = None,
        matchers: tuple[str, ...] = DEFAULT_MATCHERS,
        on_store_failure: OnStoreFailure = OnStoreFailure.FAIL_OPEN,
        fetch_seconds: float = FETCH_SECONDS,
        observers: Sequence[Observer] = (),
        observer_seconds: float = OBSERVER_SECONDS,
        new_id: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        self._engine = Engine(
            registry=registry,
            store=store,
            settings=settings or Settings(),
            pricing=Pricing(CountedOnce(counter or Tiktoken())),
            matchers=matchers,
            context=context,
            on_store_failure=on_store_failure,
            fetch_seconds=fetch_seconds,
            announcer=Announcer(Observers(tuple(observers), observer_seconds), new_id),
            graph=graph,
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
        """The names of the matchers that run, in their order."""
        return self._engine.matchers

    @property
    def graph(self) -> SkillGraph | None:
        """The skill graph that was given, None where none was, or a pack brings it."""
        return self._engine.graph

    @property
    def counter(self) -> TokenCounter:
        """What counts tokens."""
        return self._engine.pricing.counter

    async def weave(self, message: str | Turn, **fields: Unpack[TurnFields]) -> Injection:
        """What to give to the model for this message, counted as given on return.

        A text needs `conversation=`; other fields of `Turn` go by name. The same turn id again gives the same
        messages and changes nothing. Under a time-out use `delivery`: a `weave` that is cancelled after it wrote counts
        as given. Raises Contended when other turns of the conversation win every race.
        """
        turn = turn_of(message, fields, self._new_id)
        return await self._engine.run(turn, Delivery.GIVEN)

    async def preview(self, message: str | Turn, **fields: Unpack[TurnFields]) -> Injection:
        """What `weave` would answer now; nothing is written."""
        turn = turn_of(message, fields, self._new_id)
        return await self._engine.look(turn)

    async def standing(
        self,
        conversation: str,
        *,
        tools: Sequence[str] | None = None,
        limits: ToolLimits | None = None,
        placement: Placement = Placement.HISTORY,
    ) -> Injection:
        """What is in force between two turns: the tool policy and the checkpoints that wait; nothing is written.

        For a host that judges a tool call without the Injection of its turn, in another process or after a person's
        verdict. While the ledger does not answer, the policy is what `on_store_failure` says, with a diagnostic.
        """
        turn = nothing_said(self._new_id(), conversation, tools=tools, limits=limits, placement=placement)
        return await self._engine.stand(turn)

    async def match(self, message: str | Turn, **fields: Unpack[TurnFields]) -> Selection:
        """What the matchers say to this message, whatever the conversation already has; nothing is written."""
        selection = await self._engine.match(turn_of(message, fields, self._new_id))
        return within_places(selection, self.settings.max_skills)

    async def authorize(
        self,
        injection: Injection,
        tool: str,
        arguments: Mapping[str, object] | None = None,
        *,
        call_id: str | None = None,
    ) -> Verdict:
        """What `injection.tools.authorize` rules on a call, and observers are told when it is denied.

        They are never told the arguments. `call_id` is the host's name for the call, so that one that is judged twice
        is told once.
        """
        verdict = injection.tools.authorize(tool, arguments)
        if verdict.ruling is Ruling.DENY:
            await self._engine.announcer.tool_blocked(injection, verdict, call_id)
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
            return await self.store.swap(conversation, error.revision, State())

    async def state(self, conversation: str) -> State:
        """All that is kept about a conversation."""
        state, _ = await self.store.load(conversation)
        return state

    async def why(self, conversation: str, skill_id: str | None = None) -> tuple[Logged, ...]:
        """The kept decisions of a conversation, of one skill or all, oldest first."""
        logged = await self.store.read(conversation)
        return tuple(entry for entry in logged if skill_id is None or entry.decision.skill_id == skill_id)

    async def snapshot(self) -> Snapshot:
        """The skills as they are now; read at first use."""
        return await self._engine.snapshot()

    async def refresh(self) -> Changes:
        """Read again what changed in the sources."""
        return await self._engine.refresh()

    def watch(self, *, quiet_seconds: float = QUIET_SECONDS) -> AsyncGenerator[Changes, None]:
        """Follow the files of the skills; every edit counts from the next turn on. See `Registry.watch`."""
        return self.registry.watch(quiet_seconds=quiet_seconds)

    async def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What there is to say about the skills: from reading them, their triggers, task rules and output contracts.

        Then from the skill graph's checkup and the catalog. The schemas of contracts are looked at where the package
        `jsonschema` is installed.
        """
        from skillweave.contracts import check_contracts

        compiled = await self._engine.current()
        snapshot = compiled.snapshot
        contracts = await asyncio.to_thread(check_contracts, snapshot.values())
        lifecycles = check_lifecycles(self.settings.lifecycles, snapshot.skills)
        about_skills = (*snapshot.diagnostics, *compiled.kit.diagnostics, *contracts)
        about_graph = await asyncio.to_thread(graph_findings, snapshot, self.graph)
        return (*about_skills, *about_graph, *compiled.shelf.diagnostics, *lifecycles)

    async def catalog(self) -> str:
        """The catalog block inside its budget."""
        return (await self._engine.current()).shelf.catalog.text

    async def tokens_of_everything(self) -> int:
        """Tokens of the whole catalog and the instructions of every active skill: what an agent without us would load.

        Counted once for each state of the skills, which takes a while the first time.
        """
        shelf = (await self._engine.current()).shelf
        return await asyncio.to_thread(lambda: shelf.everything)

    def variant(self, settings: Settings | None = None, matchers: Sequence[str] | None = None) -> "Weaver":
        """The same skills, ledger and observers with other settings or matchers, for one of several kinds of agents."""
        twin = copy(self)
        vars(twin)["sync"] = self.sync.over(twin)  # one loop, which is what a store's connections are bound to
        twin._engine = replace(  # noqa: SLF001 - a copy of oneself
            self._engine,
            settings=settings or self.settings,
            matchers=self.matchers if matchers is None else tuple(matchers),
            _compiled=None,
        )
        return twin

    @cached_property
    def sync(self) -> SyncWeaver:
        """The same verbs without `await`, also inside a running event loop."""
        return SyncWeaver(self)
