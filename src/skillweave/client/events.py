"""Events over HTTP: each one once and in order, and those that skills announce."""

import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing

from skillweave.api.event_request import EventRequest
from skillweave.api.problem import Problem
from skillweave.api.sent_event import GAP
from skillweave.blocking import M, Verb, VerbSeries
from skillweave.client.failures import ServiceError, ServiceUnreachable, error_of
from skillweave.client.room import Room
from skillweave.client.sending import Asked, at, in_query, problem_in
from skillweave.codec import read
from skillweave.errors import InvalidData, needing
from skillweave.events.event import Event, StreamedEvent

with needing("client", "the client of the service"):
    import httpx
    from httpx_sse import EventSource, ServerSentEvent

SILENT_SECONDS = 60.0
"""A stream that says nothing for so long, not even that it lives, is broken: four times what the service waits."""


class Events(Room[M]):
    """The verbs about events."""

    @Verb
    async def emit(
        self,
        conversation: str,
        skill_id: str,
        event_type: str,
        payload: Mapping[str, object],
        *,
        turn_id: str | None = None,
        key: str | None = None,
    ) -> Event:
        """Tell one of the skill's own events to all who listen; see `Weaver.emit`.

        The same `key` again is the same event; without one each call is a new event, also when it was sent twice.
        """
        known = self._new_id() if key is None else key
        request = EventRequest(skill_id, event_type, payload, turn_id, known)
        return await self._wire.answer(Asked("POST", at("/conversations/{}/events", conversation), body=request), Event)

    @VerbSeries
    async def stream(self, conversation: str, after: str | None = None) -> AsyncGenerator[StreamedEvent, None]:
        """Every event after that position, once and in order, for as long as you listen; None for only what comes.

        The empty text begins with the oldest event that is kept. When the stream ends or breaks it is taken up again
        where it was. Raises StreamGap where that is no longer kept, ServiceUnreachable after too many tries in a row,
        ServiceError for what the service refuses.
        """
        failures, seen = 0, ""
        while True:
            try:
                async with aclosing(self._listen(conversation, after, seen)) as listening:
                    async for position, streamed in listening:
                        # Once it is open nothing may be missed, also where nothing was kept yet and so no position is.
                        failures, seen, after = 0, position, ""
                        if streamed is not None:
                            yield streamed
            except (ServiceError, ServiceUnreachable) as error:
                failures += 1
                if not _may_come_again(error) or not await self._wire.waited(failures, error):
                    raise
            else:
                await self._wire.rested()

    async def _listen(
        self, conversation: str, after: str | None, seen: str
    ) -> AsyncGenerator[tuple[str, StreamedEvent | None], None]:
        """One connection: each position that it tells, with the event there if it is one."""
        headers = {"Accept": "text/event-stream", **({"Last-Event-ID": seen} if seen else {})}
        http, path = self._wire.http, at("/conversations/{}/stream", conversation)
        timeout = httpx.Timeout(**{**http.timeout.as_dict(), "read": SILENT_SECONDS})
        try:
            async with http.stream(
                "GET", path, params=in_query({"after": after}), headers=headers, timeout=timeout
            ) as response:
                if not response.is_success:
                    await response.aread()
                    raise problem_in(response)
                async with aclosing(EventSource(response).aiter_sse()) as source:
                    async for one in source:
                        yield one.id, _event_in(one)
        except httpx.TransportError as error:
            raise self._wire.unreachable(error) from error


def _event_in(sent: ServerSentEvent) -> StreamedEvent | None:
    """The event, None for what only tells a position; raises the error that ends a stream with a gap."""
    if not sent.data:
        return None
    try:
        data = json.loads(sent.data)
    except ValueError:
        raise InvalidData(f"the event at {sent.id[:100]!r} of the stream is no JSON") from None
    if sent.event == GAP:
        raise error_of(read(data, Problem))
    return StreamedEvent(sent.id, read(data, Event))


def _may_come_again(error: ServiceError | ServiceUnreachable) -> bool:
    return isinstance(error, ServiceUnreachable) or error.problem.status in (429, 502, 503, 504)
