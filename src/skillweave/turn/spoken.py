"""What others said: a turn without the texts that skillweave itself put into the conversation (spec 5.4).

A text is ours when this conversation's State knows it: by the digest of the whole block, or because it is the notice of
a verdict that is kept there. How a text begins, and the id that a host gave its message, say nothing: a user can write
both. What only looks like ours is what the user said, with all that follows from it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from os.path import commonprefix

from skillweave.conversation import Message, Role, Turn
from skillweave.disclose.block import FIXED_LINES, HEADERS, digest_in, text_digest
from skillweave.state.approvals import NOTICE_END, rejection_notice
from skillweave.state.state import ApprovalVerdict, State
from skillweave.turn.reconcile import split_at_blocks

_MARKS = (commonprefix(HEADERS), *FIXED_LINES, NOTICE_END)  # noqa: RUF071 - letter by letter is what is meant


def may_hold_ours(message: Message) -> bool:
    """Whether the State has to say which words of a user's message are the user's own; quick, and never False for ours.

    Adapters put skill text into messages of the user, none into those of the model.
    """
    return message.role is Role.USER and any(mark in text for text in message.texts() for mark in _MARKS)


def in_own_words(turn: Turn, state: State) -> Turn:
    """The turn with what was really said as its message: without texts of ours that the State knows.

    Where all of a message is ours, the words are the last ones before it in the transcript; without any nobody says
    anything. The very turn where nothing of it is ours.
    """
    if not may_hold_ours(turn.message):
        return turn
    known = _Known.of(state)
    left = known.without_ours(turn.message)
    if left is turn.message:
        return turn
    if left is None:
        left = next(known.theirs(reversed(turn.transcript or ())), Message(Role.TOOL, None))
    return replace(turn, message=left)


def spoken_in(turn: Turn, state: State) -> Turn:
    """The same turn with a transcript of what others said; only texts that the State knows count as ours."""
    if not turn.transcript:
        return turn
    known = _Known.of(state)
    if not known:
        return turn
    left = (known.without_ours(message) for message in turn.transcript)
    return replace(turn, transcript=tuple(message for message in left if message is not None))


@dataclass(frozen=True, slots=True)
class _Known:
    """The texts that skillweave gave in a conversation: digests of blocks, and whole texts."""

    digests: frozenset[str]
    texts: frozenset[str]

    @classmethod
    def of(cls, state: State) -> "_Known":
        records = (*state.records, *(old.record for old in state.superseded))
        said_no = (one for one in state.approvals if one.verdict is ApprovalVerdict.REJECTED)
        return cls(
            frozenset(digest_in(record.carrier) for record in records), frozenset(map(rejection_notice, said_no))
        )

    def __bool__(self) -> bool:
        return bool(self.digests or self.texts)

    def theirs(self, messages: Iterable[Message]) -> Iterator[Message]:
        """What the user and the model said, without what is ours."""
        spoken = (one for one in messages if one.role in (Role.USER, Role.ASSISTANT))
        return (left for one in spoken if (left := self.without_ours(one)) is not None)

    def without_ours(self, message: Message) -> Message | None:
        """The message without what is ours: itself where nothing is, None where nothing else is in it."""
        if isinstance(message.content, str):
            text = self._left_of(message.content)
            if text is message.content:
                return message
            return replace(message, content=text) if text.strip() else None
        parts = [(part, self._left_of(part) if isinstance(part, str) else part) for part in message.content or ()]
        if all(left is part for part, left in parts):
            return message
        content = [left for part, left in parts if left is part or (isinstance(left, str) and left.strip())]
        return replace(message, content=tuple(content)) if content else None

    def _left_of(self, text: str) -> str:
        """What of a text is not ours; the very text where nothing is."""
        if text.strip() in FIXED_LINES or text in self.texts:
            return ""
        head, blocks = split_at_blocks(text)
        theirs = [block for block in blocks if text_digest(block) not in self.digests]
        return text if len(theirs) == len(blocks) else "".join([head, *theirs])
