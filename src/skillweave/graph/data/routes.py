"""Routes in the data form (spec 3.1)."""

from skillweave.graph.data.bounds import LARGEST_WHOLE
from skillweave.graph.data.conditions import write_condition
from skillweave.graph.data.entries import read_condition_data, read_label
from skillweave.graph.data.guards import read_guard, write_guard
from skillweave.graph.data.matching import read_on_status, read_on_tool, write_on_status, write_on_tool
from skillweave.graph.data.shape import (
    ANY_SKILL,
    inside,
    require_count,
    require_id,
    require_known_keys,
    require_mapping,
    wrong,
)
from skillweave.graph.declared import ANY, Route

ROUTE_KEYS = ("from", "to", "when", "on_tool", "on_status", "guard", "label", "priority")

_FORM = "write {from: ID, to: ID}, with `on_tool`, `on_status`, `guard` or `when` for conditions"


def read_route(value: object, place: str) -> Route:
    """The route at that place; `*` and ANY as `from` stand for any skill. Raises InvalidGraph."""
    data = require_mapping(value, place, _FORM)
    require_known_keys(data, ROUTE_KEYS, place)
    missing = next((key for key in ("from", "to") if key not in data), None)
    if missing is not None:
        raise wrong(place, f"the route has no `{missing}`", _FORM)

    def at(key: str) -> str:
        return inside(place, key)

    return Route(
        from_=_source(data["from"], at("from")),
        to=require_id(data["to"], at("to")),
        condition=read_condition_data(data["when"], at("when")) if "when" in data else None,
        on_tool=read_on_tool(data["on_tool"], at("on_tool")) if "on_tool" in data else None,
        on_status=read_on_status(data["on_status"], at("on_status")) if "on_status" in data else (),
        guard=read_guard(data["guard"], at("guard")) if "guard" in data else None,
        label=read_label(data, place),
        priority=require_count(data["priority"], at("priority"), -LARGEST_WHOLE) if "priority" in data else 0,
    )


def write_route(route: Route, place: str) -> dict[str, object]:
    """The route as plain data; raises InvalidGraph for a condition that is code."""
    data: dict[str, object] = {"from": route.from_, "to": route.to}
    if route.condition is not None:
        data["when"] = write_condition(route.condition, inside(place, "when"))
    if route.on_tool is not None:
        data["on_tool"] = write_on_tool(route.on_tool)
    if route.on_status:
        data["on_status"] = write_on_status(route.on_status)
    if route.guard is not None:
        data["guard"] = write_guard(route.guard, inside(place, "guard"))
    if route.label is not None:
        data["label"] = route.label
    if route.priority:
        data["priority"] = route.priority
    return data


def _source(value: object, place: str) -> str:
    return ANY if value in ANY_SKILL else require_id(value, place)
