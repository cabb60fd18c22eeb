"""Three replicas on PostgreSQL and Redis, killed, stopped and filled while turns and verdicts run (spec 5.4)."""

import asyncio
import json
import os
import random
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import psycopg
import pytest
from redis import Redis
from tests.skillweave_testing.services.replica import Replica, on_servers

from skillweave_stores.redis.events import RedisEventStream
from skillweave_stores.redis.store import RedisStore
from skillweave_testing.servers import PostgresServer, RedisServer, Server

SECONDS = float(os.environ.get("SKILLWEAVE_FAULT_SECONDS", "300"))
pytestmark = pytest.mark.skipif(not os.environ.get("SKILLWEAVE_SOAK"), reason="five minutes of faults; for soaks")

GREETERS, JUDGES, PAYERS = 6, 6, 4
RACERS = 8
"""So many ask about one approved call at the same moment."""
PATIENCE = 120.0
"""Seconds after which a request that nobody answers counts as lost."""
SKILLS = {
    "greet": """---
name: greet
description: Greets.
metadata:
  triggers: hello
---
Say hello in their language.
""",
    "bill": """---
name: bill
description: Pays bills.
triggers: { keywords: [bill] }
x-skillweave:
  tools: { forbidden: [write] }
  checkpoints: [{ name: sign-off, before: pay }]
---
Check the sum first.
""",
}
Answer = dict[str, Any]
IN_DOUBT = "STATE_UNAVAILABLE"


@dataclass
class World:
    """The replicas behind one client, the servers below them, and all that was counted."""

    replicas: list[Replica]
    postgres: PostgresServer
    redis: RedisServer
    http: httpx.AsyncClient
    counts: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    acknowledged: dict[str, list[Answer]] = field(default_factory=dict)
    memory: dict[str, Answer] = field(default_factory=dict)
    end: float = 0.0

    @property
    def runs(self) -> bool:
        return time.monotonic() < self.end

    async def once(self, method: str, path: str, body: Answer | None = None, **headers: str) -> httpx.Response | None:
        """The answer of any replica; None where there is none."""
        url = f"{random.choice(self.replicas).url}/api/v1{path}"
        with suppress(httpx.TransportError):
            sent = {name.replace("_", "-"): value for name, value in headers.items()}
            answer = await self.http.request(method, url, json=body, headers=sent)
            self.counts[f"status {answer.status_code}"] += 1
            if answer.status_code not in (200, 201, 204, 409, 429, 503):
                raise AssertionError(f"{method} {path}: {answer.status_code} {answer.text[:300]}")
            return answer
        self.counts["no answer"] += 1
        return None

    async def surely(self, method: str, path: str, body: Answer | None = None, **headers: str) -> Answer:
        """The body of the first good answer."""
        async with asyncio.timeout(PATIENCE):
            while True:
                answer = await self.once(method, path, body, **headers)
                if answer is not None and answer.status_code < 300:
                    told: Answer = answer.json() if answer.content else {}
                    return told
                await asyncio.sleep(0.05)

    async def turn(self, conversation: str, number: int, message: str) -> Answer:
        """A turn that is recorded, and told."""
        body = {"id": f"{conversation}:{number}", "message": message}
        while True:
            told = await self.surely("POST", f"/conversations/{segment(conversation)}/turns", body)
            self.counts["turns"] += 1
            codes = [one["code"] for one in told["diagnostics"]]
            if told["revision"] is not None and "observer-failed" not in codes:
                self.acknowledged.setdefault(conversation, []).append(told)
                return told
            self.counts["turns that said that they are unrecorded"] += 1
            await asyncio.sleep(0.05)

    async def verdict(self, conversation: str, tool: str, key: str = "", **call: Any) -> Answer | None:
        body = {"conversation": conversation, "tool": tool, **call}
        headers = {"Idempotency_Key": key} if key else {}
        answer = await self.once("POST", "/authorize", body, **headers)
        if answer is None or answer.status_code != 200:
            return None
        told: Answer = answer.json()
        self.counts["verdicts"] += 1
        self.counts[f"verdict {told['ruling']} {told.get('code') or ''}".strip()] += 1
        return told


def segment(name: str) -> str:
    return quote(name, safe="")


