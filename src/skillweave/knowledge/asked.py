"""What an entity graph is asked and given, checked in the same way by every backend."""

from collections.abc import Iterable, Sequence

from skillweave.checking import Checked
from skillweave.knowledge.entity import MOST_NEAR, MOST_NEIGHBOURS, MOST_RADIUS_FT, Direction, Edge, Entity, Point
from skillweave.knowledge.geodesy import ellipsoid_of


def asked_ref(ref: str) -> str:
    """The id or alias of `entity`; raises InvalidValue for what is no text."""
    return Checked("entity").text("ref", ref)


def asked_direction(entity_id: str, relation: str | None, direction: Direction, limit: int) -> Direction:
    """The direction of `neighbours`, also for its text; raises InvalidValue where an argument cannot be."""
    checked = Checked("neighbours")
    checked.text("entity_id", entity_id)
    if relation is not None:
        checked.text("relation", relation)
    _limit(checked, limit, MOST_NEIGHBOURS)
    return checked.member("direction", direction, Direction)


def asked_radius(point: Point, radius_ft: float, label: str | None, limit: int) -> float:
    """The radius in feet, checked with the rest. Raises InvalidValue, and MissingExtra without pyproj."""
    checked = Checked("near")
    ellipsoid_of(checked.kind("point", point, Point, "a Point").datum)
    if label is not None:
        checked.text("label", label)
    _limit(checked, limit, MOST_NEAR)
    return float(checked.number("radius_ft", radius_ft, 0, MOST_RADIUS_FT))


def given(entities: Iterable[Entity], edges: Iterable[Edge]) -> tuple[Sequence[Entity], Sequence[Edge]]:
    """What `put` is given, the last of equal ids or ends. Raises InvalidValue for other things."""
    checked = Checked("put")
    things = checked.items("entities", entities, Entity, "an Entity")
    ties = checked.items("edges", edges, Edge, "an Edge")
    by_id = {one.id: one for one in things}
    by_ends = {(one.source, one.relation, one.target): one for one in ties}
    return tuple(by_id.values()), tuple(by_ends.values())


def taken_out(entity_ids: Iterable[str]) -> Sequence[str]:
    """The ids that `remove` is given, once each; raises InvalidValue for a list of anything but texts."""
    return tuple(dict.fromkeys(Checked("remove").texts("entity_ids", entity_ids, "id-1")))


def _limit(checked: Checked, limit: int, most: int) -> None:
    if checked.whole("limit", limit, 1) > most:
        checked.refuse("limit", limit, f"a whole number from 1 to {most:,}")
