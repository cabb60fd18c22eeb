"""State: everything about one conversation, one versioned value."""

from dataclasses import dataclass
from enum import StrEnum

from skillweave.disclose.rung import Rung
from skillweave.graph.cursor import Cursor


class Delivery(StrEnum):
    """Whether a block is known to have reached the context."""

    CLAIMED = "claimed"
    GIVEN = "given"


@dataclass(frozen=True, slots=True)
class Record:
    """One row about something given: `key` is `skill:{id}`, `artifact:{skill}/{id}` or `context:{entity}:{section}`.

    `digest` is the definition's or the data's, `carrier` names the block that holds the text, `tokens` is this key's
    share of the block. `holder` is the turn that gave it; `at` and `until` are seconds of the store's clock, `until`
    the end of a claim, None for one without end.
    """

    key: str
    digest: str
    rung: Rung
    carrier: str
    tokens: int
    state: Delivery
    holder: str
    at: float
    until: float | None = None

    def expired_at(self, now: float) -> bool:
        """Whether this is a claim whose turn never came back."""
        return self.state is Delivery.CLAIMED and self.until is not None and now >= self.until


@dataclass(frozen=True, slots=True)
class Superseded:
    """A record whose text may still be in the context although another block, or an eviction, took its place.

    `by` is the carrier of the block that replaced it, the empty text for an eviction. Its tokens count, and its text
    is not adopted again.
    """

    record: Record
    by: str


@dataclass(frozen=True, slots=True)
class Engaged:
    """A skill that applies to the conversation: `by` is the matcher that engaged it, `since` the turn that did.

    `idle` counts the user messages since its last match.
    """

    skill_id: str
    by: str
    since: str
    idle: int = 0


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's verdict on a checkpoint, valid for one digest of the skill (spec 5.5)."""

    skill_id: str
    checkpoint: str
    digest: str
    verdict: str
    by: str
    at: float


@dataclass(frozen=True, slots=True)
class Fragment:
    """A piece of the prompt prefix as it was last sent: the digest of its text and its tokens."""

    digest: str
    tokens: int


@dataclass(frozen=True, slots=True)
class State:
    """All about one conversation. `revision` 0 means that nothing is stored yet; every swap stores the next one."""

    revision: int = 0
    records: tuple[Record, ...] = ()
    superseded: tuple[Superseded, ...] = ()
    engaged: tuple[Engaged, ...] = ()
    cursor: Cursor | None = None
    approvals: tuple[Approval, ...] = ()
    prefix: tuple[Fragment, ...] = ()
    last_turn: str = ""

    def record(self, key: str) -> Record | None:
        """The live record of that key."""
        return next((record for record in self.records if record.key == key), None)


def skill_key(skill_id: str) -> str:
    """The key of a skill's record."""
    return f"skill:{skill_id}"


def artifact_key(skill_id: str, artifact_id: str) -> str:
    """The key of an artifact's record; an artifact's id is unique within its skill only."""
    return f"artifact:{skill_id}/{artifact_id}"


def context_key(entity: str, section: str) -> str:
    """The key of the record of one section of an entity's context."""
    return f"context:{entity}:{section}"