async def greet(world: World, name: str) -> None:
    """Turns of conversations, some of them long, with something in working memory."""
    for number in range(1_000_000):
        if not world.runs:
            return
        conversation = f"{name} {number}"
        for turn in range(4):
            await world.turn(conversation, turn, "hello")
        told = await world.surely("PUT", f"/memory/{segment(conversation)}", {"seen": number})
        world.memory[conversation] = told


async def judge(world: World, name: str) -> None:
    """In a conversation that forbids a tool, and asks about another, neither is ever allowed."""
    conversation = f"{name} 0"
    await world.turn(conversation, 0, "the bill")
    while world.runs:
        for tool, allowed in (("write", ("deny",)), ("pay", ("ask", "deny")), ("read", ("allow", "deny"))):
            told = await world.verdict(conversation, tool, call_id="c", arguments={"amount": 4})
            if told is None:
                continue
            if told["ruling"] not in allowed or (
                tool == "read" and told["ruling"] == "deny" and told["code"] != IN_DOUBT
            ):
                world.wrong.append(f"{tool} in {conversation}: {told}")
        await asyncio.sleep(0.02)


async def pay(world: World, name: str) -> None:
    """Again and again a person says yes to one call; of eight who then ask at one moment one is let through."""
    for number in range(1_000_000):
        if not world.runs:
            return
        conversation = f"{name} {number}"
        await world.turn(conversation, 0, "the bill")
        call = {"id": "call-1", "tool": "pay", "arguments": {"amount": number}}
        given = {"call_id": "call-1", "arguments": {"amount": number}}
        while True:
            told = await world.verdict(conversation, "pay", **given)
            if told is not None and told["ruling"] == "ask":
                break
            if told is not None and told["ruling"] == "allow":
                world.wrong.append(f"nobody said yes in {conversation}: {told}")
            await asyncio.sleep(0.05)
        body = {"conversation": conversation, "skill_id": "bill", "checkpoint": "sign-off", "call": call}
        case = await world.surely("POST", "/approvals", body, Idempotency_Key=conversation)
        await world.surely("POST", f"/approvals/{case['id']}/decide", {"verdict": "approved", "by": "Ann"})
        world.counts["yes said"] += 1
        rulings = await asyncio.gather(*(settled(world, conversation, f"r{one}", given) for one in range(RACERS)))
        world.counts["yes taken"] += rulings.count("allow")
        if rulings.count("allow") != 1:
            world.wrong.append(f"{conversation}: {rulings}")
        again = await asyncio.gather(*(settled(world, conversation, f"r{one}", given) for one in range(RACERS)))
        if [one == "allow" for one in again] != [one == "allow" for one in rulings]:
            world.wrong.append(f"the same request got another answer in {conversation}: {rulings}, {again}")


async def settled(world: World, conversation: str, key: str, given: Answer) -> str:
    """The ruling of a request that is made until it is no longer in doubt."""
    async with asyncio.timeout(PATIENCE):
        while True:
            told = await world.verdict(conversation, "pay", key=f"{conversation} {key}", **given)
            if told is not None and told.get("code") != IN_DOUBT:
                ruling: str = told["ruling"]
                return ruling
            await asyncio.sleep(0.05)


@contextmanager
def full(world: World, server: Server) -> Iterator[None]:
    """It takes no more writes: a Redis without memory, a PostgreSQL that is read-only as after a full disk."""
    if isinstance(server, RedisServer):
        with Redis.from_url(server.url()) as client:
            client.config_set("maxmemory", 1)
        try:
            yield
        finally:
            with Redis.from_url(server.url()) as client:
                client.config_set("maxmemory", 0)
        return
    change = "ALTER DATABASE postgres {} default_transaction_read_only {}"
    ends = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND usename <> ''"

    def sql(*statements: str) -> None:
        with psycopg.connect(world.postgres.url(), autocommit=True) as connection:
            for one in statements:
                connection.execute(one)

    sql(change.format("SET", "= on"), ends)
    try:
        yield
    finally:
        sql("SET default_transaction_read_only = off", change.format("RESET", ""), ends)


