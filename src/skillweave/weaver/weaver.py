"""The engine's door: one turn in, one Injection out, the State kept in between."""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property
from typing import Unpack
from uuid import uuid4

from skillweave.conversation import Turn
from skillweave.decisions import Decision, Outcome
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.disclose.pricing import Pricing
from skillweave.errors import Contended, StoreUnavailable, UnreadableState
from skillweave.injection import Injection
from skillweave.knowledge.context import ContextSource
from skillweave.ledger.port import Logged, Store
from skillweave.ledger.state import Delivery, State, skill_key
from skillweave.ledger.transcript import blocks_in
from skillweave.ledger.transitions import clear, confirm, evict, release
from skillweave.plan import Settings, make_plan
from skillweave.registry import Changes, Registry, Snapshot
from skillweave.select.candidates import Rejected, Selection
from skillweave.select.questions import Question, question_in
from skillweave.select.select import DEFAULT as DEFAULT_MATCHERS
from skillweave.select.select import select
from skillweave.settle import Settled, settle
from skillweave.tokens.counter import CountedOnce, TokenCounter
from skillweave.tokens.vocabulary import Tiktoken
from skillweave.weaver.blocking import SyncWeaver
from skillweave.weaver.compiled import Compiled, compile_skills
from skillweave.weaver.fetch import fetch
from skillweave.weaver.race import change_state
from skillweave.weaver.turns import TurnFields, turn_of

log = logging.getLogger("skillweave")

FETCH_SECONDS = 2.0
"""The one deadline for artifacts and entity context."""


class OnStoreFailure(StrEnum):
    """Whether skills are given or withheld while the ledger does not answer; the turn itself never fails for it."""

    FAIL_OPEN = "fail_open"
    FAIL_CLOSED = "fail_closed"


@dataclass(frozen=True, slots=True)
class _Search:
    """What a turn calls for, before anything is known of the conversation."""

    compiled: Compiled
    selection: Selection
    question: Question | None
    blocks: Counter[str] | None


