"""Turns over HTTP: what to give to the model, whether it was delivered, and why it was so."""

import asyncio
import dataclasses
import logging
from collections.abc import AsyncIterator, Coroutine
from contextlib import asynccontextmanager
from typing import Any, Unpack

from skillweave.api.turn_request import DeliveryMode, TurnRequest
from skillweave.blocking import M, Verb, VerbBlock
from skillweave.client.room import Room
from skillweave.client.sending import Asked, at
from skillweave.conversation import MessageLike, Turn, TurnFields, turn_of
from skillweave.disclose.fit import Budget
from skillweave.errors import SkillweaveError
from skillweave.injection import Injection
from skillweave.state.port import Logged

log = logging.getLogger("skillweave.client")


class Turns(Room[M]):
    """The verbs about turns."""

    @Verb
    async def weave(
        self, message: MessageLike | Turn, *, budget: Budget | None = None, **fields: Unpack[TurnFields]
    ) -> Injection:
        """What to give to the model for this message, counted as given on return; see `Weaver.weave`.

        The conversation's working memory at the service is below `memory`. `budget` is one for this turn.
        """
        return await self._turn(turn_of(message, fields, self._new_id), DeliveryMode.GIVEN, budget)

    @Verb
    async def claim(
        self, message: MessageLike | Turn, *, budget: Budget | None = None, **fields: Unpack[TurnFields]
    ) -> Injection:
        """What `weave` answers, claimed for 60 s: `confirm` says that it was delivered, `release` that it was not."""
        return await self._turn(turn_of(message, fields, self._new_id), DeliveryMode.TWO_PHASE, budget)

    @VerbBlock
    @asynccontextmanager
    async def delivery(
        self, message: MessageLike | Turn, *, budget: Budget | None = None, **fields: Unpack[TurnFields]
    ) -> AsyncIterator[Injection]:
        """What `weave` answers, in two phases: claimed inside the block, confirmed on its exit, released if it raises.

        While claimed (at most 60 s) no other turn gives the same text.
        """
        turn = turn_of(message, fields, self._new_id)
        try:
            injection = await self._turn(turn, DeliveryMode.TWO_PHASE, budget)
        except asyncio.CancelledError:
            # The service may have written the claim, although nobody waits for it any more.
            await _end(self._ended(turn.conversation, turn.id, "release"))
            raise
        try:
            yield injection
        except BaseException:
            await _end(self._ended(turn.conversation, turn.id, "release"))
            raise
        await _end(self._ended(turn.conversation, turn.id, "confirm"))

    @Verb
    async def confirm(self, conversation: str, turn_id: str) -> None:
        """Say that what the turn claimed was delivered; again changes nothing.

        Raises ServiceError (409) where the claim is over: what it gave counts as not delivered.
        """
        await self._ended(conversation, turn_id, "confirm")

    @Verb
    async def release(self, conversation: str, turn_id: str) -> None:
        """Say that what the turn claimed was not delivered: it is given again when wanted. Again changes nothing."""
        await self._ended(conversation, turn_id, "release")

    @Verb
    async def why(self, conversation: str, skill_id: str | None = None) -> tuple[Logged, ...]:
        """The kept decisions of the conversation, of one skill or all, oldest first; for thirty days."""
        asked = Asked("GET", at("/conversations/{}/why", conversation), {"skill": skill_id})
        return await self._wire.answer(asked, tuple[Logged, ...])

    async def _ended(self, conversation: str, turn_id: str, how: str) -> None:
        await self._wire.send(Asked("POST", at("/conversations/{}/turns/{}/{}", conversation, turn_id, how)))

    async def _turn(self, turn: Turn, delivery: DeliveryMode, budget: Budget | None) -> Injection:
        # Made of the Turn, which has an id before the first try: sent again it is the same turn.
        shared = {name: getattr(turn, name) for name in _FIELDS}
        request = TurnRequest(**shared, delivery=delivery, budget=budget)
        path = at("/conversations/{}/turns", turn.conversation)
        return await self._wire.answer(Asked("POST", path, body=request), Injection)


_FIELDS = tuple(one.name for one in dataclasses.fields(Turn) if one.name != "conversation")


async def _end(ending: Coroutine[Any, Any, None]) -> None:
    """End a claim; the host's call is over and must not fail for this: a claim that is left ends by itself."""
    try:
        await ending
    except SkillweaveError:
        log.warning("a claim was left to expire", exc_info=True)
