"""What a Redis says of itself."""

import pytest

from skillweave import StoreUnavailable
from skillweave.servers import Durable, Served
from skillweave_stores import RedisStore
from skillweave_testing.servers import RedisServer


async def test_a_redis_says_what_it_is_and_how_many_connections_it_takes(redis_url: str) -> None:
    async with RedisStore(redis_url, connections=7) as store:
        assert isinstance(store, Served)
        assert isinstance(store, Durable)
        facts = await store.server()
        product, version = facts.product.split()
        used, opens = facts.details
    assert product in ("Redis", "Valkey")
    assert version[0].isdigit()
    assert facts.place == store.place
    assert facts.round_trip > 0
    assert abs(facts.clock_ahead) < 60
    assert used.startswith("connections in use: ")
    assert opens == "this process opens 7 at most"
    assert (facts.revision, facts.newest) == (None, None)


async def test_a_cluster_is_told_as_such(redis_cluster: RedisServer) -> None:
    async with RedisStore(redis_cluster.url().replace("redis://", "redis+cluster://").removesuffix("/0")) as store:
        facts = await store.server()
    assert facts.details[0] == "a cluster; primaries: 1"


async def test_a_user_who_may_not_ask_hears_the_rest(redis_server: RedisServer) -> None:
    from redis.asyncio import Redis

    async with Redis.from_url(redis_server.url()) as admin:
        await admin.execute_command("ACL", "SETUSER", "little", "on", ">hush", "~*", "+@all", "-info")
        try:
            url = redis_server.url().replace("redis://", "redis://little:hush@")
            async with RedisStore(url) as store:
                facts = await store.server()
        finally:
            await admin.execute_command("ACL", "DELUSER", "little")
    assert facts.product == "Redis"
    assert "INFO" in facts.details[0]


async def test_a_redis_that_is_not_there_is_told_without_its_password() -> None:
    async with RedisStore("redis://:hush@127.0.0.1:9/0", retries=0) as store:
        with pytest.raises(StoreUnavailable, match=r"127\.0\.0\.1:9") as raised:
            await store.server()
    assert "hush" not in str(raised.value)
