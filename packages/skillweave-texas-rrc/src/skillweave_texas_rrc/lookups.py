"""Which arguments each calculator of gas and oil reads from the entity graph."""

from collections.abc import Mapping
from typing import cast

from skillweave.entities import Entity, EntityGraph
from skillweave.packs import JsonObject
from skillweave.values import Json, thaw
from skillweave_texas_rrc.answers import refuse
from skillweave_texas_rrc.authorization import span
from skillweave_texas_rrc.lease_records import (
    LEASE,
    MONTH,
    Found,
    Lookup,
    authorizations,
    composition_of,
    disposed,
    first_and_last,
    lease_of,
    months_of,
    production,
)

_OF_MONTH: Mapping[str, Json] = {"lease": LEASE, "month": MONTH}
_OF_LEASE: Mapping[str, Json] = {"lease": LEASE}
_FLARE: JsonObject = {
    **LEASE,
    "description": "A lease of the entity graph, a well on it, or a flare point, by its id, name or number; its"
    " authorizations are then read.",
}
_AUTHORIZATION: JsonObject = {
    "type": "string",
    "description": "Which authorization of the lease, by its number or id; needed where it has several.",
}

_WITHOUT_EFFECT = frozenset({"denied", "dismissed", "withdrawn", "cancelled"})


async def _gas_month(graph: EntityGraph, arguments: JsonObject) -> Found:
    lease, record, _ = await production(graph, arguments)
    names = {"produced_mcf": "csgd_mcf", "gas_dispositions": "gas_disp", "remarks": "remarks", "month": "month"}
    return Found(_renamed(record, names), (_of_month(lease, record),))


async def _oil_month(graph: EntityGraph, arguments: JsonObject) -> Found:
    lease, record, before = await production(graph, arguments)
    names = {
        "month": "month",
        "opening_bbl": "oil_open_bbl",
        "oil_bbl": "oil_bbl",
        "oil_dispositions": "oil_disp",
        "closing_bbl": "oil_close_bbl",
    }
    last = _renamed(before or {}, {"previous_closing_bbl": "oil_close_bbl"})
    told = (_of_month(lease, record), *((_of_month(lease, before),) if before else ()))
    return Found({**_renamed(record, names), **last}, told)


async def _ratio(graph: EntityGraph, arguments: JsonObject) -> Found:
    lease, record, _ = await production(graph, arguments)
    read = _renamed(record, {"produced_mcf": "csgd_mcf", "oil_bbl": "oil_bbl"})
    return Found({**read, "gas_lift_mcf": disposed(lease, record, "5")}, (_of_month(lease, record),))


async def _composition(graph: EntityGraph, arguments: JsonObject) -> Found:
    lease = await lease_of(graph, arguments)
    percent, basis = composition_of(lease)
    stated: JsonObject = {"dry": "dry" in basis.lower()} if basis else {}
    return Found({"mol_percent": percent, **stated}, (_of_analysis(lease),))


async def _hydrocarbons(graph: EntityGraph, arguments: JsonObject) -> Found:
    if "volume_mcf" in arguments:
        return await _analysis(graph, arguments)
    lease, record, _ = await production(graph, arguments)
    whole = disposed(lease, record, "10") + disposed(lease, record, "11")
    read: JsonObject = {"volume_mcf": whole, "days": _days(arguments), "mol_percent": composition_of(lease)[0]}
    return Found(read, (f"{_of_month(lease, record)}, codes 10 and 11", _of_analysis(lease)))


async def _emissions(graph: EntityGraph, arguments: JsonObject) -> Found:
    if "volume_mcf" in arguments:
        return await _analysis(graph, arguments)
    code = "11" if arguments.get("release") == "vented" else "10"
    lease, record, _ = await production(graph, arguments)
    read: JsonObject = {"volume_mcf": disposed(lease, record, code), "mol_percent": composition_of(lease)[0]}
    return Found(read, (f"{_of_month(lease, record)}, code {code}", _of_analysis(lease)))


async def _radius(graph: EntityGraph, arguments: JsonObject) -> Found:
    if "escape_mcfd" in arguments:
        lease = await lease_of(graph, arguments)
        return Found({"h2s_ppm": _ppm(lease)}, (_of_analysis(lease),))
    lease, record, _ = await production(graph, arguments)
    rate = disposed(lease, record, "10") / _days(arguments)
    told = f"{_of_month(lease, record)}, code 10 as a daily average"
    return Found({"escape_mcfd": rate, "h2s_ppm": _ppm(lease)}, (told, _of_analysis(lease)))


async def _analysis(graph: EntityGraph, arguments: JsonObject) -> Found:
    lease = await lease_of(graph, arguments)
    return Found({"mol_percent": composition_of(lease)[0]}, (_of_analysis(lease),))


