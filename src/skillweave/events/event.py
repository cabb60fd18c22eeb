"""One thing that happened in a conversation, and the ports of those who want to know of it (spec 8)."""

import re
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from typing import Any, ClassVar, Protocol

from skillweave.closing import ClosableOnExit
from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import SkillweaveError
from skillweave.skill import FrozenJson, Json, thaw


class Payload(Protocol):
    """What an event says beside where it happened."""

    def to_dict(self) -> dict[str, Json]:
        """The JSON form."""
        ...


@dataclass(frozen=True, slots=True)
class Event(Portable):
    """Something that happened, without any text of a message; its `id` is the same whenever it is told."""

    id: str
    event_type: str
    conversation: str
    turn_id: str | None
    payload: Payload

    @classmethod
    def json_fields(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data with the payload as a value, which the event's type tells."""
        from skillweave.events.payloads import built_in

        kind: type[Portable] = built_in(data["event_type"]) or Announced
        return {**data, "payload": kind.from_dict(data["payload"])}


def event_id(*identity: str) -> str:
    """The id of the happening that these texts identify: 32 hex digits, the same whenever it is told again."""
    # Each text goes in with its length, so that no two lists of texts read the same.
    joined = "".join(f"{len(text)}:{text}" for text in identity)
    return sha256(joined.encode("utf-8", "surrogatepass")).hexdigest()[:32]


class Kept(StrEnum):
    """Who keeps an event that is told: the store, in the same step as the State and not without it, or nobody."""

    BY_THE_STORE = "by_the_store"
    NOWHERE = "nowhere"


class Wanted(StrEnum):
    """What an observer wants to hear of: everything, or what the store does not keep already."""

    EVERYTHING = "everything"
    UNKEPT = "unkept"


class Observer(Protocol):
    """Is told what happened, after it is stored; its failure affects nobody else.

    A conversation's events come in order, after the last call; one over `observer_seconds` is cancelled. An attribute
    `wanted`, a Wanted, limits what it is told.
    """

    async def observe(self, events: Sequence[Event]) -> None:
        """Take what one step of a conversation brought, one event or several; do not block the event loop."""
        ...


class Callback:
    """An Observer that calls a plain function with each event, on the event loop: it has to be quick."""

    def __init__(self, function: Callable[[Event], object]) -> None:
        self._function = function

    @property
    def name(self) -> str:
        """What messages to people call it: the function's name."""
        return str(getattr(self._function, "__qualname__", self._function))

    async def observe(self, events: Sequence[Event]) -> None:
        """Call the function with each of them."""
        for event in events:
            self._function(event)


class EventRefused(SkillweaveError, ValueError):
    """An event that this skill may not announce, or a payload that does not fit; `findings` say where."""

    def __init__(self, message: str, findings: tuple[Diagnostic, ...] = ()) -> None:
        self.findings = findings
        super().__init__(message)


EVENT_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,99}", re.ASCII)
"""The form of a name, which has to fit into one line of a stream; use with `fullmatch`."""

RESERVED = ("turn.", "skill.", "tool.", "checkpoint.", "spawn.", "cursor.")
"""What the names of skillweave's own events begin with; a skill must not be able to forge one."""


def name_problem(name: str) -> str | None:
    """Why a skill or a pack cannot have an event of that name; None when it can."""
    if EVENT_NAME.fullmatch(name) is None:
        return "is not an event name: 1 to 100 ASCII letters, digits, `_`, `.` or `-`, beginning with a letter"
    if name.lower().startswith(RESERVED):
        return f"begins like skillweave's own events ({', '.join(RESERVED)})"
    return None


@dataclass(frozen=True, slots=True)
class EventType(Portable):
    """An event that skills may announce, with the JSON Schema of its payload; False, for a broken one, passes none."""

    name: str
    description: str = ""
    schema: Mapping[str, FrozenJson] | bool = field(default=True, hash=False)
    location: Location | None = field(default=None, compare=False)

    @property
    def readable(self) -> bool:
        """Whether the declaration could be read."""
        return self.schema is not False


@dataclass(frozen=True, slots=True)
class Announced(Portable):
    """What a skill says in an event of its own; the JSON form is `data` and nothing else: the skill is not in it."""

    json_keys: ClassVar[tuple[str, ...]] = ()

    skill_id: str = field(compare=False)
    data: Mapping[str, FrozenJson] = field(hash=False)

    @classmethod
    def json_fields(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The payload as the one field; whose event it is the JSON form does not say."""
        return {"skill_id": "", "data": data}

    def to_dict(self) -> dict[str, Any]:
        """The payload as it was given."""
        return {key: thaw(value) for key, value in self.data.items()}


class Cause(StrEnum):
    """Why a text no longer counts as given: forgotten, undelivered, unloaded, or rejected by a person."""

    EVICTED = "evicted"
    CLEARED = "cleared"
    RELEASED = "released"
    UNLOADED = "unloaded"
    REJECTED = "rejected"


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
    """A position from which a stream cannot go on, as what follows is gone; `first` is the oldest kept, or empty."""

    def __init__(self, after: str, first: str) -> None:
        self.after, self.first = after, first
        super().__init__(
            f"events after {after[:60]!r} are no longer kept; read the conversation anew, then "
            "listen without a position"
        )


class EventStream(ClosableOnExit, Protocol):
    """Keeps each conversation's events in order, or raises StoreUnavailable; see `tests/contracts_of_ports`."""

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
        """Yields events after a position (None: only new ones) until the stream is closed. Raises StreamGap."""
        ...

    async def close(self) -> None:
        """End everybody's following, and give back connections; a second call does nothing."""
        ...


class StreamObserver:
    """Appends what it is told to the streams of a tenant; see Wanted.UNKEPT for streams that the store fills."""

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
