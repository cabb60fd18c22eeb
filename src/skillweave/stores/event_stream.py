"""Event streams in this process's memory: for those who listen to the process itself, and gone with it."""

import asyncio
import secrets
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from threading import Lock
from typing import TypeAlias

from skillweave.closing import ClosedOnExit
from skillweave.events.event import KEEP_EVENTS_SECONDS, KNOWN_AGAIN, MOST_KEPT, Event, StreamedEvent, StreamGap
from skillweave.tenants import tenant_of

MOST_EVENTS = 500_000
"""Events of all conversations together; of more, the conversations that were silent for longest are forgotten."""
_PAGE = 100
"""So many events a follower holds who has not taken them yet."""
_LONGEST_NUMBER = 18
_Key: TypeAlias = tuple[str, str]
"""A tenant, and the id of one of its conversations."""


@dataclass(frozen=True, slots=True, eq=False)
class _Follower:
    """Somebody who waits in an event loop."""

    loop: asyncio.AbstractEventLoop
    woken: asyncio.Event = field(default_factory=asyncio.Event)

    def wake(self) -> None:
        """Let it look again; from any thread."""
        with suppress(RuntimeError):  # its loop has ended, and nobody waits there any more
            self.loop.call_soon_threadsafe(self.woken.set)


@dataclass(slots=True, eq=False)
class _Kept:
    """One conversation's events; `last` is the number of the newest one, `name` what its positions begin with."""

    name: str = field(default_factory=lambda: secrets.token_hex(6))
    events: deque[StreamedEvent] = field(default_factory=deque)
    last: int = 0
    used: float = 0.0
    recent: dict[str, None] = field(default_factory=dict)
    followers: set[_Follower] = field(default_factory=set)

    def add(self, events: Iterable[Event], most: int) -> bool:
        """Put those at the end that are not known; whether there were any."""
        before = self.last
        for event in events:
            if event.id in self.recent:
                continue
            self.recent[event.id] = None
            if len(self.recent) > KNOWN_AGAIN:
                del self.recent[next(iter(self.recent))]
            self.last += 1
            self.events.append(StreamedEvent(f"{self.name}-{self.last}", event))
            if len(self.events) > most:
                self.events.popleft()
        return self.last > before

    def empty(self) -> None:
        """Forget the events, not where the stream is: whoever had all of them can go on."""
        self.events.clear()
        self.recent.clear()

    def number(self, after: str | None) -> int:
        """The number of the event at that position, of the newest for None; raises StreamGap."""
        if after is None:
            return self.last
        if not after:
            return self.last - len(self.events)
        name, _, number = after.rpartition("-")
        if name != self.name or not (number.isascii() and number.isdigit()) or len(number) > _LONGEST_NUMBER:
            raise self.gap(after)
        return int(number)

    def page(self, number: int, limit: int) -> tuple[StreamedEvent, ...]:
        """At most so many events after the one of that number; raises StreamGap."""
        skipped = number - (self.last - len(self.events))
        if skipped < 0 or number > self.last:
            raise self.gap(f"{self.name}-{number}")
        # By index: most ask for the newest ones, and to walk there would take longer with each that is kept.
        return tuple(self.events[place] for place in range(skipped, min(skipped + limit, len(self.events))))

    def gap(self, after: str) -> StreamGap:
        return StreamGap(after, self.events[0].position if self.events else "")


class MemoryEventStream(ClosedOnExit):
    """Event streams in this process, safe between threads and event loops; `clock` gives seconds.

    A conversation keeps its newest 10,000 events until it was silent for a day, all of them together `most_events`.
    Whoever follows holds a few events at a time and nobody up: who is too slow meets a StreamGap. What was kept by an
    earlier process is one too.
    """

    def __init__(
        self,
        *,
        clock: Callable[[], float] = time.monotonic,
        most_kept: int = MOST_KEPT,
        most_events: int = MOST_EVENTS,
    ) -> None:
        self._clock = clock
        self._most_kept = min(most_kept, most_events)
        self._most_events = most_events
        self._kept: OrderedDict[_Key, _Kept] = OrderedDict()
        self._empty: dict[_Key, _Kept] = {}
        self._number = 0
        self._lock = Lock()
        self._closed = False

    async def append(self, conversation: str, events: Sequence[Event], *, tenant: str = "") -> None:
        """Put the events at the end; one whose id is among the last 200 is left out."""
        key, now = (tenant and tenant_of(tenant), conversation), self._clock()
        with self._lock:
            self._forget(now)
            known = self._kept.get(key) or self._empty.get(key) or _Kept()
            before = len(known.events)
            if not known.add(events, self._most_kept):
                return
            known.used = now
            self._number += len(known.events) - before
            self._empty.pop(key, None)
            self._kept[key] = known
            self._kept.move_to_end(key)
            self._forget(now)
            waiting = tuple(known.followers)
        for follower in waiting:
            follower.wake()

    async def read(
        self, conversation: str, after: str = "", limit: int = 100, *, tenant: str = ""
    ) -> tuple[StreamedEvent, ...]:
        """At most `limit` events after that position; raises StreamGap."""
        key, now = (tenant_of(tenant), conversation), self._clock()
        with self._lock:
            self._forget(now)
            known = self._known(key) or _Kept()
            return known.page(known.number(after), max(limit, 0))

    async def last(self, conversation: str, *, tenant: str = "") -> str:
        """The position of the newest event that is kept."""
        key, now = (tenant_of(tenant), conversation), self._clock()
        with self._lock:
            self._forget(now)
            known = self._known(key)
            return known.events[-1].position if known is not None and known.events else ""

    async def follow(
        self, conversation: str, after: str | None = None, *, tenant: str = ""
    ) -> AsyncGenerator[StreamedEvent, None]:
        """Every event after that position, then each as it comes; raises StreamGap."""
        key, follower = (tenant_of(tenant), conversation), _Follower(asyncio.get_running_loop())
        with self._lock:
            self._forget(self._clock())
            known = self._known(key) or _Kept()
            number = known.number(after)
            if not self._known(key):
                self._empty[key] = known  # what is followed stays the same one, also where it is emptied in between
            known.followers.add(follower)
        try:
            while True:
                follower.woken.clear()
                with self._lock:
                    page = () if self._closed else known.page(number, _PAGE)
                for one in page:
                    yield one
                number += len(page)
                if self._closed:
                    return
                if not page:
                    await follower.woken.wait()
        finally:
            with self._lock:
                known.followers.discard(follower)
                if not known.followers and self._empty.get(key) is known:
                    del self._empty[key]

    async def close(self) -> None:
        """End everybody's following; what is kept stays."""
        with self._lock:
            self._closed = True
            waiting = [one for known in (*self._kept.values(), *self._empty.values()) for one in known.followers]
        for follower in waiting:
            follower.wake()

    def _known(self, key: _Key) -> _Kept | None:
        return self._kept.get(key) or self._empty.get(key)

    def _forget(self, now: float) -> None:
        """Forget what was silent for too long, then what was silent for longest where there is too much."""
        while self._kept:
            key, known = next(iter(self._kept.items()))
            if known.used >= now - KEEP_EVENTS_SECONDS and self._number <= self._most_events:
                return
            del self._kept[key]
            self._number -= len(known.events)
            known.empty()
            if known.followers:
                self._empty[key] = known
