"""Who has to be given notice of an exception: the affected tracts, and the affected persons of each (16 TAC 3.37)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from skillweave.entities import alias_key
from skillweave.packs import JsonObject
from skillweave_texas_rrc.limits import Limits, limits_of
from skillweave_texas_rrc.paths import between_tracts, to_tract
from skillweave_texas_rrc.schemas import Schema, answer
from skillweave_texas_rrc.sites import Site, Tract
from skillweave_texas_rrc.spacing import UNITS, feet, measured
from skillweave_texas_rrc.thresholds import Threshold, basis_of, thresholds, to_confirm

EXCEPTIONS: Schema = {
    "type": "array",
    "items": {"type": "string", "enum": ["lease_line", "between_well"]},
    "minItems": 1,
    "uniqueItems": True,
    "description": "The exceptions that are applied for, as `well_spacing` lists them.",
}
TOUCHING_FT = 1.0
"""Tracts nearer to the lease than this touch it: corners are rounded when they are written in degrees."""

NOTICE = answer(
    *("well", "notice_radius_ft", "affected_tracts", "other_tracts", "undecided", "unlocated", "projection"),
)


@dataclass(frozen=True, slots=True)
class Affected:
    """A tract, how far it is from the well, and why its persons are affected; no reason where they are not.

    The distance is None where the tract has no boundary; `open_question` is what then cannot be decided.
    """

    tract: Tract
    distance_ft: float | None
    reasons: tuple[str, ...]
    open_question: str = ""


def notice_tracts(site: Site, exceptions: Sequence[str], rules: Mapping[str, Any] | None) -> JsonObject:
    """The affected tracts, nearest first, with the persons to whom notice goes.

    A tract whose boundary is missing is left undecided, unless it is affected as an adjacent one. Raises ToolRefused
    for missing points of the well.
    """
    limits = limits_of(rules)
    judged = sorted(
        (_judged(site, tract, exceptions, limits) for tract in site.tracts),
        key=lambda one: (one.distance_ft is None, one.distance_ft or 0.0, one.tract.label),
    )
    affected = [one for one in judged if one.reasons]
    undecided = [one for one in judged if one.open_question]
    told = [_told(one, site) for one in affected]
    unlocated = [
        f"{person['name']} ({_name(one.tract)})"
        for one, (_, persons, _) in zip(affected, told, strict=True)
        for person in persons
        if not person["located"]
    ]
    used = (*_used(exceptions, limits, someone_unlocated=bool(unlocated)), *measured(site))
    return {
        "well": cast("JsonObject", site.well.named()),
        "notice_radius_ft": limits.notice_radius_ft if "lease_line" in exceptions else None,
        "affected_tracts": [tract for tract, _, _ in told],
        "other_tracts": [
            {**_named(one), "reason": "it is neither near enough nor adjacent under the exceptions applied for"}
            for one in judged
            if not one.reasons and not one.open_question
        ],
        "undecided": [{**_named(one), "reason": one.open_question} for one in undecided],
        "unlocated": list(unlocated),
        "projection": cast("JsonObject", site.plane.to_dict()),
        "units": UNITS,
        "basis": basis_of(used),
        "warnings": [
            *limits.warnings,
            *(warning for _, _, warnings in told for warning in warnings),
            *(f"ASK: whether {_name(one.tract)} is affected; {one.open_question}." for one in undecided),
            *(() if site.tracts else ("No tract was given: nothing can be said of who is affected.",)),
            *to_confirm(one for one in used if one not in limits.used),
        ],
    }


def _judged(site: Site, tract: Tract, exceptions: Sequence[str], limits: Limits) -> Affected:
    path = site.well.require_path()
    far = None if tract.ring is None else to_tract(path, tract.ring)
    radius, line = limits.notice_radius_ft, limits.lease_line.required_ft
    adjacent = _is_adjacent(site, tract) if "between_well" in exceptions else False
    reasons = []
    if "lease_line" in exceptions and far is not None and far < radius:
        reasons.append(f"it is nearer to the well than {radius:g} ft (lease-line exception)")
    if adjacent:
        reasons.append("it is adjacent to the lease (between-well exception)")
    if "between_well" in exceptions and far is not None and far < line:
        reasons.append(f"it is nearer to the well than {line:g} ft (between-well exception)")
    if reasons:
        return Affected(tract, far, tuple(reasons))
    if far is None:
        return Affected(tract, far, (), "its boundary is missing, so how far it is cannot be said")
    if adjacent is None:
        return Affected(tract, far, (), "whether it is adjacent to the lease is not said, and no boundary tells")
    return Affected(tract, far, ())


def _is_adjacent(site: Site, tract: Tract) -> bool | None:
    """Whether a tract touches the lease, as it is said or as the boundaries show; None where neither tells."""
    said: bool | None = tract.written.get("adjacent")
    if said is not None:
        return said
    if site.lease.ring is None or tract.ring is None:
        return None
    return between_tracts(site.lease.ring, tract.ring) < TOUCHING_FT


def _told(one: Affected, site: Site) -> tuple[JsonObject, list[JsonObject], list[str]]:
    """An affected tract as the answer tells it, its persons, and what is to be looked at."""
    written = one.tract.written
    persons = [_person(person, role) for role, person in _affected(written)]
    not_affected = [{"name": person["name"], "reason": reason} for person, reason in _not_affected(written)]
    told: JsonObject = {**_named(one), "reasons": list(one.reasons), "persons": list(persons)}
    if not_affected:
        told["not_affected"] = list(not_affected)
    return told, persons, list(_warnings(one, persons, site))


def _affected(tract: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    if tract.get("operator"):
        yield "designated_operator", tract["operator"]
    else:
        yield from (("lessee_of_record", person) for person in tract.get("lessees") or ())
    yield from (("unleased_owner", person) for person in tract.get("unleased_owners") or ())


def _not_affected(tract: Mapping[str, Any]) -> Iterator[tuple[Mapping[str, Any], str]]:
    if tract.get("operator"):
        for person in tract.get("lessees") or ():
            yield person, "a lessee of a tract that has a designated operator"
    for person in tract.get("royalty_owners") or ():
        yield person, "an owner of a leased royalty is not an affected person"


def _person(person: Mapping[str, Any], role: str) -> JsonObject:
    located = person.get("located", True)
    told: JsonObject = {"name": person["name"], "role": role, "address": person.get("address"), "located": located}
    if not located:
        told["to_do"] = (
            "Search with due diligence and keep a record of the search; where that finds nobody, give notice by "
            f"publication ({thresholds()['publication'].cite})."
        )
    return told


def _warnings(one: Affected, persons: Sequence[JsonObject], site: Site) -> Iterator[str]:
    name = _name(one.tract)
    if not persons:
        yield f"No affected person of {name} is known: search the records for operator, lessees and unleased owners."
    for person in persons:
        if person["located"] and not person["address"]:
            yield f"The mailing address of {person['name']} ({name}) is missing."
    operator = one.tract.written.get("operator")
    applicant = site.lease.written.get("operator")
    if operator and applicant and alias_key(operator["name"]) == alias_key(applicant):
        yield f"{applicant} operates {name} itself: confirm who is to be notified there instead."


def _used(exceptions: Sequence[str], limits: Limits, *, someone_unlocated: bool) -> Iterator[Threshold]:
    known = thresholds()
    yield from limits.used
    if "lease_line" in exceptions:
        yield known["notice_share"]
    if "between_well" in exceptions:
        yield known["notice_adjacent"]
    yield known["affected_persons"]
    yield known["leased_royalty"]
    if someone_unlocated:
        yield known["publication"]


def _named(one: Affected) -> JsonObject:
    return {**one.tract.named(), "distance_ft": feet(one.distance_ft)}


def _name(tract: Tract) -> str:
    return str(tract.written.get("name") or tract.written.get("id") or tract.label)
