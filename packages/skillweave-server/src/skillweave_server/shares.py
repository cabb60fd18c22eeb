"""What one tenant may have of the service at once, so that a flood of one takes nothing from another."""

import asyncio
import random
from collections.abc import Callable
from dataclasses import dataclass, field

from skillweave_server.problems import Refused

WORKING = 16
"""The part of a tenant's requests that works at a time, as a divisor: the rest waits in its own queue.

By default 16 work, fewer than a store has connections, so that some are always left for others.
"""
STREAMS = 4
"""So many times as many streams of events may be open as there may be requests."""
REFUSED = 4
"""The part of `requests_at_once` that may be refused in a second before refusals are held back, as a divisor."""
HELD_SECONDS = 1.0
"""Seconds, on average, for which a refusal is held back from who comes with too many; it costs nothing meanwhile."""
_PROBLEM = "too-many-requests"


@dataclass(slots=True)
class Share:
    """What one tenant has now of `most` requests at once; `places` are for those that work."""

    most: int
    requests: int = 0
    streams: int = 0
    refused: int = 0
    places: asyncio.Semaphore = field(init=False)

    def __post_init__(self) -> None:
        self.places = asyncio.Semaphore(max(1, self.most // WORKING))

    def enter(self) -> Callable[[], None]:
        """Count a request; what ends it. Raises Refused for one too many."""
        if self.requests >= self.most:
            raise _refused(f"this tenant has {self.most:,} requests under way")
        self.requests += 1
        return self._leave

    def follow(self) -> Callable[[], None]:
        """Count a request that goes on as a stream; what ends that. Raises Refused for one too many."""
        if self.streams >= STREAMS * self.most:
            raise _refused(f"this tenant reads {STREAMS * self.most:,} streams")
        self.streams += 1
        self.requests -= 1
        return self._leave_stream

    async def hold_refusal(self) -> None:
        """Hold a refusal back while many are: who asks again at once would keep the process busy with saying no."""
        self.refused += 1
        asyncio.get_running_loop().call_later(HELD_SECONDS, self._forget_refusal)
        if self.refused > self.most // REFUSED:
            # Not all at the same moment again.
            await asyncio.sleep(HELD_SECONDS * random.uniform(0.5, 1.5))  # noqa: S311 - nobody's secret

    def _leave(self) -> None:
        self.requests -= 1

    def _leave_stream(self) -> None:
        self.streams -= 1

    def _forget_refusal(self) -> None:
        self.refused -= 1


class Shares:
    """The shares of all tenants that have a key."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._shares: dict[str, Share] = {}

    def of(self, tenant: str) -> Share:
        """That of the tenant."""
        share = self._shares.get(tenant)
        if share is None:
            share = self._shares[tenant] = Share(self._most)
        return share


def _refused(found: str) -> Refused:
    detail = f"{found}, as many as one may have at once; wait as long as Retry-After says, and send fewer at once"
    return Refused(429, _PROBLEM, detail, {"Retry-After": "1", "Connection": "close"})
