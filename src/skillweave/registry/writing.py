"""The port of a store of skills: a source that can be written to and keeps every version it ever had."""

import hashlib
from collections.abc import AsyncIterator, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from skillweave.closing import ClosableOnExit
from skillweave.registry.agents import Agent
from skillweave.registry.definitions import Contents, Defined, Definition
from skillweave.registry.source import Reader, Source, Streamed, Versioned, stream_of
from skillweave.skill import ArtifactRef, Skill


class Change(StrEnum):
    """What writing a definition changed; nothing is stored of one that was refused."""

    INSERTED = "inserted"
    UPDATED = "updated"
    UNCHANGED = "unchanged"
    REFUSED = "refused"


@dataclass(frozen=True, slots=True)
class Entry:
    """A definition that is to be stored, with the content of its artifacts by id."""

    definition: Definition
    artifacts: Contents = field(default_factory=lambda: MappingProxyType({}))


@dataclass(frozen=True, slots=True)
class Written:
    """What became of an entry: the skill as it is stored, or why it was refused."""

    change: Change
    skill: Skill | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class StoredVersion:
    """A version of a skill that was published once; `at` is when, in seconds of the store's clock."""

    skill: Skill
    content_hash: str
    at: float
    in_use: bool


@runtime_checkable
class WritableSource(Source, Versioned, Streamed, ClosableOnExit, Protocol):
    """A store of skills of one tenant; see `skillweave_testing.sources.WritableSourceContract`.

    A version is known by its content hash, which covers its artifacts, and never changes. All methods raise
    SourceUnavailable; `close` gives back the connection of all tenants.
    """

    @property
    def tenant(self) -> str:
        """Whose skills these are; the default tenant is the empty text."""
        ...

    def for_tenant(self, tenant: str) -> "WritableSource":
        """The skills of another tenant in the same store (see `tenant_of`). Raises InvalidValue for a bad name."""
        ...

    async def publish(self, definition: Definition, artifacts: Contents = MappingProxyType({})) -> Written:
        """Stores a version and puts it in use; what is in use already is unchanged. Raises InvalidSkill."""
        ...

    async def upsert(self, entries: Iterable[Entry]) -> tuple[Written, ...]:
        """Publish many in one trip; what became of each, in their order. A bad definition is refused by itself."""
        ...

    async def roll_back(self, skill_id: str, content_hash: str) -> Skill:
        """Put an earlier version in use; raises SkillNotFound and VersionNotFound."""
        ...

    async def versions(self, skill_id: str) -> tuple[StoredVersion, ...]:
        """Every version of a skill, the one that was published last first; raises SkillNotFound."""
        ...

    async def remove(self, skill_id: str) -> Skill:
        """Take a skill out of use, whose versions stay and can be rolled back to; raises SkillNotFound."""
        ...

    async def put_agents(self, agents: Iterable[Agent]) -> tuple[Change, ...]:
        """Store agents by their ids in one trip, in place of those that are there; what changed, in their order."""
        ...

    async def remove_agent(self, agent_id: str) -> Agent:
        """Take an agent away; raises AgentNotFound."""
        ...


CHARACTERS = 4
"""Of a text that make about one token."""


def hashed(defined: Defined) -> Defined:
    """The definition as stores keep it: with the SHA-256 of each artifact, so that another content is another value.

    An artifact that is text and does not say how many tokens it has gets an estimate.
    """
    refs = tuple(_hashed(ref, defined.contents.get(ref.id)) for ref in defined.skill.artifacts)
    return replace(defined, skill=replace(defined.skill, artifacts=refs))


def _hashed(ref: ArtifactRef, content: bytes | None) -> ArtifactRef:
    if content is None:
        return ref
    tokens = ref.token_estimate
    if tokens is None and b"\0" not in content:
        with suppress(UnicodeDecodeError):
            tokens = -(-len(content.decode()) // CHARACTERS)
    return replace(ref, content_hash=hashlib.sha256(content).hexdigest(), token_estimate=tokens)


def content_hash_of(skill: Skill) -> str:
    """What tells versions apart: the skill's digest, or a SHA-256 over it, its artifacts' hashes and its phrases."""
    if not skill.artifacts and not skill.phrases:
        return skill.digest
    parts = [*sorted(f"{ref.id}\n{ref.content_hash}" for ref in skill.artifacts), *skill.phrases]
    return hashlib.sha256("\n".join((skill.digest, *parts)).encode("utf-8", "surrogatepass")).hexdigest()


async def entries_of(source: Source) -> AsyncIterator[Entry]:
    """Every skill of a source with its artifacts, ready to be stored elsewhere; one at a time where it streams."""
    async for part in stream_of(source):
        for skill in part.skills:
            yield await entry_of(source, skill)


async def entry_of(source: Reader, skill: Skill) -> Entry:
    """A skill of the source with the content of all of its artifacts; raises ArtifactNotFound."""
    return Entry(skill, {ref.id: await source.read(skill, ref.id) for ref in skill.artifacts})
