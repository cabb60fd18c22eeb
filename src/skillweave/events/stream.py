"""The port of an event stream: what happened in a conversation, kept for a while, for those who listen (spec 8)."""

from collections.abc import AsyncGenerator, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Protocol, Self

from skillweave.codec import Portable
from skillweave.errors import SkillweaveError
from skillweave.events.event import Event

MOST_KEPT = 10_000
"""Events of one conversation that are kept for those who come back; of more, the oldest go."""
KEEP_EVENTS_SECONDS = 24 * 3600.0
"""Seconds that a stream is kept after its last event."""
KNOWN_AGAIN = 200
"""An event whose id is among so many latest ones of its conversation is told again, and left out."""


@dataclass(frozen=True, slots=True)
class StreamedEvent(Portable):
    """An event at its place in the stream of its conversation: `position` grows with each event."""

    position: str
    event: Event


class StreamGap(SkillweaveError, LookupError):
    """A place in a stream from which one cannot go on: what came after it is no longer kept, or it never was there.

    `first` is the oldest position that is kept, the empty text where none is.
    """

    def __init__(self, after: str, first: str) -> None:
        self.after, self.first = after, first
        super().__init__(
            f"events after {after[:60]!r} are no longer kept; read the conversation anew, then "
            "listen without a position"
        )


class EventStream(Protocol):
    """Keeps the events of each conversation in their order; `tests/contracts_of_ports/event_stream.py` is the contract.

    All methods raise StoreUnavailable when what is asked does not answer.
    """

    async def append(self, conversation: str, events: Sequence[Event], *, tenant: str = "") -> None:
        """Put the events at the end, in their order; one whose id is among the last 200 already is left out."""
        ...

    async def read(
        self, conversation: str, after: str = "", limit: int = 100, *, tenant: str = ""
    ) -> tuple[StreamedEvent, ...]:
        """At most `limit` events after that position, the oldest kept ones first; raises StreamGap, see there."""
        ...

    async def last(self, conversation: str, *, tenant: str = "") -> str:
        """The position of the newest event that is kept, from which one can go on; the empty text where none is."""
        ...

    def follow(
        self, conversation: str, after: str | None = None, *, tenant: str = ""
    ) -> AsyncGenerator[StreamedEvent, None]:
        """Every event after that position, those that are kept and then each as it comes; None for only what comes.

        It ends when the stream is closed. Raises StreamGap, also later for a reader who fell behind what is kept.
        """
        ...

    async def close(self) -> None:
        """End everybody's following, and give back connections; a second call does nothing."""
        ...

    async def __aenter__(self) -> Self: ...

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...
