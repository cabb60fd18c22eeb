"""Events of skills as they are asked of the service, and the messages of a stream of events."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from skillweave.api.turn_request import one_key
from skillweave.codec import Portable
from skillweave.conversation import LONGEST_ID
from skillweave.errors import InvalidValue

GAP = "stream.gap"
"""The event that says in the middle of a stream that what came next is no longer kept; the stream ends with it."""


@dataclass(frozen=True, slots=True)
class EventRequest(Portable):
    """An event of a skill's `emits`; the same `key`, or Idempotency-Key, is the same event. Raises InvalidValue."""

    json_keys: ClassVar[tuple[str, ...]] = ("skill_id", "event_type", "payload", "turn_id?", "key?")
    json_exact: ClassVar[bool] = True

    skill_id: str
    event_type: str
    payload: Mapping[str, object] = field(hash=False)
    turn_id: str | None = None
    key: str | None = None

    def __post_init__(self) -> None:
        for name, text in (("turn_id", self.turn_id), ("key", self.key)):
            if text is not None and not 0 < len(text) <= LONGEST_ID:
                raise InvalidValue(f"`{name}` has {len(text):,} characters; give 1 to {LONGEST_ID}, or leave it out")

    def key_with(self, idempotency_key: str | None) -> str | None:
        """The key, or the Idempotency-Key in its place; raises InvalidValue where these are two."""
        return one_key("event has the key", self.key, idempotency_key, InvalidValue)


@dataclass(frozen=True, slots=True)
class SentEvent(Portable):
    """A server-sent event at the position `id`: an Event or a Problem as JSON, or nothing but `retry` in ms."""

    json_keys: ClassVar[tuple[str, ...]] = ("data?", "event?", "id?", "retry?")

    data: str | None = None
    event: str | None = None
    id: str | None = None
    retry: int | None = None
