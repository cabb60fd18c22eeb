"""What stores on servers share: the clock of a server, and how its connections are told."""

import time

from skillweave_stores.facts import connections_in_use, quickest_trip


async def test_a_clock_that_is_ahead_is_told_in_seconds_and_one_that_is_behind_below_zero() -> None:
    async def one_hour_ahead() -> float:
        return time.time() + 3600

    async def one_hour_behind() -> float:
        return time.time() - 3600

    assert round((await quickest_trip(one_hour_ahead))[1] / 60) == 60
    assert round((await quickest_trip(one_hour_behind))[1] / 60) == -60


def test_connections_are_told_with_their_bound_where_there_is_one() -> None:
    assert connections_in_use(3, 300) == "connections in use: 3 of 300"
    assert connections_in_use(3) == "connections in use: 3"
