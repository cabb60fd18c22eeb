"""Conversations over two replicas that are killed, on a Redis that crashes: nothing acknowledged is lost."""

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from httpx_sse import aconnect_sse
from tests.skillweave_testing.services.replica import Replica, on_servers

from skillweave import State
from skillweave_stores.redis.events import RedisEventStream
from skillweave_stores.redis.store import RedisStore
from skillweave_testing.servers import RedisServer

SOAKS = bool(os.environ.get("SKILLWEAVE_SOAK"))
CONVERSATIONS = 1_000 if SOAKS else 240
AT_ONCE = 24
FOLLOWED = 60 if SOAKS else 20
"""So many conversations have somebody who listens from the beginning."""
PATIENCE = 240.0
"""Seconds after which a request that no replica acknowledged counts as lost."""
GREETING = "skill:greet"
Answer = dict[str, Any]


@dataclass
class Fleet:
    """Both replicas behind one client: a request goes to the next one until somebody acknowledges it."""

    replicas: Sequence[Replica]
    http: httpx.AsyncClient
    tried: Counter[str] = field(default_factory=Counter)
    _next: int = 0

    def url(self) -> str:
        self._next += 1
        return self.replicas[self._next % len(self.replicas)].url

    async def asked(self, method: str, path: str, body: Answer | None = None) -> httpx.Response:
        async with asyncio.timeout(PATIENCE):
            while True:
                with suppress(httpx.TransportError):
                    answer = await self.http.request(method, f"{self.url()}/api/v1{path}", json=body)
                    self.tried[str(answer.status_code)] += 1
                    if answer.status_code < 300 and not self.unrecorded(answer):
                        return answer
                    assert answer.status_code in (200, 409, 503), answer.text
                self.tried["again"] += 1
                await asyncio.sleep(0.05)

    def unrecorded(self, answer: httpx.Response) -> bool:
        """Whether the ledger or the stream was silent: such an answer says so, and is asked for again."""
        told = answer.json() if answer.content else {}
        if "revision" not in told:
            return False
        # A turn that changes nothing writes nothing: its event is told by itself, and may be lost alone.
        return told["revision"] is None or any(one["code"] == "observer-failed" for one in told["diagnostics"])

    async def turn(self, conversation: str, number: int, message: str, **more: Any) -> Answer:
        body = {"id": f"{conversation}:{number}", "message": message, **more}
        answer: Answer = (await self.asked("POST", f"/conversations/{segment(conversation)}/turns", body)).json()
        return answer


def segment(name: str) -> str:
    """An id as one segment of a path."""
    return quote(name, safe="")


def given(injection: Answer) -> int:
    """How many blocks of the greeting skill a turn gave."""
    return sum(GREETING in block["keys"] for block in injection["blocks"])


async def without_transcript(fleet: Fleet, name: str) -> Sequence[Answer]:
    """Given once, then there."""
    turns = [await fleet.turn(name, number, "hello") for number in range(3)]
    assert [given(one) for one in turns] == [1, 0, 0]
    return turns


async def with_transcript(fleet: Fleet, name: str) -> Sequence[Answer]:
    """The transcript wins: what it shows is there, what it no longer shows is given again."""
    first = await fleet.turn(name, 0, "hello", transcript=[])
    shown = [*first["messages"], {"role": "user", "content": "hello", "id": None}]
    second = await fleet.turn(name, 1, "hello", transcript=shown)
    third = await fleet.turn(name, 2, "hello", transcript=shown[-1:])
    turns = [first, second, third]
    assert [given(one) for one in turns] == [1, 0, 1]
    return turns


async def in_the_call(fleet: Fleet, name: str) -> Sequence[Answer]:
    """Everything in force is in every call."""
    turns = [await fleet.turn(name, number, "hello", placement="call") for number in range(3)]
    assert [given(one) for one in turns] == [1, 1, 1]
    return turns


