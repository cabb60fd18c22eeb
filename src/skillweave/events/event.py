"""One thing that happened in a conversation, in the form that streams and observers get (spec 8)."""

from dataclasses import dataclass, fields
from hashlib import sha256
from typing import ClassVar, Protocol

from skillweave.skill import Json, thaw


class Payload(Protocol):
    """What an event says beside where it happened."""

    def to_dict(self) -> dict[str, Json]:
        """The JSON form."""
        ...


class BuiltIn:
    """The payload of one of skillweave's own events: a frozen value whose fields are its JSON form."""

    __slots__ = ()
    event_type: ClassVar[str]

    def to_dict(self) -> dict[str, Json]:
        """The JSON form: each field by its name, tuples as lists."""
        return {part.name: thaw(getattr(self, part.name)) for part in fields(self)}  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened: `payload` says what, `turn_id` is None where no turn did it.

    An `id` is the same for every telling of the same happening, so that a consumer can drop what it has seen already;
    no payload holds any text of a message.
    """

    id: str
    event_type: str
    conversation: str
    turn_id: str | None
    payload: Payload

    def to_dict(self) -> dict[str, Json]:
        """The envelope `{id, event_type, conversation, turn_id, payload}`."""
        return {
            "id": self.id,
            "event_type": self.event_type,
            "conversation": self.conversation,
            "turn_id": self.turn_id,
            "payload": self.payload.to_dict(),
        }


def event_of(payload: BuiltIn, *, id: str, conversation: str, turn_id: str | None) -> Event:  # noqa: A002 - the field
    """The event with that payload; its type is the payload's."""
    return Event(id, payload.event_type, conversation, turn_id, payload)


def event_id(*identity: str) -> str:
    """The id of the happening that these texts identify: 32 hex digits, the same whenever it is told again."""
    # Each text goes in with its length, so that no two lists of texts read the same.
    joined = "".join(f"{len(text)}:{text}" for text in identity)
    return sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]
