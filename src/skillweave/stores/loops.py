"""One client for each event loop: a connection belongs to the loop that it was opened in, a store to any of them."""

import asyncio
import os
from collections.abc import Awaitable, Callable
from threading import Lock
from typing import Generic, TypeVar
from weakref import WeakKeyDictionary

T = TypeVar("T")


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
        self._start()

    def here(self) -> T:
        """The one of the running loop, made at its first use."""
        if self._process != os.getpid():
            self._start()
        loop = asyncio.get_running_loop()
        with self._lock:
            found = self._made.get(loop)
            if found is None:
                found = self._made[loop] = self._make()
            return found

    async def close(self) -> None:
        """Give back all that were made; later uses make new ones."""
        if self._process != os.getpid():
            self._start()
        with self._lock:
            made, self._made = list(self._made.items()), WeakKeyDictionary()
        here = asyncio.get_running_loop()
        for loop, one in made:
            if loop is here:
                await self._close(one)
            elif loop.is_running():
                await asyncio.wrap_future(asyncio.run_coroutine_threadsafe(self._closed(one), loop))
            else:
                self._abandon(one)

    async def _closed(self, one: T) -> None:
        await self._close(one)

    def _start(self) -> None:
        self._process = os.getpid()
        self._made: WeakKeyDictionary[asyncio.AbstractEventLoop, T] = WeakKeyDictionary()
