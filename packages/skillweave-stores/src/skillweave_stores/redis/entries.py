"""An event as an entry of a stream: its id, which is known again, and the event as JSON text."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeAlias

from skillweave import Event, SkillweaveError
from skillweave.events import StreamedEvent
from skillweave_stores.redis.place import Place


def entries_of(events: Iterable[Event]) -> Iterator[str]:
    """What a script is given for them: of each the id and the text."""
    for event in events:
        yield from (event.id, json.dumps(event.to_dict(), separators=(",", ":")))


Entry: TypeAlias = tuple[bytes, Sequence[bytes] | Mapping[bytes, bytes]]
"""A position with the fields as a script answers them, or as the client library does."""


def streamed(key: str, entries: Iterable[Entry], place: Place) -> tuple[StreamedEvent, ...]:
    """The events of entries; raises StoreUnavailable for what was not written so."""
    found = []
    for position, fields in entries:
        try:
            text = fields[b"event"] if isinstance(fields, Mapping) else fields[3]
            event = Event.from_dict(json.loads(text))
        except (ValueError, IndexError, TypeError, KeyError, RecursionError, SkillweaveError) as error:
            raise place.damaged(key, f"{type(error).__name__} at {position!r}") from error
        found.append(StreamedEvent(position.decode(), event))
    return tuple(found)
