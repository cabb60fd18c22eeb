"""The statements that read what lies in a box: an index on bands of latitude finds it, on every database the same."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, CompoundSelect, Select, Text, bindparam, func, literal, null, select, union_all
from sqlalchemy.ext.asyncio import AsyncConnection

from skillweave.entities import Box
from skillweave_stores.sql.entity_reading import COLUMNS, TENANT
from skillweave_stores.sql.entity_rows import EntityColumns, band_of
from skillweave_stores.sql.tables import EntityRow

_DATUM: ColumnElement[str] = bindparam("datum", type_=Text)


class Place(NamedTuple):
    """An entity by its id, and where it lies."""

    id: str
    latitude: float
    longitude: float


@dataclass(frozen=True, slots=True)
class InBox:
    """What is asked: a tenant's entities of a datum and, if one is named, of a label, in a box."""

    tenant: str
    datum: str
    label: str | None
    box: Box

    def values(self, name: str) -> dict[str, Any]:
        """The values of a statement, those of the box under its name."""
        box = self.box
        values: dict[str, Any] = {
            "tenant": self.tenant,
            "datum": self.datum,
            "label": self.label,
            f"{name}_bands": range(band_of(box.south), band_of(box.north) + 1),
            f"{name}_south": box.south,
            f"{name}_north": box.north,
        }
        for number, (west, east) in enumerate(box.longitudes):
            values |= {f"{name}_west_{number}": west, f"{name}_east_{number}": east}
        return values


async def read_whole(
    connection: AsyncConnection, asked: InBox, around: InBox, most: int
) -> tuple[list[EntityColumns], Mapping[str, int]]:
    """At least so many entities, if there are, and the numbers of those of other datums in another box; one trip."""
    ranges = len(asked.box.longitudes), len(around.box.longitudes)
    values = {"most": most, **asked.values("inner"), **around.values("outer")}
    found: list[EntityColumns] = []
    others: dict[str, int] = {}
    for *columns, number in await connection.execute(_whole(*ranges, labelled=asked.label is not None), values):
        row = EntityColumns(*columns)
        if number:
            others[row.datum or ""] = others.get(row.datum or "", 0) + number
        else:
            found.append(row)
    return found, dict(sorted(others.items()))


async def read_places(connection: AsyncConnection, asked: InBox, most: int) -> list[Place]:
    """At least so many entities, if there are, without all that is known of them."""
    statement = _places(len(asked.box.longitudes), labelled=asked.label is not None)
    rows = await connection.execute(statement, {"most": most, **asked.values("inner")})
    return [Place(*row) for row in rows]


async def read_entities(connection: AsyncConnection, tenant: str, ids: Collection[str]) -> list[EntityColumns]:
    """The entities of these ids that there are."""
    rows = await connection.execute(_some(), {"tenant": tenant, "ids": list(ids)})
    return [EntityColumns(*row) for row in rows]


@lru_cache
def _whole(inner: int, outer: int, *, labelled: bool) -> CompoundSelect[Any]:
    zero = literal(0, literal_execute=True).label("number")
    there = (
        select(*COLUMNS, zero).where(EntityRow.datum == _DATUM, within).limit(bindparam("most"))
        for within in _withins("inner", inner, labelled=labelled)
    )
    nothing = {name: null().label(name) for name in EntityColumns._fields}
    others = (
        select(*({**nothing, "datum": EntityRow.datum}).values(), func.count().label("number"))
        .where(EntityRow.datum != _DATUM, within)
        .group_by(EntityRow.datum)
        for within in _withins("outer", outer, labelled=labelled)
    )
    return union_all(*(one.subquery().select() for one in there), *others)


@lru_cache
def _places(ranges: int, *, labelled: bool) -> CompoundSelect[Any]:
    there = (
        select(EntityRow.id, EntityRow.latitude, EntityRow.longitude)
        .where(EntityRow.datum == _DATUM, within)
        .limit(bindparam("most"))
        for within in _withins("inner", ranges, labelled=labelled)
    )
    return union_all(*(one.subquery().select() for one in there))


@lru_cache
def _some() -> Select[Any]:
    return select(*COLUMNS).where(EntityRow.tenant == TENANT, EntityRow.id.in_(bindparam("ids", expanding=True)))


def _withins(box: str, ranges: int, *, labelled: bool) -> Iterator[ColumnElement[bool]]:
    """What an entity in each of the ranges of longitudes fulfils: one, or two across the 180th meridian.

    A statement for each, and each band named, so that the index is asked for short ranges and nothing else.
    """
    table = EntityRow
    for number in range(ranges):
        within = (
            (table.tenant == TENANT)
            & table.band.in_(bindparam(f"{box}_bands", expanding=True))
            & table.longitude.between(bindparam(f"{box}_west_{number}"), bindparam(f"{box}_east_{number}"))
            & table.latitude.between(bindparam(f"{box}_south"), bindparam(f"{box}_north"))
        )
        yield within & (table.label == bindparam("label", type_=Text)) if labelled else within
