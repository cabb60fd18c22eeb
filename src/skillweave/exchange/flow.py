"""One request on its way through a door that speaks HTTP: what is sent upstream, what comes of it, and the end of both.

Twice the same, as I/O is awaited or not. `send` sends a body, or with None the one that came, and returns a response of
`httpx` or `httpx2`, unread; `read` reads one to its end. A request that has none of the three forms has no exchange.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from typing import Any, TypeAlias

from skillweave.closing import finished
from skillweave.exchange.paths import Begun
from skillweave.exchange.steps import Answer, Pass, Relay, Send, Start, Step, Upstream, Write

Beginning: TypeAlias = Start | Pass | Answer
"""How an answer begins: streamed, as upstream gave it, or as a whole."""


class Flow:
    """For doors that await. `came` is the latest response of upstream; `aclose` lets everything go, begun or not."""

    def __init__(
        self,
        exchange: Begun | None,
        send: Callable[[bytes | None], Awaitable[Any]],
        read: Callable[[Any], Awaitable[bytes]],
    ) -> None:
        self._exchange, self._send, self._read = exchange, send, read
        self.came: Any = None

    async def answer(self) -> Beginning:
        """How the answer begins; an exchange that is not streamed is over then. Lets everything go on an error."""
        try:
            step = await self._advanced()
            if not isinstance(step, Start):
                await self._end()
        except BaseException:
            await self.aclose()
            raise
        assert isinstance(step, Beginning)  # noqa: S101 - nothing else begins one
        return step

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body of a streamed answer, which ends the request with it."""
        try:
            while (step := await self._advanced()) is not None:
                if isinstance(step, Relay):
                    async for piece in self.came.aiter_bytes():
                        if made := step.feed(piece):
                            yield made
                elif isinstance(step, Write) and step.data:
                    yield step.data
        finally:
            await self.aclose()

    async def aclose(self) -> None:
        """Ends the request upstream and the exchange, wherever they are; also for a caller that is cancelled."""
        await finished(self._closed())

    async def _closed(self) -> None:
        try:
            if self.came is not None:
                await self.came.aclose()
        finally:
            await self._end()

    async def _end(self) -> None:
        if self._exchange is not None:
            await self._exchange.steps.aclose()

    async def _advanced(self) -> Step | None:
        """The next step that is about the client, None at the end; what goes upstream before it is sent."""
        if self._exchange is None:
            self.came = await self._send(None)
            return Pass({})
        sent: Upstream | None = None
        while isinstance(step := await _next_of(self._exchange, sent), Send):
            if self.came is not None:
                await self.came.aclose()
            self.came = came = await self._send(step.body)
            sent = Upstream(came.status_code, dict(came.headers), await self._read(came) if _is_whole(came) else None)
        return step


class BlockingFlow:
    """The same for doors that block: the exchange runs on the weaver's own loop, everything of HTTP in the caller's."""

    def __init__(
        self,
        exchange: Begun | None,
        send: Callable[[bytes | None], Any],
        read: Callable[[Any], bytes],
        run: Callable[[Coroutine[Any, Any, Any]], Any],
    ) -> None:
        self._exchange, self._send, self._read, self._run = exchange, send, read, run
        self.came: Any = None

    def answer(self) -> Beginning:
        """As of a Flow."""
        try:
            step = self._advanced()
            if not isinstance(step, Start):
                self._end()
        except BaseException:
            self.close()
            raise
        assert isinstance(step, Beginning)  # noqa: S101 - nothing else begins one
        return step

    def pieces(self) -> Generator[bytes, None, None]:
        """As of a Flow."""
        try:
            while (step := self._advanced()) is not None:
                if isinstance(step, Relay):
                    yield from filter(None, map(step.feed, self.came.iter_bytes()))
                elif isinstance(step, Write) and step.data:
                    yield step.data
        finally:
            self.close()

    def close(self) -> None:
        """As `aclose` of a Flow."""
        try:
            if self.came is not None:
                self.came.close()
        finally:
            self._end()

    def _end(self) -> None:
        if self._exchange is not None:
            self._run(_ended(self._exchange))

    def _advanced(self) -> Step | None:
        if self._exchange is None:
            self.came = self._send(None)
            return Pass({})
        sent: Upstream | None = None
        while isinstance(step := self._run(_next_of(self._exchange, sent)), Send):
            if self.came is not None:
                self.came.close()
            self.came = came = self._send(step.body)
            sent = Upstream(came.status_code, dict(came.headers), self._read(came) if _is_whole(came) else None)
        found: Step | None = step
        return found


def _is_whole(came: Any) -> bool:  # noqa: ANN401 - of either package
    """Whether a response is a reply that is read before it is judged: neither a stream of events nor an error."""
    return came.status_code < 300 and "text/event-stream" not in came.headers.get("content-type", "")


async def _next_of(exchange: Begun, sent: Upstream | None) -> Step | None:
    try:
        return await exchange.steps.asend(sent)
    except StopAsyncIteration:
        return None


async def _ended(exchange: Begun) -> None:
    await exchange.steps.aclose()
