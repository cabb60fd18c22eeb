"""The statements that read skills: a part at a time, never the content of an artifact, none for each skill."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    LargeBinary,
    Select,
    SQLColumnExpression,
    Text,
    case,
    cast,
    func,
    null,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave_stores.sql.rows import ArtifactColumns, SkillColumns
from skillweave_stores.sql.tables import (
    ArtifactContentRow,
    GenerationRow,
    SkillArtifactRow,
    SkillRow,
    SkillVersionRow,
)

_UPDATED = cast(SkillRow.updated_at, Text)
"""As text: a time that somebody wrote by hand need not be one."""
PART = 500
"""Skills that are read with one statement."""


class Mark(NamedTuple):
    """What tells that the row of a skill is another one than before."""

    content_hash: str | None
    updated_at: str
    status: str
    version: str | None


@dataclass(frozen=True, slots=True)
class Part:
    """The rows of some skills, sorted by id, with those of their artifacts, all of one moment."""

    skills: tuple[tuple[SkillColumns, Mark], ...]
    artifacts: Mapping[str, tuple[ArtifactColumns, ...]]


class KnownVersion(NamedTuple):
    """What has to be known of a version that was published."""

    skill_id: str
    content_hash: str
    digest: str
    definition_hash: str
    number: int


async def generation_of(connection: AsyncConnection, tenant: str) -> str:
    """How often the tenant's skills and agents changed, and when they did last.

    A database that is restored from a backup counts on from an earlier number, and comes to one that it had before.
    """
    table = GenerationRow
    counted = select(table.number, cast(table.changed_at, Text)).where(table.tenant == tenant)
    row = (await connection.execute(counted)).first()
    return "0" if row is None else f"{row[0]} {row[1]}"


async def read_after(connection: AsyncConnection, tenant: str, last: str | None) -> Part:
    """The first skills, or the first after an id; fewer than `PART` when there are no more."""
    statement = _skills(tenant) if last is None else _skills(tenant).where(SkillRow.id > last)
    return await _part(connection, tenant, statement.order_by(SkillRow.id).limit(PART))


async def read_some(connection: AsyncConnection, tenant: str, ids: Collection[str]) -> Part:
    """The skills of these ids that there are."""
    statement = _skills(tenant).where(SkillRow.id.in_(ids)).order_by(SkillRow.id)
    return await _part(connection, tenant, statement)


async def marks_of(connection: AsyncConnection, tenant: str) -> dict[str, Mark]:
    """The mark of every skill by its id, sorted."""
    columns = (SkillRow.content_hash, _UPDATED, SkillRow.status, SkillRow.version)
    rows = await connection.execute(
        select(SkillRow.id, *columns).where(SkillRow.tenant == tenant).order_by(SkillRow.id)
    )
    return {row[0]: Mark(*row[1:]) for row in rows}


async def ids_of(connection: AsyncConnection, tenant: str) -> list[str]:
    """The ids of all skills, sorted, those that are not in use any more too."""
    used = select(SkillRow.id).where(SkillRow.tenant == tenant)
    published = select(SkillVersionRow.skill_id).where(SkillVersionRow.tenant == tenant)
    return sorted((await connection.scalars(used.union(published))).all())


async def known_versions(connection: AsyncConnection, tenant: str, ids: Collection[str]) -> list[KnownVersion]:
    """All versions of these skills, the oldest of each first."""
    table = SkillVersionRow
    columns = (table.skill_id, table.content_hash, table.digest, table.definition_hash, table.number)
    where = (table.tenant == tenant, table.skill_id.in_(ids))
    rows = await connection.execute(select(*columns).where(*where).order_by(table.skill_id, table.number))
    return [KnownVersion(*row) for row in rows]


async def read_versions(
    connection: AsyncConnection, tenant: str, keys: Sequence[tuple[str, str]]
) -> list[tuple[SkillColumns, datetime]]:
    """The published versions of these ids and content hashes, and when each was published."""
    return await _versions(connection, tenant, tuple_(SkillVersionRow.skill_id, SkillVersionRow.content_hash).in_(keys))


async def read_all_versions(
    connection: AsyncConnection, tenant: str, skill_id: str
) -> list[tuple[SkillColumns, datetime]]:
    """All published versions of a skill, the newest first, and when each was published."""
    return await _versions(connection, tenant, SkillVersionRow.skill_id == skill_id)


async def read_content(
    connection: AsyncConnection, tenant: str, skill_id: str, artifact: str, content_hash: str
) -> bytes | None:
    """The content of an artifact, of the version in use or of an earlier one; None where there is none of that hash."""
    used, kept = SkillArtifactRow, ArtifactContentRow
    in_use = select(used.content, used.blob).where(
        used.tenant == tenant,
        used.skill_id == skill_id,
        used.id == artifact,
        used.content_hash == content_hash,
    )
    earlier = select(kept.content, kept.blob).where(kept.tenant == tenant, kept.content_hash == content_hash)
    row = (await connection.execute(union_all(in_use, earlier).limit(1))).first()
    return None if row is None else content_of(row[0], row[1])


async def read_contents(connection: AsyncConnection, tenant: str, ids: Collection[str]) -> dict[str, dict[str, bytes]]:
    """The content of all artifacts in use of these skills."""
    table = SkillArtifactRow
    statement = select(table.skill_id, table.id, table.content, table.blob)
    contents: dict[str, dict[str, bytes]] = {}
    for row in await connection.execute(statement.where(table.tenant == tenant, table.skill_id.in_(ids))):
        contents.setdefault(row[0], {})[row[1]] = content_of(row[2], row[3])
    return contents


def content_of(content: str, blob: bytes | None) -> bytes:
    """The bytes of an artifact: of its blob, else of its text."""
    return content.encode("utf-8", "surrogateescape") if blob is None else bytes(blob)


async def _versions(
    connection: AsyncConnection, tenant: str, which: ColumnElement[bool]
) -> list[tuple[SkillColumns, datetime]]:
    table = SkillVersionRow
    statement = select(table.skill_id, table.skill_id, *_documents(table), table.published_at)
    rows = await connection.execute(statement.where(table.tenant == tenant, which).order_by(table.number.desc()))
    return [(SkillColumns(*row[:-1]), row[-1]) for row in rows]


async def _part(connection: AsyncConnection, tenant: str, statement: Select[Any]) -> Part:
    rows = (await connection.execute(statement)).all()
    skills = tuple((SkillColumns(*row[:-1]), Mark(row.content_hash, row[-1], row.status, row.version)) for row in rows)
    artifacts: dict[str, list[ArtifactColumns]] = {}
    if rows:
        table = SkillArtifactRow
        columns = _artifact_columns(on_postgres=connection.dialect.name == "postgresql")
        ids = [one.id for one, _ in skills]
        of_these = table.skill_id.in_(ids) if len(ids) < PART else table.skill_id.between(ids[0], ids[-1])
        found = select(*columns).where(table.tenant == tenant, of_these).order_by(table.skill_id, table.id)
        for row in await connection.execute(found):
            artifacts.setdefault(row[0], []).append(ArtifactColumns(*row))
    return Part(skills, {skill_id: tuple(found) for skill_id, found in artifacts.items()})


def _skills(tenant: str) -> Select[Any]:
    return select(SkillRow.id, SkillRow.name, *_documents(SkillRow), _UPDATED).where(SkillRow.tenant == tenant)


def _documents(table: type[SkillRow] | type[SkillVersionRow]) -> tuple[SQLColumnExpression[Any], ...]:
    """The columns of SkillColumns after id and name, of either table; a version has no status beside its definition."""
    return (
        cast(table.tier1_manifest, Text),
        cast(table.tier2_definition, Text),
        cast(table.tier3_artifact_refs, Text),
        table.status if table is SkillRow else null(),
        table.version,
        table.content_hash,
        table.digest,
        table.definition_hash,
        cast(table.origin, Text),
    )


def _artifact_columns(*, on_postgres: bool) -> tuple[SQLColumnExpression[Any], ...]:
    table = SkillArtifactRow
    characters = func.octet_length(table.content) if on_postgres else func.length(cast(table.content, LargeBinary))
    octets = func.octet_length(table.blob) if on_postgres else func.length(table.blob)
    return (
        table.skill_id,
        table.id,
        table.name,
        table.media_type,
        func.coalesce(table.size, case((table.blob.is_(None), characters), else_=octets)),
        table.content_hash,
        table.token_estimate,
        table.blob.is_not(None),
    )
