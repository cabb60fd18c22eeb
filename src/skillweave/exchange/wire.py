"""What crosses the wire: JSON that keeps every number as it was written, and streams of server-sent events."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from secrets import token_hex
from typing import Any

from skillweave.errors import SkillweaveError

LONGEST_EVENT = 32 * 1024 * 1024
"""Bytes that one event of a stream may have."""
_LONGEST_NUMBER = 300
_MARK = f"number-{token_hex(16)}:"
"""Stands before a number that Python would write in another way; nobody outside this process can write it."""
_MARKED = re.compile(f'"{_MARK}([^"]*)"')
_EVENT_END = re.compile(rb"\r\n\r\n|\n\n|\r\r")


class Unreadable(SkillweaveError, ValueError):
    """A request or a reply that cannot be judged, because it cannot be read; the message says why."""


def read_json(data: bytes | str) -> Any:  # noqa: ANN401 - JSON
    """Returns the value; numbers come back from `write_json` as they were written. Raises Unreadable."""
    try:
        return json.loads(data, parse_float=_number, parse_int=_number, parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise Unreadable(f"this is not JSON that can be read: {str(error)[:200]}") from error


def read_object(data: bytes | str) -> dict[str, Any]:
    """Returns the JSON object; raises Unreadable for any other value."""
    found = read_json(data)
    if not isinstance(found, dict):
        raise Unreadable(f"this is a JSON {type(found).__name__}, not an object")
    return found


def write_json(value: object) -> bytes:
    """Returns the value as JSON, the same bytes for the same value."""
    try:
        written = json.dumps(value, ensure_ascii=False, separators=(",", ":"))
        if _MARK in written:
            written = _MARKED.sub(r"\1", written)
        return written.encode()
    except UnicodeEncodeError:
        # Half of a surrogate pair is JSON only as an escape.
        return _MARKED.sub(r"\1", json.dumps(value, separators=(",", ":"))).encode()


def _number(written: str) -> Any:  # noqa: ANN401 - JSON
    if len(written) > _LONGEST_NUMBER:
        return f"{_MARK}{written}"
    plain: float | int = float(written) if set(written) & set(".eE") else int(written)
    return plain if repr(plain) == written else f"{_MARK}{written}"


def _no_number(written: str) -> Any:  # noqa: ANN401 - as the hook of json asks
    raise ValueError(f"{written} is no number of JSON")


@dataclass(frozen=True, slots=True)
class Event:
    """One server-sent event: its JSON object, None where it has none (`[DONE]`, a comment), and its bytes."""

    data: dict[str, Any] | None
    raw: bytes
    name: str = ""


def write_event(data: Mapping[str, Any], name: str = "") -> bytes:
    """Returns the bytes of an event."""
    return (f"event: {name}\n".encode() if name else b"") + b"data: " + write_json(data) + b"\n\n"


class Events:
    """Cuts a stream of bytes into events, wherever the pieces of it end."""

    def __init__(self) -> None:
        self._left = b""
        self._searched = 0

    def feed(self, data: bytes) -> Iterator[Event]:
        """Yields each event that is complete now. Raises Unreadable for one that is too long, or no JSON."""
        self._left += data
        begun = 0
        while found := _EVENT_END.search(self._left, max(begun, self._searched)):
            raw, begun = self._left[begun : found.end()], found.end()
            self._searched = begun
            yield _event(raw)
        self._left = self._left[begun:]
        self._searched = max(0, len(self._left) - 3)
        if len(self._left) > LONGEST_EVENT:
            raise Unreadable(f"an event of the stream has more than {LONGEST_EVENT:,} bytes")


def _event(raw: bytes) -> Event:
    name, data = "", []
    for line in raw.splitlines():
        field, _, value = line.partition(b":")
        value = value.removeprefix(b" ")
        if field == b"data":
            data.append(value)
        elif field == b"event":
            name = value.decode("utf-8", "replace")
    joined = b"\n".join(data)
    if not joined or joined.strip() == b"[DONE]":
        return Event(None, raw, name)
    return Event(read_object(joined), raw, name)
