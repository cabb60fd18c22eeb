"""Whose key it is that came with a request: asked of the key store, and remembered for a while."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from skillweave import StoreUnavailable
from skillweave.ledger import Breaker
from skillweave_stores.access import ApiKey, KeyStore, id_in, opens

MOST_REMEMBERED = 10_000
"""Keys that are remembered, and as many ids that are none; of more, those that came longest ago are asked for again."""

MOST_ASKED = 4
"""Keys that are looked up at once: whoever guesses ids takes no more connections than that from everybody else."""


@dataclass(frozen=True, slots=True)
class _Known:
    key: ApiKey | None
    asked_at: float


class KeyRing:
    """The keys of a store, each asked for again after `seconds`, so that a revoked one opens nothing any more.

    `clock` is in seconds. `compare` says whether a text is that of a kept key, in the same time whether or not; it is
    asked for every text, also for one of no known key.
    """

    def __init__(
        self,
        store: KeyStore,
        seconds: float,
        *,
        clock: Callable[[], float] = time.monotonic,
        compare: Callable[[str, ApiKey | None], bool] = opens,
    ) -> None:
        self._store = store
        self._seconds = seconds
        self._clock = clock
        self._compare = compare
        self._breaker = Breaker(clock)
        self._asking = asyncio.Semaphore(MOST_ASKED)
        # Two tables, so that whoever guesses ids cannot push real keys out.
        self._keys: OrderedDict[str, _Known] = OrderedDict()
        self._strangers: OrderedDict[str, _Known] = OrderedDict()

    async def owner(self, spelled: str) -> ApiKey | None:
        """The key whose text this is, if it is in use; None for every other text.

        Raises StoreUnavailable where the store has to be asked and does not answer.
        """
        key_id = id_in(spelled)
        kept = None if key_id is None else await self._kept(key_id)
        if not self._compare(spelled, kept) or kept is None:
            return None
        return kept if kept.revoked_at is None else None

    async def _kept(self, key_id: str) -> ApiKey | None:
        known = self._keys.get(key_id) or self._strangers.get(key_id)
        # Of the moment before the question, so that the answer is never older than it counts.
        now = self._clock()
        if known is not None and now < known.asked_at + self._seconds:
            return known.key
        async with self._asking:
            find = partial(self._store.find, key_id)
            try:
                found = await (self._breaker.ask(find) if self._breaker.troubled else find())
            except StoreUnavailable as error:
                self._breaker.failed(error)
                raise
        self._remember(key_id, _Known(found, now))
        return found

    def _remember(self, key_id: str, known: _Known) -> None:
        table, other = (self._strangers, self._keys) if known.key is None else (self._keys, self._strangers)
        other.pop(key_id, None)
        table[key_id] = known
        table.move_to_end(key_id)
        if len(table) > MOST_REMEMBERED:
            table.popitem(last=False)
