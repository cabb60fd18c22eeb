"""One reader for all streams that are followed in an event loop: it waits on a single connection, however many follow.

On a server alone it is one XREAD that blocks over all followed keys and a key of its own, through which a new follower
interrupts it. A cluster answers no call over several slots, so that there the streams are asked twenty times a second,
all in one pipeline for each node.
"""

import asyncio
import logging
import secrets
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from redis.asyncio import Redis, RedisCluster

from skillweave import StoreUnavailable
from skillweave.events import StreamedEvent
from skillweave_stores.redis.entries import streamed
from skillweave_stores.redis.failures import mapped_failures
from skillweave_stores.redis.server import Server

PAGE = 100
"""So many events of a stream are read at a time."""
BLOCK_SECONDS = 5.0
"""How long the server lets the reader wait for something new."""
POLL_SECONDS = 0.05
"""The pause between two looks at a cluster."""
_LEAST_PAUSE, _PAUSE_OF_ONE, _LONGEST_PAUSE = 0.002, 0.000_02, 0.2
"""Between two reads the events of a moment gather, the longer the more streams a read names."""
_FIRST_BACKOFF, _LONGEST_BACKOFF = 0.05, 2.0
_WAKE_SECONDS = 60
log = logging.getLogger("skillweave")

Place: TypeAlias = tuple[int, int]
"""A position as a pair of numbers, so that two can be compared."""


def place_in(position: str) -> Place:
    """Where a position of a stream is."""
    milliseconds, _, number = position.partition("-")
    return int(milliseconds), int(number)


@dataclass(slots=True, eq=False)
class Channel:
    """A followed stream: the events that were read last, all of them after `since`, and who waits for more."""

    since: Place
    last: str
    events: deque[StreamedEvent] = field(default_factory=deque)
    waiting: set[asyncio.Event] = field(default_factory=set)

    def after(self, position: str) -> tuple[StreamedEvent, ...] | None:
        """The events after that position; None where some of them may not be here."""
        place = place_in(position)
        if place < self.since:
            return None
        found: list[StreamedEvent] = []
        for one in reversed(self.events):
            if place_in(one.position) <= place:
                break
            found.append(one)
        return tuple(reversed(found))

    def take(self, entries: Sequence[StreamedEvent], before: str | None) -> None:
        """Add what was read, and let everybody look; `before` is the position of the event before them."""
        if before not in ("", self.last):
            self.events.clear()
            self.since = place_in(entries[0].position)
        self.events.extend(entries)
        self.last = entries[-1].position
        while len(self.events) > 2 * PAGE:
            self.since = place_in(self.events.popleft().position)
        self.wake()

    def wake(self) -> None:
        """Let everybody look."""
        for one in self.waiting:
            one.set()


