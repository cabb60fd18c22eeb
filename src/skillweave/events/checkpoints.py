"""The events of a checkpoint: a person is asked, a person has answered."""

from dataclasses import dataclass
from typing import ClassVar

from skillweave.events.event import BuiltIn


@dataclass(frozen=True, slots=True)
class CheckpointPending(BuiltIn):
    """A blocking checkpoint that now waits for a person; `before` names the tool that waits with it, if one does."""

    event_type: ClassVar[str] = "checkpoint.pending"

    skill_id: str
    checkpoint: str
    digest: str
    before: str | None
    reviewer: str | None
    asks: str | None


@dataclass(frozen=True, slots=True)
class CheckpointDecided(BuiltIn):
    """What a person said, for one digest of the skill; not why, which is their own text.

    `verdict` is approved, rejected or modified, or `withdrawn` where the verdict of `by` was taken back.
    """

    event_type: ClassVar[str] = "checkpoint.decided"

    skill_id: str
    checkpoint: str
    digest: str
    verdict: str
    by: str
