"""How often a key may call, and how often an address with a wrong one: counted by the package `limits`."""

import asyncio
import logging
import time
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import IPv6Address, ip_address
from math import ceil
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from limits import RateLimitItemPerMinute
from limits.aio.storage import MemoryStorage, RedisClusterStorage, RedisStorage
from limits.aio.strategies import SlidingWindowCounterRateLimiter
from limits.errors import StorageError

from skillweave_server.options import ServiceOptions
from skillweave_server.problems import Refused
from skillweave_stores.redis.place import SOCKET, place_of

log = logging.getLogger("skillweave_server")

SHARED_SECONDS = 0.25
"""Seconds that a request waits for the counters of all replicas, before those of this one decide."""
PAUSE_SECONDS = 1.0
"""Seconds for which counters that did not answer are left alone."""
_PREFIX = "skillweave:rate"
_BUCKETS = 16_384
"""Counters of all addresses and ids together: whoever has many addresses must not fill the memory."""


@dataclass(frozen=True, slots=True)
class SharedCounters:
    """Counters in a Redis, which all replicas share."""

    storage: RedisStorage
    place: str

    def is_failure(self, error: Exception) -> bool:
        """Returns whether counting raises this where the Redis does not answer."""
        from skillweave_stores.redis.failures import is_failure

        return isinstance(error, StorageError) or is_failure(error)

    async def close(self) -> None:
        """Give back all connections."""
        bridge: Any = self.storage.bridge
        await bridge.get_connection().aclose()


def shared_counters(url: str) -> SharedCounters:
    """Counters in the Redis of that URL, written as for RedisStore; nothing is opened yet. Raises InvalidValue."""
    place = place_of(url, {})
    settings: dict[str, Any] = {
        "socket_timeout": SHARED_SECONDS,
        "socket_connect_timeout": SHARED_SECONDS,
        "client_name": "skillweave",
        "protocol": 2,
    }
    named: dict[str, Any] = {"implementation": "redispy", "key_prefix": _PREFIX, "wrap_exceptions": True}
    storage: RedisStorage
    parts = urlsplit(place.url)
    server = _server(parts)
    if place.cluster:
        # A cluster's client takes the password as it is, every other one decodes that of the URL.
        login = {"username": parts.username, "password": parts.password}
        settings |= {name: unquote(text) for name, text in login.items() if text}
        storage = RedisClusterStorage(f"async+redis+cluster://{server}", ssl=place.secure, **named, **settings)
    elif parts.scheme == SOCKET:
        storage = RedisStorage(f"async+redis+{place.url}", **named, **settings)
    else:
        storage = RedisStorage(f"async+{parts._replace(netloc=server).geturl()}", **named, **settings)
    return SharedCounters(storage, place.shown)


def _server(parts: SplitResult) -> str:
    """User, password, host and port; `limits` takes no URL without a host and a port, as RedisStore does."""
    login, at, _ = parts.netloc.rpartition("@")
    host = parts.hostname or "localhost"
    return f"{login}{at}{f'[{host}]' if ':' in host else host}:{parts.port or 6379}"


class Rates:
    """Counts the requests of each key, and the refusals of each client address and key's id, in a window that slides.

    The refusals are counted by each replica for itself, and so are the requests where there are no `shared` counters,
    and while those do not answer: no turn waits for a limit. `clock` is in seconds.
    """

    def __init__(
        self,
        options: ServiceOptions,
        shared: SharedCounters | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.unanswered = 0
        """How often the shared counters did not answer."""
        most = options.requests_per_minute
        self._requests = None if most is None else RateLimitItemPerMinute(most)
        self._refusals = RateLimitItemPerMinute(options.refusals_per_minute)
        self._own = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._addresses = SlidingWindowCounterRateLimiter(MemoryStorage())
        self._shared = shared
        self._limiter = None if shared is None else SlidingWindowCounterRateLimiter(shared.storage)
        self._clock = clock
        self._silent_until = float("-inf")
        self._over: dict[str, float] = {}

    def require_open(self, key_id: str) -> None:
        """Raise Refused for a key that was told to wait and has not: it costs no trip, and no reading of its body."""
        until = self._over.get(key_id)
        if until is not None:
            left = until - self._clock()
            if left > 0:
                raise _too_many(self._requests, left)
            del self._over[key_id]

    async def admit(self, key_id: str) -> None:
        """Count a request of that key; raises Refused for one too many."""
        if self._requests is None:
            return
        waiting = await self._wait_of(key_id)
        if waiting is not None:
            self._over[key_id] = self._clock() + waiting
            raise _too_many(self._requests, waiting)

    async def note_refusal(self, address: str, key_id: str = "") -> None:
        """Count a request from that address with that id and no key that opens; raises Refused for one too many."""
        bucket = _bucket(address, key_id)
        if not await self._addresses.hit(self._refusals, bucket):
            stats = await self._addresses.get_window_stats(self._refusals, bucket)
            detail = "too many requests with this id and no key that opens came from this address; check the key"
            raise _refused(detail, stats.reset_time - time.time())

    async def close(self) -> None:
        """Give back the connections of the shared counters."""
        if self._shared is not None:
            await self._shared.close()

    async def _wait_of(self, key_id: str) -> float | None:
        """Seconds that the key has to wait, None where it may go on."""
        if self._limiter is not None and self._shared is not None and self._clock() >= self._silent_until:
            was_silent = self._silent_until > float("-inf")
            if was_silent:
                # Only one request finds out whether they answer again.
                self._silent_until = self._clock() + PAUSE_SECONDS
            try:
                async with asyncio.timeout(SHARED_SECONDS):
                    waiting = await self._hit(self._limiter, key_id)
            except Exception as error:
                if not self._shared.is_failure(error):
                    raise
                self._silent(error, told=was_silent)
            else:
                if was_silent:
                    self._silent_until = float("-inf")
                    log.info("the rate limits in the Redis at %s are counted again", self._shared.place)
                return waiting
        return await self._hit(self._own, key_id)

    async def _hit(self, limiter: SlidingWindowCounterRateLimiter, key_id: str) -> float | None:
        assert self._requests is not None  # noqa: S101 - `admit` asks only then
        if await limiter.hit(self._requests, key_id):
            return None
        stats = await limiter.get_window_stats(self._requests, key_id)
        return max(0.0, stats.reset_time - time.time())

    def _silent(self, error: Exception, *, told: bool) -> None:
        self.unanswered += 1
        self._silent_until = self._clock() + PAUSE_SECONDS
        if not told and self._shared is not None:
            log.warning(
                "the Redis at %s did not count a request (%s); until it does, each replica counts for itself",
                self._shared.place,
                type(error).__name__,
            )


def _too_many(limit: RateLimitItemPerMinute | None, seconds: float) -> Refused:
    most = 0 if limit is None else limit.amount
    return _refused(f"this key has made its {most:,} requests of a minute; wait as long as Retry-After says", seconds)


def _refused(detail: str, seconds: float) -> Refused:
    return Refused(429, "too-many-requests", detail, {"Retry-After": str(max(1, ceil(seconds)))})


def _bucket(address: str, key_id: str) -> str:
    """The counter of an address and a key's id; all addresses of an IPv6 network of one customer have the same."""
    try:
        known = ip_address(address)
    except ValueError:
        return str(hash((address, key_id)) % _BUCKETS)
    network = str(int(known) >> 64) if isinstance(known, IPv6Address) else address
    # Python's hash of a text differs from process to process: nobody can aim at the counter of somebody else.
    return str(hash((network, key_id)) % _BUCKETS)
