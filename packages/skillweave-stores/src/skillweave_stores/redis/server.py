"""The way to a Redis and back: connections for each event loop, time-outs, retries, scripts, and errors in words."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeAlias, TypeVar

from redis.asyncio import ConnectionPool, Redis, RedisCluster
from redis.asyncio.retry import Retry
from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
from redis.exceptions import NoScriptError, ReadOnlyError

from skillweave import StoreUnavailable
from skillweave_stores.loops import PerLoop
from skillweave_stores.redis.failures import mapped_failures, no_free_connection
from skillweave_stores.redis.place import Place
from skillweave_stores.redis.scripts import Script

T = TypeVar("T")

_SHORTEST_PAUSE, _LONGEST_PAUSE = 0.02, 0.5
_PAGE = 1000
"""So many keys are looked at in one step of a SCAN."""
_Argument: TypeAlias = str | bytes | int | float


@dataclass(frozen=True, slots=True)
class _Client:
    """The connections of one event loop, and how many more calls it may begin."""

    redis: Redis | RedisCluster
    free: asyncio.Semaphore

    async def close(self) -> None:
        """Close all connections, in their own loop."""
        await self.redis.aclose()

    def abandon(self) -> None:
        """Nothing: where the loop has ended, the sockets are closed with the objects that hold them."""


class Server:
    """A Redis, or a cluster, by its place; nothing is opened before the first call, and any loop may call."""

    def __init__(self, place: Place, what: str = "ledger", maker: str = "RedisStore") -> None:
        self.place = place
        self._told_closed = f"the {what} {place.shown} is closed; open it again with {maker}(...)"
        self._clients: PerLoop[_Client] = PerLoop(self._client, _Client.close, _Client.abandon)
        self._closed = False

    async def run(self, script: Script, keys: Sequence[str], *arguments: _Argument) -> Any:  # noqa: ANN401
        """What a script answers, in one trip; two where the server has not run it since it started."""
        words = (len(keys), *keys, *arguments)

        async def work(redis: Redis | RedisCluster) -> Any:  # noqa: ANN401
            try:
                return await redis.execute_command("EVALSHA", script.sha, *words)
            except NoScriptError:
                return await redis.execute_command("EVAL", script.text, *words)

        return await self.call(work)

    async def keys(self, pattern: str) -> AsyncIterator[str]:
        """All keys that match, some of them twice; each step is a call of its own."""
        for node in await self.call(_primaries):
            cursor, more = 0, True
            while more:
                cursor, found = await self.call(partial(_scan, node, cursor, pattern))
                more = cursor != 0
                for key in found:
                    yield key.decode("utf-8", "surrogateescape")

    async def call(self, work: Callable[[Redis | RedisCluster], Awaitable[T]]) -> T:
        """What the work answers, in time; raises StoreUnavailable."""
        if self._closed:
            raise StoreUnavailable(self._told_closed)
        client = self._clients.here()
        with _cancellation_kept(), mapped_failures(self.place):
            async with self._connection(client), asyncio.timeout(self.place.options.call_seconds):
                if isinstance(client.redis, RedisCluster):
                    # Before it knows the nodes, the client library sends a script to any of them.
                    await client.redis.initialize()
                return await work(client.redis)

    def listener(self, wait_seconds: float) -> Redis:
        """A client of one connection, on which an answer may take so long; whoever asks for it closes it.

        Only for a server that is no cluster. What it raises is the client library's.
        """
        options = self.place.options
        return Redis.from_url(
            self.place.url,
            max_connections=1,
            socket_timeout=wait_seconds + options.call_seconds,
            socket_connect_timeout=min(options.connect_seconds, options.try_seconds),
            retry=Retry(NoBackoff(), 0),
            client_name="skillweave",
            protocol=2,
        )

    async def close(self) -> None:
        """Give back all connections; afterwards every call raises StoreUnavailable."""
        self._closed = True
        with mapped_failures(self.place):
            await self._clients.close()

    @asynccontextmanager
    async def _connection(self, client: _Client) -> AsyncIterator[None]:
        """A place among those that may call at once: there is a connection for each, so that its time begins now."""
        if client.free.locked():
            try:
                async with asyncio.timeout(self.place.options.wait_seconds):
                    await client.free.acquire()
            except TimeoutError as error:
                raise no_free_connection(self.place) from error
        else:
            await client.free.acquire()
        try:
            yield
        finally:
            client.free.release()

    def _client(self) -> _Client:
        options = self.place.options
        backoff = ExponentialWithJitterBackoff(base=_SHORTEST_PAUSE, cap=_LONGEST_PAUSE)
        settings: dict[str, Any] = {
            "max_connections": options.connections,
            "socket_timeout": options.try_seconds,
            "socket_connect_timeout": min(options.connect_seconds, options.try_seconds),
            "retry": Retry(backoff, options.retries),
            # A primary that became a replica behind the same name is left, and the name looked up again. A write to a
            # connection that was reset raises RuntimeError on uvloop, and is tried again as on asyncio.
            "retry_on_error": [ReadOnlyError, RuntimeError],
            "client_name": "skillweave",
            # Without a greeting, which would be one trip more for each connection, and without push messages.
            "protocol": 2,
        }
        free = asyncio.Semaphore(options.connections)
        if self.place.cluster:
            # What a node says of a slot that has moved is enough: to learn all anew, the client library would break off
            # the calls that are under way.
            return _Client(RedisCluster.from_url(self.place.url, reinitialize_steps=0, **settings), free)
        # Who comes when all are in use waits for `free`, and never in the pool.
        return _Client(Redis.from_pool(ConnectionPool.from_url(self.place.url, **settings)), free)


@contextmanager
def _cancellation_kept() -> Iterator[None]:
    """End with the cancellation that came in between, also where it was swallowed.

    The client library waits with `asyncio.wait_for`, which before Python 3.12 forgets a cancellation that comes in the
    moment of an answer.
    """
    task = asyncio.current_task()
    before = 0 if task is None else task.cancelling()
    try:
        yield
    finally:
        if task is not None and task.cancelling() > before:
            raise asyncio.CancelledError


async def _primaries(redis: Redis | RedisCluster) -> Sequence[Any]:
    """The nodes that hold keys; None stands for the only one of a server that is no cluster."""
    if not isinstance(redis, RedisCluster):
        return [None]
    return redis.get_primaries()


async def _scan(
    node: Any,  # noqa: ANN401 - of a cluster
    cursor: int,
    pattern: str,
    redis: Redis | RedisCluster,
) -> tuple[int, Sequence[bytes]]:
    """One step through the keys of a node; the next cursor is 0 after the last one."""
    to = {} if node is None else {"target_nodes": node}
    answer: Any = await redis.scan(cursor, match=pattern, count=_PAGE, **to)
    after, found = answer
    # A cluster answers by the names of its nodes.
    return int(next(iter(after.values())) if isinstance(after, dict) else after), found
