"""One look-out: it stands at the places that it was given until something changes there."""

import asyncio
import logging
import threading
from collections.abc import Callable, Iterable
from contextlib import closing, suppress
from dataclasses import dataclass
from types import TracebackType

from skillweave.errors import CannotWatch
from skillweave.registry.places import Places

log = logging.getLogger("skillweave")

_LONGEST_BURST = 20
"""A change that goes on for that many quiet times is told before it is over."""


class Vanished(Exception):
    """One of the places went away before the look-out stood there."""


@dataclass(frozen=True, slots=True)
class _How:
    quiet_milliseconds: int
    recursive: bool


class LookOut:
    """Stands at the places inside `async with`, so that nothing is missed between its start and `changed`.

    A change counts when nothing more happened for `quiet_seconds`. `watchfiles` waits in threads of ours, not in a pool
    that other work needs; they have ended when the block is left.
    """

    def __init__(self, places: Places, quiet_seconds: float) -> None:
        quiet = max(1, round(quiet_seconds * 1000))
        self._change = asyncio.Event()
        everywhere = ((places.deep, _How(quiet, recursive=True)), (places.level, _How(quiet, recursive=False)))
        self._posts = [_Post(self._change, paths, places.matters, how) for paths, how in everywhere if paths]

    async def __aenter__(self) -> "LookOut":
        """Raises Vanished, and CannotWatch when the system lets no more be watched."""
        try:
            for post in self._posts:
                post.start()
            for post in self._posts:
                await post.placed.wait()
                post.check()
        except BaseException:
            await self._leave()
            raise
        return self

    async def __aexit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        await self._leave()

    async def changed(self) -> None:
        """Wait until something changes; at once when it did already."""
        await self._change.wait()

    async def _leave(self) -> None:
        for post in self._posts:
            post.stop()
        for post in self._posts:
            await post.end()


class _Post:
    """A thread in which `watchfiles` waits for one change that matters."""

    def __init__(self, change: asyncio.Event, paths: Iterable[str], matters: Callable[[str], bool], how: _How) -> None:
        self.placed = asyncio.Event()
        self._change = change
        self._paths = tuple(paths)
        self._matters = matters
        self._how = how
        self._loop = asyncio.get_running_loop()
        self._failure: Exception | None = None
        self._stopped = False
        self._asked = False
        self._done = asyncio.Event()
        self._thread = threading.Thread(target=self._wait, name="skillweave-watch")

    def start(self) -> None:
        """Begin; `placed` is set as soon as no change is missed any more."""
        self._thread.start()

    def stop(self) -> None:
        """Let it end, which it does within the quiet time."""
        self._stopped = True

    async def end(self) -> None:
        """Wait until it has ended."""
        if self._thread.ident is not None:
            await self._done.wait()
            self._thread.join()

    def check(self) -> None:
        """Raises Vanished or CannotWatch when it could not begin."""
        if isinstance(self._failure, FileNotFoundError):
            raise Vanished
        if self._failure is not None:
            raise CannotWatch(
                f"the folders of skills cannot be followed: {self._failure}; let the system watch more files (on Linux "
                "fs.inotify.max_user_watches and max_user_instances), or set WATCHFILES_FORCE_POLLING=1"
            ) from self._failure

    def is_set(self) -> bool:
        """Whether to stop: what `watchfiles` asks after each quiet time, for the first time when it is in place."""
        if not self._asked:
            self._asked = True
            self._tell(self.placed.set)
        return self._stopped or not threading.main_thread().is_alive()

    def _wait(self) -> None:
        from watchfiles import watch

        try:
            with closing(
                watch(
                    *self._paths,
                    watch_filter=lambda _, path: self._matters(path),
                    stop_event=self,
                    step=self._how.quiet_milliseconds,
                    debounce=self._how.quiet_milliseconds * _LONGEST_BURST,
                    recursive=self._how.recursive,
                    ignore_permission_denied=self._how.recursive,  # without this it says when a place is gone
                    raise_interrupt=False,
                )
            ) as changes:
                if next(changes, None) is not None:
                    self._tell(self._change.set)
        except Exception as error:  # noqa: BLE001 - raised by `check`, where somebody waits for this thread
            if self._asked:
                # It stood in its place, and could not tell what it saw there: a file name that is no UTF-8.
                log.warning("something changed among the files of skills: %s", error)
            else:
                self._failure = error
            self._tell(self._change.set)
        finally:
            self._tell(self.placed.set)
            self._tell(self._done.set)

    def _tell(self, call: Callable[[], None]) -> None:
        with suppress(RuntimeError):  # the loop is closed, and nobody waits any more
            self._loop.call_soon_threadsafe(call)
