"""What of a transcript others said: without the skill texts that stand in it, which may speak as the user."""

from collections.abc import Iterable, Iterator
from dataclasses import replace

from skillweave.conversation import Message, Turn
from skillweave.disclose.block import digest_in, text_digest
from skillweave.ledger.state import State
from skillweave.ledger.transcript import split_at_blocks


def spoken_in(turn: Turn, state: State) -> Turn:
    """The same turn with a transcript of what others said; only texts that the ledger knows count as ours."""
    if not turn.transcript:
        return turn
    records = (*state.records, *(old.record for old in state.superseded))
    known = {digest_in(record.carrier) for record in records}
    return replace(turn, transcript=tuple(_theirs(turn.transcript, known))) if known else turn


def _theirs(messages: Iterable[Message], known: set[str]) -> Iterator[Message]:
    for message in messages:
        head, blocks = split_at_blocks(message.text)
        if not blocks or any(text_digest(block) not in known for block in blocks):
            yield message
        elif head.strip():
            yield replace(message, content=head)
