"""The statements that read the entity graph: each is built once, and none reads more rows than it was told."""

from collections.abc import Collection, Iterator, Mapping
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    CompoundSelect,
    Select,
    SQLColumnExpression,
    Text,
    bindparam,
    cast,
    func,
    literal,
    null,
    select,
    tuple_,
    union_all,
)
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlalchemy.orm import InstrumentedAttribute

from skillweave.knowledge.entity import Direction
from skillweave.knowledge.geodesy import Box
from skillweave.stores.sql.entity_rows import EntityColumns, band_of
from skillweave.stores.sql.tables import EntityAliasRow, EntityEdgeRow, EntityRow

MOST_NAMESAKES = 100
"""Entities that are read of those that have one alias: more than one is a question to the caller anyway."""
PAGE = 1_000
"""Rows that an export reads at once."""
_TENANT: ColumnElement[str] = bindparam("tenant", type_=Text)
_COLUMNS: tuple[SQLColumnExpression[Any], ...] = (
    EntityRow.id,
    EntityRow.label,
    EntityRow.datum,
    EntityRow.latitude,
    EntityRow.longitude,
    cast(EntityRow.aliases, Text).label("aliases"),
    cast(EntityRow.properties, Text).label("properties"),
)
_EDGE = (EntityEdgeRow.source, EntityEdgeRow.relation, EntityEdgeRow.target)
_EDGE_COLUMNS = (*_EDGE, cast(EntityEdgeRow.properties, Text).label("edge_properties"))
_ENTITIES = select(*_COLUMNS).where(EntityRow.tenant == _TENANT)


class EdgeColumns(NamedTuple):
    """What a row of `entity_edges` says, its properties as text."""

    source: str
    relation: str
    target: str
    properties: str | None


class Candidate(NamedTuple):
    """An entity in a box, by its id, or how many of another datum there are."""

    id: str | None
    latitude: float
    longitude: float
    datum: str
    number: int


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


async def read_box(
    connection: AsyncConnection, tenant: str, datum: str, label: str | None, boxes: tuple[Box, Box], most: int
) -> list[Candidate]:
    """At most so many entities of the datum in the first box, and the numbers of those of others in the second."""
    inner, outer = boxes
    ranges = (len(inner.longitudes), len(outer.longitudes))
    values = {
        "tenant": tenant,
        "datum": datum,
        "label": label,
        "most": most,
        **_box_values("inner", inner),
        **_box_values("outer", outer),
    }
    return [Candidate(*row) for row in await connection.execute(_in_boxes(*ranges, labelled=label is not None), values)]


async def read_entities(connection: AsyncConnection, tenant: str, ids: Collection[str]) -> dict[str, EntityColumns]:
    """The entities of these ids that there are."""
    if not ids:
        return {}
    rows = await connection.execute(_some(), {"tenant": tenant, "ids": list(ids)})
    return {row[0]: EntityColumns(*row) for row in rows}


async def page_of_entities(connection: AsyncConnection, tenant: str, last: str | None) -> list[EntityColumns]:
    """The first entities by id, or the first after one; fewer than `PAGE` when there are no more."""
    statement = _ENTITIES if last is None else _ENTITIES.where(EntityRow.id > last)
    rows = await connection.execute(statement.order_by(EntityRow.id).limit(PAGE), {"tenant": tenant})
    return [EntityColumns(*row) for row in rows]


async def page_of_edges(connection: AsyncConnection, tenant: str, last: EdgeColumns | None) -> list[EdgeColumns]:
    """The first edges by source, relation and target, or the first after one; as for entities."""
    statement = select(*_EDGE_COLUMNS).where(EntityEdgeRow.tenant == _TENANT)
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
    by_alias = by_alias.where(named.tenant == _TENANT, named.alias_key == bindparam("key", type_=Text))
    return union_all(by_id, by_alias.limit(MOST_NAMESAKES).subquery().select())


def _with_kind(kind: str) -> Select[Any]:
    return select(literal(kind, literal_execute=True).label("kind"), *_COLUMNS).where(EntityRow.tenant == _TENANT)


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


def _half(
    place: int, own: InstrumentedAttribute[str], other: InstrumentedAttribute[str], *, named: bool
) -> Select[Any]:
    """The edges with one end at an entity, and the entities at the other."""
    edge = EntityEdgeRow
    found = select(literal(place, literal_execute=True).label("place"), *_EDGE_COLUMNS, *_COLUMNS)
    found = found.join_from(edge, EntityRow, (EntityRow.tenant == edge.tenant) & (EntityRow.id == other))
    found = found.where(edge.tenant == _TENANT, own == bindparam("id", type_=Text))
    if named:
        found = found.where(edge.relation == bindparam("relation", type_=Text))
    return found.order_by(edge.relation, other).limit(bindparam("limit"))


@lru_cache
def _in_boxes(inner: int, outer: int, *, labelled: bool) -> CompoundSelect[Any]:
    """Both questions in one trip; the longitudes of a box are one range each, or two across the 180th meridian."""
    table, datum = EntityRow, bindparam("datum", type_=Text)
    alike = [table.tenant == _TENANT]
    if labelled:
        alike.append(table.label == bindparam("label", type_=Text))
    there = (
        select(table.id, table.latitude, table.longitude, table.datum, literal(1, literal_execute=True).label("number"))
        .where(*alike, table.datum == datum, within)
        .limit(bindparam("most"))
        for within in _withins("inner", inner)
    )
    zero = literal(0.0, literal_execute=True)
    others = (
        select(null().label("id"), zero.label("latitude"), zero.label("longitude"), table.datum, func.count())
        .where(*alike, table.datum != datum, within)
        .group_by(table.datum)
        for within in _withins("outer", outer)
    )
    return union_all(*(one.subquery().select() for one in there), *others)


def _withins(box: str, ranges: int) -> Iterator[ColumnElement[bool]]:
    """What a place in each of the ranges fulfils; the bands are what the index is asked for, one after the other."""
    table = EntityRow
    for number in range(ranges):
        yield (
            table.band.in_(bindparam(f"{box}_bands", expanding=True))
            & table.longitude.between(bindparam(f"{box}_west_{number}"), bindparam(f"{box}_east_{number}"))
            & table.latitude.between(bindparam(f"{box}_south"), bindparam(f"{box}_north"))
        )


def _box_values(name: str, box: Box) -> Mapping[str, Any]:
    values: dict[str, Any] = {
        f"{name}_bands": range(band_of(box.south), band_of(box.north) + 1),
        f"{name}_south": box.south,
        f"{name}_north": box.north,
    }
    for number, (west, east) in enumerate(box.longitudes):
        values |= {f"{name}_west_{number}": west, f"{name}_east_{number}": east}
    return values


@lru_cache
def _some() -> Select[Any]:
    return _ENTITIES.where(EntityRow.id.in_(bindparam("ids", expanding=True)))
