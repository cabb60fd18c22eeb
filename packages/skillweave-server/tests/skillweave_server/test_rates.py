"""Rate limits: of a key in memory and in a Redis, also where that does not answer, and of addresses that guess."""

import asyncio
import logging
from collections.abc import AsyncIterator, Sequence
from typing import Any

import pytest
import pytest_asyncio

from skillweave.errors import InvalidValue
from skillweave_server.options import ServiceOptions
from skillweave_server.problems import Refused
from skillweave_server.rates import PAUSE_SECONDS, Rates, SharedCounters, shared_counters
from skillweave_testing.servers import RedisServer

FEW = ServiceOptions(requests_per_minute=3, refusals_per_minute=2)


class Clock:
    """A clock to set."""

    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


@pytest_asyncio.fixture(params=["memory", "redis"])
async def counters(request: pytest.FixtureRequest) -> AsyncIterator[SharedCounters | None]:
    if request.param == "memory":
        yield None
        return
    found = shared_counters(request.getfixturevalue("redis_url"))
    yield found
    await found.close()


async def answers(rates: Rates, key_id: str, times: int) -> list[Refused | None]:
    """What so many requests, one after the other, are answered: None for one that was let in."""
    return [await answered(rates, key_id) for _ in range(times)]


async def answered(rates: Rates, key_id: str) -> Refused | None:
    try:
        await rates.admit(key_id)
    except Refused as refused:
        return refused
    return None


def is_three(found: list[Refused | None]) -> bool:
    """Whether three were let in, or four, as when a minute of the clock ends in between."""
    return found.count(None) in (3, 4)


async def test_a_key_makes_as_many_requests_as_it_may(counters: SharedCounters | None) -> None:
    found = await answers(Rates(FEW, counters), "a", 6)
    assert is_three(found)
    assert found[:3] == [None] * 3


async def test_who_comes_too_often_is_told_how_long_to_wait(counters: SharedCounters | None) -> None:
    refused = next(one for one in await answers(Rates(FEW, counters), "a", 6) if one is not None)
    assert refused.status == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 60


async def test_each_key_has_a_limit_of_its_own(counters: SharedCounters | None) -> None:
    rates = Rates(FEW, counters)
    for key_id in ("a", "b"):
        assert is_three(await answers(rates, key_id, 6))


async def test_requests_at_once_are_all_counted(counters: SharedCounters | None) -> None:
    rates = Rates(FEW, counters)
    assert is_three(await asyncio.gather(*(answered(rates, "a") for _ in range(12))))


async def test_without_a_limit_all_are_let_in(counters: SharedCounters | None) -> None:
    rates = Rates(ServiceOptions(requests_per_minute=None), counters)
    assert await answers(rates, "a", 200) == [None] * 200


async def test_replicas_on_one_redis_have_one_limit(redis_url: str) -> None:
    first, second = (Rates(FEW, shared_counters(redis_url)) for _ in range(2))
    assert is_three([*await answers(first, "a", 3), *await answers(second, "a", 3)])
    for rates in (first, second):
        assert rates.unanswered == 0
        await rates.close()


async def test_a_limit_on_a_cluster_is_one_too(redis_cluster: RedisServer) -> None:
    rates = Rates(FEW, shared_counters(redis_cluster.url()))
    assert is_three(await answers(rates, "on a cluster", 6))
    assert rates.unanswered == 0
    await rates.close()


async def test_a_request_is_one_command_of_the_redis(redis_url: str) -> None:
    from redis import Redis

    rates = Rates(ServiceOptions(), shared_counters(redis_url))
    await rates.admit("a")
    with Redis.from_url(redis_url) as watched:
        watched.config_resetstat()
        for _ in range(10):
            await rates.admit("a")
        asked = {name: told["calls"] for name, told in watched.info("commandstats").items()}
    # What a script does inside the server is counted too, and is no trip.
    assert asked["cmdstat_evalsha"] == 10
    assert not {"cmdstat_eval", "cmdstat_script|load", "cmdstat_client|setinfo"} & asked.keys()
    await rates.close()


async def test_who_has_to_wait_is_told_so_without_a_trip() -> None:
    clock = Clock()
    rates = Rates(FEW, clock=clock)
    await answers(rates, "a", 5)
    with pytest.raises(Refused) as caught:
        rates.require_open("a")
    assert caught.value.status == 429
    assert int(caught.value.headers["Retry-After"]) >= 1
    rates.require_open("b")
    clock.now += 61
    rates.require_open("a")


