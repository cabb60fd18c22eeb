"""State: everything about one conversation in one versioned value, and the pure steps between States (spec 5.4)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any, ClassVar, TypeAlias

from skillweave.codec import Portable
from skillweave.decisions import Decision
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.disclose.block import Rung
from skillweave.errors import nearest_names
from skillweave.events.event import Event
from skillweave.graph.move import Cursor
from skillweave.limits import ToolLimits

CLAIM_SECONDS = 60.0
"""How long a claim suppresses others when its turn never comes back."""
CLOCK_SLACK_SECONDS = 1.0
"""So much a clock may be put right while a turn is under way; what is more counts as set back."""
RECENT_MESSAGES = 3
"""How many user messages without a match a skill stays engaged for in the lifecycle `recent`."""


class Lifecycle(StrEnum):
    """How long a skill stays engaged once it is.

    `conversation`: to its end. `recent`: while it is among the `max_skills` most recently matched, and was matched
    by one of the latest user messages. `message`: for the user message that matched it, and every model call until the
    next one. `pinned`: to the end of the conversation whatever the limits, first in line for the budget behind the
    skill that a graph's cursor is on, and never offered for dropping. `weaver.ledger.disengage`, `unload` and a
    rejection at a checkpoint end each of them, and a move in the skill graph that of the skill that it leaves.
    """

    CONVERSATION = "conversation"
    RECENT = "recent"
    MESSAGE = "message"
    PINNED = "pinned"

    @property
    def most_idle(self) -> int | None:
        """User messages without a match that a skill stays engaged for, None for any number."""
        if self is Lifecycle.RECENT:
            return RECENT_MESSAGES
        return 0 if self is Lifecycle.MESSAGE else None


LifecycleOf: TypeAlias = Callable[[str], Lifecycle]
"""The lifecycle of a skill, by its id."""


def check_lifecycles(lifecycles: Mapping[str, Lifecycle], known: Collection[str]) -> tuple[Diagnostic, ...]:
    """A warning for each id in `Settings.lifecycles` that no skill has; until there is one, it means nothing."""
    return tuple(
        Diagnostic(
            code="lifecycle-unknown-skill",
            severity=Severity.WARNING,
            message=f"Settings.lifecycles[{skill_id!r:.120}] is about no skill that there is",
            fix=_fix(nearest_names(skill_id, known)),
        )
        for skill_id in lifecycles
        if skill_id not in known
    )


def _fix(near: tuple[str, ...]) -> str:
    return f"did you mean {' or '.join(map(repr, near))}?" if near else "remove the entry, or add the skill's source"


class Delivery(StrEnum):
    """Whether a block is known to have reached the context."""

    CLAIMED = "claimed"
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class Record(Portable):
    """One row about something given: `key` is `skill:{id}`, `section:{skill}/{number}`, `artifact:{skill}/{id}` for one
    that stands in the skill's block, `document:{skill}/{id}#{number}` for what was read of an artifact by itself, or
    `context:{entity}:{section}`.

    `digest` is the definition's or the data's, `carrier` names the block that holds the text, `tokens` is this key's
    share of the block. `holder` is the turn that gave it; `at` and `until` are seconds of the store's clock, `until`
    the end of a claim, None for one without end. `told` is of answers to the model's calls: the digest of the
    transcript that the call came with, which no answer can stand in yet; the empty text once a transcript showed it.
    `digest` is the empty text where another program gave the skill, and nobody knows in which words.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("...", "told?")

    key: str
    digest: str
    rung: Rung
    carrier: str
    tokens: int
    state: Delivery
    holder: str
    at: float
    until: float | None = None
    told: str = ""

    @property
    def known(self) -> bool:
        """Whether it is known which text was given; else no block and no message of ours holds it."""
        return bool(self.digest)

    def expired_at(self, now: float) -> bool:
        """Whether this is a claim whose turn never came back, or one of a time that is still to come.

        With more time left than any claim is given, the clock was set back since: nobody knows how old it is.
        """
        if self.state is not Delivery.CLAIMED or self.until is None:
            return False
        return now >= self.until or self.until - now > CLAIM_SECONDS + CLOCK_SLACK_SECONDS


