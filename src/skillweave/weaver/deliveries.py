"""The verb that gives in two phases: claimed while the host sends it, then confirmed or released."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Unpack

from skillweave.conversation import Turn
from skillweave.errors import Contended, StoreUnavailable
from skillweave.events.event import Cause
from skillweave.injection import Injection
from skillweave.state.state import Delivery, State
from skillweave.state.transitions import confirm, held_keys, release
from skillweave.weaver.engine import Engine
from skillweave.weaver.turns import TurnFields, turn_of

log = logging.getLogger("skillweave")


class Deliveries:
    """The part of a Weaver that counts a text as given only when it was delivered."""

    _engine: Engine
    _new_id: Callable[[], str]

    @asynccontextmanager
    async def delivery(self, message: str | Turn, **fields: Unpack[TurnFields]) -> AsyncIterator[Injection]:
        """The same in two phases: claimed inside the block, confirmed on its exit, released when it raises.

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
