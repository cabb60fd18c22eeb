"""Events of a conversation: those who listen get each one once and in order, and skills announce their own."""

import asyncio
import logging
from collections.abc import AsyncGenerator
from typing import Annotated

from fastapi import Header, Query
from fastapi.responses import Response
from fastapi.sse import format_sse_event
from starlette.types import Receive, Scope, Send

from skillweave import Event, StoreUnavailable
from skillweave.api import GAP, EventRequest, SentEvent
from skillweave.events import StreamedEvent, StreamGap
from skillweave.values import write
from skillweave_server.calls import Call, IdempotencyKey
from skillweave_server.endpoints import ConversationId, Endpoints, json_bytes
from skillweave_server.problems import problem_of, refused_of
from skillweave_server.service import Service
from skillweave_stores.access import Scope as KeyScope

log = logging.getLogger("skillweave_server")

EVENTS = Endpoints("events")

HEADERS = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
LONGEST_POSITION = 100
RETRY_MS = 1000
"""Milliseconds after which a reader whose stream has ended is asked to come again."""
HEARTBEAT = format_sse_event(comment="nothing new")

LastEventId = Annotated[
    str | None,
    Header(
        alias="Last-Event-ID",
        max_length=LONGEST_POSITION,
        description="Go on after the event of this id; goes before `after`. Browsers send it when they come again.",
    ),
]
Position = Annotated[
    str | None,
    Query(
        max_length=LONGEST_POSITION,
        description="Go on after the event of this id, for a client that cannot set the header; empty for all events "
        "that are kept. Without it come only new ones.",
    ),
]


@EVENTS.at(
    "GET",
    "/conversations/{conversation}/stream",
    scope=KeyScope.READ,
    answers=SentEvent,
    media_type="text/event-stream",
    problems=(410,),
)
async def stream(
    call: Call, conversation: ConversationId, after: Position = None, last_event_id: LastEventId = None
) -> Response:
    """What happens in the conversation, as server-sent events, each with its position as `id` and an Event as `data`.

    Without a position it begins with what comes next. A position that is no longer kept answers 410; where that happens
    in the middle, an event `stream.gap` says so and the stream ends. It also ends from time to time, and when the
    service does: whoever comes again with `Last-Event-ID` gets every event once and in order.
    """
    asked = after if last_event_id is None else last_event_id
    events, tenant = call.service.events, call.tenant
    call.follow()
    if asked is None:
        # Resolved before the answer begins: what happens once the reader has it can no longer be missed.
        asked = await events.last(conversation, tenant=tenant)
    await events.read(conversation, asked, 1, tenant=tenant)  # raises StreamGap while it can still be a status
    return EventsResponse(call.service, events.follow(conversation, asked, tenant=tenant), asked)


@EVENTS.at(
    "POST",
    "/conversations/{conversation}/events",
    scope=KeyScope.WEAVE,
    takes=EventRequest,
    answers=Event,
    problems=(404, 409, 501),
)
async def emit(
    call: Call, conversation: ConversationId, asked: EventRequest, idempotency_key: IdempotencyKey = None
) -> Event:
    """Tell one of a skill's own events to all who listen; the skill must be in force in the conversation.

    It is checked against the skill's `emits`, its payload against the schema that a pack declares for it.
    """
    return await call.weaver().emit(
        conversation,
        asked.skill_id,
        asked.event_type,
        asked.payload,
        turn_id=asked.turn_id,
        key=asked.key_with(idempotency_key),
    )


class EventsResponse(Response):
    """A stream to one reader, until the reader, the service or the stream ends, or its time is over."""

    media_type = "text/event-stream"

    def __init__(self, service: Service, following: AsyncGenerator[StreamedEvent, None], position: str) -> None:
        super().__init__(headers=HEADERS)
        del self.headers["content-length"]
        self._service, self._following, self._position = service, following, position

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send what comes, and a comment where nothing comes."""
        options = self._service.options
        upcoming: asyncio.Task[bytes | None] = asyncio.create_task(self._next())
        ends = {asyncio.create_task(_gone(receive)), asyncio.create_task(self._service.leaving.wait())}
        over = asyncio.get_running_loop().time() + options.stream_seconds

        async def put(body: bytes, *, more: bool = True) -> None:
            async with asyncio.timeout(options.reader_seconds):
                await send({"type": "http.response.body", "body": body, "more_body": more})

        meters = self._service.meters
        meters.streams.inc()
        try:
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await put(format_sse_event(retry=RETRY_MS, id=_line(self._position) or None))
            while asyncio.get_running_loop().time() < over:
                waiting = {upcoming, *ends}
                seconds = options.heartbeat_seconds
                done, _ = await asyncio.wait(waiting, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
                if upcoming in done:
                    content = upcoming.result()
                    if content is None:
                        break
                    await put(content)
                    meters.events.inc()
                    upcoming = asyncio.create_task(self._next())
                elif done:
                    break
                else:
                    await put(HEARTBEAT)
            await put(b"", more=False)
        except TimeoutError:
            log.warning("a reader of a stream took nothing for %g seconds and was dropped", options.reader_seconds)
        finally:
            meters.streams.dec()
            for task in (upcoming, *ends):
                task.cancel()
            await asyncio.gather(upcoming, *ends, return_exceptions=True)
            await self._following.aclose()

    async def _next(self) -> bytes | None:
        """The next event as it is sent; None at the end, of which a gap is told first."""
        try:
            return sent(await anext(self._following))
        except StopAsyncIteration:
            return None
        except StreamGap as gap:
            problem = problem_of(refused_of(gap))
            return format_sse_event(event=GAP, data_str=json_bytes(problem.to_dict()).decode("ascii"))
        except StoreUnavailable as error:
            log.warning("a stream ends early, its reader can come again: %s", error)
            return None


def sent(streamed: StreamedEvent) -> bytes:
    """An event as it is sent: nothing in it can end its line or be taken for another event."""
    data = json_bytes(write(streamed.event)).decode("ascii")
    return format_sse_event(data_str=data, event=_line(streamed.event.event_type), id=_line(streamed.position))


def _line(text: str) -> str:
    """The text without what ends a line or makes a reader drop it: no event of ours has it in its name or position."""
    return "".join(letter if letter.isprintable() else "?" for letter in text)


async def _gone(receive: Receive) -> None:
    """Wait until the reader has gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