@dataclass(frozen=True, slots=True)
class Superseded(Portable):
    """A record whose text may still be in the context although another block, or an eviction, took its place.

    `by` is the carrier of the block that replaced it, the empty text for an eviction. Its tokens count, and its text
    is not adopted again. `dropped` is the turn that asked the host to take it out: its tokens count no longer, unless
    a later transcript still shows it.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("...", "dropped?")

    record: Record
    by: str
    dropped: str = ""


@dataclass(frozen=True, slots=True)
class Engaged(Portable):
    """A skill that applies to the conversation: `by` is the matcher that engaged it, `since` the turn that did.

    `idle` counts the user messages since its last match; `lifecycle` is the one it had in the latest turn, None where
    an earlier version wrote the entry. `arguments` are the words that came with its latest mention and fill its
    `$ARGUMENTS`; somebody's words, so they are shown in blocks only. `place` is its rank in the latest turn, from 0.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("skill_id as skill", "...")

    skill_id: str
    by: str
    since: str
    idle: int = 0
    lifecycle: Lifecycle | None = None
    arguments: str = ""
    place: int = 0


class ApprovalVerdict(StrEnum):
    """What a person says at a checkpoint: yes, no, or yes with a change that the host carries out."""

    APPROVED = "approved"
    REJECTED = "rejected"
    MODIFIED = "modified"


@dataclass(frozen=True, slots=True)
class Approval(Portable):
    """A person's verdict on a checkpoint, valid for one digest of the skill (spec 5.5).

    `by` names the person, `at` is in seconds of the store's clock, `note` is the reviewer's own remark. `before` are
    the tool entries that the checkpoint stood before: they outlive the skill's text, so that a rejected call stays
    denied when the skill is edited or gone. `shown` is the digest of the text with the arguments that stood in it,
    empty where it took none: a yes is valid for that text, a no for the skill whatever its arguments. `call` is empty
    where the verdict is about all calls, else the digest of the one that it is about: of a yes `ToolCall.digest`, of a
    no `ToolCall.content`. Then `shown` is the digest of the text and the call together, so that a version of
    skillweave that knows nothing of calls never takes the yes for one to all. `case` names the question that it
    answers, where that has an id; `logged` is the number and the seal of its row in the log of approvals, kept here so
    that a log that was cut shows.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("skill_id as skill", "...", "call?", "case?", "logged?")

    skill_id: str
    checkpoint: str
    digest: str
    verdict: ApprovalVerdict
    by: str
    at: float
    note: str = ""
    before: tuple[str, ...] = ()
    shown: str = ""
    call: str = ""
    case: str = ""
    logged: str = ""

    @property
    def refuses(self) -> bool:
        """Whether it is a no."""
        return self.verdict is ApprovalVerdict.REJECTED


@dataclass(frozen=True, slots=True)
class CallUse(Portable):
    """That a call was let through, once: what it did then is not known here.

    `call` is `ToolCall.digest`, `at` is in seconds of the store's clock, `key` names the request that was answered so,
    empty for none: the same request again gets the same answer. A yes of before it counts no more.
    """

    call: str
    at: float
    key: str = ""


@dataclass(frozen=True, slots=True)
class Fragment(Portable):
    """A piece of the prompt prefix as it was last sent: the digest of its text and its tokens."""

    digest: str
    tokens: int


class FallbackKind(StrEnum):
    """What the tail says when it is not a shortlist: that there are skills, an answer about them, where a graph leads.

    `hint`: one line that there are skills. `catalog` and `all`: the answer to a user who asks what there is, or for
    every skill. `reachable`: where a skill graph leads from here.
    """

    HINT = "hint"
    CATALOG = "catalog"
    ALL = "all"
    REACHABLE = "reachable"


@dataclass(frozen=True, slots=True)
class Told(Portable):
    """What the tail says since the latest user message, so that it is the same in each call of a tool loop.

    `skills` are those that it names, best first; without a `kind` they are the shortlist. `kept` is how many messages
    that asked for nothing new it has been kept for.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("skills", "kind", "kept?")

    skills: tuple[str, ...] = ()
    kind: FallbackKind | None = None
    kept: int = 0


