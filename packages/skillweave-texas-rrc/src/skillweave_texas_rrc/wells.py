"""The tools about a well and its place, from JSON or from a graph: projection, spacing, offset wells, notice."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, cast

from skillweave.entities import EntityGraph
from skillweave.packs import JsonObject, Tool, ToolRefused
from skillweave.values import Json
from skillweave_texas_rrc.gather import Gathering
from skillweave_texas_rrc.limits import FIELD_RULES
from skillweave_texas_rrc.notice import EXCEPTIONS, NOTICE, notice_tracts
from skillweave_texas_rrc.plane import Degrees, plane_of
from skillweave_texas_rrc.schemas import Schema, answer, described, optional, record, several, text
from skillweave_texas_rrc.sites import (
    DATUM,
    LEASE,
    MOST_TRACTS,
    MOST_WELLS,
    PLACE,
    POINT,
    TRACT,
    WELL,
    ZONE,
    Site,
    read_site,
)
from skillweave_texas_rrc.spacing import OFFSETS, SPACING, UNITS, offset_distances, well_spacing
from skillweave_texas_rrc.thresholds import basis_of, thresholds

_OF_THE_GRAPH = ("lease", "offset_wells", "tracts")
_RULES = optional(FIELD_RULES)
_WELLS = several(WELL, MOST_WELLS, "The other wells: all on the lease, and those near it.")
_TRACTS = several(TRACT, MOST_TRACTS, "The tracts about the lease, with their persons.")
_REF = text("The well's API number in any spelling, or its id: the rest is then read from the graph.", 100)
_WITHIN: Schema = described({"type": "number", "minimum": 0, "maximum": 100_000}, "Show wells up to this many feet.")
_POINTS = ("surface_location", "first_take_point", "last_take_point")
_PROJECTED = answer("points", "projection")


def tools(graph: EntityGraph | None) -> tuple[Tool, ...]:
    """The four tools; with a graph they take a well's id or API number too."""
    return (
        Tool(
            "project_point",
            "Texas state plane coordinates of a point, or of a well's surface location and take points, in US survey "
            "feet. The datum has to be named.",
            _about_a_well(graph, {"point": POINT}, required=()),
            _PROJECTED,
            _from(graph, _project, ()),
        ),
        Tool(
            "well_spacing",
            "Whether a well keeps its distances under Rule 37: from its path to the lease lines, and to the nearest "
            "well that counts. Tells the exceptions that it needs, and which wells were left out and why.",
            _about_a_well(graph, {"lease": LEASE, "offset_wells": _WELLS, "field_rules": _RULES}),
            SPACING,
            _from(graph, _spacing, ("lease", "offset_wells", "field_rules")),
        ),
        Tool(
            "offset_distances",
            "How far every other well is from a well, path to path, nearest first, and whether it counts for the "
            "between-well distance of Rule 37.",
            _about_a_well(graph, {"offset_wells": _WELLS, "within_ft": _WITHIN}),
            OFFSETS,
            _from(graph, _offsets, ("offset_wells",)),
        ),
        Tool(
            "notice_tracts",
            "Which tracts are affected by an exception to Rule 37, how far they are, and to whom notice goes: operator "
            "or lessees of record, and owners of unleased minerals. Persons who are not located are flagged.",
            _about_a_well(
                graph,
                {"exceptions": EXCEPTIONS, "lease": LEASE, "tracts": _TRACTS, "field_rules": _RULES},
                required=("well", "exceptions"),
            ),
            NOTICE,
            _from(graph, _notice, ("lease", "tracts", "field_rules")),
        ),
    )


def _about_a_well(
    graph: EntityGraph | None, more: Mapping[str, Schema], required: tuple[str, ...] = ("well",)
) -> Schema:
    well = WELL if graph is None else {"anyOf": [_REF, WELL]}
    return record({"well": well, **more, "datum": DATUM, "zone": ZONE}, required)


def _from(
    graph: EntityGraph | None, compute: Callable[[JsonObject], JsonObject], needs: tuple[str, ...]
) -> Callable[[JsonObject], Awaitable[JsonObject]]:
    """What a tool runs: `compute` on what the call gives, or on what the graph knows of the well that it names."""

    async def run(arguments: JsonObject) -> JsonObject:
        ref = arguments.get("well")
        if graph is None or not isinstance(ref, str):
            return compute(arguments)
        if both := [key for key in _OF_THE_GRAPH if key in arguments]:
            why = f"`{both[0]}` is read from the graph where the well is named by an id"
            raise ToolRefused(f"arguments#/{both[0]}", why, "leave it out, or give the well itself as JSON")
        gathering = Gathering(graph)
        # Rules that the caller gives take the place of the field's.
        lacking = [key for key in needs if arguments.get(key) is None]
        found = compute({**arguments, **await gathering.about(ref, lacking)})
        return {**found, "warnings": [*gathering.warnings, *cast("list[Json]", found["warnings"])]}

    return run


def _project(arguments: JsonObject) -> JsonObject:
    given = cast("Mapping[str, Any]", arguments)
    if ("well" in given) == ("point" in given):
        raise ToolRefused("arguments#", "one thing is projected at a time", "give either `point` or `well`")
    well: Mapping[str, Any] = given.get("well", {})
    place = well.get(PLACE, "arguments#/well") if well else "arguments#/point"
    points: dict[str, Mapping[str, float]] = {key: well[key] for key in _POINTS if key in well}
    if "point" in given:
        points["point"] = given["point"]
    if not points:
        raise ToolRefused(place, "the well has no point", f"add {' or '.join(_POINTS)}")
    datum = well.get("datum") or given.get("datum")
    plane = plane_of(given.get("zone") or "central", [(place, datum)])
    found = plane.project([Degrees(one["lat"], one["lon"], place) for one in points.values()])
    return {
        "points": [
            {"what": what, "lat": one["lat"], "lon": one["lon"], "x_ft": round(x, 2), "y_ft": round(y, 2)}
            for (what, one), (x, y) in zip(points.items(), found, strict=True)
        ],
        "projection": cast("JsonObject", plane.to_dict()),
        "units": UNITS,
        "basis": basis_of((thresholds()["grid_feet"],)),
        "warnings": [],
    }


def _spacing(arguments: JsonObject) -> JsonObject:
    return well_spacing(_site(arguments), _rules(arguments))


def _offsets(arguments: JsonObject) -> JsonObject:
    return offset_distances(_site(arguments), cast("float | None", arguments.get("within_ft")))


def _notice(arguments: JsonObject) -> JsonObject:
    return notice_tracts(_site(arguments), cast("list[str]", arguments["exceptions"]), _rules(arguments))


def _site(arguments: JsonObject) -> Site:
    return read_site(cast("Mapping[str, Any]", arguments))


def _rules(arguments: JsonObject) -> Mapping[str, Any] | None:
    return cast("Mapping[str, Any] | None", arguments.get("field_rules"))
