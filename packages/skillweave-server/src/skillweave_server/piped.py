"""Streams that go on to a client and end with it: leaving one closes what it comes from, however it is left."""

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import suppress

import httpx
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from skillweave.values import finished

Closing = Callable[[], Awaitable[None]]


class Streamed(StreamingResponse):
    """What comes of an upstream goes on to the client, with a sign of life where nothing came for so many seconds.

    An upstream that breaks off ends it. When it ends, or its client leaves, also before the first piece, it is closed.
    """

    def __init__(
        self,
        pieces: AsyncGenerator[bytes, None],
        status: int,
        headers: Mapping[str, str],
        close: Closing,
        *,
        alive: bytes = b"",
        seconds: float | None = None,
    ) -> None:
        super().__init__(self._living(), status, headers)
        self._pieces, self._close, self._alive, self._seconds = pieces, close, alive, seconds
        self._task: asyncio.Task[bytes | None] | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Sends the pieces."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await finished(self._closed())

    async def _living(self) -> AsyncGenerator[bytes, None]:
        while True:
            self._task = asyncio.ensure_future(_next(self._pieces))
            while not (await asyncio.wait({self._task}, timeout=self._seconds))[0]:
                yield self._alive
            if (piece := self._task.result()) is None:
                return
            yield piece

    async def _closed(self) -> None:
        if self._task is not None:
            # Once, and from a task that nobody cancels: a second time would end the closing of a connection halfway.
            self._task.cancel()
            await asyncio.wait({self._task})
        await self._pieces.aclose()
        await self._close()


async def _next(pieces: AsyncGenerator[bytes, None]) -> bytes | None:
    with suppress(StopAsyncIteration, httpx.HTTPError):
        return await anext(pieces)
    return None
