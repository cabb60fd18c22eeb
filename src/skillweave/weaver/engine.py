"""What runs a turn: reads before and inside the pure core, and one write after it."""

import asyncio
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

from skillweave.conversation import Turn
from skillweave.decisions import Decision, Outcome
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.disclose.pricing import Pricing
from skillweave.errors import StoreUnavailable
from skillweave.events.cause import Cause
from skillweave.injection import Injection
from skillweave.knowledge.context import ContextSource
from skillweave.ledger.port import Store
from skillweave.ledger.state import Delivery, State
from skillweave.ledger.transcript import blocks_in
from skillweave.plan import make_plan
from skillweave.registry import Changes, Registry, Snapshot
from skillweave.select.candidates import Rejected, Selection
from skillweave.select.questions import Question, question_in
from skillweave.select.select import select
from skillweave.settings import Settings
from skillweave.settle import Settled, settle
from skillweave.weaver.announce import Announcer
from skillweave.weaver.compiled import Compiled, compile_skills
from skillweave.weaver.fetch import fetch
from skillweave.weaver.race import change_state

T = TypeVar("T")


class OnStoreFailure(StrEnum):
    """Whether skills are given or withheld while the ledger does not answer; the turn itself never fails for it."""

    FAIL_OPEN = "fail_open"
    FAIL_CLOSED = "fail_closed"


@dataclass(frozen=True, slots=True)
class Search:
    """What a turn calls for, before anything is known of the conversation."""

    compiled: Compiled
    selection: Selection
    question: Question | None
    blocks: Counter[str] | None


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
    _compiled: Compiled | None = None
    _loaded: bool = False

    async def run(self, turn: Turn, delivery: Delivery) -> Injection:
        """One turn, stored; what the ledger does while it does not answer is said in the Injection."""
        begun = self.announcer.begun()
        search = await self.search(turn)
        try:
            injection, found = await self._stored(turn, search, delivery, begun)
        except StoreUnavailable as error:
            injection, found = await self._without_store(turn, search, delivery, begun, error)
        return replace(injection, diagnostics=(*injection.diagnostics, *found)) if found else injection

    async def look(self, turn: Turn) -> Injection:
        """What `run` would answer now; nothing is written."""
        search = await self.search(turn)
        settled = await self._settle(turn, search, await self.store.load(turn.conversation), Delivery.GIVEN)
        return settled.injection

    async def search(self, turn: Turn) -> Search:
        """What the matchers say to the turn, and which blocks its transcript holds."""
        compiled = await self.current()
        return Search(
            compiled=compiled,
            selection=select(compiled.kit, turn, matchers=self.matchers),
            question=question_in(turn.message.text),
            blocks=None if turn.transcript is None else blocks_in(turn.transcript),
        )

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
                compile_skills, snapshot, self.settings, self.pricing, self.matchers
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
        self, turn: Turn, search: Search, delivery: Delivery, begun: float
    ) -> tuple[Injection, tuple[Diagnostic, ...]]:
        async def compute(state: State, now: float) -> tuple[State, tuple[State, Settled]]:
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
        plan = make_plan(turn, search.selection, compiled.snapshot, self.settings, loaded, search.blocks)
        fetched = await fetch(plan, self.registry, self.context, self.fetch_seconds)
        return settle(plan, fetched, compiled.shelf, question=search.question, delivery=delivery)

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
        self, turn: Turn, search: Search, delivery: Delivery, begun: float, error: StoreUnavailable
    ) -> tuple[Injection, tuple[Diagnostic, ...]]:
        if self.on_store_failure is OnStoreFailure.FAIL_CLOSED:
            search = replace(search, selection=_withheld(search.selection, error))
        settled = await self._settle(turn, search, (State(), 0.0), delivery)
        given = "withheld" if self.on_store_failure is OnStoreFailure.FAIL_CLOSED else "given without being recorded"
        diagnostic = Diagnostic(
            code="ledger-unavailable",
            severity=Severity.ERROR,
            message=f"the ledger does not answer, so skills are {given}: {error}",
            fix="see to the store; until then a skill may be given more than once or not at all",
        )
        injection = replace(settled.injection, diagnostics=(diagnostic, *settled.injection.diagnostics))
        telling = self.announcer.turn_decided(
            injection,
            search.compiled.snapshot,
            (State(), settled.state),
            stored=False,
            delivery=delivery,
            begun=begun,
        )
        return injection, await telling.ended()


def _withheld(selection: Selection, error: StoreUnavailable) -> Selection:
    reason = f"withheld while the ledger does not answer: {error}"
    failed = tuple(Rejected(candidate, Outcome.FAILED, reason) for candidate in selection.chosen)
    return Selection((), (*failed, *selection.rejected))
