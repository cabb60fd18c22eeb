"""Taking skill text out of a list of messages, so that what does not fit does (spec 5.2: `Injection.drop`)."""

from collections.abc import Mapping, Sequence
from typing import Any

from skillweave.adapters.messages.shape import plain
from skillweave.disclose.block import digest_in, text_digest
from skillweave.injection import Drop
from skillweave.ledger.transcript import block_texts

TAKEN_OUT = "(Skill text that stood here was taken out to make room; load it again when it is needed.)"


def take_out(chat: Sequence[Any], drops: Sequence[Drop]) -> list[Any]:
    """A new list without the texts that may go; tool results keep their place, with a line that says what happened.

    Give the next turn this list: skillweave sees in it that the texts are gone. `chat` stays as it is.
    """
    digests = frozenset(digest_in(drop.message_id) for drop in drops) - {""}
    if not digests:
        return list(chat)
    return [message for message in (_message(raw, digests) for raw in chat) if message is not None]


def _message(raw: Any, digests: frozenset[str]) -> Any:  # noqa: ANN401 - messages are the host's
    message = plain(raw)
    if message is None or not _holds(message, digests):
        return raw
    content = message.get("content")
    if message.get("role") in ("system", "developer") and isinstance(content, str) and not _rest(content, digests):
        return None
    return _without(message, digests)


def _without(value: Any, digests: frozenset[str]) -> Any:  # noqa: ANN401
    if isinstance(value, Mapping):
        return {
            key: _text(item, digests)
            if key in ("content", "text") and isinstance(item, str)
            else _without(item, digests)
            for key, item in value.items()
        }
    if isinstance(value, list | tuple):
        return [_without(item, digests) for item in value]
    return value


def _holds(value: Any, digests: frozenset[str]) -> bool:  # noqa: ANN401
    if isinstance(value, str):
        return any(text_digest(block) in digests for block in block_texts(value))
    if isinstance(value, Mapping):
        return any(_holds(item, digests) for item in value.values())
    return isinstance(value, list | tuple) and any(_holds(item, digests) for item in value)


def _text(text: str, digests: frozenset[str]) -> str:
    if not _holds(text, digests):
        return text
    return _rest(text, digests) or TAKEN_OUT


def _rest(text: str, digests: frozenset[str]) -> str:
    left = text.replace("\r\n", "\n").replace("\r", "\n")
    for block in block_texts(text):
        if text_digest(block) in digests:
            left = left.replace(block, "", 1)
    return left.strip("\n")
