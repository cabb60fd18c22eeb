"""A store of skills in this process's memory: written to while a program runs, nothing kept afterwards."""

import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from types import MappingProxyType

from skillweave.closing import ClosedOnExit
from skillweave.errors import AgentNotFound, ArtifactNotFound, InvalidSkill, SkillNotFound, VersionNotFound
from skillweave.registry.agents import Agent
from skillweave.registry.definitions import Contents, Defined, Definition, define
from skillweave.registry.source import Loaded
from skillweave.registry.writing import Change, Entry, StoredVersion, Written, content_hash_of, hashed
from skillweave.skill import Skill
from skillweave.tenants import tenant_of

PART = 256
"""Skills in one part of the stream."""


@dataclass(slots=True)
class _Tenant:
    """The versions of each skill by content hash, oldest first; `changes` counts what made `load` answer otherwise."""

    versions: dict[str, dict[str, tuple[Defined, float]]] = field(default_factory=dict)
    in_use: dict[str, str] = field(default_factory=dict)
    agents: dict[str, Agent] = field(default_factory=dict)
    changes: int = 0


@dataclass(frozen=True, eq=False)
class MemorySource(ClosedOnExit):
    """Skills in dictionaries, safe between threads; `clock` gives seconds. Closing it changes nothing."""

    name: str = "memory"
    tenant: str = ""
    clock: Callable[[], float] = time.time
    _tenants: dict[str, _Tenant] = field(default_factory=dict, repr=False)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def __post_init__(self) -> None:
        """Raises InvalidValue for what cannot be the name of a tenant."""
        object.__setattr__(self, "tenant", tenant_of(self.tenant))

    def for_tenant(self, tenant: str) -> "MemorySource":
        """The skills of another tenant in the same dictionaries; raises InvalidValue."""
        return replace(self, tenant=tenant)

    async def version(self) -> str:
        """How often the tenant's skills changed."""
        return str(self._kept().changes)

    async def load(self, previous: Loaded | None = None) -> Loaded:
        """The skills in use, sorted by id, and the agents."""
        return Loaded(tuple(self._used().values()), agents=self._agents())

    async def stream(self) -> AsyncIterator[Loaded]:
        """The skills in use, sorted by id, 256 at a time; the first part has the agents."""
        skills = tuple(self._used().values())
        yield Loaded(skills[:PART], agents=self._agents())
        for begin in range(PART, len(skills), PART):
            yield Loaded(skills[begin : begin + PART])

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """The content that was published with that version of the skill; raises ArtifactNotFound."""
        for defined, _ in list(self._kept().versions.get(skill.id, {}).values()):
            if defined.skill == skill:
                return await defined.read(skill, artifact)
        raise ArtifactNotFound(skill.id, artifact, f"the skill is not one of '{self.name}'")

    async def publish(self, definition: Definition, artifacts: Contents = MappingProxyType({})) -> Written:
        """Store a version and put it in use; raises InvalidSkill."""
        defined = hashed(define(definition, self.name).with_contents(artifacts))
        skill_id = defined.skill.id
        with self._lock:
            kept = self._kept()
            known = kept.versions.setdefault(skill_id, {})
            defined = defined.with_distinct_digest(one.skill for one, _ in known.values())
            content_hash = content_hash_of(defined.skill)
            defined, _ = known.setdefault(content_hash, (defined, self.clock()))
            if kept.in_use.get(skill_id) == content_hash:
                return Written(Change.UNCHANGED, defined.skill)
            change = Change.UPDATED if skill_id in kept.in_use else Change.INSERTED
            kept.in_use[skill_id] = content_hash
            kept.changes += 1
            return Written(change, defined.skill)

    async def upsert(self, entries: Iterable[Entry]) -> tuple[Written, ...]:
        """Publish many; what became of each, in their order."""
        return tuple([await self._upsert(entry) for entry in entries])

    async def roll_back(self, skill_id: str, content_hash: str) -> Skill:
        """Put an earlier version in use; raises SkillNotFound and VersionNotFound."""
        with self._lock:
            kept = self._kept()
            known = self._versions(skill_id)
            if content_hash not in known:
                raise VersionNotFound(skill_id, content_hash, known)
            if kept.in_use.get(skill_id) != content_hash:
                kept.in_use[skill_id] = content_hash
                kept.changes += 1
            return known[content_hash][0].skill

    async def versions(self, skill_id: str) -> tuple[StoredVersion, ...]:
        """Every version of a skill, the newest first; raises SkillNotFound."""
        with self._lock:
            used = self._kept().in_use.get(skill_id)
            return tuple(
                StoredVersion(defined.skill, content_hash, at, content_hash == used)
                for content_hash, (defined, at) in reversed(self._versions(skill_id).items())
            )

    async def remove(self, skill_id: str) -> Skill:
        """Take a skill out of use; raises SkillNotFound."""
        with self._lock:
            kept = self._kept()
            if skill_id not in kept.in_use:
                raise SkillNotFound(skill_id, kept.in_use)
            kept.changes += 1
            return kept.versions[skill_id][kept.in_use.pop(skill_id)][0].skill

    async def put_agents(self, agents: Iterable[Agent]) -> tuple[Change, ...]:
        """Store agents by their ids; what changed, in their order."""
        with self._lock:
            return tuple([self._put_agent(agent) for agent in agents])

    async def remove_agent(self, agent_id: str) -> Agent:
        """Take an agent away; raises AgentNotFound."""
        with self._lock:
            kept = self._kept()
            if agent_id not in kept.agents:
                raise AgentNotFound(agent_id, kept.agents)
            kept.changes += 1
            return kept.agents.pop(agent_id)

    def _put_agent(self, agent: Agent) -> Change:
        kept = self._kept()
        before = kept.agents.get(agent.id)
        if before == agent:
            return Change.UNCHANGED
        kept.agents[agent.id] = agent
        kept.changes += 1
        return Change.INSERTED if before is None else Change.UPDATED

    def _agents(self) -> Mapping[str, Agent]:
        with self._lock:
            return MappingProxyType(dict(sorted(self._kept().agents.items())))

    async def _upsert(self, entry: Entry) -> Written:
        try:
            return await self.publish(entry.definition, entry.artifacts)
        except InvalidSkill as error:
            return Written(Change.REFUSED, why=str(error))

    def _kept(self) -> _Tenant:
        return self._tenants.setdefault(self.tenant, _Tenant())

    def _versions(self, skill_id: str) -> dict[str, tuple[Defined, float]]:
        kept = self._kept()
        if skill_id not in kept.versions:
            raise SkillNotFound(skill_id, kept.versions)
        return kept.versions[skill_id]

    def _used(self) -> dict[str, Skill]:
        with self._lock:
            kept = self._kept()
            return {skill_id: kept.versions[skill_id][used][0].skill for skill_id, used in sorted(kept.in_use.items())}
