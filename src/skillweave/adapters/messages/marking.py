"""Which messages of a chat are ours, for a window that hides them and for a summariser that skips them.

A provider takes no mark on a message, and a mark that a user can write says nothing: what counts is the text itself,
by the digests that the ledger keeps.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from skillweave.adapters.messages.lists import left_of, listed, plain
from skillweave.disclose.block import TAKEN_OUT, digest_in, text_digest
from skillweave.state.state import State, skill_of
from skillweave.turn.reconcile import split_at_blocks


def skills_in(message: object, state: State) -> tuple[str, ...]:
    """The ids of the skills whose text stands in the message, in the order of the texts; empty for any other message.

    Messages of every style, tool results too, as dicts or as objects that dump as such; `state` is
    `await weaver.ledger.state(conversation)`. What the ledger has forgotten is a message like any other.
    """
    known = _known(state)
    blocks = (block for text in _texts(plain(message) or {}) for block in split_at_blocks(text)[1])
    return tuple(dict.fromkeys(skill for block in blocks for skill in known.get(text_digest(block), ())))


def without_skill_text(chat: Sequence[Any], state: State) -> list[Any]:
    """A new list as a person is to see it, or a summariser: without the skill texts that the ledger knows.

    A message or a part that was nothing else is left out; a tool result keeps its place, with a line that says what
    stood there. Not to be sent as the history: `place` alone takes texts out of that.
    """
    left = left_of(chat, Counter(dict.fromkeys(_known(state), sys.maxsize)))
    return [shown for raw in left for shown in _shown(raw)]


def _known(state: State) -> Mapping[str, tuple[str, ...]]:
    """The skills whose text has each digest."""
    records = (*state.records, *(one.record for one in state.superseded))
    found: dict[str, dict[str, None]] = {}
    for record in records:
        skill = skill_of(record.key)
        if skill is not None:
            found.setdefault(digest_in(record.carrier), {})[skill] = None
    return {digest: tuple(skills) for digest, skills in found.items() if digest}


def _texts(node: object) -> Iterator[str]:
    if isinstance(node, str):
        yield node
    elif isinstance(node, Mapping):
        for key in ("content", "output", "text"):
            yield from _texts(node.get(key))
    else:
        for part in listed(node):
            yield from _texts(plain(part))


def _shown(raw: Any) -> Iterator[Any]:  # noqa: ANN401 - messages are the host's
    message = plain(raw) or {}
    content = message.get("content")
    if message.get("role") != "user" or not content:
        yield raw
        return
    parts = [part for part in listed(content) if (plain(part) or {}).get("text") != TAKEN_OUT]
    if content == TAKEN_OUT or (listed(content) and not parts):
        return
    yield {**message, "content": parts} if listed(content) and len(parts) < len(content) else raw