class Weaver:
    """Puts the right skills into each turn of any number of conversations.

    Build one with `skillweave.open`, or from its parts: a Registry, a Store, Settings. All its state is in the Store,
    so that any number of Weavers over one Store behave as one.
    """

    def __init__(
        self,
        registry: Registry,
        store: Store,
        settings: Settings | None = None,
        *,
        counter: TokenCounter | None = None,
        context: ContextSource | None = None,
        matchers: tuple[str, ...] = DEFAULT_MATCHERS,
        on_store_failure: OnStoreFailure = OnStoreFailure.FAIL_OPEN,
        fetch_seconds: float = FETCH_SECONDS,
        new_id: Callable[[], str] = lambda: uuid4().hex,
    ) -> None:
        self.registry = registry
        self.store = store
        self.settings = settings or Settings()
        self._pricing = Pricing(CountedOnce(counter or Tiktoken()))
        self._context = context
        self._matchers = matchers
        self._on_store_failure = on_store_failure
        self._fetch_seconds = fetch_seconds
        self._new_id = new_id
        self._compiled: Compiled | None = None
        self._loaded = False

    async def weave(self, message: str | Turn, **fields: Unpack[TurnFields]) -> Injection:
        """What to give to the model for this message, counted as given on return.

        A text needs `conversation=`; other fields of `Turn` go by name. The same turn id again gives the same
        messages and changes nothing. Under a time-out use `delivery`: a `weave` that is cancelled after it wrote counts
        as given. Raises Contended when other turns of the conversation win every race.
        """
        turn = turn_of(message, fields, self._new_id)
        return await self._run(turn, Delivery.GIVEN)

    @asynccontextmanager
    async def delivery(self, message: str | Turn, **fields: Unpack[TurnFields]) -> AsyncIterator[Injection]:
        """The same in two phases: claimed inside the block, confirmed on its exit, released when it raises.

        While claimed (at most 60 s) no other turn gives the same text.
        """
        turn = turn_of(message, fields, self._new_id)
        try:
            injection = await self._run(turn, Delivery.CLAIMED)
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

    async def preview(self, message: str | Turn, **fields: Unpack[TurnFields]) -> Injection:
        """What `weave` would answer now; nothing is written."""
        turn = turn_of(message, fields, self._new_id)
        search = await self._search(turn)
        settled = await self._settle(turn, search, await self.store.load(turn.conversation), Delivery.GIVEN)
        return settled.injection

    async def match(self, message: str | Turn, **fields: Unpack[TurnFields]) -> Selection:
        """What the matchers say to this message, whatever the conversation already has; nothing is written."""
        search = await self._search(turn_of(message, fields, self._new_id))
        most = self.settings.max_skills
        chosen, over = search.selection.chosen[:most], search.selection.chosen[most:]
        reason = f"max_skills is {most}, and no place is left"
        limited = tuple(Rejected(candidate, Outcome.OVER_LIMIT, reason) for candidate in over)
        return Selection(chosen, (*limited, *search.selection.rejected))

    async def evict(self, conversation: str, key: str) -> bool:
        """Forget that something was given, so that it is given again when wanted; False when it was not recorded.

        `key` is a skill's id, or a ledger key such as `artifact:{skill}/{id}` or `context:{entity}:{section}`.
        """
        full = key if ":" in key else skill_key(key)
        return await self._change(conversation, lambda state, _: evict(state, full))

    async def clear(self, conversation: str) -> bool:
        """Forget everything about a conversation but its decisions, also one that cannot be read any more.

        False when nothing was known.
        """
        try:
            return await self._change(conversation, lambda state, _: clear(state))
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
        if not self._loaded:
            await self.registry.refresh()
            self._loaded = True
        return self.registry.snapshot

    async def refresh(self) -> Changes:
        """Read again what changed in the sources."""
        changes = await self.registry.refresh()
        self._loaded = True
        return changes

    async def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What there is to say about the skills: from reading, from compiling their triggers, from the catalog."""
        compiled = await self._current()
        return (*compiled.snapshot.diagnostics, *compiled.kit.diagnostics, *compiled.shelf.diagnostics)

    async def catalog(self) -> str:
        """The catalog block inside its budget."""
        return (await self._current()).shelf.catalog.text

    @property
    def matchers(self) -> tuple[str, ...]:
        """The names of the matchers that run, in their order."""
        return self._matchers

    @cached_property
    def sync(self) -> SyncWeaver:
        """The same verbs without `await`, also inside a running event loop."""
        return SyncWeaver(self)

    async def _run(self, turn: Turn, delivery: Delivery) -> Injection:
        search = await self._search(turn)
        try:
            settled, decisions_kept = await self._stored(turn, search, delivery)
        except StoreUnavailable as error:
            return await self._without_store(turn, search, delivery, error)
        if decisions_kept is None:
            return settled.injection
        return replace(settled.injection, diagnostics=(*settled.injection.diagnostics, decisions_kept))

    async def _stored(self, turn: Turn, search: _Search, delivery: Delivery) -> tuple[Settled, Diagnostic | None]:
        async def compute(state: State, now: float) -> tuple[State, Settled]:
            settled = await self._settle(turn, search, (state, now), delivery)
            return settled.state, settled

        settled, _ = await change_state(self.store, turn.conversation, compute, racer=turn.id)
        return settled, await self._keep(turn, settled.injection.decisions)

    async def _settle(self, turn: Turn, search: _Search, loaded: tuple[State, float], delivery: Delivery) -> Settled:
        compiled = search.compiled
        plan = make_plan(turn, search.selection, compiled.snapshot, self.settings, loaded, search.blocks)
        fetched = await fetch(plan, self.registry, self._context, self._fetch_seconds)
        return settle(plan, fetched, compiled.shelf, question=search.question, delivery=delivery)

    async def _keep(self, turn: Turn, decisions: tuple[Decision, ...]) -> Diagnostic | None:
        try:
            await self.store.append(turn.conversation, turn.id, decisions)
        except StoreUnavailable as error:
            return Diagnostic(
                code="decisions-not-kept",
                severity=Severity.WARNING,
                message=f"the decisions of turn {turn.id!r} were not kept for `why`: {error}",
                fix="see to the store; the turn itself is complete",
            )
        return None

    async def _without_store(
        self, turn: Turn, search: _Search, delivery: Delivery, error: StoreUnavailable
    ) -> Injection:
        if self._on_store_failure is OnStoreFailure.FAIL_CLOSED:
            search = replace(search, selection=_withheld(search.selection, error))
        settled = await self._settle(turn, search, (State(), 0.0), delivery)
        given = "withheld" if self._on_store_failure is OnStoreFailure.FAIL_CLOSED else "given without being recorded"
        diagnostic = Diagnostic(
            code="ledger-unavailable",
            severity=Severity.ERROR,
            message=f"the ledger does not answer, so skills are {given}: {error}",
            fix="see to the store; until then a skill may be given more than once or not at all",
        )
        return replace(settled.injection, diagnostics=(diagnostic, *settled.injection.diagnostics))

    async def _search(self, turn: Turn) -> _Search:
        compiled = await self._current()
        return _Search(
            compiled=compiled,
            selection=select(compiled.kit, turn, matchers=self._matchers),
            question=question_in(turn.message.text),
            blocks=None if turn.transcript is None else blocks_in(turn.transcript),
        )

    async def _current(self) -> Compiled:
        snapshot = await self.snapshot()
        if self._compiled is None or self._compiled.snapshot is not snapshot:
            self._compiled = await asyncio.to_thread(
                compile_skills, snapshot, self.settings, self._pricing, self._matchers
            )
        return self._compiled

    async def _change(self, conversation: str, change: Callable[[State, float], State]) -> bool:
        async def compute(state: State, now: float) -> tuple[State, None]:
            return change(state, now), None

        _, changed = await change_state(self.store, conversation, compute, racer=conversation)
        return changed

    async def _close_claim(self, turn: Turn, change: Callable[[State, float], State]) -> None:
        try:
            await self._change(turn.conversation, change)
        except (StoreUnavailable, Contended):
            # The host's call is over and must not fail for this: the claim ends by itself, then the text counts as
            # not delivered and is given again.
            log.warning("a claim in conversation %r was left to expire", turn.conversation, exc_info=True)


def _withheld(selection: Selection, error: StoreUnavailable) -> Selection:
    reason = f"withheld while the ledger does not answer: {error}"
    failed = tuple(Rejected(candidate, Outcome.FAILED, reason) for candidate in selection.chosen)
    return Selection((), (*failed, *selection.rejected))
