"""A well, its lease, the wells and tracts about it: read from JSON, all projected onto one plane."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from skillweave.entities import alias_key
from skillweave.packs import ToolRefused
from skillweave_texas_rrc.paths import Path, Ring, require_ring
from skillweave_texas_rrc.plane import Degrees, Plane, plane_of
from skillweave_texas_rrc.schemas import Schema, described, optional, record, several, text

MOST_WELLS = 1000
_COUNTY_AND_SERIAL = 8
"""Digits of an API number that tell wells of Texas apart."""
MOST_TRACTS = 200
MOST_CORNERS = 1000
MOST_PERSONS = 200
PLACE = "place"
"""The key under which what was gathered from a graph says where it comes from; callers do not give it."""

DATUM: Schema = text("The datum of all points that name none themselves: NAD83 or NAD27, as the plat states it.", 40)
ZONE: Schema = {
    "type": "string",
    "enum": ["north", "north_central", "central", "south_central", "south"],
    "description": "The zone of the Texas state plane; central (FIPS 4203) where none is given.",
}
POINT: Schema = record(
    {
        "lat": {"type": "number", "minimum": -90, "maximum": 90},
        "lon": {"type": "number", "minimum": -180, "maximum": 180},
    },
    ("lat", "lon"),
    "Decimal degrees; longitudes in Texas are negative.",
)
BOUNDARY: Schema = several(POINT, MOST_CORNERS, "The corners in the order in which one walks around.", least=3)
WELL: Schema = record(
    {
        "id": text("An id."),
        "name": text("The name, such as `Smith 1H`."),
        "api_number": text("The API number.", 40),
        "well_type": text("`vertical`, `horizontal` or `directional`.", 60),
        "status": text("Such as active, shut_in, proposed, plugged, injecting.", 60),
        "service": text("What a service well is for, such as salt water disposal."),
        "lease": text("The name or number of its lease."),
        "field": text("The name or number of its field."),
        "datum": text("The datum of its points.", 40),
        "surface_location": POINT,
        "first_take_point": POINT,
        "last_take_point": POINT,
    },
    description="A well. A vertical one is measured from its surface location, another one between its take points.",
)
LEASE: Schema = record(
    {
        "id": text("An id."),
        "name": text("The name."),
        "operator": text("Who operates it."),
        "datum": text("The datum of its boundary.", 40),
        "boundary": BOUNDARY,
    },
    ("boundary",),
    "The lease or pooled unit of the well.",
)
PERSON: Schema = record(
    {
        "name": text("Name of the company or person."),
        "address": text("Mailing address.", 400),
        "located": described({"type": "boolean"}, "False where nobody knows where the person is."),
    },
    ("name",),
)
TRACT: Schema = record(
    {
        "id": text("An id."),
        "name": text("The name."),
        "datum": text("The datum of its boundary.", 40),
        "boundary": BOUNDARY,
        "adjacent": described({"type": "boolean"}, "Whether it touches the well's lease."),
        "operator": optional(PERSON),
        "lessees": several(PERSON, MOST_PERSONS, "Lessees of record."),
        "unleased_owners": several(PERSON, MOST_PERSONS, "Owners of record of unleased mineral interests."),
        "royalty_owners": several(PERSON, MOST_PERSONS, "Owners of leased royalties or overriding royalties."),
    },
)


@dataclass(frozen=True, slots=True)
class Well:
    """A well on the plane; `path` is None where its points are missing, and `missing` then says what is wrong.

    `number` are the digits of its API number for county and serial.
    """

    label: str
    id: str | None = None
    name: str | None = None
    status: str = ""
    kind: str = ""
    service: str = ""
    leases: tuple[str, ...] = ()
    fields: tuple[str, ...] = ()
    path: Path | None = None
    surface: Path | None = None
    missing: ToolRefused | None = None
    number: str = ""

    def is_same(self, other: "Well") -> bool:
        """Whether both are one well: the same id, or the same API number but for codes of sidetracks and events."""
        return bool((self.id and self.id == other.id) or (self.number and self.number == other.number))

    def require_path(self) -> Path:
        """The path; raises ToolRefused where it is not known."""
        if self.path is None:
            raise self.missing or ToolRefused(self.label, "it has no path", "give its points")
        return self.path

    def named(self) -> dict[str, str]:
        """What an answer tells of it."""
        return {key: value for key, value in (("id", self.id), ("name", self.name)) if value}


@dataclass(frozen=True, slots=True)
class Tract:
    """A tract or a lease on the plane, with what was written about it; `ring` is None where its corners are missing."""

    label: str
    ring: Ring | None
    written: Mapping[str, Any]

    def named(self) -> dict[str, str]:
        """What an answer tells of it."""
        return {key: self.written[key] for key in ("id", "name") if self.written.get(key)}


@dataclass(frozen=True, slots=True)
class Site:
    """A well and what lies about it, on one plane."""

    plane: Plane
    well: Well
    lease: Tract
    offsets: tuple[Well, ...]
    tracts: tuple[Tract, ...]

    def require_lines(self) -> Ring:
        """The lines of the lease; raises ToolRefused where its boundary is missing."""
        if self.lease.ring is None:
            why = "the boundary of the well's lease is missing"
            raise ToolRefused(self.lease.label, why, "add `boundary`, a list of all its corners in order")
        return self.lease.ring


def read_site(arguments: Mapping[str, Any]) -> Site:
    """The site that arguments describe, which fit the schemas of this module.

    Raises ToolRefused for missing, mixed or unknown datums, points outside the zone, boundaries that enclose nothing.
    """
    own = arguments.get("datum")
    pieces = [(place, piece.get("datum") or own) for place, piece in _pieces(arguments) if _has_points(piece)]
    plane = plane_of(arguments.get("zone") or "central", pieces)
    return Site(
        plane,
        _well(arguments["well"], "arguments#/well", plane),
        _tract(arguments.get("lease") or {}, "arguments#/lease", plane),
        tuple(
            _well(one, f"arguments#/offset_wells/{index}", plane)
            for index, one in enumerate(arguments.get("offset_wells") or ())
        ),
        tuple(
            _tract(one, f"arguments#/tracts/{index}", plane) for index, one in enumerate(arguments.get("tracts") or ())
        ),
    )


def _pieces(arguments: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """All that may have points, each with its place."""
    for key in ("well", "lease"):
        if arguments.get(key) is not None:
            yield _place(arguments[key], f"arguments#/{key}"), arguments[key]
    for key in ("offset_wells", "tracts"):
        for index, one in enumerate(arguments.get(key) or ()):
            yield _place(one, f"arguments#/{key}/{index}"), one


def _place(written: Mapping[str, Any], otherwise: str) -> str:
    return cast("str", written.get(PLACE, otherwise))


def _has_points(written: Mapping[str, Any]) -> bool:
    return any(key in written for key in ("surface_location", "first_take_point", "last_take_point", "boundary"))


def _well(written: Mapping[str, Any], otherwise: str, plane: Plane) -> Well:
    place = _place(written, otherwise)
    keys = _path_keys(written, place)
    surface = ("surface_location",) if "surface_location" in written else ()
    return Well(
        label=place,
        id=written.get("id"),
        name=written.get("name") or written.get("api_number"),
        status=written.get("status", ""),
        kind=written.get("well_type", ""),
        service=written.get("service", ""),
        leases=_names(written.get("lease")),
        fields=_names(written.get("field")),
        path=None if isinstance(keys, ToolRefused) else plane.project(_points(written, keys, place)),
        surface=plane.project(_points(written, surface, place)) or None,
        missing=keys if isinstance(keys, ToolRefused) else None,
        number=alias_key(written.get("api_number", "")).removeprefix("42")[:_COUNTY_AND_SERIAL],
    )


def _names(written: str | Sequence[str] | None) -> tuple[str, ...]:
    """One name, as callers give it, or several, as a graph may know them."""
    return () if written is None else (written,) if isinstance(written, str) else tuple(written)


def _path_keys(written: Mapping[str, Any], place: str) -> tuple[str, ...] | ToolRefused:
    """The keys of the points from which the well is measured; what is to be refused, where one of them is missing."""
    kind = written.get("well_type", "").strip().lower()
    if kind == "vertical":
        if "surface_location" not in written:
            return ToolRefused(place, "a vertical well without its surface location", "add `surface_location`")
        return ("surface_location",)
    takes = ("first_take_point", "last_take_point")
    lacks = [key for key in takes if key not in written]
    if not lacks:
        return takes
    what = f"a {kind} well" if kind else "a well of no named type"
    why = f"{what} lacks {' and '.join(lacks)}; its surface hole is no take point, distances from it would be wrong"
    fix = f"add {' and '.join(lacks)}" + ("" if kind else ", or `well_type: vertical` where it is one")
    return ToolRefused(place, why, fix)


def _tract(written: Mapping[str, Any], otherwise: str, plane: Plane) -> Tract:
    place = _place(written, otherwise)
    if "boundary" not in written:
        return Tract(place, None, written)
    corners = [_degrees(one, f"{place}/boundary/{index}") for index, one in enumerate(written["boundary"])]
    ring = plane.project(corners)
    require_ring(ring, f"{place}/boundary")
    return Tract(place, ring, written)


def _points(written: Mapping[str, Any], keys: Sequence[str], place: str) -> list[Degrees]:
    return [_degrees(written[key], f"{place}/{key}") for key in keys]


def _degrees(point: Mapping[str, float], place: str) -> Degrees:
    return Degrees(point["lat"], point["lon"], place)