async def test_a_redis_that_is_not_there_stops_nobody_and_each_replica_counts_for_itself(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clock = Clock()
    rates = Rates(FEW, shared_counters("redis://:hunter2@127.0.0.1:1/0"), clock=clock)
    with caplog.at_level(logging.INFO, "skillweave_server"):
        assert is_three(await answers(rates, "a", 6))
        # It is left alone for a while, and then asked once.
        assert rates.unanswered == 1
        clock.now += PAUSE_SECONDS
        await answers(rates, "b", 5)
        assert rates.unanswered == 2
    await rates.close()
    (told,) = caplog.messages
    assert "each replica counts for itself" in told
    assert "hunter2" not in caplog.text


async def test_a_redis_that_is_there_again_counts_again(
    redis_server: RedisServer, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    rates = Rates(FEW, shared_counters(redis_server.url()), clock=clock)
    await rates.admit("restarted")
    redis_server.stop()
    try:
        with caplog.at_level(logging.INFO, "skillweave_server"):
            await rates.admit("restarted")
    finally:
        redis_server.start()
    assert rates.unanswered == 1
    clock.now += PAUSE_SECONDS
    with caplog.at_level(logging.INFO, "skillweave_server"):
        await rates.admit("restarted")
    assert rates.unanswered == 1
    assert [record.levelname for record in caplog.records] == ["WARNING", "INFO"]
    await rates.close()


async def test_a_redis_that_takes_requests_and_never_answers_stops_nobody() -> None:
    async def silent(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(silent, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        rates = Rates(FEW, shared_counters(f"redis://127.0.0.1:{port}/0"))
        assert is_three(await answers(rates, "a", 6))
        assert rates.unanswered == 1
        await rates.close()


async def refusals(rates: Rates, addresses: Sequence[str]) -> list[Refused | None]:
    """What each of these is told that come with one wrong key."""
    found: list[Refused | None] = []
    for one in addresses:
        try:
            await rates.note_refusal(one, "an id")
            found.append(None)
        except Refused as refused:
            found.append(refused)
    return found


async def test_an_address_that_guesses_is_not_listened_to_any_more() -> None:
    rates = Rates(FEW)
    # Twice as often as it may, so that a minute of the clock that ends in between makes no difference.
    refused = (await refusals(rates, ["192.0.2.1"] * 5))[-1]
    await rates.note_refusal("192.0.2.1", "another id")
    assert refused is not None
    assert refused.status == 429
    assert 1 <= int(refused.headers["Retry-After"]) <= 60


async def test_addresses_of_one_network_of_a_customer_are_one() -> None:
    rates = Rates(FEW)
    assert any(await refusals(rates, [f"2001:db8:1:2::{number}" for number in range(5)]))


async def test_the_counters_of_all_addresses_have_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    rates = Rates(FEW)
    monkeypatch.setattr("skillweave_server.rates._BUCKETS", 16)
    await refusals(rates, [f"10.0.0.{number}" for number in range(100)])
    storage = rates._addresses.storage
    assert len(storage.storage) <= 2 * 16  # type: ignore[attr-defined]


@pytest.mark.parametrize("url", ["http://localhost", "redis://:secret@localhost:0", "redis://localhost/x"])
def test_a_url_that_is_none_of_a_redis_is_refused_without_its_password(url: str) -> None:
    with pytest.raises(InvalidValue) as caught:
        shared_counters(url)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("url", "reached"),
    [
        ("redis://cache.internal", {"host": "cache.internal", "port": 6379, "password": None}),
        ("redis://", {"host": "localhost", "port": 6379, "password": None}),
        ("rediss://ann:p%40ss@cache.internal/2", {"host": "cache.internal", "password": "p@ss", "db": 2}),
        ("redis://[::1]", {"host": "::1", "port": 6379}),
        ("unix:///run/redis.sock", {"path": "/run/redis.sock"}),
    ],
    ids=["no port", "no host", "an encoded password", "IPv6", "a socket"],
)
def test_counters_take_every_url_that_a_store_of_conversations_takes(url: str, reached: dict[str, object]) -> None:
    connection: Any = shared_counters(url).storage.bridge
    settings = connection.get_connection().connection_pool.connection_kwargs
    assert {name: settings.get(name) for name in reached} == reached


def test_counters_on_a_cluster_take_an_encoded_password() -> None:
    connection: Any = shared_counters("redis+cluster://:p%40ss@cache.internal").storage.bridge
    assert connection.get_connection().connection_kwargs["password"] == "p@ss"
