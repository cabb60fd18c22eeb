"""Skill texts in a history that its host keeps without them: put back where they stood, in every call of the model.

A host that sends its own history anew with each call, as the OpenAI Agents SDK and the Agent Framework do, has no place
to keep a text in. Each text is kept under the digest of what stands before it, as the exchange does it: the provider's
prefix cache finds each call at the beginning of the next one, wherever the history itself stays as it is.
"""

import json
import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Generic, TypeVar, Unpack

from skillweave.adapters.bridge import Bridge
from skillweave.adapters.chat import HostMessage, TurnOptions
from skillweave.errors import StoreUnavailable
from skillweave.injection import Drop, Injection

M = TypeVar("M")

log = logging.getLogger("skillweave")


_GONE = "gone"
"""The key of the ids of texts that have left: the host's history may hold one, as a tool's answer."""


@dataclass(frozen=True, slots=True)
class Form(Generic[M]):
    """The messages of a host: how they are `read`, what makes one of the user's of a text, and what of one counts.

    `counts` gives what is the same whenever the host sends the message, as JSON; `without` takes texts out.
    """

    read: Callable[[Sequence[M]], Sequence[HostMessage]]
    made: Callable[[str], M]
    counts: Callable[[M], object]
    without: Callable[[Sequence[M], Sequence[Drop]], list[M]]


class Restoring(Generic[M]):
    """Weaves the calls of a Bridge in history placement over a history that never holds what was given."""

    def __init__(self, bridge: Bridge, form: Form[M]) -> None:
        self._bridge = bridge
        self._form = form

    async def weave(
        self, history: Sequence[M], conversation: str, **fields: Unpack[TurnOptions]
    ) -> tuple[Injection, list[M]]:
        """The Injection for the call, and the history with every text that is given in its place."""
        places = self._places(history)
        kept = await self._find(conversation, places)
        gone = kept.get(_GONE, [])
        sent = self._form.without(self._with(history, places, kept), _drops(gone))
        injection = await self._bridge.weave(self._form.read(sent), conversation, **fields)
        changed = {}
        if injection.leaving:
            sent = self._form.without(sent, injection.leaving)
            changed[_GONE] = [*gone, *(drop.message_id for drop in injection.leaving)]
        given = [message.text for message in injection.messages]
        if given:
            sent += map(self._form.made, given)
            changed[places[-1]] = [*kept.get(places[-1], ()), *given]
        if changed:
            await self._keep(conversation, changed)
        return injection, sent

    def _places(self, history: Sequence[M]) -> list[str]:
        """A digest of everything up to each message, the last of which is that of the whole."""
        digest, places = "", []
        for message in history:
            counts = json.dumps(self._form.counts(message), sort_keys=True, default=str)
            digest = sha256((digest + counts).encode("utf-8", "surrogatepass")).hexdigest()
            places.append(digest)
        return places or [digest]

    def _with(self, history: Sequence[M], places: Sequence[str], texts: Mapping[str, list[str]]) -> list[M]:
        pairs = zip(history, places, strict=False)
        return [one for message, place in pairs for one in (message, *map(self._form.made, texts.get(place, ())))]

    async def _find(self, conversation: str, places: Sequence[str]) -> Mapping[str, list[str]]:
        try:
            found = await self._bridge.insertions.find_entries(
                _scope(conversation), (*places, _GONE), tenant=self._bridge.tenant
            )
        except StoreUnavailable as error:
            log.warning("what was given before in %r cannot be put back: %s", conversation, error)
            return {}
        return {key: json.loads(data) for key, data in found.items()}

    async def _keep(self, conversation: str, changed: Mapping[str, list[str]]) -> None:
        entries = {key: json.dumps(texts).encode() for key, texts in changed.items()}
        try:
            await self._bridge.insertions.keep_entries(_scope(conversation), entries, tenant=self._bridge.tenant)
        except StoreUnavailable as error:
            # The next call lacks it, and the ledger sees that it does: it is given again.
            log.warning("what is given in %r cannot be kept for the next call: %s", conversation, error)


def _scope(conversation: str) -> str:
    return f"host:{conversation}"


def _drops(gone: Sequence[str]) -> list[Drop]:
    return [Drop("", carrier, 0) for carrier in gone]