@dataclass(frozen=True, slots=True)
class State(Portable):
    """All about one conversation. `revision` 0 means that nothing is stored yet; every swap stores the next one.

    `in_call` are the skills whose text the latest call carried, where text lasts one call only: no record says so.
    None where no such call is known. `told` is what the tail says since the latest user message. `restraining` are
    skills that were wanted and found no place: nothing of them is given, and what they forbid or ask a person about
    holds for as long as they would be engaged. `said` is the digest of what the turn `last_turn` said.
    `entity` is what the conversation is about: the id of the entity that was named last, the empty text for none.
    `asked` are the digests of the calls that a person is asked about, `stale` of those asked about before the user's
    latest message, `uses` say which calls were let through; a yes to one of these is void. `limits` are those of the
    plan that the conversation's sub-agent was spawned with, None for one that was not spawned.
    """

    json_keys: ClassVar[tuple[str, ...]] = (
        *("revision", "records", "superseded", "engaged", "cursor", "approvals"),
        *("prefix_pairs as prefix", "last_turn", "in_call?", "told?", "restraining?", "said?", "entity?"),
        *("asked?", "stale?", "uses?", "limits?"),
    )

    revision: int = 0
    records: tuple[Record, ...] = ()
    superseded: tuple[Superseded, ...] = ()
    engaged: tuple[Engaged, ...] = ()
    cursor: Cursor | None = None
    approvals: tuple[Approval, ...] = ()
    prefix: tuple[Fragment, ...] = ()
    last_turn: str = ""
    in_call: tuple[str, ...] | None = None
    told: Told | None = None
    restraining: tuple[Engaged, ...] = ()
    said: str = ""
    entity: str = ""
    asked: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    uses: tuple[CallUse, ...] = ()
    limits: ToolLimits | None = None

    @property
    def prefix_pairs(self) -> tuple[tuple[str, int], ...]:
        """The prefix as it is stored: pairs of a digest and its tokens."""
        return tuple((fragment.digest, fragment.tokens) for fragment in self.prefix)

    @classmethod
    def json_fields(cls, data: Mapping[str, Any]) -> Mapping[str, Any]:
        """The data with the prefix as values."""
        return {**data, "prefix": [{"digest": digest, "tokens": tokens} for digest, tokens in data.get("prefix", ())]}

    def record(self, key: str) -> Record | None:
        """The live record of that key."""
        return next((record for record in self.records if record.key == key), None)


@dataclass(frozen=True, slots=True)
class Writes:
    """All that one turn writes: a store takes it in one trip, and keeps all of it or nothing.

    `state` is the State after the turn; its revision is set by the store. `decisions` are logged under `turn_id`,
    which they need. `events`, what the change of the State means, are for stores with `keeps_events`, which put each
    into the stream of the conversation once; others leave them out.
    """

    state: State
    turn_id: str = ""
    decisions: tuple[Decision, ...] = ()
    events: tuple[Event, ...] = ()

    def __post_init__(self) -> None:
        """Raises ValueError for decisions of no turn, which nobody could find again."""
        if self.decisions and not self.turn_id:
            raise ValueError("decisions are kept by their turn; give `turn_id` with them")


SKILL, SECTION, ARTIFACT, DOCUMENT, CONTEXT = "skill:", "section:", "artifact:", "document:", "context:"
"""What the keys of records begin with."""


def skill_key(skill_id: str) -> str:
    """The key of a skill's record."""
    return f"{SKILL}{skill_id}"


