"""What the entity graph knows of a lease, as the arguments of calculators, and where each was read."""

from calendar import monthrange
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import TypeAlias, cast

from skillweave.entities import AmbiguousEntity, Direction, Entity, EntityGraph
from skillweave.packs import JsonObject, Tool, ToolRefused
from skillweave.values import Json, freeze_mapping, shown, thaw
from skillweave_texas_rrc.answers import day, is_month, production_month, refuse
from skillweave_texas_rrc.gather import Gathering
from skillweave_texas_rrc.schemas import Schema

LEASE: JsonObject = {
    "type": "string",
    "description": "A lease of the entity graph by its id, name or RRC number, or a well on it by its API number; what"
    " is not given is then read from its records.",
    "minLength": 1,
    "maxLength": 200,
    "pattern": r"\S",
}
MONTH: Schema = {
    "type": "string",
    "description": "The production month, such as 2026-03.",
    "pattern": "^(19|20)[0-9]{2}-(0[1-9]|1[0-2])$",
}
_MOST = 1000


@dataclass(frozen=True, slots=True)
class Found:
    """Arguments that were read, and the entities and records that they were read from."""

    arguments: JsonObject
    read_from: tuple[str, ...]


Find: TypeAlias = Callable[[EntityGraph, JsonObject], Awaitable[Found]]
"""Reads arguments for a call from the graph; raises ToolRefused where it does not know them."""


@dataclass(frozen=True, slots=True)
class Lookup:
    """What a calculator can read for itself: `find` reads it, `parameters` are what it has to be told for that."""

    find: Find
    parameters: Mapping[str, Json]


def reading(tool: Tool, graph: EntityGraph, lookup: Lookup) -> Tool:
    """The same calculator, which reads from the graph what it is not given once a `lease` is named.

    What the caller gives wins over what is read. The answer says in `read_from` where its inputs come from.
    """
    schema = cast("JsonObject", thaw(tool.parameters))
    own = cast("JsonObject", schema["properties"])
    returns = cast("JsonObject", thaw(tool.returns))

    async def run(arguments: JsonObject) -> JsonObject:
        given = {name: value for name, value in arguments.items() if name in own}
        if "lease" not in arguments:
            return {**await tool.call(given), "read_from": []}
        found = await lookup.find(graph, arguments)
        try:
            answer = await tool.call({**found.arguments, **given})
        except ToolRefused as refused:
            source = f"it may come from {'; '.join(found.read_from)}: correct it there, or give the value"
            raise ToolRefused(refused.place, refused.why, f"{refused.fix} ({source})", others=refused.others) from None
        instead = [name for name in found.arguments if name in given and given[name] != found.arguments[name]]
        told = (f"given instead of what is recorded: {', '.join(instead)}",) if instead else ()
        return {**answer, "read_from": [*found.read_from, *told]}

    told: JsonObject = {"type": "array", "items": {"type": "string"}}
    reads: JsonObject = {**schema, "properties": {**lookup.parameters, **own}, "required": []}
    answers: JsonObject = {**returns, "properties": {**cast("JsonObject", returns["properties"]), "read_from": told}}
    return replace(
        tool,
        description=f"{tool.description} Give the values, or `lease` to have them read from its records.",
        parameters=freeze_mapping(reads),
        returns=freeze_mapping(answers),
        run=run,
    )


async def production(graph: EntityGraph, arguments: JsonObject) -> tuple[Entity, JsonObject, JsonObject | None]:
    """The lease that is named, its record of the month, and that of the month before, None where there is none."""
    lease = await lease_of(graph, arguments)
    if "month" not in arguments:
        refuse(
            "month", f"nothing says which month of {lease.id} is meant", "give the production month, such as 2026-03"
        )
    month = production_month(str(arguments["month"]))
    months = months_of(lease)
    if month not in months:
        known = f"it has {', '.join(sorted(months))}" if months else "it has none"
        refuse("month", f"{lease.id} has no record of {month}", f"{known}; give one of these, or the volumes")
    return lease, months[month], months.get(_before(month))


async def lease_of(graph: EntityGraph, arguments: JsonObject) -> Entity:
    """The lease that `lease` names, also by a well on it; raises ToolRefused where there is none, or several."""
    found = await _entity(graph, str(arguments["lease"]))
    if found.label == "Lease":
        return found
    leases = [
        one.entity
        for one in await graph.neighbours(found.id, "LOCATED_ON", Direction.OUT, _MOST)
        if one.entity.label == "Lease"
    ]
    if len(leases) != 1:
        what = f"{found.id}, a node {found.label}, lies on {len(leases)} leases"
        refuse("lease", what, "name the lease by its id, name or RRC number")
    return leases[0]


