"""A network that a test can stop: a proxy that forwards to a server, counts the round trips, and falls silent."""

import asyncio
from collections.abc import Callable
from contextlib import suppress
from typing import Self
from urllib.parse import urlsplit


class Proxy:
    """Forwards connections to the server of a URL, inside `async with`.

    `trips` counts how often a client spoke after the server had answered, which is one round trip each. While `silent`
    it takes connections and bytes and passes on nothing, as a broken network does. After `lose_answer` the next answer
    of the server ends its connection in place of being passed on.
    """

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        assert parts.hostname is not None
        assert parts.port is not None
        self._server_at = (parts.hostname, parts.port)
        self._url = parts
        self._passing = asyncio.Event()
        self._passing.set()
        self._answering = asyncio.Event()
        self._answering.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._writers: set[asyncio.StreamWriter] = set()
        self.losing = 0
        self.trips = 0

    @property
    def url(self) -> str:
        """The server's URL by way of this proxy."""
        user, at, _ = self._url.netloc.rpartition("@")
        port = self._server.sockets[0].getsockname()[1]
        return self._url._replace(netloc=f"{user}{at}127.0.0.1:{port}").geturl()

    def fall_silent(self) -> None:
        """Pass on nothing from now on, in neither direction; no connection is closed."""
        self._passing.clear()

    def keep_answers(self) -> None:
        """Pass on what clients say and keep what the server answers, as a network does that breaks in between."""
        self._answering.clear()

    def speak(self) -> None:
        """Pass on again, what waited first."""
        self._passing.set()
        self._answering.set()

    def lose_answer(self) -> None:
        """Break the connection on which the server answers next, when it has done what it was asked."""
        self.losing += 1

    def cut(self) -> None:
        """Break every connection that there is; new ones are taken."""
        for writer in tuple(self._writers):
            writer.transport.abort()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        self.cut()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        self._writers.add(writer)
        try:
            await self._passing.wait()
            with suppress(OSError):
                there, back = await asyncio.open_connection(*self._server_at)
                self._writers.add(back)
                connection = _Connection(self)
                await asyncio.gather(
                    self._forward(reader, back, connection.asked, self._passing),
                    self._forward(there, writer, connection.answered, self._passing, self._answering),
                )
        finally:
            self._tasks.discard(task)
            writer.transport.abort()

    async def _forward(
        self,
        source: asyncio.StreamReader,
        target: asyncio.StreamWriter,
        note: Callable[[], bool],
        *open_gates: asyncio.Event,
    ) -> None:
        with suppress(OSError):
            while data := await source.read(65536):
                for gate in open_gates:
                    await gate.wait()
                if note():
                    break
                target.write(data)
                await target.drain()
        target.transport.abort()


class _Connection:
    """Who spoke last on one connection."""

    def __init__(self, proxy: Proxy) -> None:
        self._proxy = proxy
        self._client_spoke = False

    def asked(self) -> bool:
        if not self._client_spoke:
            self._client_spoke = True
            self._proxy.trips += 1
        return False

    def answered(self) -> bool:
        """Whether this answer is to be lost."""
        self._client_spoke = False
        if not self._proxy.losing:
            return False
        self._proxy.losing -= 1
        return True