def full_key(name: str) -> str:
    """The key that a person means: a skill's id stands for the skill's own key."""
    return name if ":" in name else skill_key(name)


def artifact_key(skill_id: str, artifact_id: str) -> str:
    """The key of an artifact's record; an artifact's id is unique within its skill only."""
    return f"{ARTIFACT}{skill_id}/{artifact_id}"


def section_key(skill_id: str, section: str) -> str:
    """The key of the record of one section of a skill's text."""
    return f"{SECTION}{skill_id}/{section}"


def document_key(skill_id: str, artifact_id: str, section: str) -> str:
    """The key of the record of one section of an artifact that was read by itself; no section means all of it."""
    return f"{DOCUMENT}{skill_id}/{artifact_id}#{section}"


def is_read_apart(key: str) -> bool:
    """Whether the key is of a text that was read by itself, beside the skill's own block."""
    return key.startswith((SECTION, DOCUMENT))


def skill_of(key: str) -> str | None:
    """The skill that a key belongs to; None for entity context."""
    kind, _, rest = key.partition(":")
    return None if kind == "context" else rest.partition("/")[0]


def context_key(entity: str, section: str) -> str:
    """The key of the record of one section of an entity's context."""
    return f"{CONTEXT}{entity}:{section}"


def claim(state: State, records: Sequence[Record]) -> State:
    """Enter records, given or claimed; what they replace is superseded, what is there already stays as it is."""
    for record in records:
        old = state.record(record.key)
        if old is not None and _same_giving(old, record):
            continue
        kept = tuple(other for other in state.records if other.key != record.key)
        superseded = state.superseded
        if old is not None and old.known and old.carrier != record.carrier:
            superseded = (*superseded, Superseded(old, record.carrier))
        state = replace(state, records=(*kept, record), superseded=superseded)
    return state


def adopt(state: State, record: Record) -> State:
    """Enter the record of a text that the transcript shows although nothing was recorded."""
    return claim(state, (replace(record, state=Delivery.GIVEN, until=None, told=""),))


def confirm(state: State, holder: str, now: float) -> State:
    """What this turn claimed was delivered; other holders' records stay as they are."""
    return _changed(state, lambda record: _open_claim(record, holder), _given_at(now))


def release(state: State, holder: str) -> State:
    """What this turn claimed was not delivered after all; what it had superseded or dropped stands again."""
    after = _withdraw(state, lambda record: _open_claim(record, holder))
    if after is state or not any(one.dropped == holder for one in after.superseded):
        return after
    live = {record.key for record in after.records}
    staying = [one for one in after.superseded if one.dropped != holder or one.by or one.record.key in live]
    back = [one.record for one in after.superseded if one not in staying]
    superseded = tuple(replace(one, dropped="") if one.dropped == holder else one for one in staying)
    return replace(after, records=(*after.records, *back), superseded=superseded)


def hold(state: State, holder: str) -> State:
    """What this turn claimed waits for a person and does not expire, until `resume`, `confirm` or `release`."""
    return _changed(state, lambda r: _open_claim(r, holder) and r.until is not None, lambda r: replace(r, until=None))


def held_keys(state: State, holder: str) -> tuple[str, ...]:
    """The keys of this turn's claims that wait for a person."""
    return tuple(record.key for record in state.records if _open_claim(record, holder) and record.until is None)


def resume(state: State, waits: Callable[[str], bool], now: float) -> State:
    """The turns that wait for a person have 60 s to deliver, but for those with a claim on a skill that still waits."""
    held = [record for record in state.records if record.state is Delivery.CLAIMED and record.until is None]
    waiting = {record.holder for record in held if (skill_id := skill_of(record.key)) is not None and waits(skill_id)}
    free = {record.key for record in held if record.holder not in waiting}
    return _changed(state, lambda r: r.key in free, lambda r: replace(r, until=now + CLAIM_SECONDS))


