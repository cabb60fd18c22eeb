"""What a Redis may lose of what it acknowledged, as its own configuration says."""

from collections.abc import Iterator, Mapping
from typing import Any

from redis.asyncio import Redis, RedisCluster
from redis.exceptions import ResponseError

from skillweave import Diagnostic, Severity
from skillweave_stores.facts import MAY_LOSE, READ_ONLY

MAY_EVICT, UNKNOWN = "ledger-may-evict", "ledger-durability-unknown"
_FIX = "set `appendonly yes` and `appendfsync always`; each write then waits for the disk"


async def check_durability(redis: Redis | RedisCluster, place: str) -> tuple[Diagnostic, ...]:
    """A finding for each way in which the server may lose something; of a cluster, of each of its primaries."""
    if not isinstance(redis, RedisCluster):
        return await _of_node(redis, {}, place)
    found: dict[Diagnostic, None] = {}
    for node in redis.get_primaries():
        found |= dict.fromkeys(await _of_node(redis, {"target_nodes": node}, f"{place} (node {node.name})"))
    return tuple(found)


async def _of_node(redis: Redis | RedisCluster, to: Mapping[str, Any], place: str) -> tuple[Diagnostic, ...]:
    try:
        config: dict[str, str] = {}
        for name in ("appendonly", "appendfsync", "save", "maxmemory", "maxmemory-policy"):
            config |= {str(key): str(value) for key, value in (await redis.config_get(name, **to)).items()}
        info = await redis.info("replication", **to)
    except ResponseError:
        # Whoever rents out a server often keeps its configuration to himself.
        message = f"what {place} may lose cannot be known: it does not tell its configuration (CONFIG GET)"
        fix = "allow +config|get and +info, or ask who runs it for `appendfsync` and `maxmemory-policy`"
        return (Diagnostic(UNKNOWN, Severity.INFO, message, fix=fix),)
    return tuple(findings(config, info, place))


def findings(config: Mapping[str, str], info: Mapping[str, Any], place: str) -> Iterator[Diagnostic]:
    """What follows from the configuration and from what the server says of its replicas."""
    if str(info.get("role")) in ("slave", "replica"):
        yield Diagnostic(
            READ_ONLY, Severity.ERROR, f"{place} is a replica, which takes no writes", fix="name its primary"
        )
    lost = _lost(config)
    if lost:
        message = f"{place} may lose {lost} when it ends without warning: State, decisions and what people said"
        yield Diagnostic(MAY_LOSE, Severity.WARNING, message, fix=_FIX)
    if int(info.get("connected_slaves", 0)) > 0:
        message = f"{place} copies to its replicas after it answers: when one takes over, the last writes may be lost"
        fix = "nothing, where a skill that is given twice and a verdict that is asked for again are bearable"
        yield Diagnostic(MAY_LOSE, Severity.INFO, message, fix=fix)
    policy = config.get("maxmemory-policy", "noeviction")
    if policy != "noeviction" and config.get("maxmemory", "0") != "0":
        message = f"{place} throws keys away when its memory is full ({policy}), also what people decided"
        yield Diagnostic(
            MAY_EVICT, Severity.WARNING, message, fix="set `maxmemory-policy noeviction`, or use a server of its own"
        )


def _lost(config: Mapping[str, str]) -> str:
    """In words, what a crash of the server loses; the empty text for nothing."""
    if config.get("appendonly") == "yes":
        every = {"always": "", "everysec": "the writes of the last two seconds"}
        return every.get(config.get("appendfsync", ""), "what the system had not written yet, half a minute or so")
    return "everything since its latest snapshot" if config.get("save") else "everything"
