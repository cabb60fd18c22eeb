"""What stands around the pure core: reads before it, one write after it, and observers who are told."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import TypeVar

from skillweave.compose.composition import closed
from skillweave.compose.policy import ALL_IN_SCOPE, ToolPolicy
from skillweave.conversation import Turn, require_id
from skillweave.decisions import Decision
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.errors import AgentNotFound, StoreUnavailable
from skillweave.events.event import Cause, Event, Kept
from skillweave.graph.graph import SkillGraph
from skillweave.injection import DECISIONS_NOT_KEPT, LEDGER_UNAVAILABLE, CurrentPolicy, Injection
from skillweave.knowledge.assemble import GraphContext
from skillweave.knowledge.context import ContextSource
from skillweave.knowledge.entity import EntityGraph
from skillweave.registry import Changes, Registry, Snapshot
from skillweave.select.candidates import Selection
from skillweave.select.matchers import Matchers, make_matchers_ready
from skillweave.settings import Settings
from skillweave.state.port import Store
from skillweave.state.state import Delivery, State, Writes
from skillweave.turn.library import Libraries, Library
from skillweave.turn.policy import policy_at
from skillweave.turn.run import Prepared, Reading, completed, find_place, prepare, run, selected
from skillweave.turn.settle import Settled
from skillweave.weaver.contention import Queues
from skillweave.weaver.entities import first_asked, with_rules
from skillweave.weaver.news import News
from skillweave.weaver.telling import Announcer

T = TypeVar("T")
_SPARE_SECONDS = 0.5
"""What a graph of entities has beside its own time, in which it puts together what it has."""
Told = TypeVar("Told", Injection, CurrentPolicy, Selection)

UNKNOWN_RULES = (
    "the ledger does not answer, so that nobody knows which skills restrict tools and what people decided; "
    "try again when it does"
)
"""Why no tool may be called while nobody knows who denies it."""


class OnStoreFailure(StrEnum):
    """Whether skills are given or withheld while the ledger does not answer; the turn itself never fails for it.

    Where nothing could be read, the rules of earlier turns are unknown: open, they do not hold; closed, no tool may be
    called but skillweave's own.
    """

    FAIL_OPEN = "fail_open"
    FAIL_CLOSED = "fail_closed"


@dataclass(slots=True)
class Engine:
    """The parts of a Weaver and the way of a turn through them; every verb of the Weaver is built on these few."""

    registry: Registry
    store: Store
    settings: Settings
    libraries: Libraries
    matchers: Matchers
    context: ContextSource | None
    on_store_failure: OnStoreFailure
    fetch_seconds: float
    announcer: Announcer
    graph: SkillGraph | None = None
    tenant: str = ""
    entities: EntityGraph | None = None
    queues: Queues = field(default_factory=Queues)
    news: News = field(default_factory=News)
    _library: Library | None = None
    _loaded: bool = False
    _asked: bool = False
    _behind: Diagnostic | None = None

    async def run(self, turn: Turn, delivery: Delivery) -> Injection:
        """One turn, stored; what the ledger does while it does not answer is said in the Injection.

        Raises Contended where others of the conversation were faster for 10 s.
        """
        listening = bool(self.announcer.observers.listening)
        begun = self.announcer.clock() if listening or self.store.keeps_events else 0.0
        prepared = await prepare(turn, await self.library(), self.matchers, self.fetch_seconds)
        known: tuple[State, float] | None = None
        unkept: tuple[Diagnostic, ...] = ()
        kept = Kept.NOWHERE
        try:
            async with self.queues.race(self.tenant, turn.conversation) as race:
                while True:
                    known = await self.store.load(turn.conversation, tenant=self.tenant)
                    settled = await self._run(turn, prepared, known, delivery)
                    before = known[0]
                    news = self._news(turn, before, settled)
                    if settled.state is before:
                        unkept = await self._keep(turn, before, settled, news)
                        break
                    writes = self._writes(settled, before, prepared, delivery, news, begun)
                    if await self.store.swap(turn.conversation, before.revision, writes, tenant=self.tenant):
                        self._note(turn, before.revision + 1, settled)
                        kept = self._kept
                        break
                    await race.lost()
            injection, states = settled.injection, (known[0], settled.state)
        except StoreUnavailable as error:
            injection, states = await self._run_unread(turn, prepared, delivery, known, error)
            # Whether it was stored nobody knows; who reads the store's events would hear of the same turn twice.
            kept = self._kept
        if not listening:
            return replace(injection, diagnostics=(*injection.diagnostics, *unkept)) if unkept else injection
        # Before the next wait, so that turns that are stored one after the other are told in that order too.
        telling = self.announcer.turn_decided(
            injection,
            prepared.library.snapshot,
            states,
            stored=injection.revision is not None,
            delivery=delivery,
            begun=begun,
            kept=kept,
        )
        found = (*unkept, *await telling.ended())
        return replace(injection, diagnostics=(*injection.diagnostics, *found)) if found else injection

    async def look(self, turn: Turn) -> Injection:
        """What `run` would answer now; nothing is written."""
        prepared = await prepare(turn, await self.library(), self.matchers, self.fetch_seconds)
        known = await self.store.load(turn.conversation, tenant=self.tenant)
        settled = await self._run(turn, prepared, known, Delivery.GIVEN)
        return replace(settled.injection, revision=None)

    async def policy(self, turn: Turn, held: Injection | CurrentPolicy | None = None) -> CurrentPolicy:
        """The tool policy between two turns, by one load; while the ledger is silent, what `on_store_failure` says.

        Where the State is still that of `held`, its policy is the answer.
        """
        library = await self.library()
        try:
            state, now = await self.store.load(turn.conversation, tenant=self.tenant)
        except StoreUnavailable as error:
            found = policy_at(State(), library, self.matchers, turn, 0.0)
            tools, diagnostic = self._without_rules(found.tools, known=False), self._unavailable(error, known=False)
            return self._told(replace(found, tools=tools, diagnostics=(diagnostic,), revision=None))
        if held is not None and _still_holds(held, state, turn, library):
            return self._told(held if isinstance(held, CurrentPolicy) else held.policy)
        return self._told(policy_at(state, library, self.matchers, turn, now))

    async def match(self, turn: Turn) -> Selection:
        """What the matchers say to the turn of a conversation that begins with it."""
        prepared = await prepare(turn, await self.library(), self.matchers, self.fetch_seconds)
        turn, prepared = await completed(turn, prepared, State(), self.matchers, self.fetch_seconds)
        position = await find_place(turn, prepared, State(), self.fetch_seconds)
        return self._told(await selected(turn, prepared, position, self.matchers))

    async def snapshot(self) -> Snapshot:
        """The skills as they are now, of an agent its own; read at first use. Raises AgentNotFound."""
        return self.libraries.seen(await self._all_skills())

    async def _all_skills(self) -> Snapshot:
        if self._loaded:
            self._behind = await self.registry.catch_up(self.fetch_seconds)
        else:
            await self.registry.refresh()
            self._loaded = True
        return self.registry.snapshot

    async def for_agent(self, agent_id: str) -> "Engine":
        """The same for an agent with its own skills; raises AgentNotFound."""
        known = (await self._all_skills()).agents
        if agent_id not in known:
            raise AgentNotFound(agent_id, known)
        return replace(self, libraries=self.libraries.for_agent(agent_id), _library=None)

    async def refresh(self) -> Changes:
        """Read again what changed in the sources."""
        changes = await self.registry.refresh()
        self._loaded = True
        return changes

    async def library(self) -> Library:
        """The skills as they are now, ready to be searched and shown."""
        snapshot = await self.snapshot()
        library = self._library
        if library is None or library.snapshot is not snapshot:
            compile_them = self.libraries.compile
            library = await asyncio.to_thread(compile_them, snapshot, self.settings, self.matchers, self.graph)
            self._library = library
            if self.entities is not None and not self._asked:
                await first_asked(with_rules(self.entities, library.entities.rules), self.fetch_seconds)
                self._asked = True
        return library

    async def make_ready(self) -> None:
        """Compile the skills, and let the matchers make what they need of them."""
        await make_matchers_ready(self.matchers, (await self.library()).index)

    async def change(
        self,
        conversation: str,
        change: Callable[[State, float], State],
        *,
        cause: Cause = Cause.EVICTED,
        turn_id: str | None = None,
    ) -> bool:
        """One pure step on a conversation's State, stored; False when it changed nothing.

        `change` gets the State and the store's clock, and runs again when another turn was faster. Observers are told
        of each skill that counts as given no longer, with the `cause` and the turn that it happened in, if any.
        """
        _, changed = await self.step(
            conversation, lambda state, now: (change(state, now), None), cause=cause, turn_id=turn_id
        )
        return changed

    async def step(
        self,
        conversation: str,
        change: Callable[[State, float], tuple[State, T]],
        *,
        cause: Cause,
        turn_id: str | None = None,
    ) -> tuple[T, bool]:
        """A change that has an answer: the one that goes with the State that was stored, and whether any was.

        Raises InvalidTurn for what is no id of a conversation: what is kept there no turn would ever find.
        """
        require_id("conversation", conversation, "weaver.…")
        async with self.queues.race(self.tenant, conversation) as race:
            while True:
                before, now = await self.store.load(conversation, tenant=self.tenant)
                after, answer = change(before, now)
                if after == before:
                    return answer, False
                writes = Writes(after, events=self._changes(conversation, turn_id, (before, after), cause))
                if await self.store.swap(conversation, before.revision, writes, tenant=self.tenant):
                    break
                await race.lost()
        await self.announcer.state_changed(conversation, turn_id, (before, after), cause, kept=self._kept)
        return answer, True

    @property
    def _kept(self) -> Kept:
        """Where the events of a swap are afterwards."""
        return Kept.BY_THE_STORE if self.store.keeps_events else Kept.NOWHERE

    def _changes(
        self, conversation: str, turn_id: str | None, states: tuple[State, State], cause: Cause
    ) -> tuple[Event, ...]:
        """The events of a change, for a store that keeps them."""
        if not self.store.keeps_events:
            return ()
        from skillweave.weaver.events import change_events

        return change_events(conversation, turn_id, *states, cause)

    async def _run(self, turn: Turn, prepared: Prepared, known: tuple[State, float], delivery: Delivery) -> Settled:
        # What is read belongs to the skills of this turn, whatever another one has loaded since.
        artifacts = partial(self.registry.read_artifact, snapshot=prepared.library.snapshot)
        # A graph keeps its own time, for the entity and then for its sections: ended from here all of them were lost.
        patience = None if self.entities is None else 2 * prepared.library.settings.context_seconds + _SPARE_SECONDS
        reading = Reading(artifacts, self.context_source(prepared.library), self.fetch_seconds, patience)
        settled = await run(turn, prepared, *known, self.matchers, reading, delivery)
        return replace(settled, injection=self._told(settled.injection))

    def context_source(self, library: Library) -> ContextSource | None:
        """Where entity context comes from: the host's own source, or the graph with the rules of the skills."""
        if self.entities is None:
            return self.context
        rules, seconds = library.entities.rules, library.settings.context_seconds
        return GraphContext(with_rules(self.entities, rules), rules, seconds=seconds)

    def _told(self, answer: Told) -> Told:
        """The answer with the finding that the skills may be old, if they may."""
        behind = self._behind
        if behind is None or behind in answer.diagnostics:
            return answer
        return replace(answer, diagnostics=(*answer.diagnostics, behind))

    async def _run_unread(
        self,
        turn: Turn,
        prepared: Prepared,
        delivery: Delivery,
        known: tuple[State, float] | None,
        error: StoreUnavailable,
    ) -> tuple[Injection, tuple[State, State]]:
        """The turn on what was read before the store failed, else on a State in which nothing is known."""
        if self.on_store_failure is OnStoreFailure.FAIL_CLOSED:
            prepared = replace(prepared, withheld=error)
        before, now = known or (State(), 0.0)
        settled = await self._run(turn, prepared, (before, now), delivery)
        injection = settled.injection
        tools = self._without_rules(injection.tools, known=known is not None)
        diagnostics = (self._unavailable(error, known=known is not None), *injection.diagnostics)
        injection = replace(injection, tools=tools, diagnostics=diagnostics, revision=None)
        return injection, (before, settled.state)

    def _without_rules(self, tools: ToolPolicy, *, known: bool) -> ToolPolicy:
        if known:
            return tools
        if self.on_store_failure is OnStoreFailure.FAIL_CLOSED:
            # Which skills are engaged, and what people said, is unknown: every tool may be one that they deny.
            return closed(tools, UNKNOWN_RULES)
        # Where the conversation stands is unknown too, so that no tool is known to belong elsewhere.
        return replace(tools, elsewhere=ALL_IN_SCOPE)

    def _unavailable(self, error: StoreUnavailable, *, known: bool) -> Diagnostic:
        """The finding that the ledger does not answer: what becomes of skills and of the rules of earlier turns."""
        closing = self.on_store_failure is OnStoreFailure.FAIL_CLOSED
        given = "withheld" if closing else "given without being recorded"
        if known:
            rules = "the tool rules are those of the conversation as it was read"
        elif closing:
            rules = "no tool may be called, as the rules of earlier turns are not known"
        else:
            rules = "the tool rules, checkpoints and rejections of earlier turns are not known and do not hold"
        return Diagnostic(
            code=LEDGER_UNAVAILABLE,
            severity=Severity.ERROR,
            message=f"the ledger does not answer, so skills are {given}: {error}; {rules}",
            fix="check the store; until then a skill may be given more than once or not at all",
        )

    def _writes(
        self,
        settled: Settled,
        before: State,
        prepared: Prepared,
        delivery: Delivery,
        news: tuple[Decision, ...],
        begun: float,
    ) -> Writes:
        """Everything that a turn stores, for one trip; its events only where the store keeps them.

        How long the turn took is known there up to this trip; observers are told with it.
        """
        injection = settled.injection
        events: tuple[Event, ...] = ()
        if self.store.keeps_events:
            from skillweave.weaver.events import DecidedTurn, turn_events

            snapshot, revision = prepared.library.snapshot, before.revision + 1
            took = (self.announcer.clock() - begun) * 1000
            events = turn_events(DecidedTurn(injection, snapshot, before, settled.state, revision, delivery, took))
        return Writes(settled.state, injection.turn_id, news, events)

    def _news(self, turn: Turn, before: State, settled: Settled) -> tuple[Decision, ...]:
        return self.news.of(self.tenant, turn.conversation, before.revision, settled.injection.decisions)

    def _note(self, turn: Turn, revision: int, settled: Settled) -> None:
        self.news.kept(self.tenant, turn.conversation, revision, settled.injection.decisions)

    async def _keep(
        self, turn: Turn, before: State, settled: Settled, news: tuple[Decision, ...]
    ) -> tuple[Diagnostic, ...]:
        try:
            await self.store.append(turn.conversation, turn.id, news, tenant=self.tenant)
            self._note(turn, before.revision, settled)
        except StoreUnavailable as error:
            lost = Diagnostic(
                code=DECISIONS_NOT_KEPT,
                severity=Severity.WARNING,
                message=f"the decisions of turn {turn.id!r} were not kept for `why`: {error}",
                fix="check the store; the turn itself is complete",
            )
            return (lost,)
        return ()


def _still_holds(held: Injection | CurrentPolicy, state: State, turn: Turn, library: Library) -> bool:
    """Whether a policy is what would be worked out now: of this State, these skills and this kind of turn.

    Of a spawned agent its limits are taken to be those of `held`, as `Weaver.current_policy` says. A claim ends by the
    clock alone, so that with one in the State nothing is taken for granted.
    """
    return (
        held.revision == state.revision
        and held.conversation == turn.conversation
        and held.generation == library.snapshot.generation
        and held.placement is turn.placement
        and held.tools.grant == turn.tools
        and all(record.until is None for record in state.records)
    )
