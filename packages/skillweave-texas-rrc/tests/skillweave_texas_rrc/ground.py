"""Wells and tracts drawn in feet on the state plane, given to the calculators in degrees as people give them."""

from collections.abc import Sequence
from functools import cache
from typing import Any

from pyproj import Transformer

ORIGIN = (1_800_000.0, 10_650_000.0)
"""A place in Midland County, on the plane EPSG:2277."""


@cache
def _back() -> Transformer:
    return Transformer.from_crs(2277, 4269, always_xy=True)


def at(x: float, y: float) -> dict[str, float]:
    """The degrees (NAD83) of a point so many feet east and north of the origin."""
    lon, lat = _back().transform(ORIGIN[0] + x, ORIGIN[1] + y)
    return {"lat": lat, "lon": lon}


def ring(*corners: tuple[float, float]) -> list[dict[str, float]]:
    return [at(*corner) for corner in corners]


def square(x: float, y: float, side: float) -> list[dict[str, float]]:
    return ring((x, y), (x + side, y), (x + side, y + side), (x, y + side))


def vertical(x: float, y: float, **more: Any) -> dict[str, Any]:
    written = {"well_type": "vertical", "status": "active", "lease": "Home", "field": "Azalea"}
    return {**written, "surface_location": at(x, y), **more}


def horizontal(*ends: Sequence[float], **more: Any) -> dict[str, Any]:
    first, last = ends
    written = {"well_type": "horizontal", "status": "active", "lease": "Home", "field": "Azalea"}
    return {**written, "first_take_point": at(*first), "last_take_point": at(*last), **more}
