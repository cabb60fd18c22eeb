"""Event streams on Redis: those who listen hear what happens in any process that writes there (spec 8)."""

import asyncio
import logging
import re
from collections.abc import AsyncGenerator, Sequence
from functools import partial
from typing import TYPE_CHECKING

from skillweave import Event, StoreUnavailable
from skillweave.events import KEEP_EVENTS_SECONDS, MOST_KEPT, StreamedEvent, StreamGap
from skillweave.values import ClosedOnExit
from skillweave_stores.redis.entries import entries_of, streamed
from skillweave_stores.redis.keys import keys_of
from skillweave_stores.redis.place import place_of
from skillweave_stores.redis.scripts import HEAR, NEWEST, TELL

if TYPE_CHECKING:
    from skillweave_stores.redis.listening import Listening

CONNECTIONS = 8
"""Connections of an event loop for what is not waiting; one more waits for everybody."""
_START, _NEVER = "0-0", "-"
"""The position before every event, which no event has, and one that never was."""
_POSITION = re.compile(r"[0-9]{1,19}-[0-9]{1,19}", re.ASCII)
_FIRST_BACKOFF, _LONGEST_BACKOFF = 0.05, 2.0
log = logging.getLogger("skillweave")


class RedisEventStream(ClosedOnExit):
    """Event streams on a Redis, a Valkey or a cluster, by the URLs that RedisStore takes.

    A conversation keeps its newest 10,000 events until it was silent for a day. All who follow in one event loop share
    one connection; when it breaks, they go on where they were as soon as the server answers again. Raises InvalidValue
    for a URL or an option that cannot be read. All methods raise
    StoreUnavailable, `follow` only for its first look.
    """

    def __init__(self, url: str, *, most_kept: int = MOST_KEPT, connections: int | None = None) -> None:
        place = place_of(url, {"connections": connections if connections or "connections=" in url else CONNECTIONS})
        from skillweave_stores.loops import PerLoop
        from skillweave_stores.redis.listening import Listening
        from skillweave_stores.redis.server import Server

        self.place = place.shown
        self._place = place
        self._most_kept = most_kept
        self._server = Server(place, "event stream", "RedisEventStream")
        self._listening: PerLoop[Listening] = PerLoop(
            partial(Listening, self._server), Listening.close, Listening.abandon
        )
        self._closed = False

    def __repr__(self) -> str:
        return f"RedisEventStream({self.place!r})"

    async def append(self, conversation: str, events: Sequence[Event], *, tenant: str = "") -> None:
        """Put the events at the end; one whose id is among the last 200 is left out."""
        key = keys_of(tenant, conversation).events
        if events:
            await self._server.run(TELL, (key,), self._most_kept, round(KEEP_EVENTS_SECONDS), *entries_of(events))

    async def read(
        self, conversation: str, after: str = "", limit: int = 100, *, tenant: str = ""
    ) -> tuple[StreamedEvent, ...]:
        """At most `limit` events after that position; raises StreamGap."""
        found = await self._page(keys_of(tenant, conversation).events, after, max(limit, 1))
        return found[: max(limit, 0)]

    async def last(self, conversation: str, *, tenant: str = "") -> str:
        """The position of the newest event."""
        newest = (await self._server.run(NEWEST, (keys_of(tenant, conversation).events,))).decode()
        return "" if newest == _START else newest

    async def follow(
        self, conversation: str, after: str | None = None, *, tenant: str = ""
    ) -> AsyncGenerator[StreamedEvent, None]:
        """Every event after that position, then each as it comes; raises StreamGap."""
        if self._closed:
            return
        key, listening, woken = keys_of(tenant, conversation).events, self._listening.here(), asyncio.Event()
        page: tuple[StreamedEvent, ...] | None = ()
        if after is None:
            position = (await self._server.run(NEWEST, (key,))).decode()
        else:
            page, position = await self._page(key, after), after or _START
        channel = listening.join(key, page[-1].position if page else position, woken)
        try:
            while True:
                for one in page or ():
                    if listening.closed:
                        return
                    yield one
                    position = one.position
                woken.clear()
                if listening.closed:
                    return
                page = channel.after(position)
                if page is None:
                    page = await self._patient_page(key, position, listening)
                elif not page:
                    await woken.wait()
        finally:
            listening.leave(key, woken)

    async def close(self) -> None:
        """End everybody's following and give back the connections; afterwards other calls raise StoreUnavailable."""
        self._closed = True
        await self._listening.close()
        await self._server.close()

    async def _page(self, key: str, after: str, limit: int = 100) -> tuple[StreamedEvent, ...]:
        # Nobody was given the start as a position.
        asked = after if not after or (_POSITION.fullmatch(after) and after != _START) else _NEVER
        return await self._asked(key, asked, after, limit)

    async def _asked(self, key: str, position: str, told: str, limit: int = 100) -> tuple[StreamedEvent, ...]:
        kept, found = await self._server.run(HEAR, (key,), position, limit)
        if not kept:
            raise StreamGap(told, found.decode())
        return streamed(key, found, self._place)

    async def _patient_page(self, key: str, position: str, listening: "Listening") -> tuple[StreamedEvent, ...]:
        """The next events for a follower, who waits while the server does not answer."""
        pause = _FIRST_BACKOFF
        while not listening.closed:
            try:
                return await self._asked(key, position, position)
            except StoreUnavailable as error:
                if error.retry_after is None:
                    raise
                log.warning("%s", error)
            await asyncio.sleep(pause)
            pause = min(2 * pause, _LONGEST_BACKOFF)
        return ()
