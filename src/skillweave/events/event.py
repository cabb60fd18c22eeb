"""One thing that happened in a conversation, in the form that streams and observers get (spec 8)."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, ClassVar, Protocol, TypeGuard

from skillweave.codec import Portable


class Payload(Protocol):
    """What an event says beside where it happened."""

    def to_dict(self) -> dict[str, Any]:
        """The JSON form."""
        ...


class BuiltIn(Portable):
    """The payload of one of skillweave's own events: a frozen value whose fields are its JSON form."""

    __slots__ = ()
    event_type: ClassVar[str]


@dataclass(frozen=True, slots=True)
class Event(Portable):
    """Something that happened: `payload` says what, `turn_id` is None where no turn did it.

    An `id` is the same for every telling of the same happening, so that a consumer can drop what it has seen already;
    no payload holds any text of a message.
    """

    id: str
    event_type: str
    conversation: str
    turn_id: str | None
    payload: Payload

    @classmethod
    def json_fields(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data with the payload as a value, which the event's type tells."""
        from skillweave import events

        told = data["payload"]
        own = {one.event_type: one for one in map(events.__getattr__, events.__all__) if _is_own(one)}
        kind: type[Portable] = own.get(data["event_type"], events.Announced)
        return {**data, "payload": kind.from_dict(told)}


def _is_own(kind: object) -> TypeGuard[type[BuiltIn]]:
    return isinstance(kind, type) and issubclass(kind, BuiltIn)


def event_of(payload: BuiltIn, *, id: str, conversation: str, turn_id: str | None) -> Event:  # noqa: A002 - the field
    """The event with that payload; its type is the payload's."""
    return Event(id, payload.event_type, conversation, turn_id, payload)


def event_id(*identity: str) -> str:
    """The id of the happening that these texts identify: 32 hex digits, the same whenever it is told again."""
    # Each text goes in with its length, so that no two lists of texts read the same.
    joined = "".join(f"{len(text)}:{text}" for text in identity)
    return sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]
