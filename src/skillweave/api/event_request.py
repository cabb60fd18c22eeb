"""An event of a skill's own as it is asked of the service."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from skillweave.codec import Portable
from skillweave.conversation import LONGEST_ID
from skillweave.errors import InvalidValue


@dataclass(frozen=True, slots=True)
class EventRequest(Portable):
    """What a skill announces in the conversation that the path names: one of the events in its `emits`.

    `payload` is a JSON object that fits the schema of the event, where a pack declares one. The same `key` again is the
    same event again; the Idempotency-Key stands for it. Raises InvalidValue.
    """

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
        if self.key is not None and idempotency_key is not None and self.key != idempotency_key:
            raise InvalidValue(
                f"the event has the key {self.key[:60]!r} and the Idempotency-Key {idempotency_key[:60]!r}; "
                "give one of them"
            )
        return self.key if self.key is not None else idempotency_key
