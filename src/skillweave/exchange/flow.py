"""One request on its way through a door that speaks HTTP: what is sent upstream, what comes of it, and the end of both.

Twice the same, as I/O is awaited or not. `send` sends a body and returns a response of `httpx` or `httpx2`, unread;
`read` reads one to its end.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from typing import Any

from skillweave.exchange.steps import Relay, Send, Step, Upstream, Write


class Flow:
    """For doors that await. `came` is the latest response of upstream; `aclose` lets everything go, begun or not."""

    def __init__(
        self,
        steps: AsyncGenerator[Step, Any],
        send: Callable[[bytes], Awaitable[Any]],
        read: Callable[[Any], Awaitable[bytes]],
    ) -> None:
        self._steps, self._send, self._read = steps, send, read
        self.came: Any = None

    async def advanced(self) -> Step | None:
        """The next step that is about the client, None at the end; what goes upstream before it is sent."""
        sent: Upstream | None = None
        while isinstance(step := await _next_of(self._steps, sent), Send):
            if self.came is not None:
                await self.came.aclose()
            self.came = came = await self._send(step.body)
            sent = Upstream(came.status_code, dict(came.headers), await self._read(came) if _is_whole(came) else None)
        return step

    async def pieces(self) -> AsyncGenerator[bytes, None]:
        """The body of a streamed answer, which ends the request with it."""
        try:
            while (step := await self.advanced()) is not None:
                if isinstance(step, Relay):
                    async for piece in self.came.aiter_bytes():
                        if made := step.feed(piece):
                            yield made
                elif isinstance(step, Write) and step.data:
                    yield step.data
        finally:
            await self.aclose()

    async def end(self) -> None:
        """Ends the exchange; the response is still there to be given on."""
        await self._steps.aclose()

    async def aclose(self) -> None:
        """Ends the request upstream and the exchange, wherever they are."""
        try:
            if self.came is not None:
                await self.came.aclose()
        finally:
            await self.end()


class BlockingFlow:
    """The same for doors that block: the exchange runs on the weaver's own loop, everything of HTTP in the caller's."""

    def __init__(
        self,
        steps: AsyncGenerator[Step, Any],
        send: Callable[[bytes], Any],
        read: Callable[[Any], bytes],
        run: Callable[[Coroutine[Any, Any, Any]], Any],
    ) -> None:
        self._steps, self._send, self._read, self._run = steps, send, read, run
        self.came: Any = None

    def advanced(self) -> Step | None:
        """As of a Flow."""
        sent: Upstream | None = None
        while isinstance(step := self._run(_next_of(self._steps, sent)), Send):
            if self.came is not None:
                self.came.close()
            self.came = came = self._send(step.body)
            sent = Upstream(came.status_code, dict(came.headers), self._read(came) if _is_whole(came) else None)
        found: Step | None = step
        return found

    def pieces(self) -> Generator[bytes, None, None]:
        """As of a Flow."""
        try:
            while (step := self.advanced()) is not None:
                if isinstance(step, Relay):
                    yield from filter(None, map(step.feed, self.came.iter_bytes()))
                elif isinstance(step, Write) and step.data:
                    yield step.data
        finally:
            self.close()

    def end(self) -> None:
        """As of a Flow."""
        self._run(_ended(self._steps))

    def close(self) -> None:
        """As `aclose` of a Flow."""
        try:
            if self.came is not None:
                self.came.close()
        finally:
            self.end()


def _is_whole(came: Any) -> bool:  # noqa: ANN401 - of either package
    """Whether a response is a reply that is read before it is judged: neither a stream of events nor an error."""
    return came.status_code < 300 and "text/event-stream" not in came.headers.get("content-type", "")


async def _next_of(steps: AsyncGenerator[Step, Any], sent: Upstream | None) -> Step | None:
    try:
        return await steps.asend(sent)
    except StopAsyncIteration:
        return None


async def _ended(steps: AsyncGenerator[Step, Any]) -> None:
    await steps.aclose()
