"""What a Redis says of itself: product, version, clock, connections, and whether it is a cluster."""

from collections.abc import Mapping
from typing import Any

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import ResponseError

from skillweave.ledger import ServerFacts
from skillweave_stores.facts import connections_in_use, quickest_trip


async def facts_of(redis: Redis | RedisCluster, place: str) -> ServerFacts:
    """The facts; of a cluster, those of its first primary. Nothing is changed."""
    to: dict[str, Any] = {}
    details: tuple[str, ...] = ()
    if isinstance(redis, RedisCluster):
        await redis.initialize()
        primaries = redis.get_primaries()
        to, details = {"target_nodes": primaries[0]}, (f"a cluster; primaries: {len(primaries)}",)

    async def clock() -> float:
        seconds, microseconds = await redis.time(**to)
        return int(seconds) + int(microseconds) / 1e6

    quickest, ahead = await quickest_trip(clock)
    try:
        about = {**await redis.info("server", **to), **await redis.info("clients", **to)}
    except ResponseError:
        return ServerFacts("Redis", place, quickest, ahead, (*details, "its version is not told to this user (INFO)"))
    return ServerFacts(_product(about), place, quickest, ahead, (*details, *_connections(about)))


def _product(about: Mapping[str, Any]) -> str:
    if about.get("server_name") == "valkey":
        return f"Valkey {about.get('valkey_version')}"
    return f"Redis {about.get('redis_version')}"


def _connections(about: Mapping[str, Any]) -> tuple[str, ...]:
    used, most = about.get("connected_clients"), about.get("maxclients")
    return () if used is None else (connections_in_use(used, most),)
