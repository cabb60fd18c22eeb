"""The events of a skill's text: given, given anew, gone."""

from dataclasses import dataclass
from typing import ClassVar

from skillweave.events.event import BuiltIn


@dataclass(frozen=True, slots=True)
class Given(BuiltIn):
    """A block of a skill that a turn gives: `block` is its message's id, `keys` are the ledger's rows in it.

    `delivery` is `claimed` where the host still has to confirm. `score` compares within one `matcher` only.
    """

    skill_id: str
    version: str | None
    digest: str
    outcome: str
    rung: str
    tokens: int
    matcher: str | None
    score: float | None
    block: str
    keys: tuple[str, ...]
    delivery: str


@dataclass(frozen=True, slots=True)
class SkillInjected(Given):
    """A skill's text, or context for it, that was not there before."""

    event_type: ClassVar[str] = "skill.injected"


@dataclass(frozen=True, slots=True)
class SkillRefreshed(Given):
    """A skill's text in place of an earlier one: newer (`outcome` refreshed) or more of it (upgraded)."""

    event_type: ClassVar[str] = "skill.refreshed"


@dataclass(frozen=True, slots=True)
class SkillEvicted(BuiltIn):
    """A skill's text is forgotten, so that it is given again when wanted; `block` is the message that carried it.

    With the cause `released` a claimed text was not delivered; one that it was to replace stands again.
    """

    event_type: ClassVar[str] = "skill.evicted"

    skill_id: str
    digest: str
    rung: str
    tokens: int
    block: str
    cause: str
