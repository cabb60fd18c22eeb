"""Hold what was given against the transcript that the model will see (spec 5.4, the table of promises).

A text is ours when this conversation's State knows it: by the digest of the whole block, or because it is the notice of
a verdict that is kept there. How a text begins, and the id that a host gave its message, say nothing: a user can write
both. What only looks like ours is what the user said, with all that follows from it.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import sha256
from os.path import commonprefix

from skillweave.dialogue import Message, Role, Turn
from skillweave.disclose.block import FIXED_LINES, HEADERS, digest_in, text_digest
from skillweave.state.approvals import NOTICE_END, rejection_notice
from skillweave.state.state import ApprovalVerdict, Delivery, Record, State, drop, expire

_BEGINNING = commonprefix(HEADERS)  # noqa: RUF071 - letter by letter is what is meant
# Written with what all headers begin with, and without `^`: so the engine jumps from one such place to the next.
_HEADER = re.compile(f"{re.escape(_BEGINNING)}(?:{'|'.join(re.escape(h.removeprefix(_BEGINNING)) for h in HEADERS)})")
_MARKS = (_BEGINNING, *FIXED_LINES, NOTICE_END)


def blocks_in(messages: Sequence[Message]) -> Counter[str]:
    """How often each block stands in the messages, by the digest of its text; linear in their length.

    A header alone, in anybody's message, proves nothing: only the digest of the whole text does. Several blocks in one
    text are told apart by their headers; a message's id is not needed, so that hosts without ids work the same.
    """
    return Counter(
        text_digest(block) for message in messages for text in message.texts() for block in split_at_blocks(text)[1]
    )


def digest_of(messages: Sequence[Message]) -> str:
    """The same for two calls that the model made in one reply, another as soon as there is one more message."""
    whole = sha256()
    for message in messages:
        whole.update(repr((message.role.value, message.content)).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()[:16]


def said_in(turn: Turn) -> str:
    """The digest of what a turn brings: who says what, what the host names, and what the model reads."""
    asked = (turn.message.role.value, turn.message.texts(), turn.named, turn.reads)
    return sha256(repr(asked).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def is_replay(turn: Turn, state: State) -> bool:
    """Whether the latest turn comes again: the same id, and the same words. Other words under its id are another turn.

    An earlier version kept no words; then the id alone says so.
    """
    return state.last_turn == turn.id and (not state.said or state.said == said_in(turn))


def split_at_blocks(text: str) -> tuple[str, Sequence[str]]:
    """What stands before the first block, and the blocks, from header to header with LF line ends.

    The text itself where it holds none.
    """
    if _BEGINNING not in text:
        return text, ()
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    places = (match.start() for match in _HEADER.finditer(normal))
    starts = [place for place in places if place == 0 or normal[place - 1] == "\n"]
    if not starts:
        return text, ()
    return normal[: starts[0]], [normal[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]


class Presence(StrEnum):
    """Where a recorded text is for the turn that asks: there, its own to give again, or held by another turn."""

    PRESENT = "present"
    MINE = "mine"
    HELD = "held"


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The State without what was lost, where each live record stands, and what the transcript shows beyond records.

    `records` are the live records by key. `unrecorded` counts, by text digest, the blocks in the transcript that no
    record stands for; None without a transcript.
    """

    state: State
    presence: Mapping[str, Presence]
    records: Mapping[str, Record]
    lost: tuple[Record, ...] = ()
    unrecorded: Mapping[str, int] | None = None

    def record(self, key: str, presence: Presence) -> Record | None:
        """The live record of the key if it stands like that."""
        return self.records.get(key) if self.presence.get(key) is presence else None

    def in_context(self, keys_begin_with: str | tuple[str, ...] = "") -> Iterator[Record]:
        """The live records whose texts are there or held by another turn: not those that this turn gives itself."""
        for key, record in self.records.items():
            if self.presence[key] is not Presence.MINE and key.startswith(keys_begin_with):
                yield record

    def tokens_by_carrier(self, adopted: Sequence[Record] = ()) -> dict[str, int]:
        """The tokens of each block that is, or may be, in the context, by the message that carries it."""
        carriers: dict[str, int] = {}
        there = [record for key, record in self.records.items() if self.presence[key] is not Presence.MINE]
        old = (one.record for one in self.state.superseded if not one.dropped)
        for record in (*old, *there, *adopted):
            carriers[record.carrier] = carriers.get(record.carrier, 0) + record.tokens
        return carriers

    def without(self, carriers: Collection[str], turn_id: str) -> "Reconciled":
        """The same after that turn has asked the host to take these blocks out of the history."""
        records = {key: record for key, record in self.records.items() if record.carrier not in carriers}
        state = drop(self.state, carriers, turn_id)
        return replace(self, state=state, records=records, presence={key: self.presence[key] for key in records})

    def shows(self, carrier: str) -> bool:
        """Whether the transcript holds this text without a record of it, so that it can be adopted."""
        return self.unrecorded is not None and self.unrecorded.get(digest_in(carrier), 0) > 0