def reject(state: State, skill_id: str) -> State:
    """A person said no: what is claimed of the skill was not delivered, what was given is evicted, and it has left."""
    carriers = {record.carrier for record in state.records if skill_of(record.key) == skill_id}

    def undelivered(record: Record) -> bool:
        return record.state is Delivery.CLAIMED and (record.carrier in carriers or skill_of(record.key) == skill_id)

    return unload(_withdraw(state, undelivered), skill_id)


def unload(state: State, skill_id: str) -> State:
    """The skill has left and its blocks are to go, with whatever else stands in them."""
    carriers = {record.carrier for record in state.records if skill_of(record.key) == skill_id}
    for key in [record.key for record in state.records if record.carrier in carriers]:
        state = evict(state, key)
    return disengage(state, skill_id)


def disengage(state: State, skill_id: str) -> State:
    """The skill no longer applies; what was given of it stays recorded, so that its text is not given twice.

    A cursor on it goes, so that the skill graph begins again.
    """
    engaged = tuple(entry for entry in state.engaged if entry.skill_id != skill_id)
    restraining = tuple(entry for entry in state.restraining if entry.skill_id != skill_id)
    cursor = None if state.cursor is not None and state.cursor.skill == skill_id else state.cursor
    after = replace(state, engaged=engaged, restraining=restraining, cursor=cursor)
    return state if after == state else after


def expire(state: State, now: float) -> State:
    """Drop the claims whose time is over, so that a crashed turn never blocks a skill for longer."""
    return _withdraw(state, lambda record: record.expired_at(now))


def evict(state: State, key: str) -> State:
    """Forget the key, so that it is given again when wanted; its old text is never adopted again."""
    record = state.record(key)
    if record is None:
        return state
    kept = tuple(other for other in state.records if other.key != key)
    old = (Superseded(record, ""),) if record.known else ()
    return replace(state, records=kept, superseded=(*state.superseded, *old))


def drop(state: State, carriers: Collection[str], turn_id: str) -> State:
    """The turn asks the host to take the blocks out of the history; what they held is given again when wanted."""
    kept = tuple(record for record in state.records if record.carrier not in carriers)
    gone = (Superseded(record, "", turn_id) for record in state.records if record.carrier in carriers)
    old = (replace(one, dropped=turn_id) if one.record.carrier in carriers else one for one in state.superseded)
    return replace(state, records=kept, superseded=(*old, *gone))


def clear(state: State) -> State:
    """Forget all but the revision, so that a lost swap is still noticed, and what a sub-agent may do at most."""
    return State(revision=state.revision, limits=state.limits)


def _open_claim(record: Record, holder: str) -> bool:
    return record.holder == holder and record.state is Delivery.CLAIMED


def _same_giving(old: Record, new: Record) -> bool:
    return (old.key, old.digest, old.rung, old.carrier, old.holder) == (
        new.key,
        new.digest,
        new.rung,
        new.carrier,
        new.holder,
    ) and (old.state is Delivery.GIVEN or new.state is Delivery.CLAIMED)


def _withdraw(state: State, condition: Callable[[Record], bool]) -> State:
    gone = tuple(record for record in state.records if condition(record))
    if not gone:
        return state
    kept = tuple(record for record in state.records if not condition(record))
    live = {record.key for record in kept}
    carriers = {record.carrier for record in gone}
    back = tuple(s.record for s in state.superseded if s.by in carriers and s.record.key not in live)
    staying = tuple(s for s in state.superseded if s.by not in carriers)
    # What comes back may itself be a claim that is to be withdrawn.
    return _withdraw(replace(state, records=(*kept, *back), superseded=staying), condition)


def _changed(state: State, condition: Callable[[Record], bool], change: Callable[[Record], Record]) -> State:
    if not any(condition(record) for record in state.records):
        return state
    return replace(state, records=tuple(change(r) if condition(r) else r for r in state.records))


def _given_at(now: float) -> Callable[[Record], Record]:
    return lambda record: replace(record, state=Delivery.GIVEN, at=now, until=None)
