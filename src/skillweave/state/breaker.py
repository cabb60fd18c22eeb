"""A store that has fallen silent costs its time limit a few times, and not in every call (spec 5.4)."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from skillweave.errors import StoreSilent, StoreUnavailable
from skillweave.state.port import Ledger
from skillweave.state.state import State, Writes

T = TypeVar("T")

SILENT_IN_A_ROW = 3
"""After so many time limits that were used up, with no answer in between, calls are not even tried."""
PAUSE_SECONDS = 0.5
"""How often a silent store is asked again, and how long whoever asks waits for it."""


class Breaker:
    """Whether a store is silent, as all who use it know; `clock` is in seconds.

    Whoever asks the store calls it directly until a call has failed, tells each failure to `failed`, and calls by
    `ask` and `tell` while it is `troubled`. Only StoreSilent counts: a store that refuses, or that holds a damaged
    State, does answer.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.troubled = False
        """Whether the last that was heard of the store is that it kept silent."""
        self._clock = clock
        self._silent = 0
        self._next = float("-inf")
        self._last = ""
        self._probes: set[asyncio.Task[object]] = set()

    @property
    def is_open(self) -> bool:
        """Whether calls fail at once."""
        return self._silent >= SILENT_IN_A_ROW

    def failed(self, error: StoreUnavailable) -> None:
        """Count a call that used up its time limit; every other failure changes nothing."""
        if isinstance(error, StoreSilent):
            self._last = str(error)
            self._note(self._silent + 1)

    async def ask(self, work: Callable[[], Awaitable[T]]) -> T:
        """What a read answers. Of a silent store, who comes after the pause finds out whether it answers again.

        That takes at most half a second; all others get StoreUnavailable at once.
        """
        if not self.is_open:
            return await self._answered(work)
        now = self._clock()
        if now >= self._next:
            self._next = now + PAUSE_SECONDS
            # It goes on when nobody waits any longer: an answer that comes late is one too.
            probe = asyncio.ensure_future(self._answered(work))
            self._probes.add(probe)
            probe.add_done_callback(self._ended)
            if (await asyncio.wait((probe,), timeout=PAUSE_SECONDS))[0]:
                return probe.result()
        raise self._refusal()

    async def tell(self, work: Callable[[], Awaitable[T]]) -> T:
        """What a write answers; a silent store is never asked, so that nothing is written which nobody waits for."""
        if self.is_open:
            raise self._refusal()
        return await self._answered(work)

    async def _answered(self, work: Callable[[], Awaitable[T]]) -> T:
        try:
            answer = await work()
        except StoreSilent:
            raise
        except StoreUnavailable:
            self._note(0)
            raise
        self._note(0)
        return answer

    def _note(self, silent: int) -> None:
        self._silent, self.troubled = silent, silent > 0

    def _ended(self, probe: "asyncio.Task[object]") -> None:
        self._probes.discard(probe)
        if not probe.cancelled():
            probe.exception()  # heard: whoever asked has had an answer

    def _refusal(self) -> StoreUnavailable:
        message = (
            f"not asked, as it was silent {self._silent} times in a row, and tried every half second: {self._last}"
        )
        return StoreUnavailable(message, retry_after=PAUSE_SECONDS)


class WatchedLedger(Breaker):
    """A ledger and its Breaker: `ledger` is the one to call, itself while all is well, else this by way of the Breaker.

    So watching costs nothing while there is nothing to see; who calls it tells each failure to `failed`.
    """

    def __init__(self, ledger: Ledger, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(clock)
        self._watched = ledger
        self.ledger: Ledger = ledger

    async def load(self, conversation: str, *, tenant: str = "") -> tuple[State, float]:
        """The ledger's answer."""
        return await self.ask(partial(self._watched.load, conversation, tenant=tenant))

    async def swap(self, conversation: str, expected_revision: int, writes: Writes, *, tenant: str = "") -> bool:
        """The ledger's answer."""
        return await self.tell(partial(self._watched.swap, conversation, expected_revision, writes, tenant=tenant))

    def _note(self, silent: int) -> None:
        super()._note(silent)
        self.ledger = self if self.troubled else self._watched
