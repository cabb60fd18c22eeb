"""From degrees to feet: the state plane zones of Texas, in one named datum and never in two (EPSG registry)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from skillweave.entities import datum_name
from skillweave.packs import ToolRefused
from skillweave_texas_rrc.thresholds import thresholds

if TYPE_CHECKING:
    from pyproj import CRS, Transformer

XY: TypeAlias = tuple[float, float]
"""Easting and northing in US survey feet."""


class Datum(StrEnum):
    """The datums whose degrees are projected; each only onto its own plane."""

    NAD83 = "NAD83"
    NAD27 = "NAD27"


class Zone(StrEnum):
    """The zones of the Texas state plane, from north to south."""

    NORTH = "north"
    NORTH_CENTRAL = "north_central"
    CENTRAL = "central"
    SOUTH_CENTRAL = "south_central"
    SOUTH = "south"


_DEGREES = {Datum.NAD83: 4269, Datum.NAD27: 4267}
_FIRST = {Datum.NAD83: 2275, Datum.NAD27: 32037}
"""The EPSG code of the northernmost zone; the others follow it."""
_SPELLINGS = {"NAD83": Datum.NAD83, "NAD1983": Datum.NAD83, "NAD27": Datum.NAD27, "NAD1927": Datum.NAD27}
_NAME_IT = "name the datum that the plat or the survey states, `NAD83` or `NAD27`"
_CONVERT = "convert the points of NAD27 to NAD83 with a grid (NADCON) first, or give all points in NAD27"


@dataclass(frozen=True, slots=True)
class Degrees:
    """A point in degrees, and where it was read, for refusals."""

    latitude: float
    longitude: float
    place: str


@dataclass(frozen=True, slots=True)
class Plane:
    """One zone in one datum, in US survey feet; Central is EPSG:2277 in NAD83 and EPSG:32039 in NAD27."""

    zone: Zone
    datum: Datum

    @property
    def epsg(self) -> int:
        """The code of the plane in the EPSG registry."""
        return _epsg(self.zone, self.datum)

    def to_dict(self) -> dict[str, str | int]:
        """What an answer tells of it."""
        return {"zone": self.zone.value, "datum": self.datum.value, "epsg": self.epsg}

    def project(self, points: Sequence[Degrees]) -> tuple[XY, ...]:
        """The points on the plane, in US survey feet.

        Raises ToolRefused for a point outside the zone,.
        """
        for point in points:
            self._require_inside(point)
        # One by one: a list of one point would go through another path of pyproj than a list of two.
        transformer = _transformer(_DEGREES[self.datum], self.epsg)
        found = (transformer.transform(point.longitude, point.latitude) for point in points)
        return tuple((float(x), float(y)) for x, y in found)

    def _require_inside(self, point: Degrees) -> None:
        if _has(self.zone, self.datum, point):
            return
        where = f"{point.latitude:g}, {point.longitude:g}"
        others = [zone.value for zone in Zone if _has(zone, self.datum, point)]
        if others:
            fix = f"give `zone: {others[0]}`" + (f" or `{others[1]}`" if len(others) > 1 else "")
        elif point.longitude > 0:
            fix = f"give longitudes west of Greenwich as negative numbers, such as {-point.longitude:g}"
        else:
            fix = "check latitude and longitude, in decimal degrees"
        raise ToolRefused(point.place, f"{where} does not lie in the Texas state plane zone `{self.zone}`", fix)


def plane_of(zone: str, datums: Iterable[tuple[str, str | None]]) -> Plane:
    """The plane for points that were read at some places, each with the datum that is named for it.

    Raises ToolRefused where one is not named, not known, or where they are not all the same.
    """
    read: dict[Datum, str] = {}
    for place, name in datums:
        read.setdefault(_datum(place, name), place)
    if len(read) > 1:
        (one, here), (other, there) = read.items()
        why = f"{one} ({here}) and {other} ({there}) are mixed; {_shifted()}"
        raise ToolRefused(here, why, _CONVERT)
    if not read:
        raise ToolRefused("arguments#", "no point is given", "give points with latitude, longitude and datum")
    return Plane(Zone(zone), next(iter(read)))


def _datum(place: str, name: str | None) -> Datum:
    if name is None:
        raise ToolRefused(place, f"the datum of its points is not named; {_shifted()}", _NAME_IT)
    known = _SPELLINGS.get(datum_name(name))
    if known is None:
        why = f"{name[:40]!r} is not a datum that is projected here"
        raise ToolRefused(place, why, f"convert the points to NAD83 first; then {_NAME_IT}")
    return known


def _shifted() -> str:
    feet = thresholds()["datum_shift"].number
    return (
        f"degrees of one datum read as the other lie about {feet:g} ft from their place in Midland County, "
        "which alone can turn the result of a test"
    )


def _epsg(zone: Zone, datum: Datum) -> int:
    return _FIRST[datum] + list(Zone).index(zone)


def _has(zone: Zone, datum: Datum, point: Degrees) -> bool:
    area = _crs(_epsg(zone, datum)).area_of_use
    return area is not None and area.west <= point.longitude <= area.east and area.south <= point.latitude <= area.north


@cache
def _crs(epsg: int) -> "CRS":
    from pyproj import CRS

    return CRS.from_epsg(epsg)


@cache
def _transformer(degrees: int, plane: int) -> "Transformer":
    from pyproj import Transformer

    # Within one datum: no grid is looked for, nothing is fetched.
    return Transformer.from_crs(_crs(degrees), _crs(plane), always_xy=True)
