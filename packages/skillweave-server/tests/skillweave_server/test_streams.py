"""Events over HTTP: each one once and in order, for whoever listens and comes again."""

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import httpx
import pytest
from httpx_sse import EventSource, ServerSentEvent
from tests.skillweave_server.parts import reached
from tests.skillweave_server.running import served_service, whole_service

from skillweave.errors import StoreUnavailable
from skillweave.events.event import Announced, Event, EventStream, StreamedEvent, StreamGap
from skillweave.frozen import FrozenDict
from skillweave.stores.event_stream import MemoryEventStream
from skillweave_server.app import create_app
from skillweave_server.options import ServiceOptions
from skillweave_server.service import Service
from skillweave_server.streams import sent
from tests.contracts_of_ports.event_stream import numbered

PATIENCE = 20.0
API = "http://127.0.0.1/api/v1"
STREAM = "/api/v1/conversations/c/stream"


@asynccontextmanager
async def listening(address: str, after: str | None = None, last: str | None = None) -> AsyncIterator[EventSource]:
    """One connection to the stream of the conversation `c`, whose opening was read already."""
    headers = {} if last is None else {"Last-Event-ID": last}
    params = {} if after is None else {"after": after}
    async with (
        httpx.AsyncClient(base_url=address, timeout=PATIENCE) as http,
        http.stream("GET", STREAM, params=params, headers=headers) as response,
    ):
        assert response.status_code == 200, await response.aread()
        yield EventSource(response)


async def events_of(source: AsyncGenerator[ServerSentEvent, None], count: int) -> list[ServerSentEvent]:
    """The next so many events; what only tells a position is none."""
    found: list[ServerSentEvent] = []
    async with asyncio.timeout(PATIENCE):
        while len(found) < count:
            one = await anext(source)
            found += [one] if one.data else []
    return found


def numbers(events: Sequence[ServerSentEvent]) -> list[int]:
    return [json.loads(one.data)["payload"]["n"] for one in events]


async def raw(address: str, query: str = "after=") -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """A connection that shows every byte of the stream."""
    host, port = address.removeprefix("http://").split(":")
    reader, writer = await asyncio.open_connection(host, int(port))
    writer.write(f"GET {STREAM}?{query} HTTP/1.1\r\nHost: service\r\n\r\n".encode())
    async with asyncio.timeout(PATIENCE):
        await reader.readuntil(b"\r\n\r\n")
    return reader, writer


async def until_followed_by(stream: EventStream, most: int) -> None:
    """Wait until no more than so many readers follow."""
    assert isinstance(stream, MemoryEventStream)
    async with asyncio.timeout(PATIENCE):
        while sum(len(known.followers) for known in stream._kept.values()) > most:  # noqa: ASYNC110 - nobody tells
            await asyncio.sleep(0.005)


