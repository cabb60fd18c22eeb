"""What stands around the pure core: reads before it, one write after it, and observers who are told."""

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from threading import Lock
from time import perf_counter
from typing import TypeAlias, TypeVar

from skillweave.blocking import M, Verbs
from skillweave.compose.composition import closed
from skillweave.compose.policy import ALL_IN_SCOPE, UNKNOWN_RULES, ToolPolicy
from skillweave.conversation import Turn, require_id
from skillweave.decisions import Decision
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.errors import AgentNotFound, StoreSilent, StoreUnavailable, UnreadableState
from skillweave.events.event import Cause, Event, Kept
from skillweave.graph.graph import SkillGraph
from skillweave.injection import DECISIONS_NOT_KEPT, LEDGER_UNAVAILABLE, CurrentPolicy, Injection
from skillweave.knowledge.context import ContextSource
from skillweave.knowledge.entity import EntityGraph
from skillweave.loop_thread import LoopThread
from skillweave.registry import Changes, Registry, Snapshot
from skillweave.select.candidates import Selection
from skillweave.select.matchers import Matchers, make_matchers_ready
from skillweave.settings import Settings
from skillweave.state.breaker import WatchedLedger
from skillweave.state.port import Store
from skillweave.state.state import Delivery, State, Writes
from skillweave.turn.library import Libraries, Library
from skillweave.turn.policy import policy_at
from skillweave.turn.run import Prepared, Reading, completed, find_place, prepare, run, selected
from skillweave.turn.settle import Settled
from skillweave.weaver.contention import Queues, Race
from skillweave.weaver.entity_graph import SPARE_SECONDS, first_asked, graph_context, with_rules
from skillweave.weaver.telling import Observers

T = TypeVar("T")
Told = TypeVar("Told", Injection, CurrentPolicy, Selection)

DAMAGED_RULES = (
    "the stored state of this conversation is damaged, so nobody knows which rules hold; trying again does not help: "
    "ask a person to look at it, and to run `skillweave ledger clear` if it is lost"
)
RETRY_SECONDS = (0.05, 0.1, 0.2, 0.4)
"""How long a verdict waits before each further look at a ledger that failed, so that a hiccup is no denial."""


class OnStoreFailure(StrEnum):
    """What a turn does while the ledger does not answer.

    `continue`: it gives skills without recording them, but none with tool rules or checkpoints, as nobody would
    remember that they hold. `raise`: it raises StoreUnavailable.
    """

    CONTINUE = "continue"
    RAISE = "raise"


class WhenUnknown(StrEnum):
    """How a tool call is ruled while the conversation's State cannot be read.

    `deny`: with the code STATE_UNAVAILABLE, unless no skill has rules or checkpoints and the conversation is no
    sub-agent's. `allow`: by the rules that are known.
    """

    DENY = "deny"
    ALLOW = "allow"


REMEMBERED_CONVERSATIONS = 1_000
"""Of so many conversations this process remembers what it logged last; of others everything is logged once more."""

_Settled: TypeAlias = Mapping[str, tuple[Decision, ...]]


class DecisionDeduplicator:
    """What was logged last of each conversation, and at which revision of it; safe between threads.

    A skill that stands as it stood in the turn before is not logged again.
    """

    def __init__(self, *, remember: int = REMEMBERED_CONVERSATIONS) -> None:
        self._remember = remember
        self._last: OrderedDict[tuple[str, str], tuple[int | None, _Settled]] = OrderedDict()
        self._lock = Lock()

    def new_in(
        self, tenant: str, conversation: str, revision: int, decisions: tuple[Decision, ...]
    ) -> tuple[Decision, ...]:
        """Returns what was matched in this turn, and what else is not as it was last.

        `revision` is that of the State that the turn began with. Where somebody else has stored one since, all are new.
        """
        with self._lock:
            known, said = self._last.get((tenant, conversation), (None, {}))
        if known != revision:
            return decisions
        now = _without_evidence(decisions)
        same = {skill_id for skill_id, own in now.items() if said.get(skill_id) == own}
        return tuple(one for one in decisions if one.skill_id not in same)

    def logged(self, tenant: str, conversation: str, revision: int | None, decisions: Sequence[Decision]) -> None:
        """Notes what a turn decided whose State is stored at that revision now."""
        with self._lock:
            self._last[tenant, conversation] = revision, _without_evidence(decisions)
            self._last.move_to_end((tenant, conversation))
            if len(self._last) > self._remember:
                self._last.popitem(last=False)