async def authorizations(graph: EntityGraph, arguments: JsonObject) -> list[Entity]:
    """The flaring authorizations of a lease, or of a flare point that `lease` names, earliest first."""
    found = await _entity(graph, str(arguments["lease"]))
    if found.label == "Facility":
        target, relation = found, "COVERS"
    else:
        target, relation = await lease_of(graph, arguments), "ISSUED_FOR"
    several = [
        one.entity
        for one in await graph.neighbours(target.id, relation, Direction.IN, _MOST)
        if one.entity.label == "FlaringAuthorization"
    ]
    if not several:
        refuse("lease", f"{target.id} has no flaring authorization", "give the values of the authorization")
    return sorted(several, key=lambda one: (str(one.properties.get("effective_date")), one.id))


def composition_of(lease: Entity) -> tuple[JsonObject, str]:
    """The mol % of a lease's gas analysis, and its basis as the laboratory wrote it; raises ToolRefused without one."""
    analysis = lease.properties.get("gas_analysis")
    percent = analysis.get("mol_pct") if isinstance(analysis, Mapping) else None
    if not isinstance(analysis, Mapping) or not isinstance(percent, Mapping):
        refuse("lease", f"{lease.id} has no gas analysis", "give the mol % of each component as `mol_percent`")
    return cast("JsonObject", thaw(percent)), str(analysis.get("basis", ""))


def disposed(lease: Entity, record: JsonObject, code: str) -> float:
    """The MCF of a gas disposition code in a record of production, 0 where other codes stand and this one does not.

    Raises ToolRefused for a record without codes, for a volume that is no number, and for gas under code 4 where it
    matters whether it was flared or vented.
    """
    place, month = f"entity {lease.id!r}", record["month"]
    by_code = record.get("gas_disp")
    if not isinstance(by_code, dict):
        fix = "record them as `gas_disp`, or give the volume"
        raise ToolRefused(place, f"its production of {month} has no volumes by disposition code", fix)
    if code in ("10", "11") and by_code.get("4"):
        fix = "give the volume"
        raise ToolRefused(place, f"code 4 of {month} does not say whether its gas was flared or vented", fix)
    volume = by_code.get(code, 0)
    if isinstance(volume, bool) or not isinstance(volume, int | float):
        fix = "correct it there, or give the volume"
        raise ToolRefused(place, f"code {code} of {month} is {shown(volume)}, not a number of MCF", fix)
    return volume


def first_and_last(month: str) -> tuple[date, date]:
    """The first and the last day of a month."""
    first = day(f"{production_month(month)}-01", "month")
    return first, first.replace(day=monthrange(first.year, first.month)[1])


def months_of(lease: Entity) -> dict[str, JsonObject]:
    """The records of production of a lease by month; raises ToolRefused for one without a month, and for two of one."""
    found: dict[str, JsonObject] = {}
    records = lease.properties.get("production", ())
    for record in records if isinstance(records, tuple) else (records,):
        month = record.get("month") if isinstance(record, Mapping) else None
        if not isinstance(month, str) or not is_month(month):
            fix = "give it the month, such as 2026-03"
            raise ToolRefused(f"entity {lease.id!r}", "a record of its production is of no month", fix)
        if month in found:
            fix = "leave the one that holds"
            raise ToolRefused(f"entity {lease.id!r}", f"its production has two records of {month}", fix)
        found[month] = cast("JsonObject", thaw(record))
    return found


async def _entity(graph: EntityGraph, ref: str) -> Entity:
    try:
        found = await graph.entity(ref)
    except AmbiguousEntity as ambiguous:
        why = f"{len(ambiguous.ids)} entities are called {ref[:60]!r}"
        refuse("lease", why, f"give one by its id: {', '.join(ambiguous.ids)}")
    if found is not None:
        return found
    try:
        return await Gathering(graph).well(ref)  # knows API numbers with the codes of sidetracks too
    except ToolRefused:
        why = f"the graph knows nothing called {ref[:60]!r}"
        refuse("lease", why, "give its id, name or RRC number, or the values")


def _before(month: str) -> str:
    year, number = int(month[:4]), int(month[5:])
    return f"{year - 1}-12" if number == 1 else f"{year}-{number - 1:02}"
