"""The port of a store of skills: a source that can be written to and keeps every version it ever had."""

import hashlib
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from skillweave.closing import ClosableOnExit
from skillweave.registry.agents import Agent
from skillweave.registry.definitions import Contents, Defined, Definition
from skillweave.registry.source import Reader, Source, Streamed, Versioned, stream_of
from skillweave.skill import Skill


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
    """A store of skills. A backend is what passes `skillweave_testing.sources.WritableSourceContract`.

    Each value sees the skills of one tenant. A version is known by its content hash, which covers the definition and
    the content of its artifacts; it is never changed or forgotten. All methods raise SourceUnavailable when the store
    does not answer; `close` gives back the connection of all tenants.
    """

    @property
    def tenant(self) -> str:
        """Whose skills these are; the default tenant is the empty text."""
        ...

    def for_tenant(self, tenant: str) -> "WritableSource":
        """The skills of another tenant in the same store, over the same connection.

        The tenant called `default` is the default one, whose `tenant` is the empty text; `skillweave.tenants.tenant_of`
        says so. Raises InvalidValue for what cannot be the name of a tenant.
        """
        ...

    async def publish(self, definition: Definition, artifacts: Contents = MappingProxyType({})) -> Written:
        """Store a version of a skill and put it in use; raises InvalidSkill.

        What is in use already is left unchanged, and a version that was published before is put in use again.
        """
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


def hashed(defined: Defined) -> Defined:
    """The definition as stores keep it, with the SHA-256 of each artifact, so that another content is another value."""
    refs = (
        replace(ref, content_hash=hashlib.sha256(defined.contents[ref.id]).hexdigest())
        if ref.id in defined.contents
        else ref
        for ref in defined.skill.artifacts
    )
    return replace(defined, skill=replace(defined.skill, artifacts=tuple(refs)))


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
