"""An event loop on a thread of its own, for callers that cannot await: it works inside a running loop too."""

import asyncio
import atexit
import os
from collections.abc import Coroutine
from threading import Lock, Thread
from types import TracebackType
from typing import Any, Generic, Self, TypeVar

from skillweave.closing import Closable

T = TypeVar("T")
C = TypeVar("C", bound=Closable)

LAST_SECONDS = 5.0
"""What still runs at the end of the program has so long to write what it holds."""


class LoopThread:
    """An event loop in a daemon thread, started at first use; the end of the program cancels what still runs there."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: Thread | None = None
        self._process = os.getpid()
        self._lock = Lock()

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run the coroutine there and wait for its result; a Ctrl-C here cancels it there."""
        with self._lock:  # so that a `stop` in between cannot leave the work behind in a loop that has ended
            future = asyncio.run_coroutine_threadsafe(work, self._started())
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def stop(self) -> None:
        """End the thread and cancel what still runs in it; the next `run` starts another one."""
        with self._lock:
            if self._loop is not None:
                self._loop.call_soon_threadsafe(self._loop.stop)
                self._loop = None
                atexit.unregister(self._end)

    def _end(self) -> None:
        """At the end of the program: a store that writes a little later, as a log of decisions does, writes now."""
        if self._process == os.getpid():
            self.stop()
            if self._thread is not None:
                self._thread.join(LAST_SECONDS)

    def _started(self) -> asyncio.AbstractEventLoop:
        if self._process != os.getpid():  # a forked child has the loop but not the thread that ran it
            self._loop, self._process = None, os.getpid()
        if self._loop is None:
            loop = self._loop = asyncio.new_event_loop()
            self._thread = Thread(target=_serve, args=(loop,), name="skillweave-sync", daemon=True)
            self._thread.start()
            atexit.register(self._end)
        return self._loop


def _serve(loop: asyncio.AbstractEventLoop) -> None:
    asyncio.set_event_loop(loop)
    try:
        loop.run_forever()
        # Whoever still waits for an answer is told that it is cancelled, instead of waiting for ever.
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            loop.run_until_complete(asyncio.wait(left))
    finally:
        loop.close()


class OnLoopThread(Generic[C]):
    """An object whose verbs are awaited, on a loop of its own: what its blocking twin is made of."""

    def __init__(self, awaited: C, thread: LoopThread) -> None:
        self.awaited = awaited
        self.thread = thread

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run what awaits this object on its own loop, and wait for the result; for adapters of blocking hosts."""
        return self.thread.run(work)

    def close(self) -> None:
        """Give back what the object holds, and end the private thread."""
        self.run(self.awaited.close())
        self.thread.stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
