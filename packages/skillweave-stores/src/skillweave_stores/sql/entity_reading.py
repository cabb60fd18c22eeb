"""The statements that read entities and edges: each is built once, and none reads more rows than it was told."""

from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    JSON,
    ColumnElement,
    CompoundSelect,
    Integer,
    Select,
    SQLColumnExpression,
    Text,
    bindparam,
    cast,
    column,
    func,
    literal,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import InstrumentedAttribute

from skillweave.entities import Direction, Hops
from skillweave_stores.sql.entity_rows import EntityColumns
from skillweave_stores.sql.tables import EntityAliasRow, EntityEdgeRow, EntityRow

MOST_NAMESAKES = 100
"""Entities that are read of those that have one alias: more than one is a question to the caller anyway."""
PAGE = 1_000
"""Rows that an export reads at once."""
TENANT: ColumnElement[str] = bindparam("tenant", type_=Text)
COLUMNS: tuple[SQLColumnExpression[Any], ...] = (
    EntityRow.id,
    EntityRow.label,
    EntityRow.datum,
    EntityRow.latitude,
    EntityRow.longitude,
    cast(EntityRow.aliases, Text).label("aliases"),
    cast(EntityRow.properties, Text).label("properties"),
)
"""What makes an entity, in the order of EntityColumns."""
_EDGE = (EntityEdgeRow.source, EntityEdgeRow.relation, EntityEdgeRow.target)
_EDGE_COLUMNS = (*_EDGE, cast(EntityEdgeRow.properties, Text).label("edge_properties"))
_ENTITIES = select(*COLUMNS).where(EntityRow.tenant == TENANT)


class EdgeColumns(NamedTuple):
    """What a row of `entity_edges` says, its properties as text."""

    source: str
    relation: str
    target: str
    properties: str | None


async def find(connection: AsyncConnection, tenant: str, ref: str, key: str) -> tuple[list[EntityColumns], bool]:
    """The entity with that id, else those with an alias of that key, sorted by id; and whether it is the id's."""
    rows = await connection.execute(_by_ref(), {"tenant": tenant, "ref": ref, "key": key})
    found = [(row[0], EntityColumns(*row[1:])) for row in rows]
    by_id = [columns for kind, columns in found if kind == "id"]
    return (by_id, True) if by_id else (sorted(columns for _, columns in found), False)


async def read_neighbours(
    connection: AsyncConnection, tenant: str, entity_id: str, relation: str | None, direction: Direction, limit: int
) -> list[tuple[EdgeColumns, EntityColumns]]:
    """The edges of an entity with their other ends, ordered by relation, neighbour, and outgoing ones first."""
    values = {"tenant": tenant, "id": entity_id, "relation": relation, "limit": limit}
    rows = await connection.execute(_neighbours(direction, named=relation is not None), values)
    found = [(row[0], EdgeColumns(*row[1:5]), EntityColumns(*row[5:])) for row in rows]
    if direction is Direction.BOTH:
        found.sort(key=lambda one: (one[1].relation, one[2].id, one[0]))
    return [(edge, entity) for _, edge, entity in found[:limit]]


async def read_several(
    connection: AsyncConnection, tenant: str, asked: Sequence[Hops], limit: int
) -> Mapping[Hops, list[tuple[EdgeColumns, EntityColumns]]]:
    """The same for each of what is asked, on PostgreSQL in one statement; a file has no trips to save."""
    if connection.dialect.name != "postgresql":
        return {one: await read_neighbours(connection, tenant, *one, limit) for one in asked}
    halves = {0: (Direction.OUT, Direction.BOTH), 1: (Direction.IN, Direction.BOTH)}
    rows = [
        {"number": number, "place": place, "id": ref, "relation": relation}
        for number, (ref, relation, way) in enumerate(asked)
        for place, ways in halves.items()
        if way in ways
    ]
    found: dict[Hops, list[tuple[EdgeColumns, EntityColumns]]] = {}
    values = {"tenant": tenant, "asked": rows, "limit": limit}
    for number, place, *columns in sorted(await connection.execute(_several(), values), key=_by_neighbour):
        edge, entity = EdgeColumns(*columns[:4]), EntityColumns(*columns[4:])
        of = found.setdefault(asked[number], [])
        # An edge from an entity to itself counts once.
        if len(of) < limit and not (place and edge.source == edge.target and asked[number][2] is Direction.BOTH):
            of.append((edge, entity))
    return found


def _by_neighbour(row: Sequence[Any]) -> tuple[str, int]:
    """The id of the neighbour, then what leads out before what comes: the order among edges of one relation."""
    return row[6], row[1]


