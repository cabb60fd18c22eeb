"""What writing skills changes, found out by reading: which versions are new, and which are to be put in use."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave import Skill, SkillNotFound
from skillweave.errors import InvalidSkill, VersionNotFound
from skillweave.registry import Change, Defined, Written, hashed
from skillweave.skills import ARTIFACT_REFS
from skillweave_stores.sql.documents import is_storable_text
from skillweave_stores.sql.reading import (
    KnownVersion,
    ids_of,
    known_versions,
    marks_of,
    read_contents,
    read_some,
    read_versions,
)
from skillweave_stores.sql.rows import ArtifactColumns, Prepared, RowReader, Stored, prepare


@dataclass(frozen=True, slots=True)
class Use:
    """The version of a skill that is to be in use, None to take the skill out, and the artifacts that are there now."""

    skill_id: str
    version: Prepared | None
    rows: tuple[ArtifactColumns, ...]

    def references(self) -> dict[str, dict[str, Any]]:
        """The artifacts that the version lists, by their ids."""
        return {} if self.version is None else {ref["id"]: ref for ref in self.version.documents[ARTIFACT_REFS]}

    def replaced(self) -> list[str]:
        """The artifacts that do not stay as they are."""
        wanted = self.references()
        return [row.id for row in self.rows if row.as_reference() != wanted.get(row.id)]

    def added(self) -> list[dict[str, Any]]:
        """The artifacts that are not there yet."""
        there = {row.id: row.as_reference() for row in self.rows}
        return [ref for ref in self.references().values() if there.get(ref["id"]) != ref]


@dataclass(frozen=True, slots=True)
class Plan:
    """What a transaction is to do, and what its caller is answered; nothing to do where all is there already.

    `versions` are new, each with its number; those of `by_hand` nobody published, and their content is to be kept.
    """

    written: tuple[Written, ...] = ()
    versions: tuple[tuple[Prepared, int], ...] = ()
    uses: tuple[Use, ...] = ()
    by_hand: tuple[Prepared, ...] = ()


@dataclass(frozen=True, slots=True)
class Found:
    """What the database has of some skills: what is in use, None for a damaged row, and every version."""

    in_use: Mapping[str, Stored | None]
    rows: Mapping[str, tuple[ArtifactColumns, ...]]
    versions: Mapping[str, tuple[KnownVersion, ...]]

    def hashes(self, skill_id: str) -> tuple[str, ...]:
        """The content hashes of all versions of a skill, the oldest first."""
        return tuple(version.content_hash for version in self.versions.get(skill_id, ()))

    def is_used(self, wanted: Prepared) -> bool:
        """Whether just that is in use, with the content of its artifacts."""
        before = self.in_use.get(wanted.skill.id)
        return (
            before is not None
            and not before.by_hand
            and before.content_hash == wanted.content_hash
            and not before.missing & wanted.contents.keys()
        )


async def find(connection: AsyncConnection, reader: RowReader, ids: Collection[str]) -> Found:
    """What the database has of these skills."""
    part = await read_some(connection, reader.tenant, ids)
    versions: dict[str, list[KnownVersion]] = {}
    for version in await known_versions(connection, reader.tenant, ids):
        versions.setdefault(version.skill_id, []).append(version)
    in_use = {columns.id: reader.skill(columns, part.artifacts.get(columns.id, ()))[0] for columns, _ in part.skills}
    return Found(in_use, part.artifacts, {skill_id: tuple(of_it) for skill_id, of_it in versions.items()})


async def plan_publishing(connection: AsyncConnection, reader: RowReader, wanted: Sequence[Prepared]) -> Plan:
    """What publishing these changes, each of another skill; one that cannot be stored is refused by itself."""
    found = await find(connection, reader, [one.skill.id for one in wanted])
    distinct = [_distinct(one, found.versions.get(one.skill.id, ())) for one in wanted]
    changed = {one.skill.id: one for one in distinct if not found.is_used(one)}
    keys = ((skill_id, one.content_hash) for skill_id, one in changed.items())
    earlier = [(skill_id, content_hash) for skill_id, content_hash in keys if content_hash in found.hashes(skill_id)]
    by_hand, refused = await _written_by_hand(connection, reader, found, changed)
    for columns, _ in await read_versions(connection, reader.tenant, earlier) if earlier else ():
        try:
            changed[columns.id] = replace(reader.version(columns), contents=changed[columns.id].contents)
        except InvalidSkill as error:
            refused[columns.id] = str(error)
    using = {skill_id: version for skill_id, version in changed.items() if skill_id not in refused}
    written = (
        Written(Change.REFUSED, why=refused[one.skill.id])
        if one.skill.id in refused
        else _written(one.skill.id, found, using)
        for one in distinct
    )
    return replace(_plan(found, using, by_hand), written=tuple(written))


async def plan_rolling_back(
    connection: AsyncConnection, reader: RowReader, skill_id: str, content_hash: str
) -> tuple[Plan, Skill]:
    """What putting that version in use changes, and its skill. Raises SkillNotFound, VersionNotFound, InvalidSkill."""
    found = await find(connection, reader, [skill_id])
    before = found.in_use.get(skill_id)
    if before is not None and before.content_hash == content_hash:
        return Plan(), before.skill
    # What a database cannot hold, such as half of a surrogate pair, is the name of no version.
    wanted = [(skill_id, content_hash)] if is_storable_text(content_hash) else []
    published = await read_versions(connection, reader.tenant, wanted)
    if not published:
        if skill_id in found.in_use or skill_id in found.versions:
            raise VersionNotFound(skill_id, content_hash, found.hashes(skill_id))
        raise SkillNotFound(skill_id, await ids_of(connection, reader.tenant), store=reader.place)
    version = reader.version(published[0][0])
    return await _plan_one(connection, reader, found, skill_id, version), version.skill


async def plan_removing(connection: AsyncConnection, reader: RowReader, skill_id: str) -> tuple[Plan, Skill]:
    """What taking a skill out of use changes, and the skill. Raises SkillNotFound; InvalidSkill for a damaged row."""
    found = await find(connection, reader, [skill_id])
    if skill_id not in found.in_use:
        raise SkillNotFound(skill_id, await marks_of(connection, reader.tenant), store=reader.place)
    before = found.in_use[skill_id]
    if before is None:
        raise InvalidSkill(f"{reader.path('skills', skill_id)} is damaged; delete the row by hand")
    return await _plan_one(connection, reader, found, skill_id, None), before.skill


async def _plan_one(
    connection: AsyncConnection, reader: RowReader, found: Found, skill_id: str, version: Prepared | None
) -> Plan:
    by_hand, refused = await _written_by_hand(connection, reader, found, [skill_id])
    if refused:
        raise InvalidSkill(refused[skill_id])
    return _plan(found, {skill_id: version}, by_hand)


def _plan(found: Found, using: Mapping[str, Prepared | None], by_hand: Mapping[str, Prepared]) -> Plan:
    """Puts these in use, or takes out of use, and makes a version of what somebody wrote by hand before it goes."""
    versions: list[tuple[Prepared, int]] = []
    for skill_id, version in using.items():
        known = found.versions.get(skill_id, ())
        wanted = (one for one in (by_hand.get(skill_id), version) if one is not None)
        new = {one.content_hash: one for one in wanted if one.content_hash not in found.hashes(skill_id)}
        first = 1 + max((one.number for one in known), default=0)
        versions += [(one, first + place) for place, one in enumerate(new.values())]
    uses = (Use(skill_id, version, found.rows.get(skill_id, ())) for skill_id, version in using.items())
    return Plan((), tuple(versions), tuple(uses), tuple(one for skill_id, one in by_hand.items() if skill_id in using))


async def _written_by_hand(
    connection: AsyncConnection, reader: RowReader, found: Found, ids: Collection[str]
) -> tuple[dict[str, Prepared], dict[str, str]]:
    """What somebody wrote by hand of these skills, as versions with the true hashes of their artifacts.

    With them why others cannot be kept as versions, so that they must not be replaced.
    """
    there = (found.in_use.get(skill_id) for skill_id in ids)
    by_hand = {stored.skill.id: stored for stored in there if stored is not None and stored.by_hand}
    contents = await read_contents(connection, reader.tenant, tuple(by_hand)) if by_hand else {}
    kept: dict[str, Prepared] = {}
    refused: dict[str, str] = {}
    for skill_id, stored in by_hand.items():
        try:
            kept[skill_id] = prepare(hashed(Defined(stored.skill, contents.get(skill_id, {}))), reader)
        except InvalidSkill as error:
            place = reader.path("skills", skill_id)
            refused[skill_id] = f"{place} was written by hand and cannot be kept as a version ({error}); delete the row"
    return kept, refused


def _distinct(wanted: Prepared, known: Sequence[KnownVersion]) -> Prepared:
    """With a digest of its own where it has that of another definition: a copy brings that of its original."""
    alike = (version for version in known if version.digest == wanted.skill.digest)
    if all(version.definition_hash == wanted.definition_hash for version in alike):
        return wanted
    return wanted.with_digest_of_its_own()


def _written(skill_id: str, found: Found, changed: Mapping[str, Prepared]) -> Written:
    before = found.in_use.get(skill_id)
    if skill_id not in changed and before is not None:
        return Written(Change.UNCHANGED, before.skill)
    return Written(Change.UPDATED if skill_id in found.in_use else Change.INSERTED, changed[skill_id].skill)
