"""Where things lie: the degrees around a circle on the earth, and how far points are from one another, in feet."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import asin, cos, degrees, radians, sin
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from skillweave.errors import InvalidValue, nearest_names, needing
from skillweave.knowledge.entity import FOOT, Point, datum_name

if TYPE_CHECKING:
    from pyproj import Geod

SHIFT_FT = 5280.0
"""How far apart the same degrees of two datums are taken to lie at most, in feet: a mile.

Of 561 datums of EPSG in degrees all are nearer to WGS 84 but one, of an island that was placed by the stars (7,200).
"""
LEAST_RADIUS_FT = 6_300_000 / FOOT
"""A globe inside every ellipsoid of the earth, and curved more than each of them anywhere; its radius in feet."""
_SPARE_FT = 1.0
"""So much larger is a box, for what arithmetic rounds."""
_DIGITS = 6
"""Distances have six decimals of a foot; below that there is only the rounding of the arithmetic."""


@dataclass(frozen=True, slots=True)
class Box:
    """A closed range of latitudes, and one of longitudes, two across the 180th meridian, all around a pole."""

    south: float
    north: float
    longitudes: tuple[tuple[float, float], ...]


def box_around(point: Point, radius_ft: float) -> Box:
    """A box around the circle of that radius in feet, little larger than it, reckoned on a small globe."""
    angle = (radius_ft + _SPARE_FT) / LEAST_RADIUS_FT
    south, north = point.latitude - degrees(angle), point.latitude + degrees(angle)
    if south <= -90 or north >= 90:
        return Box(max(south, -90.0), min(north, 90.0), ((-180.0, 180.0),))
    # A circle is widest north or south of its centre, where a meridian touches it.
    wide = degrees(asin(min(sin(angle) / cos(radians(point.latitude)), 1.0)))
    west, east = point.longitude - wide, point.longitude + wide
    if west <= -180:
        return Box(south, north, ((west + 360, 180.0), (-180.0, east)))
    if east >= 180:
        return Box(south, north, ((west, 180.0), (-180.0, east - 360)))
    return Box(south, north, ((west, east),))


def distances_ft(point: Point, latitudes: ArrayLike, longitudes: ArrayLike) -> NDArray[np.float64]:
    """The distance of each place of the point's datum, in feet. Raises InvalidValue and MissingExtra."""
    there, yonder = np.asarray(latitudes, np.float64), np.asarray(longitudes, np.float64)
    here = np.full_like(there, point.latitude)
    _, _, metres = ellipsoid_of(point.datum).inv(np.full_like(yonder, point.longitude), here, yonder, there)
    return np.round(np.asarray(metres, np.float64) / FOOT, _DIGITS)


def ellipsoid_of(datum: str) -> "Geod":
    """The ellipsoid of a datum, in metres. Raises InvalidValue for an unknown datum, MissingExtra without pyproj."""
    return _ellipsoid(datum_name(datum))


@lru_cache(maxsize=64)
def _ellipsoid(name: str) -> "Geod":
    known = _known_datums()
    if name not in known:
        near = nearest_names(name, known)
        meant = f"did you mean {' or '.join(near)}? Give" if near else "give"
        raise InvalidValue(
            f"datum {name[:60]!r} is not known, so that no distance can be reckoned; {meant} the name of a "
            f"geographic coordinate system of EPSG, such as NAD27, NAD83 or WGS84"
        )
    with needing("geo", "reckoning distances on the earth"):
        from pyproj import CRS
    found = CRS.from_authority("EPSG", known[name]).get_geod()
    if found is None:
        raise InvalidValue(f"datum {name!r} has no ellipsoid; name another one, such as WGS84")
    return found


@lru_cache(maxsize=1)
def _known_datums() -> Mapping[str, str]:
    """The code of EPSG for the name of every geographic coordinate system that is in use."""
    with needing("geo", "reckoning distances on the earth"):
        from pyproj.database import query_crs_info
        from pyproj.enums import PJType
    systems = query_crs_info(auth_name="EPSG", pj_types=PJType.GEOGRAPHIC_2D_CRS)
    return {datum_name(one.name): one.code for one in systems}
