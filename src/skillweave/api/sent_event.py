"""One message of a stream of events."""

from dataclasses import dataclass
from typing import ClassVar

from skillweave.codec import Portable

GAP = "stream.gap"
"""The event that says in the middle of a stream that what came next is no longer kept; the stream ends with it."""


@dataclass(frozen=True, slots=True)
class SentEvent(Portable):
    """A server-sent event: `data` is an Event as JSON text, `event` its type, `id` its position in the stream.

    Without `data` it only tells where the stream is, and in `retry` after how many milliseconds to come again. The data
    of `stream.gap` is a Problem.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("data?", "event?", "id?", "retry?")

    data: str | None = None
    event: str | None = None
    id: str | None = None
    retry: int | None = None
