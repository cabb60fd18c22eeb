"""What an entity graph knows about a well, its lease, its field, the wells and tracts about it, in the form of a call.

Nodes are other people's data: each is checked like the arguments of a call, and named where it does not fit.
"""

import asyncio
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType
from typing import cast

from skillweave.entities import MOST_NEIGHBOURS, AmbiguousEntity, Direction, Entity, EntityGraph, Neighbour, datum_name
from skillweave.packs import JsonObject, ToolRefused, require_fit
from skillweave.tools import PreparedSchema, prepare_schema
from skillweave.values import Json, as_json
from skillweave_texas_rrc.limits import FIELD_RULES
from skillweave_texas_rrc.schemas import Schema
from skillweave_texas_rrc.sites import LEASE, PERSON, PLACE, TRACT, WELL

_AT_ONCE = 8
"""Questions that a graph is asked at the same time."""
_API = re.compile(r"(?:42)?(\d{3})(\d{5})(?:\d{2}|\d{4})?", re.ASCII)
"""The digits of an API number: state, county, serial; then codes of sidetracks and events, which name no other well."""
_LONGEST_NAME = 200
_SHOWN = 5
"""Entities that an error names one by one."""
_SIGNS = re.compile(r"[\s.\-_/#]|api", re.IGNORECASE)
_SCHEMAS: Mapping[str, Schema] = MappingProxyType({"well": WELL, "lease": LEASE, "tract": TRACT})
_NOT_LOCATED = frozenset({"not_located", "unlocated", "unknown"})


@dataclass(slots=True)
class Gathering:
    """One look into a graph; `warnings` are what a person should know about what was found."""

    graph: EntityGraph
    warnings: list[str] = field(default_factory=list)
    _gate: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(_AT_ONCE))

    async def about(self, ref: str, needs: Sequence[str]) -> JsonObject:
        """The well, and of `lease`, `offset_wells`, `tracts` and `field_rules` what is needed, as a call gives them."""
        well = await self.well(ref)
        found: JsonObject = {"well": await self.written_well(well)}
        if "field_rules" in needs:
            found["field_rules"] = await self.field_rules(well)
        if {"lease", "offset_wells", "tracts"} & set(needs):
            lease = await self.lease(well)
            if "lease" in needs:
                found["lease"] = await self.written_lease(lease)
            if "offset_wells" in needs:
                found["offset_wells"] = await self.offset_wells(well, lease)
            if "tracts" in needs:
                found["tracts"] = await self.tracts(lease)
        return found

    async def well(self, ref: str) -> Entity:
        """The well of that id, name or API number; raises ToolRefused where there is none, or several."""
        for name in dict.fromkeys((ref, *_spellings(ref))):
            try:
                found = await self.graph.entity(name)
            except AmbiguousEntity as several:
                fix = f"name one by its id: {', '.join(several.ids[:_SHOWN])}"
                raise ToolRefused("arguments#/well", f"several entities are called {ref!r}", fix) from several
            if found is not None:
                return self._require_well(found)
        why = f"the graph knows no well {ref!r}"
        raise ToolRefused("arguments#/well", why, "give its API number, such as 42-329-12345, or its id in the graph")

    async def lease(self, well: Entity) -> Entity:
        """The one lease that a well lies on; raises ToolRefused where there is none, or several."""
        leases = await self._reached(well, "LOCATED_ON")
        if len(leases) == 1:
            return leases[0]
        named = f"{len(leases)} leases ({_listed(leases)})" if leases else "no lease"
        fix = "let it lead to one lease or unit, or call the tool with well, lease and offset wells as JSON"
        raise ToolRefused(_place(well), f"its relation LOCATED_ON leads to {named}", fix)

    async def written_well(self, well: Entity) -> JsonObject:
        """A well with the names of its leases and fields."""
        leases, fields = await asyncio.gather(self._reached(well, "LOCATED_ON"), self._reached(well, "IN_FIELD"))
        written = _written(well, "well")
        return {**written, "lease": [_named(one) for one in leases], "field": [_named(one) for one in fields]}

    async def field_rules(self, well: Entity) -> JsonObject | None:
        """The rules of the one field of a well; None where it has no field. Raises ToolRefused where it has several."""
        fields = await self._reached(well, "IN_FIELD")
        if len(fields) > 1:
            why = f"its relation IN_FIELD leads to {len(fields)} fields ({_listed(fields)})"
            raise ToolRefused(_place(well), why, "give the `field_rules` of the field that is applied for")
        if not fields:
            self.warnings.append(f"ASK: the graph names no field of {_named(well)}.")
            return None
        rules = as_json(fields[0].properties.get("field_rules") or {})
        if not isinstance(rules, dict):
            why = "its property `field_rules` is no mapping"
            raise ToolRefused(_place(fields[0]), why, "write `field_rules: {lease_line_ft, between_well_ft}`")
        known = {key: value for key, value in rules.items() if key in FIELD_RULES["properties"]}
        require_fit(FIELD_RULES, known, f"{_place(fields[0])}, field_rules")
        return known

    async def offset_wells(self, well: Entity, lease: Entity) -> list[Json]:
        """The wells that are connected as offsets, in either direction, and all on the same lease."""
        offsets = await self._reached(well, "OFFSETS", Direction.BOTH)
        same_lease = await self._reached(lease, "LOCATED_ON", Direction.IN)
        others = {one.id: one for one in (*offsets, *same_lease) if one.label == "Well" and one.id != well.id}
        return list(await asyncio.gather(*map(self.written_well, others.values())))

    async def tracts(self, lease: Entity) -> list[Json]:
        """The tracts and leases that are adjacent to a lease, with their operators, lessees and owners."""
        adjacent = await self._reached(lease, "ADJACENT_TO", Direction.BOTH)
        return list(await asyncio.gather(*map(self._written_tract, adjacent)))

    async def written_lease(self, lease: Entity) -> JsonObject:
        """The lease, with the name of its operator; without a boundary where it has none."""
        operators = await self._reached(lease, "OPERATED_BY")
        written = _written(lease, "lease")
        return {**written, "operator": _name(operators[0])} if operators else written

    async def _written_tract(self, tract: Entity) -> JsonObject:
        operators = await self._reached(tract, "OPERATED_BY")
        if len(operators) > 1:
            why = f"its relation OPERATED_BY leads to {_listed(operators)}"
            raise ToolRefused(_place(tract), why, "keep its designated operator only")
        lessees = await self._reached(tract, "LEASED_TO")
        unleased: list[Entity] = []
        royalties: list[Entity] = []
        for owner in await self._reached(tract, "OWNED_BY"):
            interest = str(owner.properties.get("interest") or "")
            (royalties if "royalty" in interest else unleased).append(owner)
            if "royalty" not in interest and "unleased" not in interest:
                who = f"{_name(owner)} in {_name(tract)}"
                self.warnings.append(f"Whether the interest of {who} is leased is not known: notice is listed.")
        return {
            **_written(tract, "tract"),
            "adjacent": True,
            "operator": _person(operators[0]) if operators else None,
            "lessees": [_person(one) for one in lessees],
            "unleased_owners": [_person(one) for one in unleased],
            "royalty_owners": [_person(one) for one in royalties],
        }

    async def _reached(self, entity: Entity, relation: str, direction: Direction = Direction.OUT) -> list[Entity]:
        async with self._gate:
            found = await self.graph.neighbours(entity.id, relation, direction, limit=MOST_NEIGHBOURS)
        if len(found) == MOST_NEIGHBOURS:
            why = f"its relation {relation} leads to {MOST_NEIGHBOURS:,} entities or more, and not all can be read"
            raise ToolRefused(_place(entity), why, "call the tool with those that matter as JSON")
        return _each_once(found)

    def _require_well(self, found: Entity) -> Entity:
        if found.label != "Well":
            why = f"{found.id!r} is a {found.label}, not a well"
            raise ToolRefused("arguments#/well", why, "give the API number or the id of a well")
        return found


