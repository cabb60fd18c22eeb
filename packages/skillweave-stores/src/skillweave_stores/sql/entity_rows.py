"""Entities and edges as rows of their tables, and back."""

import json
from math import floor
from typing import Any, NamedTuple

from skillweave import StoreUnavailable
from skillweave.entities import Edge, Entity, Point, alias_key
from skillweave.errors import InvalidSkill, InvalidValue
from skillweave_stores.sql.documents import storable
from skillweave_stores.sql.tables import BANDS

LONGEST_KEY = 2_600
"""Bytes that the texts of one key may have together, the tenant's with them: so much an index of PostgreSQL holds."""


class EntityColumns(NamedTuple):
    """What a row of `entities` says, its documents as text."""

    id: str
    label: str
    datum: str | None
    latitude: float | None
    longitude: float | None
    aliases: str | None
    properties: str | None


def band_of(latitude: float) -> int:
    """The band of latitude in which a place lies."""
    return floor(latitude * BANDS)


def entity_row(tenant: str, entity: Entity) -> dict[str, Any]:
    """The row of an entity. Raises InvalidValue for what a database does not keep."""
    what, at = f"entity {entity.id!r:.100}", entity.location
    _require_short(what, tenant, entity.id, entity.label)
    for key in alias_keys(entity):
        _require_short(f"the alias {key!r:.100} of {what}", tenant, entity.id, key)
    return {
        "tenant": tenant,
        "id": _stored(what, "id", entity.id),
        "label": _stored(what, "label", entity.label),
        "datum": None if at is None else _stored(what, "datum", at.datum),
        "latitude": None if at is None else float(at.latitude),
        "longitude": None if at is None else float(at.longitude),
        "band": None if at is None else band_of(at.latitude),
        "aliases": _stored(what, "aliases", entity.aliases),
        "properties": _stored(what, "properties", entity.properties),
    }


def alias_keys(entity: Entity) -> tuple[str, ...]:
    """What an entity is found by beside its id, each once."""
    return tuple(dict.fromkeys(key for alias in entity.aliases if (key := alias_key(alias))))


def edge_row(tenant: str, edge: Edge) -> dict[str, Any]:
    """The row of an edge. Raises InvalidValue for what a database does not keep."""
    what = f"edge {edge.source!r:.100} {edge.relation!r:.100} {edge.target!r:.100}"
    _require_short(what, tenant, edge.source, edge.relation, edge.target)
    return {
        "tenant": tenant,
        "source": _stored(what, "source", edge.source),
        "relation": _stored(what, "relation", edge.relation),
        "target": _stored(what, "target", edge.target),
        "properties": _stored(what, "properties", edge.properties),
    }


def entity_of(row: EntityColumns, place: str) -> Entity:
    """The entity that a row holds. Raises StoreUnavailable, naming the row, for one that holds none."""
    try:
        at = None
        if row.latitude is not None and row.longitude is not None and row.datum is not None:
            at = Point(row.latitude, row.longitude, row.datum)
        return Entity(row.id, row.label, _read(row.properties, dict), tuple(_read(row.aliases, list)), at)
    except (ValueError, TypeError, RecursionError) as error:
        raise _damaged(f"{row.id!r:.100} in the table entities of {place}", error) from error


def edge_of(source: str, relation: str, target: str, properties: str | None, place: str) -> Edge:
    """The edge that a row holds. Raises StoreUnavailable, naming the row, for one that holds none."""
    try:
        return Edge(source, relation, target, _read(properties, dict))
    except (ValueError, TypeError, RecursionError) as error:
        named = f"{source!r:.100} {relation!r:.100} {target!r:.100} in the table entity_edges of {place}"
        raise _damaged(named, error) from error


def _read(document: str | None, kind: type[dict[str, Any]] | type[list[Any]]) -> Any:  # noqa: ANN401 - of that kind
    """The data in a column, which somebody may have left empty."""
    found = kind() if document is None else json.loads(document)
    if not isinstance(found, kind):
        raise TypeError(f"{document:.40} is no JSON {'object' if kind is dict else 'list'}")
    return found


def _damaged(row: str, error: Exception) -> StoreUnavailable:
    return StoreUnavailable(f"the row {row} is damaged ({error}); correct it, or put it again")


def _stored(what: str, name: str, value: object) -> Any:  # noqa: ANN401 - JSON data of any shape
    try:
        return storable(value, (name,))
    except InvalidSkill as error:
        raise InvalidValue(f"{what} cannot be stored: {error}") from None


def _require_short(what: str, *key: str) -> None:
    size = sum(len(text.encode("utf-8", "surrogatepass")) for text in key)
    if size > LONGEST_KEY:
        raise InvalidValue(
            f"{what} has texts of {size} bytes in one key, with its tenant's; a database indexes {LONGEST_KEY}; "
            "shorten its id, label, relation or alias"
        )
