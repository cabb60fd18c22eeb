"""What the streams of all forms share: what needs no judgement goes on at once, a call waits until it is whole."""

import re
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeAlias

from skillweave.adapters.chat import Call
from skillweave.exchange.wire import Event, Events

Block: TypeAlias = tuple[object, ...]
"""What an event belongs to: a text, a call, a piece of reasoning; by the choice and the provider's number."""
_MARKER_BEGINS = "SKILL_SELECT:"
_IN_FRONT = " \t\r\n`*'\""


class Fate(Enum):
    """What becomes of a call, as far as it is known: it goes on, nobody sees it, or everything behind it waits."""

    GO = "go"
    DROP = "drop"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class Sieve:
    """How calls are judged while they stream: by their name as soon as it is known, and when they are whole.

    `markers` says that a text which begins with a marker is answered inside, like a call.
    """

    by_name: Callable[[str], Fate]
    whole: Callable[[Call], Fate]
    markers: bool = False


@dataclass(frozen=True, slots=True)
class Carried:
    """What earlier rounds of one reply put out: the client's id of it, how many blocks, whether the last was a text.

    `sequence` is the number of the next event, where events are numbered.
    """

    id: str = ""
    blocks: int = 0
    text: bool = False
    sequence: int = 0


def is_marker(text: str) -> bool | None:
    """Whether a text begins with a marker; None while it may yet."""
    said = text.lstrip(_IN_FRONT)
    if said.startswith(_MARKER_BEGINS):
        return True if re.match(r"SKILL_SELECT:[a-zA-Z0-9_-]+[^a-zA-Z0-9_-]", said) else None
    return None if _MARKER_BEGINS.startswith(said) else False


@dataclass(slots=True)
class Stream:
    """One round of a streamed reply. `feed` gives what goes on to the client, `ending` is kept for the last round.

    `reply` is the whole reply, None until it has ended; `failed` says that the provider told of an error. `raw` is all
    that came, where it is kept.
    """

    sieve: Sieve
    carried: Carried = field(default_factory=Carried)
    ended: bool = False
    failed: bool = False
    endings: list[Event] = field(default_factory=list)
    marked: bool = False
    raw: bytearray | None = None
    fates: dict[Block, Fate] = field(default_factory=dict)
    _events: Events = field(default_factory=Events)
    _line: deque[tuple[Block | None, Event]] = field(default_factory=deque)
    _numbers: dict[Block, int] = field(default_factory=dict)
    _text_said: dict[Block, str] = field(default_factory=dict)

    def feed(self, data: bytes) -> bytes:
        """Returns what goes on to the client now. Raises Unreadable."""
        if self.raw is not None:
            self.raw += data
        for event in self._events.feed(data):
            self.take(event)
        return b"".join(self._flushed())

    def take(self, event: Event) -> None:
        """Keeps what the event says, and puts it in line."""
        raise NotImplementedError

    @property
    def reply(self) -> dict[str, Any] | None:
        """The whole reply, as if it had not been streamed."""
        raise NotImplementedError

    def written(self, event: Event, number: int | None) -> bytes:
        """The event as the client gets it; `number` is that of its block there."""
        raise NotImplementedError

    def last(self, merged: Mapping[str, Any]) -> bytes:
        """The end of the stream, of the merged reply; words of ours, where nothing else is left, come first."""
        raise NotImplementedError

    def resolve(self, fates: Mapping[Block, Fate]) -> bytes:
        """Returns what goes on now that these calls are decided."""
        self.fates.update(fates)
        return b"".join(self._flushed())

    def blocks(self) -> dict[str, Block]:
        """The blocks of the calls, by the ids of these."""
        raise NotImplementedError

    def rewrite(self, block: Block, written: str) -> None:
        """Gives a call that still waits new arguments."""
        first, line = True, deque[tuple[Block | None, Event]]()
        for of, event in self._line:
            if of == block and event.data is not None:
                data = _rewritten(event.data, written if first else "", written)
                first = first and data is event.data
                event = event if data is event.data else Event(data, b"", event.name)
            line.append((of, event))
        self._line = line

    @property
    def after(self) -> Carried:
        """What the next round begins with."""
        blocks = self.carried.blocks + len(self._numbers)
        return Carried(self.carried.id, blocks, self.carried.text or bool(self._text_said))

    def put(self, event: Event, block: Block | None = None) -> None:
        """Puts an event in line; one of a block goes on when it is known what becomes of that."""
        self._line.append((block, event))

    def named(self, block: Block, name: str) -> None:
        """A call has begun."""
        if block not in self.fates:
            self.fates[block] = self.sieve.by_name(name)

    def whole(self, block: Block, call: Call) -> None:
        """A call is whole."""
        if self.fates.get(block, Fate.WAIT) is Fate.WAIT:
            self.fates[block] = self.sieve.whole(call)

    def said(self, block: Block, text: str) -> None:
        """A piece of text has come; with markers it waits until it can be none."""
        before = self._text_said.get(block)
        if not self.sieve.markers or (before is None and self._text_said):
            self._text_said.setdefault(block, "")
            self.fates.setdefault(block, Fate.GO)
            return
        if self.fates.get(block, Fate.WAIT) is not Fate.WAIT:
            return
        self._text_said[block] = whole = (before or "") + text
        marker = is_marker(whole)
        self.fates[block] = Fate.WAIT if marker is None else Fate.DROP if marker else Fate.GO
        self.marked = self.marked or bool(marker)

    def over(self) -> None:
        """The reply has ended: a text that is nothing but a marker is one, any other goes on."""
        self.ended = True
        for block, text in self._text_said.items():
            if self.fates.get(block) is Fate.WAIT:
                self.marked = bool(is_marker(f"{text} "))
                self.fates[block] = Fate.DROP if self.marked else Fate.GO

    def _flushed(self) -> Iterator[bytes]:
        while self._line:
            block, event = self._line[0]
            fate = Fate.GO if block is None else self.fates.get(block, Fate.WAIT)
            if fate is Fate.WAIT:
                return
            self._line.popleft()
            if fate is Fate.DROP or self.marked:
                continue
            number = (
                None if block is None else self._numbers.setdefault(block, self.carried.blocks + len(self._numbers))
            )
            yield self.written(event, number)


def _rewritten(data: dict[str, Any], piece: str, whole: str) -> dict[str, Any]:
    """The event of a call with a piece of its new arguments, or all of them; the very event where it has none."""
    kind, item, delta = str(data.get("type")), data.get("item"), data.get("delta")
    if isinstance(delta, dict) and "partial_json" in delta:
        return {**data, "delta": {**delta, "partial_json": piece}}
    if kind.endswith("arguments.delta"):
        return {**data, "delta": piece}
    if kind.endswith("arguments.done"):
        return {**data, "arguments": whole}
    if kind.endswith("item.done") and isinstance(item, dict):
        return {**data, "item": {**item, "arguments": whole}}
    choices = data.get("choices")
    if not isinstance(choices, list) or not choices:
        return data
    call = choices[0]["delta"]["tool_calls"][0]
    if not (call.get("function") or {}).get("arguments"):
        return data
    call = {**call, "function": {**call["function"], "arguments": piece}}
    return {**data, "choices": [{**choices[0], "delta": {**choices[0]["delta"], "tool_calls": [call]}}]}
