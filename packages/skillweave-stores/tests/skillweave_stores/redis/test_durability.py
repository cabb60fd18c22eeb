"""What a Redis may lose is said as its own configuration has it."""

import asyncio
import contextlib
from collections.abc import Iterator

import pytest
from redis import Redis

from skillweave import Severity
from skillweave_stores import RedisStore
from skillweave_testing.servers import RedisServer


@pytest.fixture
def admin(redis_server: RedisServer) -> Iterator[Redis]:
    with Redis.from_url(redis_server.url(), decode_responses=True) as client:
        yield client


@contextlib.contextmanager
def configured(admin: Redis, **values: str) -> Iterator[None]:
    names = [name.replace("_", "-") for name in values]
    before = {name: admin.config_get(name)[name] for name in names}
    for name, value in zip(names, values.values(), strict=True):
        admin.config_set(name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            admin.config_set(name, value)


async def found(url: str) -> list[tuple[str, Severity, str]]:
    async with RedisStore(url, retries=0) as store:
        return [(one.code, one.severity, one.message) for one in await store.durability()]


async def test_a_server_that_has_each_write_on_its_disk_loses_nothing(redis_server: RedisServer) -> None:
    assert await found(redis_server.url()) == []


async def test_a_server_that_writes_every_second_may_lose_two_seconds(redis_server: RedisServer, admin: Redis) -> None:
    with configured(admin, appendfsync="everysec"):
        ((code, severity, message),) = await found(redis_server.url())
    assert (code, severity) == ("ledger-may-lose-writes", Severity.WARNING)
    assert "may lose the writes of the last two seconds" in message
    assert redis_server.url() in message


async def test_a_server_that_leaves_it_to_the_system_may_lose_more(redis_server: RedisServer, admin: Redis) -> None:
    with configured(admin, appendfsync="no"):
        ((_, _, message),) = await found(redis_server.url())
    assert "what the system had not written yet" in message


async def test_a_server_without_a_log_may_lose_everything_since_its_snapshot(
    redis_server: RedisServer, admin: Redis
) -> None:
    with configured(admin, appendonly="no"):
        ((_, _, message),) = await found(redis_server.url())
        assert "may lose everything when" in message
        with configured(admin, save="3600 1"):
            ((_, _, message),) = await found(redis_server.url())
        assert "may lose everything since its latest snapshot" in message


async def test_a_server_that_throws_keys_away_is_told(redis_server: RedisServer, admin: Redis) -> None:
    with configured(admin, maxmemory="500mb", maxmemory_policy="allkeys-lru"):
        ((code, severity, message),) = await found(redis_server.url())
    assert (code, severity) == ("ledger-may-evict", Severity.WARNING)
    assert "(allkeys-lru), also what people decided" in message


async def test_a_policy_without_a_limit_throws_nothing_away(redis_server: RedisServer, admin: Redis) -> None:
    with configured(admin, maxmemory_policy="allkeys-lru"):
        assert await found(redis_server.url()) == []


async def test_a_replica_is_an_error(redis_server: RedisServer, admin: Redis) -> None:
    admin.replicaof("127.0.0.1", "1")
    try:
        ((code, severity, _),) = await found(redis_server.url())
    finally:
        admin.replicaof("NO", "ONE")
    assert (code, severity) == ("ledger-read-only", Severity.ERROR)


async def test_a_primary_that_answers_before_its_replicas_is_told(redis_server: RedisServer, admin: Redis) -> None:
    with RedisServer() as second, Redis.from_url(second.url(), decode_responses=True) as replica:
        replica.replicaof("127.0.0.1", str(redis_server.port))
        async with asyncio.timeout(60):
            while not admin.info("replication")["connected_slaves"]:
                await asyncio.to_thread(replica.ping)
        ((code, severity, message),) = await found(redis_server.url())
    assert (code, severity) == ("ledger-may-lose-writes", Severity.INFO)
    assert "when one takes over, the last writes may be lost" in message


async def test_a_server_that_keeps_its_configuration_to_itself_is_unknown(
    redis_server: RedisServer, admin: Redis
) -> None:
    admin.acl_setuser("ann", enabled=True, nopass=True, commands=["+@all", "-config"], keys=["*"])
    try:
        ((code, severity, message),) = await found(redis_server.url().replace("redis://", "redis://ann:s3cret@"))
    finally:
        admin.acl_deluser("ann")
    assert (code, severity) == ("ledger-durability-unknown", Severity.INFO)
    assert "cannot be known" in message
    assert "s3cret" not in message


async def test_each_primary_of_a_cluster_is_asked(redis_cluster: RedisServer) -> None:
    url = redis_cluster.url().replace("redis://", "redis+cluster://")
    with (
        Redis.from_url(redis_cluster.url(), decode_responses=True) as admin,
        configured(admin, appendfsync="everysec"),
    ):
        ((code, _, message),) = await found(url)
    assert (code, f"(node 127.0.0.1:{redis_cluster.port})" in message) == ("ledger-may-lose-writes", True)