async def evicted_between(fleet: Fleet, name: str) -> Sequence[Answer]:
    """What was evicted is given again."""
    first = await fleet.turn(name, 0, "hello")
    await fleet.asked("DELETE", f"/ledger/{segment(name)}/{segment(GREETING)}")
    turns = [first, await fleet.turn(name, 1, "hello"), await fleet.turn(name, 2, "hello")]
    assert [given(one) for one in turns] == [1, 1, 0]
    return turns


KINDS: Sequence[Callable[[Fleet, str], Any]] = (without_transcript, with_transcript, in_the_call, evicted_between)


@dataclass
class Listener:
    """Somebody who follows one conversation and comes back with the last id, to whichever replica answers."""

    conversation: str
    seen: list[tuple[str, Answer]] = field(default_factory=list)
    connections: int = 0

    async def listen(self, fleet: Fleet) -> None:
        path = f"/api/v1/conversations/{segment(self.conversation)}/stream"
        while True:
            with suppress(httpx.TransportError):
                headers = {"Last-Event-ID": self.seen[-1][0]} if self.seen else {}
                query = {} if self.seen else {"after": ""}
                async with aconnect_sse(fleet.http, "GET", fleet.url() + path, headers=headers, params=query) as source:
                    if source.response.status_code == 200:
                        self.connections += 1
                        async for event in source.aiter_sse():
                            if not event.data:
                                continue
                            assert event.event == event.json()["event_type"]
                            self.seen.append((event.id, event.json()))
                    else:
                        assert source.response.status_code == 503, await source.response.aread()
            await asyncio.sleep(0.1)