def _each_once(found: Iterable[Neighbour]) -> list[Entity]:
    return list({one.entity.id: one.entity for one in found}.values())


def _spellings(ref: str) -> tuple[str, ...]:
    """An API number without the codes of sidetracks and events, and with that of the state."""
    found = _API.fullmatch(_SIGNS.sub("", ref))
    return () if found is None else (f"42-{found[1]}-{found[2]}",)


def _listed(entities: Sequence[Entity]) -> str:
    more = f" and {len(entities) - _SHOWN} more" if len(entities) > _SHOWN else ""
    return f"{', '.join(one.id for one in entities[:_SHOWN])}{more}"


def _place(entity: Entity) -> str:
    return f"entity {entity.id!r}"


def _name(entity: Entity) -> str:
    name = entity.properties.get("name")
    return " ".join(name.split())[:_LONGEST_NAME] if isinstance(name, str) and name.strip() else entity.id


def _named(entity: Entity) -> str:
    return entity.id if _name(entity) == entity.id else f"{_name(entity)} [{entity.id}]"


def _written(entity: Entity, kind: str) -> JsonObject:
    """The properties that the schema knows, checked against it, with the id, the datum and the place in errors.

    What the schema requires may be missing: the calculation says what it needs.
    """
    properties = cast("Mapping[str, Json]", as_json(entity.properties))
    wanted = set(_SCHEMAS[kind]["properties"]) - {"id", "lease", "field", "operator"}
    known = {key: value for key, value in properties.items() if key in wanted and value is not None}
    if (at := entity.location) is not None:
        known.setdefault("datum", at.datum)
        if "surface_location" in wanted and datum_name(str(known["datum"])) == at.datum:
            known.setdefault("surface_location", {"lat": at.latitude, "lon": at.longitude})
    require_fit(_prepared(kind), known, _place(entity))
    return {**known, "id": entity.id, PLACE: _place(entity)}


@cache
def _prepared(kind: str) -> PreparedSchema:
    """The schema of that kind, of which anything may be missing; kept, as a lease may have a thousand wells."""
    optional: Schema = {**_SCHEMAS[kind], "required": []}
    return prepare_schema(optional)


def _person(entity: Entity) -> JsonObject:
    properties = entity.properties
    person: JsonObject = {"name": _name(entity), "located": properties.get("address_status") not in _NOT_LOCATED}
    if properties.get("address") is not None:
        person["address"] = as_json(properties["address"])
    require_fit(PERSON, person, _place(entity))
    return person
