"""Skills as the service lists, takes and checks them."""

from base64 import b64decode
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Self

from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic
from skillweave.errors import InvalidData, InvalidSkill
from skillweave.formats.native import to_dict
from skillweave.frozen import EMPTY
from skillweave.registry import Agent, Change, StoredVersion
from skillweave.skill import ArtifactRef, Skill, Status

LONGEST_HASH = 200
"""Characters of a content hash."""
MOST_CHECKED = 500
"""Definitions that one check looks at."""


@dataclass(frozen=True, slots=True)
class SkillListed(Portable):
    """A skill in a list: what it is about, and which definition of it is in use; `source` is where it comes from."""

    id: str
    name: str
    description: str
    version: str | None
    status: Status
    domain_tags: tuple[str, ...]
    source: str | None
    digest: str

    @classmethod
    def of(cls, skill: Skill) -> Self:
        """The line of a skill."""
        source = None if skill.origin is None else skill.origin.source
        return cls(
            *(skill.id, skill.name, skill.description, skill.version),
            *(skill.status, skill.domain_tags, source, skill.digest),
        )


@dataclass(frozen=True, slots=True)
class SkillPage(Portable):
    """Skills by their ids; `next` is the `after` of the page behind it, None at the end."""

    items: tuple[SkillListed, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class AgentPage(Portable):
    """Agents by their ids; `next` is the `after` of the page behind it, None at the end."""

    items: tuple[Agent, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class ArtifactPage(Portable):
    """The documents of a skill by their ids; `next` is the `after` of the page behind it, None at the end."""

    items: tuple[ArtifactRef, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class ArtifactContent(Portable):
    """What stands in a document: `text`, or `base64` of its bytes. Raises InvalidSkill for both, none, or no base64."""

    json_keys: ClassVar[tuple[str, ...]] = ("text?", "base64?")
    json_exact: ClassVar[bool] = True

    text: str | None = None
    base64: str | None = None

    def __post_init__(self) -> None:
        if (self.text is None) == (self.base64 is None):
            raise InvalidSkill("the content of an artifact has either `text` or `base64`; give one of the two")
        try:
            _ = self.data
        except ValueError as error:
            raise InvalidSkill(f"the `base64` of an artifact cannot be read: {error}; encode it anew") from None

    @property
    def data(self) -> str | bytes:
        """The text or the bytes."""
        return b64decode(self.base64, validate=True) if self.base64 is not None else self.text or ""


@dataclass(frozen=True, slots=True)
class SkillDefinition(Portable):
    """A skill to be published: its definition in any spelling, and the content of its documents by their ids.

    Origin and digest are not taken from the definition, for the service knows them better. A document of which only the
    reference is given keeps the content that the store has of it.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("definition", "artifacts?")
    json_exact: ClassVar[bool] = True

    definition: Mapping[str, object] = field(hash=False)
    artifacts: Mapping[str, ArtifactContent] = field(default=EMPTY, hash=False)

    def spelled(self) -> dict[str, object]:
        """The definition in one of the four spellings; raises InvalidData for a published skill that is none."""
        if "digest" not in self.definition or not isinstance(self.definition.get("text"), Mapping):
            return dict(self.definition)
        return dict(to_dict(Skill.from_dict(self.definition)))

    def contents(self) -> dict[str, str | bytes]:
        """The content of the documents by their ids."""
        return {artifact: one.data for artifact, one in self.artifacts.items()}


@dataclass(frozen=True, slots=True)
class SkillPublished(Portable):
    """What publishing changed, and the version that is in use; `diagnostics` are what was found in the definition."""

    change: Change
    id: str
    version: str | None
    content_hash: str
    diagnostics: tuple[Diagnostic, ...] = ()


@dataclass(frozen=True, slots=True)
class SkillVersion(Portable):
    """A version of a skill that was published once; `at` is when, in seconds of the store's clock."""

    content_hash: str
    version: str | None
    at: float
    in_use: bool

    @classmethod
    def of(cls, stored: StoredVersion) -> Self:
        """The line of a stored version."""
        return cls(stored.content_hash, stored.skill.version, stored.at, stored.in_use)


@dataclass(frozen=True, slots=True)
class VersionPage(Portable):
    """Versions of a skill, the latest first; `next` is the `after` of the page behind it, None at the end."""

    items: tuple[SkillVersion, ...]
    next: str | None = None


@dataclass(frozen=True, slots=True)
class RollbackRequest(Portable):
    """The version that is to be in use again, by its content hash. Raises InvalidData for what can be none."""

    json_exact: ClassVar[bool] = True

    content_hash: str

    def __post_init__(self) -> None:
        if not self.content_hash.isprintable() or not 1 <= len(self.content_hash) <= LONGEST_HASH:
            why = f"`content_hash` is {self.content_hash[:60]!r}; give one of the list of versions"
            raise InvalidData(why, place="content_hash")


@dataclass(frozen=True, slots=True)
class CheckRequest(Portable):
    """Skills to be checked together, none of which is kept. Raises InvalidSkill over 500."""

    json_exact: ClassVar[bool] = True

    skills: tuple[SkillDefinition, ...]

    def __post_init__(self) -> None:
        if len(self.skills) > MOST_CHECKED:
            raise InvalidSkill(f"a check looks at {MOST_CHECKED} skills at most, not at {len(self.skills):,}")


@dataclass(frozen=True, slots=True)
class CheckReport(Portable):
    """How many definitions became a skill, and every finding, as `skillweave check` has them."""

    loaded: int
    diagnostics: tuple[Diagnostic, ...]
