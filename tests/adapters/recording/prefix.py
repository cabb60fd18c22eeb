"""How much of each call a provider's prompt cache could find again: what it begins with, up to the first new byte.

A cache goes through tools, system prompt and messages in this order. Markers of a cache are no part of what it keeps,
and a text is the same as one part with that text. Providers keep whole blocks of some hundred tokens from a least size
on, so that a true share is a little lower.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, takewhile

from skillweave_testing.hosts import Sent
from tests.adapters.hosts.tails import place_of_tail


@dataclass(frozen=True)
class Share:
    """Of the bytes of a conversation's calls, those that stood at the same place in the call before.

    `breaks` are the calls, by number, that don't begin with the whole call before without its tail.
    """

    calls: int
    sent: int
    reused: int
    breaks: tuple[int, ...] = ()

    @property
    def percent(self) -> float:
        """The share in percent; the first call finds nothing."""
        return 100 * self.reused / self.sent if self.sent else 0.0


def share(calls: Sequence[Sent]) -> Share:
    """The share of a conversation's calls, in their order."""
    whole = [cached(call) for call in calls]
    kept = [cached(call, tail=False) for call in calls]
    reused = sum(_same(before, after) for before, after in pairwise(whole))
    breaks = (number for number in range(1, len(calls)) if not whole[number].startswith(kept[number - 1]))
    return Share(len(calls), sum(map(len, whole)), reused, tuple(breaks))


def cached(call: Sent, *, tail: bool = True) -> bytes:
    """What a cache sees of a call, with the text that is for this call only or without it."""
    texts = call.texts if tail else call.texts[: place_of_tail(call)]
    said = texts if tail or len(texts) == len(call.texts) else texts[: _end(texts)]
    return "\0".join([*call.declared, call.system, *said, ""]).encode()


def _end(texts: Sequence[str]) -> int:
    """Where what is kept ends: before the role with which a message of the tail's own begins."""
    end = len(texts)
    while end and texts[end - 1] in ("user", "system", "developer", "message", "text", "input_text"):
        end -= 1
    return end


def _same(before: bytes, after: bytes) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False)))
