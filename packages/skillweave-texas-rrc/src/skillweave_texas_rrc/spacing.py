"""Whether a well keeps its distances: to the lines of its lease, and to the wells that count (16 TAC 3.37)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from skillweave.entities import alias_key
from skillweave.packs import JsonObject
from skillweave_texas_rrc.limits import Limit, Limits, limits_of
from skillweave_texas_rrc.paths import between, to_lines
from skillweave_texas_rrc.schemas import answer
from skillweave_texas_rrc.sites import Site, Well
from skillweave_texas_rrc.thresholds import Threshold, basis_of, thresholds, to_confirm

UNITS = "US survey feet on the state plane grid"
_GONE = frozenset(
    {"plugged", "pluggedandabandoned", "pluggedabandoned", "pa", "pad", "cancelled", "canceled", "expired", "withdrawn"}
)
"""Statuses, without blanks and signs, of wells that are not there, or will not be."""
_SERVICE = frozenset({"injecting", "injection", "disposal", "swd", "saltwaterdisposal", "service", "observation"})
"""Statuses and types of wells that produce nothing."""
_PRODUCING = frozenset({"oil", "gas", "oilgas", "oilandgas", "producing", "production", "producer", "none", "no"})
"""What stands for `service` in records of wells that are no service wells."""
_SERVES = (
    "dispos",
    "inject",
    "swd",
    "saltwater",
    "storage",
    "observ",
    "monitor",
    "supply",
    "service",
    "flood",
    "brine",
)
"""Parts of the words for what service wells do."""

SPACING = answer(
    *("well", "lease_line", "surface_hole", "between_wells", "counted", "left_out", "exceptions"),
    *("exception_required", "field_rules_loaded", "notice_radius_ft", "projection"),
)
OFFSETS = answer("well", "offset_wells", "beyond", "projection")


@dataclass(frozen=True, slots=True)
class Offset:
    """Another well: how far it is, None where its points are missing; `reason` is why it does not count, else empty.

    `unknown` is what is not known of a well that counts.
    """

    well: Well
    distance_ft: float | None
    reason: str
    unknown: tuple[str, ...] = ()

    def row(self) -> JsonObject:
        """What an answer tells of it."""
        told: JsonObject = {**self.well.named(), "distance_ft": feet(self.distance_ft), "counts": not self.reason}
        known = (
            ("status", self.well.status),
            ("lease", ", ".join(self.well.leases)),
            ("field", ", ".join(self.well.fields)),
        )
        told.update((key, value) for key, value in known if value)
        return {**told, "reason": self.reason} if self.reason else told


def well_spacing(site: Site, rules: Mapping[str, Any] | None) -> JsonObject:
    """Both tests of a well under its field's rules, the exceptions that it needs, and which wells counted.

    `exception_required` and `field_rules_loaded` say the same in a word, for routes of a skill graph; the latter is
    true where both distances are the field's own. Raises ToolRefused where the boundary of the lease is missing, or
    points of a well that counts.
    """
    limits = limits_of(rules)
    path = site.well.require_path()
    line_ft = to_lines(path, site.require_lines())
    offsets = offsets_of(site)
    counted = [one for one in offsets if not one.reason]
    nearest = counted[0] if counted else None
    lease_line = _tested(limits.lease_line, line_ft)
    between_wells = _tested(limits.between_wells, nearest.distance_ft if nearest else None)
    tests = (("lease_line", lease_line), ("between_well", between_wells))
    exceptions = [name for name, tested in tests if not tested["passes"]]
    used = (*limits.used, thresholds()["at_the_limit"], thresholds()["notice_share"], *measured(site))
    return {
        "well": cast("JsonObject", site.well.named()),
        "lease_line": lease_line,
        "surface_hole": _surface_hole(site),
        "between_wells": {**between_wells, "from": cast("JsonObject", nearest.well.named()) if nearest else None},
        "counted": [one.row() for one in counted],
        "left_out": [one.row() for one in offsets if one.reason],
        "exceptions": list(exceptions),
        "exception_required": bool(exceptions),
        "field_rules_loaded": not (limits.lease_line.is_statewide or limits.between_wells.is_statewide),
        "notice_radius_ft": limits.notice_radius_ft,
        "projection": cast("JsonObject", site.plane.to_dict()),
        "units": UNITS,
        "basis": basis_of(used),
        "warnings": [
            *limits.warnings,
            *_near(limits, line_ft, nearest),
            *_outside(line_ft),
            *_unknown(offsets),
            *to_confirm(measured(site)),
        ],
    }


def offset_distances(site: Site, within_ft: float | None) -> JsonObject:
    """How far each other well is, nearest first; `within_ft` leaves the others to a count. Raises ToolRefused."""
    site.well.require_path()
    offsets = offsets_of(site)
    shown = [one for one in offsets if within_ft is None or one.distance_ft is None or one.distance_ft <= within_ft]
    used = (thresholds()["between_wells"], *measured(site))
    return {
        "well": cast("JsonObject", site.well.named()),
        "offset_wells": [one.row() for one in shown],
        "beyond": len(offsets) - len(shown),
        "projection": cast("JsonObject", site.plane.to_dict()),
        "units": UNITS,
        "basis": basis_of(used),
        "warnings": [*_unknown(offsets), *to_confirm(measured(site))],
    }


def offsets_of(site: Site) -> tuple[Offset, ...]:
    """The other wells, nearest first, those whose points are missing last.

    Raises ToolRefused for one that counts and whose points are missing.
    """
    path = site.well.require_path()
    found = []
    for other in site.offsets:
        reason, unknown = _why_not(site.well, other)
        far = between(path, other.require_path()) if not reason or other.path is not None else None
        found.append(Offset(other, far, reason, unknown))
    return tuple(sorted(found, key=lambda one: (one.distance_ft is None, one.distance_ft or 0.0, one.well.label)))


def feet(distance: float | None) -> float | None:
    """A distance as it is reported, to a tenth of a foot."""
    return None if distance is None else round(distance, 1) + 0.0


def _why_not(well: Well, other: Well) -> tuple[str, tuple[str, ...]]:
    """Why another well does not count, empty where it does; and what is not known of it, so that it was counted."""
    if other.is_same(well):
        return "it is the well itself", ()
    status, kind, service = alias_key(other.status), alias_key(other.kind), alias_key(other.service)
    serves = any(word in service for word in _SERVES)
    reasons = [f"it is {other.status}"] if status in _GONE else []
    if serves or status in _SERVICE or kind in _SERVICE:
        what = other.service if serves else other.status if status in _SERVICE else other.kind
        reasons.append(f"it is a service well ({what})")
    unknown = [] if other.status else ["status"]
    if service and service not in _PRODUCING and not serves:
        unknown.append(f"kind of service ({other.service})")
    for what, own, others in (("lease", well.leases, other.leases), ("field", well.fields, other.fields)):
        if not own or not others:
            unknown.append(what)
        elif not {alias_key(one) for one in own} & {alias_key(one) for one in others}:
            reasons.append(f"it is {'on' if what == 'lease' else 'in'} another {what} ({', '.join(others)})")
    return "; ".join(reasons), () if reasons else tuple(unknown)


def _tested(limit: Limit, distance_ft: float | None) -> JsonObject:
    passes = distance_ft is None or limit.passes(distance_ft)
    short = 0.0 if distance_ft is None or passes else limit.required_ft - distance_ft
    return {
        "distance_ft": feet(distance_ft),
        "required_ft": limit.required_ft,
        "passes": passes,
        "short_ft": feet(short) or 0.0,
    }


def _surface_hole(site: Site) -> JsonObject | None:
    """What a check of the surface location alone would find; it is the test only where the well is vertical."""
    surface = site.well.surface
    if surface is None:
        return None
    return {
        "to_lease_line_ft": feet(to_lines(surface, site.require_lines())),
        "tested": surface == site.well.path,
    }


def measured(site: Site) -> tuple[Threshold, ...]:
    """The rules by which distances of a site were measured."""
    horizontal = any(one.path is not None and len(one.path) > 1 for one in (site.well, *site.offsets))
    return (*((thresholds()["from_take_points"],) if horizontal else ()), thresholds()["grid_feet"])


def _near(limits: Limits, line_ft: float, nearest: Offset | None) -> list[str]:
    tests = [("lease line", limits.lease_line, line_ft)]
    if nearest is not None and nearest.distance_ft is not None:
        tests.append(("nearest well", limits.between_wells, nearest.distance_ft))
    return [
        f"The distance to the {what} is {far:.3f} ft, within 1 ft of the limit of {limit.required_ft:g} ft: "
        f"it {'keeps' if limit.passes(far) else 'fails'} it by less than the points are exact; have it surveyed."
        for what, limit, far in tests
        if limit.is_near(far)
    ]


def _outside(line_ft: float) -> list[str]:
    if line_ft >= 0:
        return []
    return [f"A point of the well's path lies {-line_ft:.1f} ft outside the lease: check points, boundary and datum."]


def _unknown(offsets: tuple[Offset, ...]) -> list[str]:
    told = [] if offsets else ["No other well was given or is known: nothing was tested between wells."]
    for one in offsets:
        if one.unknown:
            told.append(
                f"The {' and '.join(one.unknown)} of {one.well.name or one.well.label} (or of the well itself) is not "
                "known: it was counted."
            )
        if one.distance_ft is None:
            told.append(f"How far {one.well.name or one.well.label} is cannot be said: {one.well.missing}.")
    return told
