"""A server that resets connections in their greeting: one error and one retry on both event loops (uvloop 506, 685)."""

import asyncio
import logging
import socket
import struct
import threading
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Container, Iterator
from contextlib import asynccontextmanager, suppress
from typing import Any, TypeVar

import pytest
import uvloop

from skillweave import StoreUnavailable
from skillweave_server.options import ServiceOptions
from skillweave_server.rates import Rates, shared_counters
from skillweave_stores import RedisStore
from skillweave_stores.redis.events import RedisEventStream
from skillweave_stores.redis.failures import mapped_failures
from skillweave_stores.redis.listening import Listening
from skillweave_stores.redis.place import place_of
from skillweave_stores.redis.server import Server
from skillweave_testing.servers import RedisServer
from tests.contracts_of_ports.event_stream import numbered

T = TypeVar("T")
Loop = Callable[[], asyncio.AbstractEventLoop]
HOST = "127.0.0.1"

# Reset while it has unread input, as by a process that is killed.
_AT_ONCE = struct.pack("ii", 1, 0)


@pytest.fixture(params=[asyncio.new_event_loop, uvloop.new_event_loop], ids=["asyncio", "uvloop"])
def loop(request: pytest.FixtureRequest) -> Loop:
    found: Loop = request.param
    return found


class Resetting:
    """A Redis that answers the first command of a connection and resets it with the second one unread.

    With a `server`, it does so to the `numbers` of connections only, and passes the others on.
    """

    def __init__(self, server: RedisServer | None = None, numbers: Container[int] = ()) -> None:
        self._listener = socket.create_server((HOST, 0))
        self._server, self._numbers = server, numbers
        self.taken = 0
        self._threads: list[threading.Thread] = []

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self._listener.getsockname()[1]}/0"

    def __enter__(self) -> "Resetting":
        self._start(self._serve)
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def _serve(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._listener.accept()
                self.taken += 1
                if self._server is not None and self.taken not in self._numbers:
                    self._pass_on(connection, self._server)
                    continue
                with connection, suppress(OSError):
                    connection.settimeout(5)
                    connection.recv(65536)
                    connection.sendall(b"+OK\r\n")
                    connection.recv(1, socket.MSG_PEEK)
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _AT_ONCE)

    def _pass_on(self, connection: socket.socket, behind: RedisServer) -> None:
        server = socket.create_connection((HOST, behind.port))
        for source, target in ((connection, server), (server, connection)):
            self._start(_copy, source, target)

    def _start(self, work: Callable[..., None], *arguments: object) -> None:
        self._threads.append(threading.Thread(target=work, args=arguments, daemon=True))
        self._threads[-1].start()


def _copy(source: socket.socket, target: socket.socket) -> None:
    with source, suppress(OSError):
        while content := source.recv(65536):
            target.sendall(content)
        target.shutdown(socket.SHUT_RDWR)


@asynccontextmanager
async def busy() -> AsyncIterator[None]:
    """While a task blocks the loop for 5 ms at a time: in between uvloop notices that a connection was reset."""

    async def blocking() -> None:
        while True:
            time.sleep(0.005)  # noqa: ASYNC251 - it shall block
            await asyncio.sleep(0)

    task = asyncio.create_task(blocking())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


def run(loop: Loop, work: Callable[[], Awaitable[T]]) -> T:
    """The work beside a task that blocks, in such a loop."""

    async def whole() -> T:
        async with busy():
            return await work()

    with asyncio.Runner(loop_factory=loop) as runner:
        return runner.run(whole())


@pytest.fixture
def resetting() -> Iterator[Resetting]:
    with Resetting() as server:
        yield server


def test_a_connection_that_is_reset_in_its_greeting_makes_the_store_unavailable(
    loop: Loop, resetting: Resetting
) -> None:
    async def load() -> None:
        async with RedisStore(resetting.url, retries=0) as store:
            for _ in range(10):
                with pytest.raises(StoreUnavailable, match="broke the connection off") as caught:
                    await store.load("c")
                assert caught.value.retry_after is not None

    run(loop, load)


def test_a_call_is_tried_again_on_a_new_connection(loop: Loop, redis_server: RedisServer) -> None:
    redis_server.flush()

    async def load() -> None:
        with Resetting(redis_server, (1,)) as server:
            async with RedisStore(server.url) as store:
                state, _ = await store.load("c")
                assert state.revision == 0
            assert server.taken == 2

    for _ in range(5):
        run(loop, load)


def test_counters_that_are_reset_let_the_request_in(loop: Loop, resetting: Resetting) -> None:
    async def admit() -> None:
        counters = shared_counters(resetting.url)
        rates = Rates(ServiceOptions(), counters, clock=iter(range(0, 1000, 10)).__next__)
        for _ in range(5):
            await rates.admit("a")
        assert rates.unanswered == 5
        await rates.close()

    run(loop, admit)


def test_a_cluster_that_is_reset_in_its_greeting_is_told_as_broken_off(loop: Loop, resetting: Resetting) -> None:
    async def load() -> None:
        async with RedisStore(resetting.url.replace("redis:", "redis+cluster:").removesuffix("/0")) as store:
            with pytest.raises(StoreUnavailable, match="broke the connection off"):
                await store.load("c")

    run(loop, load)


def test_followers_go_on_after_connections_were_reset(
    loop: Loop, redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    redis_server.flush()

    async def follow() -> None:
        # The first connection is for the position, the next ones are the reader's.
        with Resetting(redis_server, (2, 3, 4)) as server:
            async with RedisEventStream(redis_server.url()) as teller, RedisEventStream(server.url) as stream:
                following = stream.follow("c", after="")
                hearing = asyncio.ensure_future(anext(following))
                async with asyncio.timeout(20):
                    while server.taken < 5:  # noqa: ASYNC110 - it counts in a thread
                        await asyncio.sleep(0.01)
                    (event,) = numbered(1)
                    await teller.append("c", [event])
                    assert (await hearing).event == event
                await following.aclose()

    with caplog.at_level(logging.WARNING, "skillweave"):
        run(loop, follow)


async def test_a_reader_that_was_ended_is_started_anew_by_the_next_follower(redis_url: str) -> None:
    server = Server(place_of(redis_url, {}))
    listening = Listening(server)
    first = asyncio.Event()
    listening.join("skillweave:events:{a}", "0-0", first)
    task: Any = listening._task
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.wait([task])
    listening.join("skillweave:events:{b}", "0-0", asyncio.Event())
    assert listening._task is not task
    await server.call(lambda redis: redis.xadd("skillweave:events:{a}", {"id": "1", "event": "{}"}))
    async with asyncio.timeout(5):
        await first.wait()
    await listening.close()
    await server.close()


def test_errors_of_our_own_come_through_as_they_are() -> None:
    with pytest.raises(RuntimeError, match="ours"), mapped_failures(place_of("redis://h", {})):
        raise RuntimeError("ours")
    with pytest.raises(AttributeError, match="ours"), mapped_failures(place_of("redis://h", {})):
        raise AttributeError("ours")
