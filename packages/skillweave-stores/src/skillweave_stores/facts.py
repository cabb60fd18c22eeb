"""What is told of a server, whichever it is: its clock, its connections, when to try again, what it may lose."""

import time
from collections.abc import Awaitable, Callable

SOON, LATER = 1.0, 30.0
"""Seconds after which a call may succeed: when a server comes back, and when a person has to do something first."""
MAY_LOSE = "ledger-may-lose-writes"
"""Something that was acknowledged may be lost when the server or its machine ends without warning."""
READ_ONLY = "ledger-read-only"
"""The server takes no writes."""
_TRIPS = 3
"""So many trips are made, of which the quickest counts."""


async def quickest_trip(clock: Callable[[], Awaitable[float]]) -> tuple[float, float]:
    """The seconds of a round trip, and those by which the server's clock was ahead in the middle of it.

    `clock` asks the server for its time, in seconds since 1970, in one round trip.
    """
    trips = []
    for _ in range(_TRIPS):
        began, counted = time.time(), time.perf_counter()
        now = await clock()
        seconds = time.perf_counter() - counted
        trips.append((seconds, now - (began + seconds / 2)))
    return min(trips)


def connections_in_use(used: object, most: object = None) -> str:
    """How many connections the server has, and of how many at most, where it tells that."""
    return f"connections in use: {used} of {most}" if most else f"connections in use: {used}"


def connections_of_process(most: int) -> str:
    """How many of them are this store's at most."""
    return f"this process opens {most} at most"
