"""What a database holds as a source answers it: read in parts, and of what was read before only what changed."""

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from types import MappingProxyType
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave import Diagnostic, Skill, SkillNotFound
from skillweave.registry import Loaded, StoredVersion
from skillweave_stores.sql.agents import agents_of, read_agents
from skillweave_stores.sql.database import Database
from skillweave_stores.sql.reading import PART, Mark, Part, ids_of, marks_of, read_after, read_all_versions, read_some
from skillweave_stores.sql.rows import RowReader


@dataclass(frozen=True, slots=True)
class _Entry:
    """A row as it was read: the skill in it, None for a damaged one, and what was found."""

    mark: Mark
    skill: Skill | None
    findings: tuple[Diagnostic, ...]


@dataclass(frozen=True, slots=True)
class _Memory:
    """What was read last, and by whom, so that only what changed since is read again."""

    database: Database
    reader: RowReader
    entries: Mapping[str, _Entry]
    agents: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class _News:
    """The marks of all skills and the agents, with the rows of some skills that changed; all of one moment."""

    marks: Mapping[str, Mark]
    part: Part
    agents: Sequence[Mapping[str, Any]]
    complete: bool


async def load_all(database: Database, reader: RowReader, previous: Loaded | None) -> Loaded:
    """Everything of the tenant, as it was at one moment; `previous` itself where nothing changed since."""
    memory = previous.memory if previous is not None else None
    known = memory if isinstance(memory, _Memory) and memory.database is database and memory.reader == reader else None
    entries: dict[str, _Entry] = {}
    if known is not None:
        entries.update(known.entries)
    else:
        async for part in _parts(database, reader.tenant):
            entries.update(_entries(part, reader))
    while True:
        news = await database.view(partial(_news, tenant=reader.tenant, entries=entries))
        entries.update(_entries(news.part, reader))
        if news.complete:
            break
    entries = {skill_id: entries[skill_id] for skill_id in news.marks}
    if previous is not None and known is not None and (entries, news.agents) == (known.entries, known.agents):
        return previous
    agents, findings = agents_of(news.agents, reader)
    empty = () if entries or news.agents else (reader.nothing(),)
    return Loaded(
        tuple(entry.skill for entry in entries.values() if entry.skill is not None),
        (*(finding for entry in entries.values() for finding in entry.findings), *findings, *empty),
        _Memory(database, reader, entries, news.agents),
        agents=agents,
    )


async def stream_all(database: Database, reader: RowReader) -> AsyncIterator[Loaded]:
    """The same in parts, of which only one is in memory; the first has the agents."""
    rows = await database.read(partial(read_agents, tenant=reader.tenant))
    agents, more = agents_of(rows, reader)
    is_first = True
    async for part in _parts(database, reader.tenant):
        if is_first and not part.skills and not rows:
            more = (reader.nothing(),)
        entries = _entries(part, reader).values()
        skills = tuple(entry.skill for entry in entries if entry.skill is not None)
        yield Loaded(skills, (*(found for entry in entries for found in entry.findings), *more), agents=agents)
        agents, more, is_first = MappingProxyType({}), (), False


async def versions_of(connection: AsyncConnection, reader: RowReader, skill_id: str) -> tuple[StoredVersion, ...]:
    """Every version of a skill, the newest first. Raises SkillNotFound, and InvalidSkill for a damaged row."""
    published = await read_all_versions(connection, reader.tenant, skill_id)
    part = await read_some(connection, reader.tenant, [skill_id])
    if not published and not part.skills:
        raise SkillNotFound(skill_id, await ids_of(connection, reader.tenant), store=reader.place)
    used = next((reader.skill(columns, part.artifacts.get(skill_id, ()))[0] for columns, _ in part.skills), None)
    in_use = "" if used is None else used.content_hash
    read = ((reader.version(columns), at.timestamp()) for columns, at in published)
    versions = [StoredVersion(one.skill, one.content_hash, at, one.content_hash == in_use) for one, at in read]
    if used is not None and not any(version.in_use for version in versions):
        versions.insert(0, StoredVersion(used.skill, in_use, _seconds(part.skills[0][1].updated_at), in_use=True))
    return tuple(versions)


async def _parts(database: Database, tenant: str) -> AsyncIterator[Part]:
    last: str | None = None
    while True:
        part = await database.view(partial(read_after, tenant=tenant, last=last))
        yield part
        if len(part.skills) < PART:
            return
        last = part.skills[-1][0].id


async def _news(connection: AsyncConnection, tenant: str, entries: Mapping[str, _Entry]) -> _News:
    marks = await marks_of(connection, tenant)
    changed = [one for one, mark in marks.items() if one not in entries or entries[one].mark != mark]
    part = await read_some(connection, tenant, changed[:PART])
    return _News(marks, part, await read_agents(connection, tenant), complete=len(changed) <= PART)


def _entries(part: Part, reader: RowReader) -> dict[str, _Entry]:
    read = ((columns, mark, reader.skill(columns, part.artifacts.get(columns.id, ()))) for columns, mark in part.skills)
    return {
        columns.id: _Entry(mark, None if stored is None else stored.skill, findings)
        for columns, mark, (stored, findings) in read
    }


def _seconds(moment: str) -> float:
    """The time in a column that somebody may have written by hand; 0 where it is none."""
    try:
        return datetime.fromisoformat(moment).timestamp()
    except (TypeError, ValueError):
        return 0.0
