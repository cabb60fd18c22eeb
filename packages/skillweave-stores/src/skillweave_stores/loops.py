"""One client for each event loop: a connection belongs to the loop that it was opened in, a store to any of them."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine
from threading import Lock
from typing import Any, Generic, TypeVar

T = TypeVar("T")


PATIENCE = 0.5
"""Seconds that another loop has to close what is its own; it may be blocked, perhaps with waiting for this loop."""


class PerLoop(Generic[T]):
    """What `make` gives, once for each event loop and process; safe between threads.

    `close` gives one back in its own loop, `abandon` one whose loop has ended, where nothing can be awaited any more. A
    forked child begins with none: the connections that it inherited are its parent's.
    """

    def __init__(
        self, make: Callable[[], T], close: Callable[[T], Awaitable[None]], abandon: Callable[[T], None]
    ) -> None:
        self._make = make
        self._close = close
        self._abandon = abandon
        self._lock = Lock()
        self._process = os.getpid()
        self._made: dict[asyncio.AbstractEventLoop, T] = {}
        self._parents: list[dict[asyncio.AbstractEventLoop, T]] = []

    def here(self) -> T:
        """The one of the running loop, made at its first use; those of loops that have ended are abandoned then."""
        if self._process != os.getpid():
            self._forget_parents()
        loop = asyncio.get_running_loop()
        with self._lock:
            found = self._made.get(loop)
            if found is None:
                for ended in [one for one in self._made if one.is_closed()]:
                    self._abandon(self._made.pop(ended))
                found = self._made[loop] = self._make()
            return found

    async def close(self) -> None:
        """Give back all that were made; later uses make new ones."""
        if self._process != os.getpid():
            self._forget_parents()
        with self._lock:
            made = list(self._made.items())
            self._made.clear()
        here = asyncio.get_running_loop()
        for loop, one in made:
            if loop is here:
                await self._close(one)
            elif not (loop.is_running() and await _within(PATIENCE, self._closed(one), loop)):
                self._abandon(one)

    async def _closed(self, one: T) -> None:
        await self._close(one)

    def _forget_parents(self) -> None:
        self._process = os.getpid()
        self._lock = Lock()  # the parent may have held it at the moment of the fork
        # Kept, so that nothing closes them: the child shares with its parent what tells which sockets can be read.
        self._parents.append(self._made)
        self._made = {}


async def _within(seconds: float, work: Coroutine[Any, Any, None], loop: asyncio.AbstractEventLoop) -> bool:
    """Run it in another loop; whether it ended in time."""
    try:
        await asyncio.wait_for(asyncio.wrap_future(asyncio.run_coroutine_threadsafe(work, loop)), seconds)
    except TimeoutError:
        return False
    return True
