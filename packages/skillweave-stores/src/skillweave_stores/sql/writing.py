"""The statements that change skills: versions are added, one is put in use, no content is forgotten."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Insert, bindparam, delete, func, insert, select, tuple_, update
from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave_stores.sql.planning import Plan, Use
from skillweave_stores.sql.tables import (
    AgentRow,
    ArtifactContentRow,
    GenerationRow,
    SkillArtifactRow,
    SkillRow,
    SkillVersionRow,
)
from skillweave_stores.sql.upserts import insert_into

_MOST_NAMED = 5_000
"""Artifacts that one statement names: PostgreSQL takes 65,535 parameters, an older SQLite 32,766."""
_CONTENT = ("content", "blob")
_REFERENCE = ("id", "name", "media_type", "size", "content_hash", "token_estimate")
_ARTIFACT = ("tenant", "skill_id", *_REFERENCE, "created_at")


async def lock(connection: AsyncConnection, tenant: str) -> None:
    """Let no other transaction change skills or agents of the tenant until this one ends.

    So none waits for another in a circle, and the numbers of generations grow in the order of the changes. On SQLite
    the transaction has the whole file already.
    """
    mine = select(GenerationRow.number).where(GenerationRow.tenant == tenant).with_for_update()
    if await connection.scalar(mine) is None:
        await connection.execute(insert_into(connection, GenerationRow).on_conflict_do_nothing(), {"tenant": tenant})
        await connection.scalar(mine)


async def count_change(connection: AsyncConnection, tenant: str, moment: datetime) -> None:
    """Let replicas see that something changed."""
    change = update(GenerationRow).where(GenerationRow.tenant == tenant)
    await connection.execute(change.values(number=GenerationRow.number + 1, changed_at=moment))


async def moment_of(connection: AsyncConnection) -> datetime:
    """The time by the store's clock: the server's, for a file that of this machine."""
    if connection.dialect.name != "postgresql":
        return datetime.now(UTC)
    moment: datetime = (await connection.execute(select(func.clock_timestamp()))).scalar_one()
    return moment


async def upsert(
    connection: AsyncConnection,
    table: type[SkillRow] | type[AgentRow],
    tenant: str,
    rows: Sequence[Mapping[str, Any]],
    moment: datetime,
) -> None:
    """Insert rows by their ids, each in place of the one that is there."""
    statement = insert_into(connection, table)
    taken = {name: statement.excluded[name] for name in (*rows[0], "updated_at") if name != "id"}
    stamped = [{"tenant": tenant, "created_at": moment, "updated_at": moment, **row} for row in rows]
    await connection.execute(statement.on_conflict_do_update(index_elements=["tenant", "id"], set_=taken), stamped)


async def carry_out(connection: AsyncConnection, tenant: str, plan: Plan) -> None:
    """Write all of it; nothing where there is nothing to do. The tenant has to be locked."""
    if not plan.uses:
        return
    moment = await moment_of(connection)
    await _keep_replaced(connection, tenant, plan.uses)
    by_hand = [
        {"tenant": tenant, "content_hash": ref.content_hash, **_content(one.contents[ref.id])}
        for one in plan.by_hand
        for ref in one.skill.artifacts
        if ref.id in one.contents
    ]
    if by_hand:
        await connection.execute(insert_into(connection, ArtifactContentRow).on_conflict_do_nothing(), by_hand)
    gone = [use.skill_id for use in plan.uses if use.version is None]
    if gone:
        await connection.execute(delete(SkillRow).where(SkillRow.tenant == tenant, SkillRow.id.in_(gone)))
    in_use = [use.version.columns_in_use() for use in plan.uses if use.version is not None]
    if in_use:
        await upsert(connection, SkillRow, tenant, in_use, moment)
    await _add_artifacts(connection, tenant, plan.uses, moment)
    versions = [
        {"tenant": tenant, "skill_id": one.skill.id, "number": number, "published_at": moment, **one.columns()}
        for one, number in plan.versions
    ]
    if versions:
        await connection.execute(insert(SkillVersionRow), versions)
    await count_change(connection, tenant, moment)


async def _keep_replaced(connection: AsyncConnection, tenant: str, uses: Iterable[Use]) -> None:
    """Move artifacts that are replaced to the contents of earlier versions, inside the database."""
    keys = [(use.skill_id, artifact) for use in uses for artifact in use.replaced()]
    table = SkillArtifactRow
    names = ("tenant", "content_hash", *_CONTENT)
    for first in range(0, len(keys), _MOST_NAMED):
        named = tuple_(table.skill_id, table.id).in_(keys[first : first + _MOST_NAMED])
        replaced = (table.tenant == tenant, named)
        moved = select(*(getattr(table, name) for name in names)).where(*replaced)
        keeping = insert_into(connection, ArtifactContentRow).from_select(names, moved).on_conflict_do_nothing()
        await connection.execute(keeping)
        await connection.execute(delete(table).where(*replaced))


async def _add_artifacts(connection: AsyncConnection, tenant: str, uses: Iterable[Use], moment: datetime) -> None:
    """Insert the artifacts of versions: those that came with them, and those that are there of earlier ones."""
    given, kept = [], []
    for use in uses:
        contents = {} if use.version is None else use.version.contents
        for ref in use.added():
            row = {"tenant": tenant, "skill_id": use.skill_id, "token_estimate": None, "created_at": moment, **ref}
            if ref["id"] in contents:
                given.append({**row, **_content(contents[ref["id"]])})
            elif ref.get("content_hash"):
                kept.append(row)
    if given:
        await connection.execute(insert(SkillArtifactRow), given)
    if kept:
        await connection.execute(_from_contents(), kept)


def _from_contents() -> Insert:
    """Inserts an artifact with the content that is kept of its hash, if one is."""
    kept = ArtifactContentRow
    bound = {name: bindparam(name, type_=SkillArtifactRow.__table__.c[name].type) for name in _ARTIFACT}
    content = select(*bound.values(), *(getattr(kept, name) for name in _CONTENT))
    found = content.where(kept.tenant == bound["tenant"], kept.content_hash == bound["content_hash"])
    return insert(SkillArtifactRow).from_select((*_ARTIFACT, *_CONTENT), found)


def _content(data: bytes) -> dict[str, Any]:
    """Text as text, for people who look; bytes that are none, or that PostgreSQL does not take as such, as bytes."""
    try:
        text = data.decode()
    except UnicodeDecodeError:
        return {"content": "", "blob": data}
    return {"content": "", "blob": data} if "\0" in text else {"content": text, "blob": None}
