"""The engine's door: one turn in, one Injection out, the State kept in between."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import cached_property
from typing import Unpack
from uuid import uuid4

from skillweave.conversation import Turn
from skillweave.decisions import Outcome
from skillweave.diagnostics import Diagnostic
from skillweave.disclose.pricing import Pricing
from skillweave.errors import Contended, StoreUnavailable, UnreadableState
from skillweave.injection import Injection
from skillweave.knowledge.context import ContextSource
from skillweave.ledger.port import Logged, Store
from skillweave.ledger.state import Delivery, State, skill_key
from skillweave.ledger.transitions import clear, confirm, evict, release
from skillweave.plan import Settings
from skillweave.registry import Changes, Registry, Snapshot
from skillweave.select.candidates import Rejected, Selection
from skillweave.select.select import DEFAULT as DEFAULT_MATCHERS
from skillweave.tokens.counter import CountedOnce, TokenCounter
from skillweave.tokens.vocabulary import Tiktoken
from skillweave.weaver.blocking import SyncWeaver
from skillweave.weaver.engine import Engine, OnStoreFailure
from skillweave.weaver.turns import TurnFields, turn_of

log = logging.getLogger("skillweave")

FETCH_SECONDS = 2.0
"""The one deadline for artifacts and entity context."""


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
        self._engine = Engine(
            registry=registry,
            store=store,
            settings=settings or Settings(),
            pricing=Pricing(CountedOnce(counter or Tiktoken())),
            matchers=matchers,
            context=context,
            on_store_failure=on_store_failure,
            fetch_seconds=fetch_seconds,
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

    async def weave(self, message: str | Turn, **fields: Unpack[TurnFields]) -> Injection:
        """What to give to the model for this message, counted as given on return.

        A text needs `conversation=`; other fields of `Turn` go by name. The same turn id again gives the same
        messages and changes nothing. Under a time-out use `delivery`: a `weave` that is cancelled after it wrote counts
        as given. Raises Contended when other turns of the conversation win every race.
        """
        turn = turn_of(message, fields, self._new_id)
        return await self._engine.run(turn, Delivery.GIVEN)

    @asynccontextmanager
    async def delivery(self, message: str | Turn, **fields: Unpack[TurnFields]) -> AsyncIterator[Injection]:
        """The same in two phases: claimed inside the block, confirmed on its exit, released when it raises.

        While claimed (at most 60 s) no other turn gives the same text.
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

    async def preview(self, message: str | Turn, **fields: Unpack[TurnFields]) -> Injection:
        """What `weave` would answer now; nothing is written."""
        turn = turn_of(message, fields, self._new_id)
        return await self._engine.look(turn)

    async def match(self, message: str | Turn, **fields: Unpack[TurnFields]) -> Selection:
        """What the matchers say to this message, whatever the conversation already has; nothing is written."""
        search = await self._engine.search(turn_of(message, fields, self._new_id))
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
        return await self._engine.change(conversation, lambda state, _: evict(state, full))

    async def clear(self, conversation: str) -> bool:
        """Forget everything about a conversation but its decisions, also one that cannot be read any more.

        False when nothing was known.
        """
        try:
            return await self._engine.change(conversation, lambda state, _: clear(state))
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

    async def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What there is to say about the skills: from reading, from compiling their triggers, from the catalog."""
        compiled = await self._engine.current()
        return (*compiled.snapshot.diagnostics, *compiled.kit.diagnostics, *compiled.shelf.diagnostics)

    async def catalog(self) -> str:
        """The catalog block inside its budget."""
        return (await self._engine.current()).shelf.catalog.text

    @cached_property
    def sync(self) -> SyncWeaver:
        """The same verbs without `await`, also inside a running event loop."""
        return SyncWeaver(self)

    async def _close_claim(self, turn: Turn, change: Callable[[State, float], State]) -> None:
        try:
            await self._engine.change(turn.conversation, change)
        except (StoreUnavailable, Contended):
            # The host's call is over and must not fail for this: the claim ends by itself, then the text counts as
            # not delivered and is given again.
            log.warning("a claim in conversation %r was left to expire", turn.conversation, exc_info=True)