async def read_known(connection: AsyncConnection, tenant: str, keys: Collection[str]) -> Collection[str]:
    """Those of the keys that an alias has."""
    named = EntityAliasRow.alias_key
    statement = select(named).distinct().where(EntityAliasRow.tenant == TENANT)
    of_these = statement.where(named.in_(bindparam("keys", expanding=True)))
    return set(await connection.scalars(of_these, {"tenant": tenant, "keys": list(keys)}))


async def page_of_entities(connection: AsyncConnection, tenant: str, last: str | None) -> list[EntityColumns]:
    """The first entities by id, or the first after one; fewer than `PAGE` when there are no more."""
    statement = _ENTITIES if last is None else _ENTITIES.where(EntityRow.id > last)
    rows = await connection.execute(statement.order_by(EntityRow.id).limit(PAGE), {"tenant": tenant})
    return [EntityColumns(*row) for row in rows]


async def page_of_edges(connection: AsyncConnection, tenant: str, last: EdgeColumns | None) -> list[EdgeColumns]:
    """The first edges by source, relation and target, or the first after one; as for entities."""
    statement = select(*_EDGE_COLUMNS).where(EntityEdgeRow.tenant == TENANT)
    if last is not None:
        statement = statement.where(tuple_(*_EDGE) > tuple_(*map(literal, last[:3])))
    rows = await connection.execute(statement.order_by(*_EDGE).limit(PAGE), {"tenant": tenant})
    return [EdgeColumns(*row) for row in rows]


@lru_cache
def _by_ref() -> CompoundSelect[Any]:
    by_id = _with_kind("id").where(EntityRow.id == bindparam("ref", type_=Text))
    named = EntityAliasRow
    of_alias = (named.tenant == EntityRow.tenant) & (named.entity_id == EntityRow.id)
    by_alias = _with_kind("alias").join(EntityAliasRow, of_alias)
    by_alias = by_alias.where(named.tenant == TENANT, named.alias_key == bindparam("key", type_=Text))
    return union_all(by_id, by_alias.limit(MOST_NAMESAKES).subquery().select())


def _with_kind(kind: str) -> Select[Any]:
    return select(literal(kind, literal_execute=True).label("kind"), *COLUMNS).where(EntityRow.tenant == TENANT)


@lru_cache
def _neighbours(direction: Direction, *, named: bool) -> Select[Any] | CompoundSelect[Any]:
    leaving = _half(0, EntityEdgeRow.source, EntityEdgeRow.target, named=named)
    coming = _half(1, EntityEdgeRow.target, EntityEdgeRow.source, named=named)
    if direction is Direction.OUT:
        return leaving
    if direction is Direction.IN:
        return coming
    others = coming.where(EntityEdgeRow.source != EntityEdgeRow.target)
    return union_all(leaving.subquery().select(), others.subquery().select())


@lru_cache
def _several() -> CompoundSelect[Any]:
    """For PostgreSQL: both halves of all that is asked, each with a limit of its own, so that an index gives them."""
    columns: list[ColumnElement[Any]] = [
        column("number", Integer),
        column("place", Integer),
        column("id", Text),
        column("relation", Text),
    ]
    given = func.json_to_recordset(bindparam("asked", type_=JSON)).table_valued(*columns)
    asked = given.render_derived(name="asked", with_types=True)
    edge = EntityEdgeRow
    halves = []
    for place, own, other in ((0, edge.source, edge.target), (1, edge.target, edge.source)):
        found = select(*_EDGE_COLUMNS, *COLUMNS)
        found = found.join_from(edge, EntityRow, (EntityRow.tenant == edge.tenant) & (EntityRow.id == other))
        found = found.where(edge.tenant == TENANT, own == asked.c.id, edge.relation == asked.c.relation)
        one = found.order_by(other).limit(bindparam("limit")).lateral()
        halves.append(
            select(asked.c.number, asked.c.place, *one.c).select_from(asked).join(one, asked.c.place == place)
        )
    return union_all(*halves)


def _half(
    place: int, own: InstrumentedAttribute[str], other: InstrumentedAttribute[str], *, named: bool
) -> Select[Any]:
    """The edges with one end at an entity, and the entities at the other."""
    edge = EntityEdgeRow
    found = select(literal(place, literal_execute=True).label("place"), *_EDGE_COLUMNS, *COLUMNS)
    found = found.join_from(edge, EntityRow, (EntityRow.tenant == edge.tenant) & (EntityRow.id == other))
    found = found.where(edge.tenant == TENANT, own == bindparam("id", type_=Text))
    if named:
        found = found.where(edge.relation == bindparam("relation", type_=Text))
    return found.order_by(edge.relation, other).limit(bindparam("limit"))