def _without_evidence(decisions: Sequence[Decision]) -> _Settled:
    """By skill, the decisions on those of which the turn's message said nothing."""
    found: dict[str, tuple[Decision, ...]] = {}
    for one in decisions:
        found[one.skill_id] = (*found.get(one.skill_id, ()), one)
    return {skill_id: own for skill_id, own in found.items() if not any(one.evidence for one in own)}


@dataclass(slots=True)
class Engine:
    """The parts of a Weaver and the way of a turn through them; every verb of the Weaver is built on these few."""

    registry: Registry
    store: Store
    watched: WatchedLedger
    settings: Settings
    libraries: Libraries
    matchers: Matchers
    context: ContextSource | None
    on_store_failure: OnStoreFailure
    when_unknown: WhenUnknown
    fetch_seconds: float
    observers: Observers
    new_id: Callable[[], str]
    graph: SkillGraph | None = None
    tenant: str = ""
    entities: EntityGraph | None = None
    queues: Queues = field(default_factory=Queues)
    log: DecisionDeduplicator = field(default_factory=DecisionDeduplicator)
    _library: Library | None = None
    _loaded: bool = False
    _asked: bool = False
    _behind: Diagnostic | None = None
    _of_entities: ContextSource | None = None

    async def run(self, turn: Turn, delivery: Delivery) -> Injection:
        """One turn, stored; what the ledger does while it does not answer is said in the Injection.

        Raises Contended where others of the conversation were faster for 10 s.
        """
        begun = perf_counter()
        prepared = await prepare(turn, await self.library(), self.matchers, self.fetch_seconds)
        known: tuple[State, float] | None = None
        race: Race | None = None
        events: tuple[Event, ...] = ()
        found: tuple[Diagnostic, ...] = ()
        kept = Kept.BY_THE_STORE if self.store.keeps_events else Kept.NOWHERE
        try:
            while True:
                before, now = known = await self.watched.ledger.load(turn.conversation, tenant=self.tenant)
                settled = await self._run(turn, prepared, before, now, delivery)
                decisions = settled.injection.decisions
                new = self.log.new_in(self.tenant, turn.conversation, before.revision, decisions)
                if settled.state is before:
                    found, kept = await self._append(turn, new), Kept.NOWHERE
                    break
                if kept is Kept.BY_THE_STORE:
                    events = _turn_events(settled, prepared, before, delivery, begun)
                writes = Writes(settled.state, turn.id, new, events)
                if await self.watched.ledger.swap(turn.conversation, before.revision, writes, tenant=self.tenant):
                    break
                race = race or self.queues.race(self.tenant, turn.conversation)
                await race.lost()
            if not found:
                self.log.logged(self.tenant, turn.conversation, settled.injection.revision, decisions)
        except StoreUnavailable as error:
            self.watched.failed(error)
            if self.on_store_failure is OnStoreFailure.RAISE:
                raise
            # Whether it was stored nobody knows; who reads the store's events would hear of the same turn twice.
            before, settled = await self._run_unread(turn, prepared, delivery, known, error)
            events = ()
        finally:
            if race is not None:
                race.end()
        injection = settled.injection
        if self.observers.listening and (kept is Kept.NOWHERE or self.observers.hear_everything):
            events = _turn_events(settled, prepared, before, delivery, begun, made=events)
            # Before the next wait, so that turns that are stored one after the other are told in that order too.
            telling = self.observers.tell(turn.conversation, events, kept)
            found = (*found, *await telling.ended())
        return replace(injection, diagnostics=(*injection.diagnostics, *found)) if found else injection

    async def look(self, turn: Turn) -> Injection:
        """What `run` would answer now; nothing is written."""
        prepared = await prepare(turn, await self.library(), self.matchers, self.fetch_seconds)
        before, now = await self.watched.ledger.load(turn.conversation, tenant=self.tenant)
        settled = await self._run(turn, prepared, before, now, Delivery.GIVEN)
        return replace(settled.injection, revision=None)

    async def policy(self, turn: Turn, held: Injection | CurrentPolicy | None = None) -> CurrentPolicy:
        """The tool policy between two turns, by one load; while the ledger is silent, what `when_unknown` says.

        Where the State is still that of `held`, its policy is the answer.
        """
        library = await self.library()
        try:
            state, now = await self._load_patiently(turn.conversation)
        except StoreUnavailable as error:
            found = policy_at(State(), library, self.matchers, turn, 0.0)
            tools = self._without_rules(found.tools, turn, library, error)
            diagnostic = self._unavailable(error, tools, known=False)
            return self._told(replace(found, tools=tools, diagnostics=(diagnostic,), revision=None))
        if held is not None and _still_holds(held, state, turn, library):
            return self._told(held if isinstance(held, CurrentPolicy) else held.policy)
        return self._told(policy_at(state, library, self.matchers, turn, now))

    async def match(self, turn: Turn) -> Selection:
        """What the matchers say to the turn of a conversation that begins with it."""
        library = await self.library()
        prepared = await prepare(turn, library, self.matchers, self.fetch_seconds)
        if prepared.mixed:
            turn, prepared = await completed(turn, prepared, State(), self.matchers, self.fetch_seconds)
        position = None if library.graph is None else await find_place(turn, prepared, State(), self.fetch_seconds)
        return self._told(await selected(turn, prepared, position, self.matchers))

    async def snapshot(self) -> Snapshot:
        """The skills as they are now, of an agent its own; read at first use. Raises AgentNotFound."""
        if self._loaded:
            self._behind = await self.registry.catch_up(self.fetch_seconds)
        else:
            await self.refresh()
        snapshot = self.registry.snapshot
        return snapshot if self.libraries.agent_id is None else self.libraries.seen(snapshot)

    async def for_agent(self, agent_id: str) -> "Engine":
        """The same for an agent with its own skills; raises AgentNotFound."""
        await self.snapshot()
        known = self.registry.snapshot.agents
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
            if self.entities is not None:
                self._of_entities = graph_context(self.entities, library, self.fetch_seconds)
                if not self._asked:
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
        race: Race | None = None
        events: tuple[Event, ...] = ()
        kept = Kept.BY_THE_STORE if self.store.keeps_events else Kept.NOWHERE
        try:
            while True:
                before, now = await self.watched.ledger.load(conversation, tenant=self.tenant)
                after, answer = change(before, now)
                if after == before:
                    return answer, False
                if kept is Kept.BY_THE_STORE or self.observers.listening:
                    from skillweave.weaver.events import change_events

                    events = change_events(conversation, turn_id, before, after, cause)
                writes = Writes(after, events=events)
                if await self.watched.ledger.swap(conversation, before.revision, writes, tenant=self.tenant):
                    break
                race = race or self.queues.race(self.tenant, conversation)
                await race.lost()
        except StoreUnavailable as error:
            self.watched.failed(error)
            raise
        finally:
            if race is not None:
                race.end()
        await self.observers.tell(conversation, events, kept).ended()
        return answer, True

    async def _run(self, turn: Turn, prepared: Prepared, before: State, now: float, delivery: Delivery) -> Settled:
        library = prepared.library
        # What is read belongs to the skills of this turn, whatever another one has loaded since.
        artifacts = partial(self.registry.read_artifact, snapshot=library.snapshot)
        reading = Reading(artifacts, self.context, self.fetch_seconds)
        if self.entities is not None:
            known = self._of_entities
            if library is not self._library:
                known = graph_context(self.entities, library, self.fetch_seconds)
            # A graph keeps its own time, for the entity and then for its sections: ended from here all were lost.
            patience = 2 * max(library.settings.context_seconds, self.fetch_seconds) + SPARE_SECONDS
            reading = Reading(artifacts, known, self.fetch_seconds, patience)
        settled = await run(turn, prepared, before, now, self.matchers, reading, delivery)
        return settled if self._behind is None else replace(settled, injection=self._told(settled.injection))

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
    ) -> tuple[State, Settled]:
        """The turn on what was read before the store failed, else on a State in which nothing is known.

        Skills with rules are withheld: no later turn and no verdict would know of them.
        """
        if prepared.library.has_rules:
            prepared = replace(prepared, withheld=error)
        before, now = known or (State(), 0.0)
        settled = await self._run(turn, prepared, before, now, delivery)
        injection = settled.injection
        tools = injection.tools if known else self._without_rules(injection.tools, turn, prepared.library, error)
        diagnostics = (self._unavailable(error, tools, known=known is not None), *injection.diagnostics)
        injection = replace(injection, tools=tools, diagnostics=diagnostics, revision=None)
        return before, replace(settled, injection=injection)

    async def _load_patiently(self, conversation: str) -> tuple[State, float]:
        """The State for a verdict; a store that fails at once is asked again within a second."""
        begun = perf_counter()
        for seconds in (*RETRY_SECONDS, None):
            try:
                return await self.watched.ledger.load(conversation, tenant=self.tenant)
            except StoreUnavailable as error:
                self.watched.failed(error)
                # Who waited for a time limit has waited enough, and what no waiting helps needs none.
                waited = isinstance(error, StoreSilent) or perf_counter() - begun > sum(RETRY_SECONDS)
                if seconds is None or waited or error.retry_after is None:
                    raise
            await asyncio.sleep(seconds)
        raise AssertionError("the last try answers or raises")

    def _without_rules(self, tools: ToolPolicy, turn: Turn, library: Library, error: StoreUnavailable) -> ToolPolicy:
        """The policy where the State cannot be read: every tool may be one that a rule of it denies."""
        # The ids of sub-agents' conversations are `{parent}/{spawn}`; their limits are in the State.
        of_spawn = turn.limits is not None or "/" in turn.conversation
        if self.when_unknown is WhenUnknown.ALLOW or not (library.has_rules or of_spawn):
            # Where the conversation stands is unknown too, so that no tool is known to belong elsewhere.
            return replace(tools, elsewhere=ALL_IN_SCOPE)
        return closed(tools, DAMAGED_RULES if isinstance(error, UnreadableState) else UNKNOWN_RULES)

    def _unavailable(self, error: StoreUnavailable, tools: ToolPolicy, *, known: bool) -> Diagnostic:
        """The finding that the ledger does not answer: what becomes of skills and of the rules of earlier turns."""
        if known:
            rules = "the tool rules are those of the conversation as it was read"
        elif tools.closed:
            rules = "no tool may be called, as the rules of earlier turns are not known"
        else:
            rules = "the tool rules, checkpoints and rejections of earlier turns are not known and do not hold"
        return Diagnostic(
            code=LEDGER_UNAVAILABLE,
            severity=Severity.ERROR,
            message=f"the ledger does not answer, so skills are given without being recorded: {error}; those with tool "
            f"rules or checkpoints are withheld; {rules}",
            fix="check the store; until then a skill may be given more than once or not at all",
        )

    async def _append(self, turn: Turn, new: tuple[Decision, ...]) -> tuple[Diagnostic, ...]:
        try:
            await self.store.append(turn.conversation, turn.id, new, tenant=self.tenant)
        except StoreUnavailable as error:
            lost = Diagnostic(
                code=DECISIONS_NOT_KEPT,
                severity=Severity.WARNING,
                message=f"the decisions of turn {turn.id!r} were not kept for `why`: {error}",
                fix="check the store; the turn itself is complete",
            )
            return (lost,)
        return ()


def _turn_events(
    settled: Settled,
    prepared: Prepared,
    before: State,
    delivery: Delivery,
    begun: float,
    made: tuple[Event, ...] = (),
) -> tuple[Event, ...]:
    """The events of a turn that took until now: those `made` for the store, which took some of it, or new ones."""
    from skillweave.weaver.events import DecidedTurn, turn_events, with_duration

    took = (perf_counter() - begun) * 1000
    if made:
        return with_duration(made, took)
    return turn_events(DecidedTurn(settled.injection, prepared.library.snapshot, before, settled.state, delivery, took))


class View(Verbs[M]):
    """What a Weaver shows of one subject; `thread` runs the verbs of a blocking view."""

    def __init__(self, engine: Engine, thread: LoopThread | None = None) -> None:
        self._engine = engine
        self._thread = thread


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
