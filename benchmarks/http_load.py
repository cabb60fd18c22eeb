"""Load on an HTTP server: so many connections, each sending its next request when the last one is answered.

Run as a process of its own, so that it and the server have a core each: reads a plan from standard input, prints what
was measured, both as JSON.
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import cast

import httptools


@dataclass(frozen=True, slots=True)
class Plan:
    """What is sent: POST requests to paths with bodies, one after the other on each connection, for some seconds.

    `{n}` in a path is another number for each run of the whole list, so that it begins with a new conversation.
    """

    port: int
    connections: int
    seconds: float
    requests: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Measured:
    """What came of it: answers in a second, the time of one answer in seconds, and bytes of each answer's body."""

    rate: float
    p50: float
    p99: float
    answers: int
    sizes: tuple[int, ...]


class _Connection(asyncio.Protocol):
    """One connection: sends, waits for the whole answer, notes the time, sends again until the end."""

    def __init__(self, requests: Iterator[bytes], until: float, done: "asyncio.Future[None]") -> None:
        self.times: list[float] = []
        self.sizes: list[int] = []
        self._requests, self._until, self._done = requests, until, done

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)  # uvloop's has another class
        self._send()

    def data_received(self, data: bytes) -> None:
        self._parser.feed_data(data)

    def on_body(self, body: bytes) -> None:
        self._size += len(body)

    def on_message_complete(self) -> None:
        status = self._parser.get_status_code()
        if status != 200:
            self._end(SystemExit(f"the server answered {status}"))
            return
        now = time.perf_counter()
        self.times.append(now - self._sent)
        self.sizes.append(self._size)
        if now < self._until:
            self._send()
        else:
            self._end(None)

    def connection_lost(self, error: Exception | None) -> None:
        if not self._done.done():
            self._end(error or SystemExit("the server ended a connection"))

    def _send(self) -> None:
        self._parser, self._size = httptools.HttpResponseParser(self), 0
        request = next(self._requests)
        self._sent = time.perf_counter()
        self._transport.write(request)

    def _end(self, error: BaseException | None) -> None:
        if not self._done.done():
            self._done.set_result(None) if error is None else self._done.set_exception(error)
        self._transport.close()


def _requests_of(plan: Plan, runs: Iterator[int]) -> Iterator[bytes]:
    for run in runs:
        for path, body in plan.requests:
            content = body.encode()
            head = f"POST {path.replace('{n}', str(run))} HTTP/1.1\r\nHost: localhost\r\n"
            kind = f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n"
            yield (head + kind).encode() + content


async def measure(plan: Plan) -> Measured:
    """Put the load on the server."""
    loop = asyncio.get_running_loop()
    first = time.time_ns()
    runs = iter(range(first, first + 10**9))
    begun = time.perf_counter()
    until = begun + plan.seconds
    connections: list[_Connection] = []
    ends: list[asyncio.Future[None]] = []
    for _ in range(plan.connections):
        done: asyncio.Future[None] = loop.create_future()
        one = _Connection(_requests_of(plan, runs), until, done)
        connections.append(one)
        ends.append(done)
        await loop.create_connection(lambda one=one: one, "127.0.0.1", plan.port)  # type: ignore[misc]
    await asyncio.gather(*ends)
    taken = time.perf_counter() - begun
    times = sorted(one for connection in connections for one in connection.times)
    return Measured(
        len(times) / taken,
        _percentile(times, 0.50),
        _percentile(times, 0.99),
        len(times),
        tuple(connections[0].sizes[: len(plan.requests)]),
    )


def _percentile(times: Sequence[float], share: float) -> float:
    return times[min(len(times) - 1, int(len(times) * share))]


def main() -> None:
    """A plan in, what was measured out."""
    told = json.load(sys.stdin)
    plan = Plan(**{**told, "requests": tuple(map(tuple, told["requests"]))})
    try:
        import uvloop

        measured = uvloop.run(measure(plan))
    except ModuleNotFoundError:
        measured = asyncio.run(measure(plan))
    print(json.dumps(asdict(measured)))


if __name__ == "__main__":
    main()