def reconcile(state: State, blocks: Counter[str] | None, *, holder: str, now: float, told: str = "") -> Reconciled:
    """Believe the transcript where there is one, the records where there is none.

    `blocks` counts the transcript's blocks by text digest, None when the host cannot say. A record that the transcript
    does not show is lost, unless it is this turn's own (a replay gives it again), another turn's live claim, or what
    answers another of the model's calls that came with the same transcript, `told`: that is older than the answers.
    Without a transcript nothing is lost but claims whose time is over.
    """
    if any(record.until is not None for record in state.records):
        state = expire(state, now)
    if blocks is None:
        # What a host was told to take out is gone, as nobody says that it is there.
        believed = tuple(one for one in state.superseded if one.dropped in ("", holder))
        state = state if len(believed) == len(state.superseded) else replace(state, superseded=believed)
        presence = {record.key: _unseen(record, holder) for record in state.records}
        return Reconciled(state, presence, {record.key: record for record in state.records})
    return _by_transcript(state, blocks, holder, told)


def _unseen(record: Record, holder: str) -> Presence:
    if record.holder == holder:
        return Presence.MINE
    return Presence.PRESENT if record.state is Delivery.GIVEN else Presence.HELD


def _by_transcript(state: State, blocks: Counter[str], holder: str, told: str) -> Reconciled:
    left = Counter(blocks)
    # The transcript of a replay is older than what the turn itself gave, so a text that stands there once is rather
    # an earlier giving of the same text (one that was evicted, say) than this turn's.
    shown = _sighted((r.carrier for r in state.records if r.holder != holder), left)
    # One block may carry several keys: where one of them was evicted or replaced, what the others show is shown of it.
    mine = {record.carrier for record in state.records if record.holder == holder}
    replaced = sorted(state.superseded, key=lambda s: s.by not in mine)  # what this turn replaced was there last
    old = shown | _sighted((s.record.carrier for s in replaced if s.record.carrier not in shown), left)
    shown |= _sighted((r.carrier for r in state.records if r.holder == holder), left)
    kept: list[Record] = []
    lost: list[Record] = []
    presence: dict[str, Presence] = {}
    for record in state.records:
        if record.carrier in shown:
            kept.append(_seen(record))
            presence[record.key] = Presence.PRESENT
        elif (unseen := _missed(record, holder, told)) is not None:
            kept.append(record)
            presence[record.key] = unseen
        else:
            lost.append(record)
    # What this turn itself replaced stays known to it, so that a replay says the same words again.
    superseded = tuple(
        replace(s, dropped="") if s.dropped not in ("", holder) else s
        for s in state.superseded
        if s.record.carrier in old or s.by in mine or s.dropped == holder
    )
    after = replace(state, records=tuple(kept), superseded=superseded)
    by_key = {record.key: record for record in kept}
    return Reconciled(state if after == state else after, presence, by_key, tuple(lost), +left)


def _missed(record: Record, holder: str, told: str) -> Presence | None:
    """Where a record stands that the transcript does not show; None when it is lost."""
    unseen = _unseen(record, holder)
    if unseen is not Presence.PRESENT:
        return unseen
    return Presence.HELD if told and record.told == told else None


def _seen(record: Record) -> Record:
    seen = record.state is Delivery.GIVEN and not record.told
    return record if seen else replace(record, state=Delivery.GIVEN, until=None, told="")


def _sighted(carriers: Iterable[str], left: Counter[str]) -> set[str]:
    found = set()
    for carrier in dict.fromkeys(carriers):
        digest = digest_in(carrier)
        if left[digest] > 0:
            left[digest] -= 1
            found.add(carrier)
    return found


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
