"""Turns of one conversation at the same time: who lost a race queues with the others of this process, then tries on."""

import asyncio
import random
import time
from weakref import WeakKeyDictionary, WeakValueDictionary

from skillweave.errors import Contended

PATIENCE_SECONDS = 10.0
"""How long after its first loss a turn, or a change, is tried again because others of the conversation were faster."""
LONGEST_PAUSE = 0.05
"""Seconds between two tries, at most: racers of several processes wait differently long."""


class Queues:
    """The queue of each conversation in this process, one for each event loop; those that nobody is in are forgotten.

    A turn that meets no other one never enters a queue, and none waits in one while it tells observers.
    """

    def __init__(self) -> None:
        self._locks: WeakKeyDictionary[
            asyncio.AbstractEventLoop, WeakValueDictionary[tuple[str, str], asyncio.Lock]
        ] = WeakKeyDictionary()

    def race(self, tenant: str, conversation: str) -> "Race":
        """A race about a conversation, for who was too slow once."""
        locks = self._locks.setdefault(asyncio.get_running_loop(), WeakValueDictionary())
        return Race(conversation, locks.setdefault((tenant, conversation), asyncio.Lock()))


class Race:
    """The tries of one turn, or of one change, that was too slow once, to store what it made of a State."""

    def __init__(self, conversation: str, queue: asyncio.Lock) -> None:
        self._conversation = conversation
        self._queue = queue
        # Only now, as a first try may have waited long for a connection, or for tables that were made.
        self._end = time.monotonic() + PATIENCE_SECONDS
        self._lost = 0
        self._first = False

    async def lost(self) -> None:
        """Wait for the next try; raises Contended when the time for it is over.

        After the first loss it waits until it is first in the queue: from then on only other processes, and turns that
        have just come, can be faster.
        """
        self._lost += 1
        left = self._end - time.monotonic()
        if left <= 0:
            raise Contended(self._conversation, self._lost)
        if self._lost > 1:
            await asyncio.sleep(random.uniform(0.0, min(LONGEST_PAUSE, 0.001 * self._lost)))  # noqa: S311
            return
        try:
            # Not `wait_for`, which before Python 3.12 may forget a cancellation.
            async with asyncio.timeout(left):
                await self._queue.acquire()
        except TimeoutError:
            raise Contended(self._conversation, self._lost) from None
        self._first = True

    def end(self) -> None:
        """Leave the queue."""
        if self._first:
            self._first = False
            self._queue.release()
