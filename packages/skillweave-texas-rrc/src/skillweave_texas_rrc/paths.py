"""Distances on the plane between the paths of wells, the lines of leases, and tracts (shapely)."""

from collections.abc import Sequence
from typing import Any, TypeAlias

from skillweave.packs import ToolRefused
from skillweave_texas_rrc.plane import XY

Path: TypeAlias = Sequence[XY]
"""One point for a vertical well, the first to the last take point for a horizontal one."""
Ring: TypeAlias = Sequence[XY]
"""The corners of a tract in order, from any of them on, either way round; the first may stand again at the end."""
_CORNERS = 3
_NARROWEST = 0.5
"""Square units that a boundary encloses for each unit of its length: less is a line, as corners are rounded."""


def between(one: Path, other: Path) -> float:
    """The least distance between two paths, in the unit of their points; 0 where they cross."""
    return float(_line(one).distance(_line(other)))


def to_lines(path: Path, ring: Ring) -> float:
    """The least distance from a path to the lines around a tract.

    Where a point of the path lies outside the tract it is negative: how far out the furthest of them lies.
    """
    area = _area(ring)
    outside = max(float(_line([point]).distance(area)) for point in path)
    return -outside if outside > 0 else float(_line(path).distance(area.exterior))


def to_tract(path: Path, ring: Ring) -> float:
    """The least distance from a path to a tract; 0 where the path touches or enters it."""
    return float(_line(path).distance(_area(ring)))


def between_tracts(one: Ring, other: Ring) -> float:
    """The least distance between two tracts; 0 where they touch."""
    return float(_area(one).distance(_area(other)))


def require_ring(ring: Ring, place: str) -> None:
    """Raises ToolRefused for corners that enclose no tract: fewer than three, in one line, or lines that cross."""
    if len(set(ring)) < _CORNERS:
        why = f"a boundary with {len(set(ring))} corners encloses nothing"
        raise ToolRefused(place, why, "give all corners in order, at least three")
    from shapely.validation import explain_validity

    area = _area(ring)
    if area.is_valid and area.area < _NARROWEST * area.length:
        raise ToolRefused(place, "all corners lie in one line, which encloses nothing", "give the corners of the tract")
    if not area.is_valid:
        why = f"the lines of the boundary cross or fall together ({explain_validity(area)})"
        raise ToolRefused(place, why, "give the corners in the order in which one walks around the tract")


def _line(path: Path) -> Any:  # noqa: ANN401 - shapely has no types
    from shapely import LineString, Point

    return LineString(path) if len(set(path)) > 1 else Point(path[0])


def _area(ring: Ring) -> Any:  # noqa: ANN401
    from shapely import Polygon

    return Polygon(ring)