class Listening:
    """The reader of one event loop, and the streams that are followed there."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._channels: dict[str, Channel] = {}
        self._reading: frozenset[str] = frozenset()
        self._some = asyncio.Event()
        self._own = f"skillweave:wake:{secrets.token_hex(8)}"
        self._own_last = "0-0"
        self._task: asyncio.Task[None] | None = None
        self._waking: asyncio.Task[None] | None = None
        self._client: Redis | None = None
        self.closed = False

    def join(self, key: str, position: str, woken: asyncio.Event) -> Channel:
        """The channel of a stream, of which the caller has read everything up to that position."""
        channel = self._channels.get(key)
        if channel is None:
            channel = self._channels[key] = Channel(place_in(position), position)
            self._some.set()
            if self._task is None or self._task.done():
                self._task = asyncio.create_task(self._listen())
            elif self._waking is None and not self._server.place.cluster:
                self._waking = asyncio.create_task(self._interrupt())
        channel.waiting.add(woken)
        return channel

    def leave(self, key: str, woken: asyncio.Event) -> None:
        """Nobody waits with that any more."""
        channel = self._channels.get(key)
        if channel is not None:
            channel.waiting.discard(woken)
            if not channel.waiting:
                del self._channels[key]

    async def close(self) -> None:
        """End it, and everybody's following."""
        self.abandon()
        tasks = [task for task in (self._task, self._waking) if task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self._disconnect()

    def abandon(self) -> None:
        """As far as it can be ended where nothing can be awaited."""
        self.closed = True
        for channel in self._channels.values():
            channel.wake()

    async def _listen(self) -> None:
        try:
            await self._read_on()
        finally:
            await self._disconnect()

    async def _read_on(self) -> None:
        pause = _FIRST_BACKOFF
        read: Callable[[dict[str, str]], Any] = self._poll if self._server.place.cluster else self._block
        # The client library may forget a cancellation that comes in the moment of an answer.
        while not self.closed:
            if not self._channels:
                self._some.clear()
                await self._some.wait()
            wanted = {key: channel.last for key, channel in self._channels.items()}
            self._reading = frozenset(wanted)
            try:
                answer = await read(wanted)
                self._hand_on(answer)
                pause = _FIRST_BACKOFF
            except Exception as error:
                # Those who follow wait: where the server comes back, they go on from where they were.
                log.warning("%s", error, exc_info=not isinstance(error, StoreUnavailable))
                await self._disconnect()
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LONGEST_BACKOFF)
                continue
            finally:
                self._reading = frozenset()
            await asyncio.sleep(min(_LEAST_PAUSE + _PAUSE_OF_ONE * len(wanted), _LONGEST_PAUSE))

    async def _block(self, wanted: dict[str, str]) -> Any:  # noqa: ANN401
        if self._client is None:
            self._client = self._server.listener(BLOCK_SECONDS)
        streams: dict[Any, Any] = {**wanted, self._own: self._own_last}
        with mapped_failures(self._server.place):
            return await self._client.xread(streams, count=PAGE, block=round(BLOCK_SECONDS * 1000))

    async def _poll(self, wanted: dict[str, str]) -> Any:  # noqa: ANN401
        await asyncio.sleep(POLL_SECONDS)

        async def work(redis: Redis | RedisCluster) -> list[Any]:
            pipeline = redis.pipeline(transaction=False)
            for key, last in wanted.items():
                pipeline.xread({key: last}, count=PAGE)
            return await pipeline.execute()

        return [stream for answer in await self._server.call(work) for stream in answer or ()]

    def _hand_on(self, answer: Any) -> None:  # noqa: ANN401
        for name, entries in answer or ():
            key = name.decode("utf-8", "surrogateescape")
            if key == self._own:
                self._own_last = entries[-1][0].decode()
                continue
            channel = self._channels.get(key)
            # Whoever left and came back in between may be further, or have another reader's place.
            if channel is None:
                continue
            done = place_in(channel.last)
            new = [one for one in entries if place_in(one[0].decode()) > done]
            if not new:
                continue
            before = new[0][1].get(b"after")
            try:
                channel.take(streamed(key, new, self._server.place), None if before is None else before.decode())
            except StoreUnavailable as error:
                # Its followers read it themselves, and are told what is wrong with it.
                log.warning("%s", error)
                channel.since = place_in(new[-1][0].decode())
                channel.last = new[-1][0].decode()
                channel.wake()

    async def _interrupt(self) -> None:
        """Let the reader begin again, until it has all streams that are followed."""
        try:
            while not self.closed and self._reading and not self._channels.keys() <= self._reading:

                async def work(redis: Redis | RedisCluster) -> None:
                    await redis.execute_command("XADD", self._own, "MAXLEN", 1, "*", "w", "1")
                    await redis.execute_command("EXPIRE", self._own, _WAKE_SECONDS)

                await self._server.call(work)
                await asyncio.sleep(_LEAST_PAUSE)
        except StoreUnavailable as error:
            log.warning("%s", error)  # the reader meets it too, and begins again with all of them
        finally:
            self._waking = None

    async def _disconnect(self) -> None:
        client, self._client = self._client, None
        if client is not None:
            try:
                with mapped_failures(self._server.place):
                    await client.aclose()
            except StoreUnavailable as error:
                log.debug("%s", error)