async def test_a_turn_whose_events_were_lost_says_so_and_tells_them_once_when_it_is_asked_again(
    service: Service, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def silent(*_: object, **__: object) -> None:
        raise StoreUnavailable("the stream does not answer")

    async def asked(turn: str) -> tuple[int, list[str]]:
        body = {"id": turn, "message": "moon"}
        answer = (await http.post("/conversations/c/turns", json=body)).json()
        return answer["revision"], [one["code"] for one in answer["diagnostics"]]

    async with reached(create_app(service), API) as http:
        await asked("first")
        revision, _ = await asked("second")
        before = len(await service.events.read("c"))
        with monkeypatch.context() as patch:
            patch.setattr(service.events, "append", silent)
            assert await asked("third") == (revision, ["observer-failed"])  # nothing was stored
        assert [await asked("third"), await asked("third")] == [(revision, [])] * 2
        (told,) = (await service.events.read("c"))[before:]
    assert (told.event.event_type, told.event.turn_id) == ("turn.decided", "third")


@pytest.fixture
def service(tmp_path: Path) -> Service:
    return whole_service(tmp_path)


async def test_an_event_has_its_position_its_type_and_the_published_event(service: Service) -> None:
    await service.events.append("c", numbered(1))
    (kept,) = await service.events.read("c")
    async with served_service(service) as address, listening(address, after="") as source:
        (one,) = await events_of(source.aiter_sse(), 1)
    assert (one.id, one.event) == (kept.position, kept.event.event_type)
    assert json.loads(one.data) == kept.event.to_dict()
    assert set(json.loads(one.data)) == {"id", "event_type", "conversation", "turn_id", "payload"}


async def test_an_empty_position_begins_with_the_oldest_kept_event_and_goes_on_with_what_comes(
    service: Service,
) -> None:
    await service.events.append("c", numbered(1, 2))
    async with served_service(service) as address, listening(address, after="") as source:
        events = source.aiter_sse()
        assert numbers(await events_of(events, 2)) == [1, 2]
        await service.events.append("c", numbered(3, 4))
        assert numbers(await events_of(events, 2)) == [3, 4]


async def test_without_a_position_only_what_comes_is_told_from_the_moment_the_answer_began(service: Service) -> None:
    await service.events.append("c", numbered(1))
    async with served_service(service) as address, listening(address) as source:
        # The reader has the head of the answer and not a byte of its body.
        await service.events.append("c", numbered(2))
        assert numbers(await events_of(source.aiter_sse(), 1)) == [2]


@pytest.mark.parametrize("kept", [0, 1])
async def test_the_opening_tells_a_position_to_come_again_with(service: Service, kept: int) -> None:
    await service.events.append("c", numbered(*range(kept)))
    async with served_service(service) as address:
        async with listening(address) as source:
            opening = await anext(source.aiter_sse())
        assert not opening.data
        assert opening.id == await service.events.last("c")
        await service.events.append("c", numbered(7))
        async with listening(address, after=opening.id) as source:
            assert numbers(await events_of(source.aiter_sse(), 1)) == [7]


async def test_whoever_comes_again_with_the_last_id_sees_every_event_once_and_in_order(service: Service) -> None:
    seen: list[ServerSentEvent] = []
    async with served_service(service) as address:
        for begin in range(0, 12, 3):
            async with listening(address, after="", last=seen[-1].id if seen else None) as source:
                appending = asyncio.create_task(service.events.append("c", numbered(*range(begin, begin + 3))))
                seen += await events_of(source.aiter_sse(), 2)
                await appending
        async with listening(address, last=seen[-1].id) as source:
            seen += await events_of(source.aiter_sse(), 12 - len(seen))
    assert numbers(seen) == list(range(12))


async def test_the_header_goes_before_the_parameter(service: Service) -> None:
    await service.events.append("c", numbered(1, 2))
    first, second = await service.events.read("c")
    async with (
        served_service(service) as address,
        listening(address, after=second.position, last=first.position) as source,
    ):
        assert numbers(await events_of(source.aiter_sse(), 1)) == [2]


async def test_what_happens_while_a_reader_takes_what_was_kept_is_not_lost(service: Service) -> None:
    await service.events.append("c", numbered(*range(300)))
    async with served_service(service) as address, listening(address, after="") as source:
        events = source.aiter_sse()
        seen = await events_of(events, 1)
        for number in range(300, 600):
            await service.events.append("c", numbered(number))
            seen += await events_of(events, 1)
        seen += await events_of(events, 600 - len(seen))
    assert numbers(seen) == list(range(600))


async def test_a_position_that_is_no_longer_kept_answers_410(service: Service) -> None:
    async with reached(create_app(service)) as http:
        answer = await http.get(STREAM, headers={"Last-Event-ID": "long-ago-7"})
    assert answer.status_code == 410
    assert answer.json()["type"] == "urn:skillweave:problem:stream-gap"
    assert "long-ago-7" in answer.json()["detail"]


async def test_a_gap_in_the_middle_is_an_event_without_a_position_and_the_end(tmp_path: Path) -> None:
    class Forgets(MemoryEventStream):
        async def follow(
            self, conversation: str, after: str | None = None, *, tenant: str = ""
        ) -> AsyncGenerator[StreamedEvent, None]:
            async for one in super().follow(conversation, after, tenant=tenant):
                yield one
                raise StreamGap(one.position, "")

    service = whole_service(tmp_path, events=Forgets())
    await service.events.append("c", numbered(1, 2))
    async with served_service(service) as address, listening(address, after="") as source:
        async with asyncio.timeout(PATIENCE):
            event, gap = [one async for one in source.aiter_sse() if one.data]
    assert gap.event == "stream.gap"
    assert json.loads(gap.data)["status"] == 410
    assert gap.id == event.id, "a browser must not take the gap for a place that it can go on from"


async def test_a_store_that_fails_in_the_middle_ends_the_stream_and_the_reader_comes_again(tmp_path: Path) -> None:
    class Fails(MemoryEventStream):
        async def follow(
            self, conversation: str, after: str | None = None, *, tenant: str = ""
        ) -> AsyncGenerator[StreamedEvent, None]:
            async for one in super().follow(conversation, after, tenant=tenant):
                yield one
                raise StoreUnavailable("the stream is away")

    service = whole_service(tmp_path, events=Fails())
    await service.events.append("c", numbered(1, 2))
    seen: list[ServerSentEvent] = []
    async with served_service(service) as address:
        for _ in range(2):
            async with listening(address, after="", last=seen[-1].id if seen else None) as source:
                seen += [one async for one in source.aiter_sse() if one.data]
    assert numbers(seen) == [1, 2]


async def test_a_silent_stream_says_that_it_lives(tmp_path: Path) -> None:
    service = whole_service(tmp_path, options=ServiceOptions(heartbeat_seconds=0.01))
    async with served_service(service) as address:
        reader, writer = await raw(address)
        async with asyncio.timeout(PATIENCE):
            for _ in range(3):
                await reader.readuntil(b": nothing new\n\n")
        writer.close()


async def test_an_answer_is_stored_nowhere_and_held_back_by_no_proxy(service: Service) -> None:
    async with served_service(service) as address, listening(address) as source:
        head = source.response.headers
        assert head["Content-Type"] == "text/event-stream; charset=utf-8"
        assert "no-store" in head["Cache-Control"]
        assert head["X-Accel-Buffering"] == "no"
        assert "content-length" not in head


async def test_a_stream_ends_when_the_service_leaves(service: Service) -> None:
    await service.events.append("c", numbered(1))
    async with served_service(service) as address, listening(address, after="") as source:
        events = source.aiter_sse()
        await events_of(events, 1)
        service.leaving.set()
        async with asyncio.timeout(PATIENCE):
            assert [one async for one in events] == []


async def test_a_stream_ends_when_its_time_is_over(tmp_path: Path) -> None:
    service = whole_service(tmp_path, options=ServiceOptions(heartbeat_seconds=0.01, stream_seconds=0.05))
    async with served_service(service) as address, listening(address, after="") as source:
        async with asyncio.timeout(PATIENCE):
            assert [one async for one in source.aiter_sse() if one.data] == []


async def test_nothing_runs_on_for_a_reader_who_has_gone(service: Service) -> None:
    await service.events.append("c", numbered(1))
    async with served_service(service) as address:
        async with listening(address, after="") as source:
            events = source.aiter_sse()
            await events_of(events, 1)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(until_followed_by(service.events, 0), 0.02)
        await until_followed_by(service.events, 0)


async def test_a_reader_who_takes_nothing_is_dropped_and_holds_up_nobody(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    stream = MemoryEventStream()
    service = whole_service(tmp_path, events=stream, options=ServiceOptions(reader_seconds=0.05))
    large = FrozenDict({"text": "x" * 200_000})
    async with served_service(service) as address:
        _, writer = await raw(address)
        writer.transport.pause_reading()
        async with listening(address, after="") as source:
            events = source.aiter_sse()
            with caplog.at_level(logging.WARNING, "skillweave_server"):
                for number in range(100):
                    await stream.append("c", (Event(f"e{number}", "Ticked", "c", None, Announced("a", large)),))
                    await events_of(events, 1)
            await until_followed_by(stream, 1)
        writer.transport.abort()
    assert "took nothing" in caplog.text


def test_nothing_in_an_event_can_end_its_line() -> None:
    hostile = "a\nid: 7\r\ndata: forged\n\n\u2028\0"
    event = Event(hostile, hostile, hostile, hostile, Announced("a", FrozenDict({hostile: hostile})))
    lines = sent(StreamedEvent(hostile, event)).decode().splitlines()
    assert [line.partition(":")[0] for line in lines] == ["event", "data", "id", ""]
    assert json.loads(lines[1].removeprefix("data: ")) == event.to_dict()


async def test_what_a_turn_did_and_what_a_skill_announces_is_heard_in_order(service: Service) -> None:
    async with (
        served_service(service) as address,
        httpx.AsyncClient(base_url=f"{address}/api/v1/conversations/c", timeout=PATIENCE) as http,
        listening(address) as source,
    ):
        await http.post("/turns", json={"message": "Is the moon up?"})
        asked = {"skill_id": "moon-watch", "event_type": "MoonRose", "payload": {"at": "22:10"}}
        told = await http.post("/events", json=asked)
        assert told.status_code == 200, told.text
        heard: list[ServerSentEvent] = []
        events = source.aiter_sse()
        while not heard or heard[-1].event != "MoonRose":
            heard += await events_of(events, 1)
    assert {"turn.decided", "skill.injected"} <= {one.event for one in heard[:-1]}
    assert json.loads(heard[-1].data) == told.json()


@pytest.mark.parametrize("how", ["key", "header"])
async def test_the_same_key_again_is_the_same_event_and_is_told_once(service: Service, how: str) -> None:
    async with reached(create_app(service)) as http:
        await http.post("/api/v1/conversations/c/turns", json={"message": "Is the moon up?"})
        asked = {"skill_id": "moon-watch", "event_type": "MoonRose", "payload": {}}
        key = {"json": {**asked, "key": "k"}} if how == "key" else {"json": asked, "headers": {"Idempotency-Key": "k"}}
        first, second = [(await http.post("/api/v1/conversations/c/events", **key)).json() for _ in range(2)]  # type: ignore[arg-type]
        assert first == second
        kept = [one.event.id for one in await service.events.read("c")]
    assert kept.count(first["id"]) == 1


@pytest.mark.parametrize(
    ("changed", "headers", "status", "code"),
    [
        ({"skill_id": "nobody"}, {}, 404, "skill-not-found"),
        ({"event_type": "Other"}, {}, 409, "event-refused"),
        ({"key": "a"}, {"Idempotency-Key": "b"}, 422, "invalid-value"),
        ({"key": ""}, {}, 422, "invalid-value"),
        ({"payload": [1]}, {}, 422, "invalid-data"),
    ],
)
async def test_an_event_that_may_not_be_announced_is_refused(
    service: Service, changed: dict[str, object], headers: dict[str, str], status: int, code: str
) -> None:
    async with reached(create_app(service)) as http:
        await http.post("/api/v1/conversations/c/turns", json={"message": "Is the moon up?"})
        before = await service.events.last("c")
        asked = {"skill_id": "moon-watch", "event_type": "MoonRose", "payload": {}, **changed}
        answer = await http.post("/api/v1/conversations/c/events", json=asked, headers=headers)
        assert (answer.status_code, answer.json()["type"]) == (status, f"urn:skillweave:problem:{code}")
        assert await service.events.last("c") == before