@asynccontextmanager
async def fault(world: World, kind: str, server: Server) -> AsyncIterator[None]:
    world.counts[f"fault {kind} {type(server).__name__}"] += 1
    if kind == "kill":
        await asyncio.to_thread(server.kill)
        try:
            yield
        finally:
            # A replica is not waited for: others answer meanwhile, and the next fault may come.
            await asyncio.to_thread(server.launch if isinstance(server, Replica) else server.start)
    elif kind == "stop":
        with server.paused():
            yield
    else:
        with full(world, server):
            yield


async def break_things(world: World) -> None:
    """One fault after the other, each for some seconds."""
    dice = random.Random(7)
    kinds = [
        *(
            (kind, server)
            for kind in ("kill", "stop", "stop", "fill", "fill")
            for server in (world.redis, world.postgres)
        ),
        *((kind, one) for kind in ("kill", "stop") for one in world.replicas),
    ]
    while world.runs:
        dice.shuffle(kinds)
        for kind, server in kinds:
            if not world.runs:
                return
            async with fault(world, kind, server):
                await asyncio.sleep(dice.uniform(0.05, 1.5) if kind == "kill" else dice.uniform(0.05, 7))
            await asyncio.sleep(dice.uniform(0.5, 2))


@pytest.fixture
def skills(tmp_path: Path) -> Path:
    folder = tmp_path / "skills"
    for name, text in SKILLS.items():
        (folder / name).mkdir(parents=True)
        (folder / name / "SKILL.md").write_text(text, "utf-8")
    return folder


async def test_under_faults_nothing_is_allowed_that_should_not_be_and_nothing_acknowledged_is_lost(
    skills: Path, tmp_path: Path
) -> None:
    with PostgresServer() as postgres, RedisServer() as redis:
        first, second = on_servers(postgres.url(), redis.url(), skills, tmp_path)
        replicas = [first, second, Replica(*first._words)]
        try:
            for one in replicas:
                one.launch()
            async with httpx.AsyncClient(timeout=15, limits=httpx.Limits(max_connections=None)) as http:
                world = World(replicas, postgres, redis, http)
                await world.surely("GET", "/tools")
                world.end = time.monotonic() + SECONDS
                await load(world)
            await examine(world, redis.url())
        finally:
            for one in replicas:
                one.remove()
    print(json.dumps(dict(sorted(world.counts.items())), indent=1))
    assert not world.wrong, "\n".join(world.wrong[:20])
    assert world.counts["yes taken"] == world.counts["yes said"] > 0


async def tell(world: World) -> None:
    """What has happened so far, now and then."""
    while world.runs:
        await asyncio.sleep(10)
        print(json.dumps(dict(sorted(world.counts.items()))), world.wrong[:3], flush=True)


async def load(world: World) -> None:
    work: list[tuple[int, str, Callable[[World, str], Awaitable[None]]]] = [
        (GREETERS, "greet", greet),
        (JUDGES, "judge", judge),
        (PAYERS, "pay", pay),
    ]
    async with asyncio.TaskGroup() as group:
        for number, name, what in work:
            for one in range(number):
                group.create_task(what(world, f"{name}-{one}"))  # type: ignore[arg-type]
        group.create_task(break_things(world))
        group.create_task(tell(world))


async def examine(world: World, redis: str) -> None:
    """Every acknowledged turn is in its State and once in its stream, and the memory of it is what was answered."""
    async with RedisStore(redis) as store, RedisEventStream(redis) as stream:
        for conversation, turns in world.acknowledged.items():
            state, _ = await store.load(conversation)
            if state.revision < turns[-1]["revision"]:
                world.wrong.append(f"{conversation} lost revisions: {state.revision} < {turns[-1]['revision']}")
            kept = await stream.read(conversation, limit=1000)
            told = [one.event.turn_id for one in kept if one.event.event_type == "turn.decided"]
            if told != [one["turn_id"] for one in turns]:
                world.wrong.append(f"{conversation} told {told}")
    world.counts["conversations"] = len(world.acknowledged)
    world.counts["turns acknowledged"] = sum(map(len, world.acknowledged.values()))
    for conversation, told in world.memory.items():
        if await world_memory(redis, conversation) != told:
            world.wrong.append(f"{conversation} lost its memory")


async def world_memory(redis: str, conversation: str) -> Answer:
    from skillweave_stores.redis.working_memory import RedisWorkingMemory

    async with RedisWorkingMemory(redis) as memory:
        return dict(await memory.read(conversation))