@pytest.fixture(scope="module")
def skills(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("skills") / "greet"
    folder.mkdir()
    text = "---\nname: greet\ndescription: Greets.\nmetadata:\n  triggers: hello\n---\nSay hello in their language.\n"
    (folder / "SKILL.md").write_text(text, "utf-8")
    return folder.parent


@contextmanager
def running(replicas: Sequence[Replica]) -> Iterator[None]:
    try:
        for one in replicas:
            one.start()
        yield
    except BaseException:
        for one in replicas:
            print(f"-- what {one.url} wrote --\n{one.said[-50_000:]}")
        raise
    finally:
        for one in replicas:
            one.remove()


async def ticks(done: Callable[[], int], parts: int) -> AsyncIterator[int]:
    """Each time another part of the conversations is over."""
    for part in range(1, parts + 1):
        while done() < CONVERSATIONS * part // (parts + 1):  # noqa: ASYNC110 - others count
            await asyncio.sleep(0.02)
        yield part


async def break_things(replicas: Sequence[Replica], redis: RedisServer, done: Callable[[], int]) -> list[str]:
    """Kill the one, Redis and both, and in a soak the other, Redis and the one again, spread over the whole load."""
    first, second = replicas
    broken: list[str] = []
    kills = [(first,), (redis,), (first, second), *([(second,), (redis,), (first,)] if SOAKS else [])]
    async for part in ticks(done, len(kills)):
        victims = kills[part - 1]
        for one in victims:
            await asyncio.to_thread(one.kill)
        for one in victims:
            await asyncio.to_thread(one.start)
        broken.append(" and ".join(type(one).__name__ for one in victims))
    return broken


async def test_no_acknowledged_turn_is_lost_while_replicas_are_killed_and_redis_is_restarted(
    postgres_url: str, skills: Path, tmp_path: Path
) -> None:
    with RedisServer() as redis:
        replicas = on_servers(postgres_url, redis.url(), skills, tmp_path)
        with running(replicas):
            async with httpx.AsyncClient(timeout=20, limits=httpx.Limits(max_connections=None)) as http:
                fleet = Fleet(replicas, http)
                acknowledged, listeners, broken = await under_load(fleet, redis)
            await examine(redis.url(), acknowledged, listeners)
    assert len(broken) == (6 if SOAKS else 3)
    assert fleet.tried["again"] > 0  # else nothing was broken while anybody asked
    assert sum(one.connections for one in listeners) > 2 * FOLLOWED
    print(json.dumps({"answers": fleet.tried, "broken": broken, "events": sum(len(one.seen) for one in listeners)}))


async def under_load(fleet: Fleet, redis: RedisServer) -> tuple[dict[str, Sequence[Answer]], list[Listener], list[str]]:
    """All conversations, so many at once, while things break; what was acknowledged, and what listeners heard."""
    names = [f"load {number}/{KINDS[number % len(KINDS)].__name__}" for number in range(CONVERSATIONS)]
    listeners = [Listener(name) for name in names[:: CONVERSATIONS // FOLLOWED][:FOLLOWED]]
    listening = [asyncio.create_task(one.listen(fleet)) for one in listeners]
    acknowledged: dict[str, Sequence[Answer]] = {}
    waiting = iter(enumerate(names))

    async def work() -> None:
        for number, name in waiting:
            acknowledged[name] = await KINDS[number % len(KINDS)](fleet, name)

    breaking = asyncio.create_task(break_things(fleet.replicas, redis, lambda: len(acknowledged)))
    async with asyncio.TaskGroup() as group:
        for _ in range(AT_ONCE):
            group.create_task(work())
    broken = await breaking
    expected = await kept_events(redis.url(), [one.conversation for one in listeners])
    with suppress(TimeoutError):
        async with asyncio.timeout(30):
            while any(len(one.seen) < len(expected[one.conversation]) for one in listeners):  # noqa: ASYNC110 - as above
                await asyncio.sleep(0.1)
    for task in listening:
        task.cancel()
    for result in await asyncio.gather(*listening, return_exceptions=True):
        assert isinstance(result, asyncio.CancelledError), result
    return acknowledged, listeners, broken


async def kept_events(redis: str, conversations: Sequence[str]) -> dict[str, list[tuple[str, Answer]]]:
    """The whole stream of each conversation, as Redis has it."""
    async with RedisEventStream(redis) as stream:
        return {
            name: [(one.position, one.event.to_dict()) for one in await stream.read(name, limit=1000)]
            for name in conversations
        }


async def examine(redis: str, acknowledged: dict[str, Sequence[Answer]], listeners: Sequence[Listener]) -> None:
    """Every turn that was acknowledged is in the State and once in the stream; each listener heard all, in order."""
    assert len(acknowledged) == CONVERSATIONS
    streams = await kept_events(redis, list(acknowledged))
    async with RedisStore(redis) as store:
        for name, turns in acknowledged.items():
            state, _ = await store.load(name)
            examine_state(state, name, turns)
            examine_stream([event for _, event in streams[name]], turns)
        assert await store.count() == CONVERSATIONS
    for one in listeners:
        assert one.seen == streams[one.conversation]


def examine_state(state: State, name: str, turns: Sequence[Answer]) -> None:
    # A turn that finds everything as it is stores nothing: the latest one that did is the last of the State.
    assert [one["turn_id"] for one in turns] == [f"{name}:{number}" for number in range(3)]
    revisions = [one["revision"] for one in turns]
    assert revisions == sorted(revisions)
    assert state.revision >= revisions[-1]
    assert state.last_turn == next(one["turn_id"] for one in turns if one["revision"] == revisions[-1])
    in_call = turns[-1]["placement"] == "call"
    assert [record.key for record in state.records] == ([] if in_call else [GREETING])


def examine_stream(events: Sequence[Answer], turns: Sequence[Answer]) -> None:
    kinds = Counter(event["event_type"] for event in events)
    assert [e["turn_id"] for e in events if e["event_type"] == "turn.decided"] == [one["turn_id"] for one in turns]
    assert kinds["skill.injected"] == sum(map(given, turns)), json.dumps([list(events), list(turns)])
    assert len({event["id"] for event in events}) == len(events)
