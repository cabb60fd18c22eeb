"""The value that everything is about: a Skill and its parts, frozen and free of I/O (spec 1.1)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from skillweave.codec import Portable
from skillweave.frozen import EMPTY as EMPTY  # noqa: PLC0414 - read from here too
from skillweave.frozen import FrozenJson as FrozenJson  # noqa: PLC0414 - read from here too
from skillweave.frozen import Json as Json  # noqa: PLC0414 - read from here too
from skillweave.frozen import freeze as freeze  # noqa: PLC0414 - read from here too
from skillweave.frozen import freeze_mapping as freeze_mapping  # noqa: PLC0414 - read from here too
from skillweave.frozen import thaw as thaw  # noqa: PLC0414 - read from here too

SKILL_ID = re.compile(r"[A-Za-z0-9_-]{1,100}", re.ASCII)
"""The one form of an id, the same as in a `SKILL_SELECT:` marker (seed 000); use with `fullmatch`."""


class Status(StrEnum):
    """`active` and `deprecated` skills are selected, the latter with a warning; others are not."""

    ACTIVE = "active"
    DRAFT = "draft"
    DISABLED = "disabled"
    DEPRECATED = "deprecated"

    @property
    def selectable(self) -> bool:
        """Whether a skill of this status may be given to an agent."""
        return self in SELECTABLE


SELECTABLE = frozenset({Status.ACTIVE, Status.DEPRECATED})
"""The statuses of skills that may be given to an agent."""


@dataclass(frozen=True, slots=True)
class Triggers(Portable):
    """Declared conditions in the user's words; `never` phrases veto, `examples` are phrases that must select."""

    keywords: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    examples: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class OutputContract(Portable):
    """What the skill promises to produce: a type name and an optional JSON Schema (seed 002)."""

    type: str
    schema: Mapping[str, FrozenJson] | None = field(default=None, hash=False)


@dataclass(frozen=True, slots=True)
class SkillText(Portable):
    """The tier 2 text in its parts; `instructions` is the Markdown body, `details` the long description."""

    details: str | None = None
    instructions: str | None = None
    steps: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    postconditions: tuple[str, ...] = ()
    output_format: str | None = None
    output_contract: OutputContract | None = None


@dataclass(frozen=True, slots=True)
class ToolRules(Portable):
    """Tool permissions of one skill: `allowed` None says nothing, `()` is zero capability (V005)."""

    allowed: tuple[str, ...] | None = None
    forbidden: tuple[str, ...] = ()
    preapproved: tuple[str, ...] = ()


class RelationKind(StrEnum):
    """How one skill is related to another (seed 002)."""

    REQUIRES = "requires"
    INCOMPATIBLE = "incompatible"
    FORBIDS = "forbids"


class RuleList(StrEnum):
    """Which of seed 002's two lists a relation came from; kept so that the spelling round-trips."""

    COMPATIBILITY = "compatibility_rules"
    COMPOSABILITY = "composability_rules"


@dataclass(frozen=True, slots=True)
class Relation(Portable):
    """One rule about another skill, owned by the skill that declares it."""

    kind: RelationKind
    skill: str
    reason: str | None = None
    list: RuleList = RuleList.COMPOSABILITY


class CheckpointScope(StrEnum):
    """What a yes at a checkpoint before a tool covers.

    `call`: the one call that the person was shown, with its arguments. `conversation`: every later call that the
    checkpoint stands before, until the skill changes.
    """

    CALL = "call"
    CONVERSATION = "conversation"


@dataclass(frozen=True, slots=True)
class Checkpoint(Portable):
    """A point where a person must approve; with `before`, ahead of that tool's calls, as far as `scope` says."""

    name: str
    before: str | None = None
    blocking: bool = True
    reviewer: str | None = None
    asks: str | None = None
    scope: CheckpointScope = CheckpointScope.CALL

    @property
    def per_call(self) -> bool:
        """Whether each call has to be decided by itself."""
        return self.before is not None and self.scope != CheckpointScope.CONVERSATION


@dataclass(frozen=True, slots=True)
class ArtifactRef(Portable):
    """A tier 3 document by reference; `size` in bytes, `content_hash` (SHA-256 hex) is known after the first read."""

    id: str
    name: str
    media_type: str
    size: int
    content_hash: str | None = None
    token_estimate: int | None = None


@dataclass(frozen=True, slots=True)
class Origin(Portable):
    """Where a skill came from: the source's name and the place inside it (for a folder skill, its SKILL.md)."""

    source: str
    location: str


@dataclass(frozen=True, slots=True)
class Skill(Portable):
    """One package of specialised instructions, whatever spelling it was written in.

    `digest` is the SHA-256 hex of the definition at load; `spelling` is the id as its author wrote it, where that is
    no valid id; `name` is for people. `phrases` are requests that people might type, written for the library beside the
    definition; its author's own `triggers.examples` go before them. Equal definitions are equal values.
    """

    id: str
    name: str
    description: str
    version: str | None = None
    status: Status = Status.ACTIVE
    triggers: Triggers = Triggers()
    domain_tags: tuple[str, ...] = ()
    text: SkillText = SkillText()
    tools: ToolRules | None = None
    relations: tuple[Relation, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    emits: tuple[str, ...] = ()
    artifacts: tuple[ArtifactRef, ...] = ()
    license: str | None = None
    compatibility: str | None = None
    metadata: Mapping[str, FrozenJson] = field(default=EMPTY, hash=False)
    extra: Mapping[str, FrozenJson] = field(default=EMPTY, hash=False)
    spelling: str | None = None
    origin: Origin | None = None
    digest: str = ""
    phrases: tuple[str, ...] = ()

    @property
    def has_rules(self) -> bool:
        """Whether it rules on tool calls, by its tool rules or by checkpoints."""
        return self.tools is not None or bool(self.checkpoints)

    def requires(self) -> tuple[str, ...]:
        """Ids of the companions this skill must not be without, in declaration order, once each."""
        return tuple(dict.fromkeys(r.skill for r in self.relations if r.kind is RelationKind.REQUIRES))

    def excludes(self) -> tuple[str, ...]:
        """Ids that must not be present together with this skill, in declaration order, once each."""
        return tuple(dict.fromkeys(r.skill for r in self.relations if r.kind is not RelationKind.REQUIRES))


def is_skill_id(text: str) -> bool:
    """Whether the text has the one form of an id: 1 to 100 ASCII letters, digits, `_` or `-`."""
    return SKILL_ID.fullmatch(text) is not None


def title_of(skill_id: str) -> str:
    """The display name of a skill that has none: its id in title case, `spacing-check` as `Spacing Check`."""
    words = re.split(r"[-_]+", skill_id)
    return " ".join(word[:1].upper() + word[1:] for word in words if word) or skill_id
