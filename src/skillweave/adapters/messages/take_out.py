"""Taking skill text out of a list of messages, so that what does not fit does (spec 5.2: `Injection.drop`)."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

from skillweave.adapters.messages.shape import listed, plain
from skillweave.adapters.own import TAKEN_OUT
from skillweave.disclose.block import digest_in, text_digest
from skillweave.injection import Drop
from skillweave.turn.reconcile import split_at_blocks

__all__ = ["TAKEN_OUT", "take_out"]


def take_out(chat: Sequence[Any], drops: Sequence[Drop]) -> list[Any]:
    """A new list without the texts that may go; tool results keep their place, with a line that says what happened.

    Give the next turn this list: skillweave sees in it that the texts are gone. `chat` stays as it is. A text that
    stands in it more often than it may go stays where it stands last.
    """
    going = Counter(digest for drop in drops if (digest := digest_in(drop.message_id)))
    return [message for raw in chat for message in _left_of_message(raw, going)] if going else list(chat)


def _left_of_message(raw: Any, going: Counter[str]) -> list[Any]:  # noqa: ANN401 - messages are the host's
    message = plain(raw) or {}
    content = message.get("content")
    left = _left_of(content, going)
    if left is content:
        return [raw]
    if left == TAKEN_OUT and message.get("role") in ("system", "developer"):
        return []
    return [{**message, "content": left}]


def _left_of(content: Any, going: Counter[str]) -> Any:  # noqa: ANN401
    if isinstance(content, str):
        return _left_of_text(content, going)
    parts = [_left_of_part(raw, going) for raw in listed(content)]
    changed = any(left is not raw for left, raw in zip(parts, listed(content), strict=True))
    return parts if changed else content


def _left_of_part(raw: Any, going: Counter[str]) -> Any:  # noqa: ANN401
    part = plain(raw) or {}
    key = "text" if part.get("type") == "text" else "content"
    held = part.get(key)
    left = _left_of(held, going)
    return raw if left is held else {**part, key: left}


def _left_of_text(text: str, going: Counter[str]) -> str:
    before, blocks = split_at_blocks(text)
    kept = []
    for block in blocks:
        digest = text_digest(block)
        if going[digest] > 0:
            going[digest] -= 1
        else:
            kept.append(block)
    if len(kept) == len(blocks):
        return text
    left = "".join([before, *kept]).rstrip("\n")
    return left if left.strip() else TAKEN_OUT
