"""An observer that puts what happens into a stream, for those who listen elsewhere."""

from collections import defaultdict
from collections.abc import Sequence

from skillweave.events.event import Event, Wanted
from skillweave.events.stream import EventStream


class StreamObserver:
    """Appends what it is told to the streams of a tenant.

    With `wanted=Wanted.UNKEPT` it is told only what the store does not keep: for a stream that the store fills itself,
    as RedisStore does with `EventKeeping.STREAM`.
    """

    name = "event stream"

    def __init__(self, stream: EventStream, *, tenant: str = "", wanted: Wanted = Wanted.EVERYTHING) -> None:
        self.wanted = wanted
        self._stream = stream
        self._tenant = tenant

    async def observe(self, events: Sequence[Event]) -> None:
        """Append the events, those of each conversation in their order."""
        by_conversation: defaultdict[str, list[Event]] = defaultdict(list)
        for event in events:
            by_conversation[event.conversation].append(event)
        for conversation, theirs in by_conversation.items():
            await self._stream.append(conversation, theirs, tenant=self._tenant)
