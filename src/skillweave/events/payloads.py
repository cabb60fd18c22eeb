"""What each of our own events says: a frozen value whose fields are its JSON form (spec 4.4, 6.4 and 8)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from skillweave.codec import Portable


class BuiltIn(Portable):
    """The payload of one of skillweave's own events: a frozen value whose fields are its JSON form."""

    __slots__ = ()
    event_type: ClassVar[str]


def built_in(event_type: str) -> type[BuiltIn] | None:
    """Returns the payload of our own event of that type; None for a skill's."""
    kinds = (one for one in globals().values() if isinstance(one, type) and issubclass(one, BuiltIn))
    return next((kind for kind in kinds if vars(kind).get("event_type") == event_type), None)


@dataclass(frozen=True, slots=True)
class Given(BuiltIn):
    """A block of a skill that a turn gives; `claimed` if the host has to confirm. `score` is the `matcher`'s own."""

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
    """A text is forgotten; `block` carried it. `released` was not delivered, and what it replaced stands again."""

    event_type: ClassVar[str] = "skill.evicted"

    skill_id: str
    digest: str
    rung: str
    tokens: int
    block: str
    cause: str


@dataclass(frozen=True, slots=True)
class SpawnRequested(BuiltIn):
    """Somebody wants a sub-agent; `skills` None asks for no restriction, an empty list for no capability."""

    event_type: ClassVar[str] = "spawn.requested"

    label: str | None
    skills: tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class SpawnValidated(BuiltIn):
    """The set of skills is in order; `spawned` is the sub-agent's conversation, `allowed_tools` None no limit."""

    event_type: ClassVar[str] = "spawn.validated"

    label: str | None
    spawned: str
    skills: tuple[str, ...] | None
    allowed_tools: tuple[str, ...] | None
    forbidden_tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpawnRejected(BuiltIn):
    """Nothing starts; `codes` are those of the errors, in their order."""

    event_type: ClassVar[str] = "spawn.rejected"

    label: str | None
    skills: tuple[str, ...] | None
    codes: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SpawnStarted(BuiltIn):
    """The sub-agent runs, in the conversation `spawned`."""

    event_type: ClassVar[str] = "spawn.started"

    label: str | None
    spawned: str


@dataclass(frozen=True, slots=True)
class ToolBlocked(BuiltIn):
    """A tool call that the engaged skills do not allow (V004), without its arguments; `allowed` None: any other."""

    event_type: ClassVar[str] = "tool.blocked"

    tool: str
    code: str
    allowed: tuple[str, ...] | None
    forbidden: tuple[str, ...]
    call_id: str | None


@dataclass(frozen=True, slots=True)
class TurnDecided(BuiltIn):
    """A turn is stored: how its decisions came out, what it costs, how long it took.

    `revision` is that of the State and orders the turns, None while the ledger is away. `skills` are those in context,
    `offered` those of the tail; `tokens` has catalog, tail, injected and left.
    """

    event_type: ClassVar[str] = "turn.decided"

    revision: int | None
    generation: int
    placement: str
    delivery: str
    skills: tuple[str, ...]
    outcomes: Mapping[str, int] = field(hash=False)
    tokens: Mapping[str, int] = field(hash=False)
    diagnostics: tuple[str, ...]
    duration_ms: float
    offered: tuple[str, ...] = ()


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
    """What a person said for one digest of a skill, without why; `withdrawn` if it was taken back."""

    event_type: ClassVar[str] = "checkpoint.decided"

    skill_id: str
    checkpoint: str
    digest: str
    verdict: str
    by: str


@dataclass(frozen=True, slots=True)
class CursorMoved(BuiltIn):
    """The conversation is at another skill of its graph, or the same one by a loop; `visits` counts this one."""

    event_type: ClassVar[str] = "cursor.moved"

    from_skill: str | None
    to_skill: str
    by: str
    reason: str
    visits: int
    graph: str