def _ppm(lease: Entity) -> Json:
    percent = composition_of(lease)[0].get("H2S", 0)
    return percent * 10_000 if isinstance(percent, int | float) else percent


async def _use(graph: EntityGraph, arguments: JsonObject) -> Found:
    """The term and rate of one authorization, and code 10 of every month that it touches, up to `as_of`."""
    several = await authorizations(graph, arguments)
    wanted = arguments.get("authorization")
    chosen = [one for one in several if wanted in (None, one.id, one.properties.get("auth_number"))]
    if len(chosen) != 1:
        known = ", ".join(_name(one) for one in several)
        why = f"{arguments['lease']} has {len(several)} authorizations, and {len(chosen)} fit"
        refuse("authorization", why, f"name one of {known}")
    names = {"authorized_mcfd": "authorized_mcfd", "start": "effective_date", "end": "expiry_date"}
    read = _renamed(cast("JsonObject", thaw(chosen[0].properties)), names)
    leases = await graph.neighbours(chosen[0].id, "ISSUED_FOR")
    if len(leases) != 1:
        fix = "give the volumes of all of them as `releases`"
        refuse("releases", f"{_name(chosen[0])} was issued for {len(leases)} leases", fix)
    lease = leases[0].entity
    term = span(str(read.get("start")), str(read.get("end")))
    until = str(arguments.get("as_of", "9999-12-31"))
    rows: list[Json] = []
    for month, record in sorted(months_of(lease).items()):
        first, last = first_and_last(month)
        if first <= term.end and term.start <= last and last.isoformat() <= until:
            rows.append({"start": first.isoformat(), "end": last.isoformat(), "mcf": disposed(lease, record, "10")})
    told = (_name(chosen[0]), f"{lease.id}: code 10 of {len(rows)} months, counted whole")
    return Found({**read, "releases": rows, "status": _status(chosen[0])}, told)


async def _exceptions(graph: EntityGraph, arguments: JsonObject) -> Found:
    """The exceptions of one flare point; those that were refused or withdrawn do not count."""
    several = await authorizations(graph, arguments)
    points: dict[str, str] = {}
    for one in several:
        for covered in await graph.neighbours(one.id, "COVERS"):
            points[covered.entity.id] = str(covered.entity.properties.get("name", covered.entity.id))
    if len(points) > 1:
        fix = f"name the flare point as `lease`: {', '.join(sorted(points.values()))}"
        refuse("lease", f"{arguments['lease']} has exceptions of {len(points)} flare points, which count apart", fix)
    rows: list[Json] = []
    told: list[str] = []
    for one in several:
        if one.properties.get("status") in _WITHOUT_EFFECT:
            told.append(f"{_name(one)}, {one.properties['status']}, not counted")
            continue
        written = cast("JsonObject", thaw(one.properties))
        dates = _renamed(written, {"start": "effective_date", "end": "expiry_date"})
        rows.append({"id": one.id, **dates, "status": _status(one)})
        told.append(_name(one))
    return Found({"exceptions": rows}, tuple(told))


def _status(authorization: Entity) -> str:
    return "pending" if authorization.properties.get("status") == "pending" else "granted"


LOOKUPS: Mapping[str, Lookup] = {
    "gas_balance": Lookup(_gas_month, _OF_MONTH),
    "oil_stock_balance": Lookup(_oil_month, _OF_MONTH),
    "gas_oil_ratio": Lookup(_ratio, _OF_MONTH),
    "gas_quality": Lookup(_composition, _OF_LEASE),
    "hydrocarbon_volume": Lookup(_hydrocarbons, _OF_MONTH),
    "flare_emissions": Lookup(_emissions, _OF_MONTH),
    "h2s_radius": Lookup(_radius, _OF_MONTH),
    "flare_authorization": Lookup(_use, {"lease": _FLARE, "authorization": _AUTHORIZATION}),
    "exception_days": Lookup(_exceptions, {"lease": _FLARE}),
}
"""By the name of the calculator, what it reads once a lease is named."""


def _renamed(record: JsonObject, names: Mapping[str, str]) -> JsonObject:
    return {name: record[key] for name, key in names.items() if record.get(key) is not None}


def _days(arguments: JsonObject) -> int:
    first, last = first_and_last(str(arguments["month"]))
    return (last - first).days + 1


def _of_month(lease: Entity, record: JsonObject) -> str:
    return f"{lease.id}: production of {record.get('month')}"


def _of_analysis(lease: Entity) -> str:
    analysis = lease.properties.get("gas_analysis")
    sampled = analysis.get("sample_date") if isinstance(analysis, Mapping) else None
    return f"{lease.id}: gas analysis, sampled {sampled or 'on a day that is not stated'}"


def _name(authorization: Entity) -> str:
    number = authorization.properties.get("auth_number")
    return f"{authorization.id} ({number or 'no number yet'})"
