"""From sources into a store: skills with their artifacts and agents, in chunks, so that memory stays the same."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace

from skillweave import Diagnostic, Severity, Skill, Source
from skillweave.errors import ArtifactNotFound, InvalidValue, SourceUnavailable
from skillweave.registry import (
    Agent,
    Change,
    Entry,
    Loaded,
    WritableSource,
    Written,
    agent_twice,
    content_hash_of,
    entry_of,
    place_of,
    shadowed_by,
    stream_of,
)
from skillweave.sources import SkillSource, source_of
from skillweave.values import EMPTY, Code, FrozenDict, Location, Portable, close_all, has_errors

NOT_STORED = Code(
    "not-stored", Severity.ERROR, "a skill or an agent that loads, and that the store refuses or that lacks a document"
)
NOT_KEPT = Code("not-kept", Severity.WARNING, "a part of a pack that a store of skills has no place for")
MOST_ENTRIES = 100
MOST_BYTES = 4 * 1024 * 1024
"""A chunk has so many skills, or so many bytes of artifacts: then it is stored, as a whole."""
Progress = Callable[[int, int], None]
"""Told after each chunk how many skills are dealt with, and how many were read."""


@dataclass(frozen=True, slots=True)
class SeededAgents(Portable):
    """What became of the agents of all sources, as their ids."""

    inserted: tuple[str, ...] = ()
    updated: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Seeded(Portable):
    """What became of the skills of all sources: the content hashes of what is in use now, by id, by what was changed.

    `refused` says of each skill or agent that was not stored why, and what to do about it; `diagnostics` is what was
    found in the sources, with the skills that are shadowed by another source's.
    """

    inserted: Mapping[str, str] = EMPTY
    updated: Mapping[str, str] = EMPTY
    unchanged: Mapping[str, str] = EMPTY
    refused: tuple[Diagnostic, ...] = ()
    agents: SeededAgents = field(default_factory=SeededAgents)
    diagnostics: tuple[Diagnostic, ...] = ()

    @property
    def changed(self) -> bool:
        """Whether the store is another one than before."""
        return bool(self.inserted or self.updated or self.agents.inserted or self.agents.updated)

    @property
    def complete(self) -> bool:
        """Whether everything that the sources describe is stored, or is there already."""
        return not self.refused and not has_errors(self.diagnostics)


async def seed(
    store: WritableSource, *sources: SkillSource, progress: Progress | None = None, tenant: str | None = None
) -> Seeded:
    """Store every skill of the sources with its artifacts, and every agent; what is there already is left unchanged.

    Good skills are stored and bad ones reported. Where two sources have the same id the first counts, as in a registry.
    Chunks are stored one after the other, each as a whole: what was stored before a failure stays, and another call
    stores the rest. It may run many times, and in many processes at once. `tenant` is whose skills they are to be; None
    means the store's own. The store stays open.

    Raises SourceUnavailable when a source or the store does not answer, InvalidValue for what names no skills, and
    SkillweaveError for a scheme that nothing installed can open.
    """
    filling = _Filling(store if tenant is None else store.for_tenant(tenant), progress)
    await filling.store.version()  # one that does not answer is told before anything is read
    opened: list[Source] = []
    try:
        for one in sources:
            source = source_of(one)
            opened += [] if source is one else [source]
            await filling.take(source)
    except SourceUnavailable as error:
        if filling.stored:
            error.add_note(f"skills stored before that: {filling.stored:,}; run it again, and the rest follows")
        raise
    finally:
        await close_all(opened)
    return filling.result()


@dataclass(slots=True)
class _Filling:
    """One run: what waits to be stored, and what became of the rest."""

    store: WritableSource
    progress: Progress | None
    read: int = 0
    dealt_with: int = 0
    _chunk: list[Entry] = field(default_factory=list)
    _bytes: int = 0
    _skills: dict[str, Skill] = field(default_factory=dict)
    _agents: dict[str, tuple[Agent, str]] = field(default_factory=dict)
    _changes: dict[Change, dict[str, str]] = field(default_factory=lambda: {change: {} for change in Change})
    _agent_changes: dict[Change, list[str]] = field(default_factory=lambda: {change: [] for change in Change})
    _refused: list[Diagnostic] = field(default_factory=list)
    _findings: list[Diagnostic] = field(default_factory=list)

    @property
    def stored(self) -> int:
        """How many skills are in the store now as the sources have them."""
        return sum(len(self._changes[change]) for change in (Change.INSERTED, Change.UPDATED, Change.UNCHANGED))

    async def take(self, source: Source) -> None:
        """Store everything that a source holds; its last chunk too."""
        agents: dict[str, Agent] = {}
        async with aclosing(stream_of(source)) as parts:
            async for part in parts:
                self._findings += (*part.diagnostics, *_not_kept(part, source.name))
                self.read += len(part.skills)
                agents.update(part.agents)
                for skill in part.skills:
                    await self._add(source, skill)
        await self._flush()
        # After the skills that they name, so that nobody finds an agent whose skills are still to come.
        await self._put_agents(agents, source.name)

    def result(self) -> Seeded:
        """What became of everything."""
        inserted, updated, unchanged = (
            FrozenDict(self._changes[change]) for change in (Change.INSERTED, Change.UPDATED, Change.UNCHANGED)
        )
        agents = self._agent_changes
        return Seeded(
            inserted,
            updated,
            unchanged,
            tuple(self._refused),
            SeededAgents(*(tuple(agents[change]) for change in (Change.INSERTED, Change.UPDATED, Change.UNCHANGED))),
            tuple(self._findings),
        )

    async def _add(self, source: Source, skill: Skill) -> None:
        held = self._skills.get(skill.id)
        if held is not None:
            self._findings.append(shadowed_by(skill, held))
            self.dealt_with += 1
            return
        self._skills[skill.id] = _remembered(skill)
        try:
            entry = await entry_of(source, skill)
        except ArtifactNotFound as error:
            self._refuse_skill(skill, str(error), "make it readable, or remove it")
            self.dealt_with += 1
            return
        size = sum(map(len, entry.artifacts.values()))
        if self._bytes + size > MOST_BYTES:
            await self._flush()
        self._chunk.append(entry)
        self._bytes += size
        if len(self._chunk) == MOST_ENTRIES:
            await self._flush()

    async def _flush(self) -> None:
        chunk, self._chunk, self._bytes = self._chunk, [], 0
        if chunk:
            for entry, written in zip(chunk, await self.store.upsert(chunk), strict=True):
                self._note(entry, written)
            self.dealt_with += len(chunk)
        if self.progress is not None:
            self.progress(self.dealt_with, self.read)

    def _note(self, entry: Entry, written: Written) -> None:
        if written.skill is not None:
            self._changes[written.change][written.skill.id] = content_hash_of(written.skill)
        elif isinstance(entry.definition, Skill):
            self._refuse_skill(entry.definition, written.why, "correct that")

    def _refuse_skill(self, skill: Skill, why: str, fix: str) -> None:
        self._refuse(f"skill {skill.id!r} is not stored: {why}", fix, place_of(skill), skill.id)

    def _refuse(self, message: str, fix: str, place: str, skill_id: str | None = None) -> None:
        found = NOT_STORED.found(Location(place), message, f"{fix}, and run it again; the others are stored")
        self._refused.append(replace(found, skill=skill_id))

    async def _put_agents(self, agents: Mapping[str, Agent], source: str) -> None:
        new: list[Agent] = []
        for agent_id, agent in agents.items():
            held, first = self._agents.get(agent_id, (None, source))
            if held is None:
                self._agents[agent_id] = agent, source
                new.append(agent)
            elif held != agent:
                self._findings.append(agent_twice(agent_id, source, first))
        for agent, change in await self._stored_agents(new, source):
            self._agent_changes[change].append(agent.id)

    async def _stored_agents(self, agents: Sequence[Agent], source: str) -> list[tuple[Agent, Change]]:
        """What became of each agent; one that the store refuses is reported, and the others are stored."""
        if not agents:
            return []
        try:
            return list(zip(agents, await self.store.put_agents(agents), strict=True))
        except InvalidValue as error:
            if len(agents) > 1:  # of several that came in one trip none is stored
                return [pair for agent in agents for pair in await self._stored_agents([agent], source)]
            self._refuse(f"agent {agents[0].id!r} is not stored: {error}", "correct that", source)
            return []


def _remembered(skill: Skill) -> Skill:
    """As much of a skill as is said about it where another one has its id: thousands are remembered in a run."""
    return Skill(skill.id, "", "", version=skill.version, digest=skill.digest, origin=skill.origin)


def _not_kept(part: Loaded, source: str) -> tuple[Diagnostic, ...]:
    """A finding where a source holds what no store has a place for."""
    parts = (
        ("skill graph", part.graph),
        ("event types", part.events),
        ("task rules", part.task_rules),
        ("rules of entity context", part.context),
    )
    there = [name for name, held in parts if held]
    if not there:
        return ()
    message = f"of source {source!r} the {' and the '.join(there)} are not stored: a store holds skills and agents"
    fix = "name the source beside the store where skills are loaded, which gives both"
    return (NOT_KEPT.found(Location(source), message, fix),)
