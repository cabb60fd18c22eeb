"""The statements that change the entity graph, some hundred rows at a time."""

from collections.abc import Mapping, Sequence
from hashlib import sha256
from typing import Any

from sqlalchemy import JSON, bindparam, column, delete, func, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave.entities import Edge, Entity
from skillweave_stores.sql.entity_rows import alias_keys, edge_row, entity_row
from skillweave_stores.sql.tables import EntityAliasRow, EntityEdgeRow, EntityRow, Row
from skillweave_stores.sql.upserts import replacing

BATCH = 1_000
"""Rows that one statement writes."""


async def lock_graph(connection: AsyncConnection, tenant: str) -> None:
    """Let no other transaction change the tenant's graph until this one ends, so that none waits in a circle.

    On SQLite the transaction has the whole file already.
    """
    if connection.dialect.name == "postgresql":
        key = int.from_bytes(sha256(f"skillweave entities {tenant}".encode()).digest()[:8], signed=True)
        await connection.execute(select(func.pg_advisory_xact_lock(key)))


async def put_entities(connection: AsyncConnection, tenant: str, entities: Sequence[Entity]) -> None:
    """Add or replace these, of two with one id the later; their edges stay."""
    rows = {entity.id: (entity_row(tenant, entity), entity) for entity in entities}
    await _upsert(connection, EntityRow, [row for row, _ in rows.values()])
    named = EntityAliasRow
    await connection.execute(
        delete(named).where(named.tenant == tenant, named.entity_id.in_(bindparam("ids", expanding=True))),
        {"ids": list(rows)},
    )
    names = [
        {"tenant": tenant, "alias_key": key, "entity_id": entity.id}
        for _, entity in rows.values()
        for key in alias_keys(entity)
    ]
    if names:
        await _upsert(connection, named, names)


async def put_edges(connection: AsyncConnection, tenant: str, edges: Sequence[Edge]) -> None:
    """Add or replace these, of two alike the later; their ends have to be there."""
    rows = {(edge.source, edge.relation, edge.target): edge_row(tenant, edge) for edge in edges}
    await _upsert(connection, EntityEdgeRow, list(rows.values()))


async def missing_ends(connection: AsyncConnection, tenant: str, edges: Sequence[Edge]) -> list[str]:
    """The ids that these edges name and that the graph does not have, in the order in which they are named."""
    ends = dict.fromkeys(end for edge in edges for end in (edge.source, edge.target))
    there = select(EntityRow.id).where(EntityRow.tenant == tenant, EntityRow.id.in_(bindparam("ids", expanding=True)))
    found = set(await connection.scalars(there, {"ids": list(ends)}))
    return [end for end in ends if end not in found]


async def remove_entities(connection: AsyncConnection, tenant: str, ids: Sequence[str]) -> int:
    """Take these out, with their edges and aliases, which the database does; how many there were."""
    gone = delete(EntityRow).where(EntityRow.tenant == tenant, EntityRow.id.in_(bindparam("ids", expanding=True)))
    return (await connection.execute(gone, {"ids": list(ids)})).rowcount


async def _upsert(connection: AsyncConnection, table: type[Row], rows: Sequence[Mapping[str, Any]]) -> None:
    """Insert rows, each in place of the one with its key; no two of them have one."""
    if connection.dialect.name != "postgresql":
        await connection.execute(replacing(sqlite.insert(table), table), rows)
        return
    # One JSON text rather than a statement for each row: half the time. Texts of JSON stay as they are in it.
    columns = [column(one.name, one.type) for one in table.__table__.c]
    given = func.json_to_recordset(bindparam("rows", type_=JSON)).table_valued(*columns).render_derived(with_types=True)
    statement = postgresql.insert(table).from_select([one.name for one in columns], select(given))
    await connection.execute(replacing(statement, table), {"rows": list(rows)})
