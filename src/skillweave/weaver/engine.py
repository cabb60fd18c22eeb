"""What runs a turn: reads before and inside the pure core, and one write after it."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import TypeVar

from skillweave.compose.elsewhere import NOTHING_ELSEWHERE
from skillweave.compose.limits import closed
from skillweave.conversation import Turn
from skillweave.decisions import Decision
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.disclose.pricing import Pricing
from skillweave.errors import StoreUnavailable
from skillweave.events.cause import Cause
from skillweave.graph.graph import SkillGraph
from skillweave.injection import Injection
from skillweave.knowledge.context import ContextSource
from skillweave.registry import Changes, Registry, Snapshot
from skillweave.select.candidates import Selection
from skillweave.select.questions import Question, question_in
from skillweave.select.selection import select
from skillweave.settings import Settings
from skillweave.state.port import Store
from skillweave.state.state import Delivery, State
from skillweave.turn.admit import Plan, make_plan
from skillweave.turn.fetch import Fetched, fetch
from skillweave.turn.move import Position, Wiring, find_position, scoring_for
from skillweave.turn.reconcile import blocks_in
from skillweave.turn.settle import Settled, settle
from skillweave.weaver.announce import Announcer
from skillweave.weaver.compiled import Compiled, compile_skills
from skillweave.weaver.race import change_state
from skillweave.weaver.turns import nothing_said
from skillweave.weaver.unread import UNKNOWN_RULES, unavailable, withheld

T = TypeVar("T")

LONG_TEXT = 64 * 1024
"""A turn about more characters of skill text than this is worked out beside the event loop."""


class OnStoreFailure(StrEnum):
    """Whether skills are given or withheld while the ledger does not answer; the turn itself never fails for it.

    Where nothing could be read, the rules of earlier turns are unknown: open, they do not hold; closed, no tool may be
    called but skillweave's own.
    """

    FAIL_OPEN = "fail_open"
    FAIL_CLOSED = "fail_closed"


@dataclass(frozen=True, slots=True)
class Search:
    """What is known of a turn before anything is known of the conversation.

    `selection` is what the matchers say, None where that depends on the place in the skill graph. `withheld` is why
    nothing that they say counts.
    """

    compiled: Compiled
    selection: Selection | None
    question: Question | None
    blocks: Counter[str] | None
    withheld: StoreUnavailable | None = None


@dataclass(slots=True)
class Engine:
    """The parts of a Weaver and the way of a turn through them; every verb of the Weaver is built on these few."""

    registry: Registry
    store: Store
    settings: Settings
    pricing: Pricing
    matchers: tuple[str, ...]
    context: ContextSource | None
    on_store_failure: OnStoreFailure
    fetch_seconds: float
    announcer: Announcer
    graph: SkillGraph | None = None
    _compiled: Compiled | None = None
    _loaded: bool = False

    async def run(self, turn: Turn, delivery: Delivery) -> Injection:
        """One turn, stored; what the ledger does while it does not answer is said in the Injection."""
        begun = self.announcer.begun()
        search = await self.search(turn)
        loaded: list[tuple[State, float]] = []
        try:
            injection, found = await self._stored(turn, search, delivery, begun, loaded)
        except StoreUnavailable as error:
            known = loaded[-1] if loaded else None
            injection, found = await self._without_store(turn, search, delivery, begun, known, error)
        return replace(injection, diagnostics=(*injection.diagnostics, *found)) if found else injection

    async def look(self, turn: Turn) -> Injection:
        """What `run` would answer now; nothing is written."""
        search = await self.search(turn)
        settled = await self._settle(turn, search, await self.store.load(turn.conversation), Delivery.GIVEN)
        return settled.injection

    async def stand(self, turn: Turn) -> Injection:
        """The same, and an answer also while the ledger gives none: what `on_store_failure` says, with a diagnostic."""
        search = await self.search(turn)
        try:
            loaded = await self.store.load(turn.conversation)
        except StoreUnavailable as error:
            injection, _ = await self._settle_unread(turn, search, Delivery.GIVEN, None, error)
            return injection
        return (await self._settle(turn, search, loaded, Delivery.GIVEN)).injection

    async def search(self, turn: Turn) -> Search:
        """What the matchers say to the turn, and which blocks its transcript holds."""
        compiled = await self.current()
        return Search(
            compiled=compiled,
            selection=None if _wiring_for(turn, compiled) else select(compiled.index, turn, matchers=self.matchers),
            question=question_in(turn.message.text),
            blocks=None if turn.transcript is None else blocks_in(turn.transcript),
        )

    async def match(self, turn: Turn) -> Selection:
        """What the matchers say to the turn of a conversation that begins with it."""
        search = await self.search(turn)
        position = await self._position(turn, search, State())
        return self._selected(turn, search, position)

    async def snapshot(self) -> Snapshot:
        """The skills as they are now; read at first use."""
        if not self._loaded:
            await self.registry.refresh()
            self._loaded = True
        return self.registry.snapshot

    async def refresh(self) -> Changes:
        """Read again what changed in the sources."""
        changes = await self.registry.refresh()
        self._loaded = True
        return changes

    async def current(self) -> Compiled:
        """The skills as they are now, ready to be searched and shown."""
        snapshot = await self.snapshot()
        if self._compiled is None or self._compiled.snapshot is not snapshot:
            self._compiled = await asyncio.to_thread(
                compile_skills, snapshot, self.settings, self.pricing, self.matchers, self.graph
            )
        return self._compiled

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
        """The same for a step that has an answer: the one that goes with the State that was stored."""

        async def compute(state: State, now: float) -> tuple[State, tuple[State, State, T]]:
            after, answer = change(state, now)
            return after, (state, after, answer)

        (before, after, answer), changed = await change_state(self.store, conversation, compute, racer=conversation)
        if changed:
            await self.announcer.state_changed(conversation, turn_id, (before, after), cause)
        return answer, changed

    async def _stored(
        self, turn: Turn, search: Search, delivery: Delivery, begun: float, loaded: list[tuple[State, float]]
    ) -> tuple[Injection, tuple[Diagnostic, ...]]:
        async def compute(state: State, now: float) -> tuple[State, tuple[State, Settled]]:
            loaded.append((state, now))
            settled = await self._settle(turn, search, (state, now), delivery)
            return settled.state, (state, settled)

        (before, settled), _ = await change_state(self.store, turn.conversation, compute, racer=turn.id)
        injection, states = settled.injection, (before, settled.state)
        # Before the next wait, so that turns that are stored one after the other are told in that order too.
        telling = self.announcer.turn_decided(
            injection, search.compiled.snapshot, states, stored=True, delivery=delivery, begun=begun
        )
        kept = await self._keep(turn, injection.decisions)
        return injection, (*kept, *await telling.ended())

    async def _settle(self, turn: Turn, search: Search, loaded: tuple[State, float], delivery: Delivery) -> Settled:
        compiled = search.compiled
        position = await self._position(turn, search, loaded[0])
        selection = self._selected(turn, search, position)
        plan = make_plan(turn, selection, compiled.snapshot, self.settings, loaded, search.blocks, position)
        fetched = await fetch(plan, self.registry, self.context, self.fetch_seconds)
        work = partial(settle, plan, fetched, compiled.shelf, question=search.question, delivery=delivery)
        # To divide and count a long text takes a tenth of a second or more, in which other conversations go on.
        return await asyncio.to_thread(work) if _is_long(plan, fetched) else work()

    async def _position(self, turn: Turn, search: Search, state: State) -> Position | None:
        wiring = _wiring_for(turn, search.compiled)
        if wiring is None:
            return None
        if search.withheld is not None:
            # Where nothing is given nothing moves: the conversation stays where its rules are.
            turn = nothing_said(turn.id, turn.conversation)
        scoring, diagnostics = await scoring_for(wiring, state, turn, self.fetch_seconds)
        return replace(find_position(wiring, state, turn, scoring), diagnostics=diagnostics)

    def _selected(self, turn: Turn, search: Search, position: Position | None) -> Selection:
        selection = search.selection or Selection()
        if position is not None:
            found = select(search.compiled.index, turn, within=position.here.within, matchers=self.matchers)
            selection = position.lead(found)
        return selection if search.withheld is None else withheld(selection, search.withheld)

    async def _keep(self, turn: Turn, decisions: tuple[Decision, ...]) -> tuple[Diagnostic, ...]:
        try:
            await self.store.append(turn.conversation, turn.id, decisions)
        except StoreUnavailable as error:
            lost = Diagnostic(
                code="decisions-not-kept",
                severity=Severity.WARNING,
                message=f"the decisions of turn {turn.id!r} were not kept for `why`: {error}",
                fix="see to the store; the turn itself is complete",
            )
            return (lost,)
        return ()

    async def _without_store(
        self,
        turn: Turn,
        search: Search,
        delivery: Delivery,
        begun: float,
        known: tuple[State, float] | None,
        error: StoreUnavailable,
    ) -> tuple[Injection, tuple[Diagnostic, ...]]:
        injection, states = await self._settle_unread(turn, search, delivery, known, error)
        telling = self.announcer.turn_decided(
            injection,
            search.compiled.snapshot,
            states,
            stored=False,
            delivery=delivery,
            begun=begun,
        )
        return injection, await telling.ended()

    async def _settle_unread(
        self, turn: Turn, search: Search, delivery: Delivery, known: tuple[State, float] | None, error: StoreUnavailable
    ) -> tuple[Injection, tuple[State, State]]:
        """The turn on what was read before the store failed, else on a State in which nothing is known."""
        closing = self.on_store_failure is OnStoreFailure.FAIL_CLOSED
        if closing:
            search = replace(search, withheld=error)
        loaded = known or (State(), 0.0)
        settled = await self._settle(turn, search, loaded, delivery)
        injection = settled.injection
        if closing and known is None:
            # Which skills are in force, and what people said, is unknown: every tool may be one that they deny.
            injection = replace(injection, tools=closed(injection.tools, UNKNOWN_RULES))
        elif known is None:
            # Where the conversation stands is unknown too, so that no tool is known to belong elsewhere.
            injection = replace(injection, tools=replace(injection.tools, elsewhere=NOTHING_ELSEWHERE))
        diagnostic = unavailable(error, closing=closing, known=known is not None)
        diagnostics = (diagnostic, *injection.diagnostics)
        return replace(injection, diagnostics=diagnostics), (loaded[0], settled.state)


def _is_long(plan: Plan, fetched: Fetched) -> bool:
    bodies = (text for one in plan.wanted for text in (one.skill.text.instructions or "", *one.skill.text.steps))
    documents = (document.content for found in fetched.artifacts.values() for document in found)
    return sum(map(len, (*bodies, *documents))) > LONG_TEXT


def _wiring_for(turn: Turn, compiled: Compiled) -> Wiring | None:
    """The graph that the turn moves in; a spawned agent has the skills of its plan, wherever its parent stands."""
    return compiled.wiring if turn.limits is None else None
