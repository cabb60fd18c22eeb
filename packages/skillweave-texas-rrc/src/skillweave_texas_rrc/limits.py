"""The distances that a well has to keep: those of its field's rules, else the statewide ones (16 TAC 3.37)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from skillweave_texas_rrc.schemas import Schema, optional, record, text
from skillweave_texas_rrc.thresholds import Threshold, thresholds

FIELD_RULES: Schema = record(
    {
        "lease_line_ft": optional({"type": "number", "minimum": 0, "maximum": 100_000}),
        "between_well_ft": optional({"type": "number", "minimum": 0, "maximum": 100_000}),
        "loaded_from": optional(text("The order and docket number that they were read in.", 400)),
    },
    description="The field's own rules in feet: 0 means none, null or absent means not loaded.",
)
_NAMES = {"lease_line": ("lease_line_ft", "lease-line"), "between_wells": ("between_well_ft", "between-well")}


@dataclass(frozen=True, slots=True)
class Limit:
    """A distance to keep, in feet; `used` is the rule that it comes from."""

    required_ft: float
    used: Threshold
    is_statewide: bool

    def passes(self, distance_ft: float) -> bool:
        """Whether that distance keeps it: exactly at the limit does; nothing is rounded."""
        return distance_ft >= self.required_ft

    def is_near(self, distance_ft: float) -> bool:
        """Whether the result hangs on a foot, which degrees and grid feet do not settle."""
        return self.required_ft > 0 and abs(distance_ft - self.required_ft) < thresholds()["near_limit"].number


@dataclass(frozen=True, slots=True)
class Limits:
    """What a well has to keep, and what has to be asked about it."""

    lease_line: Limit
    between_wells: Limit
    warnings: tuple[str, ...]

    @property
    def notice_radius_ft(self) -> float:
        """For a lease-line exception: the greater of half the between-well distance and the lease-line distance."""
        share = thresholds()["notice_share"].number
        return max(share * self.between_wells.required_ft, self.lease_line.required_ft)

    @property
    def used(self) -> tuple[Threshold, ...]:
        """The rules that the two distances come from."""
        return self.lease_line.used, self.between_wells.used


def limits_of(rules: Mapping[str, Any] | None) -> Limits:
    """The limits under a field's rules; what is not loaded is statewide, and has to be asked about."""
    given = rules or {}
    source = given.get("loaded_from")
    found = {name: _limit(name, given, source) for name in _NAMES}
    warnings = [_ask(name) for name, limit in found.items() if limit.is_statewide]
    if len(warnings) < len(found):
        warnings.append(
            f"The field's rules were taken as they were given ({source}): confirm them with the current order."
            if source
            else "The field's rules were given without their order: ASK for its docket number before filing."
        )
    return Limits(found["lease_line"], found["between_wells"], tuple(warnings))


def _limit(name: str, given: Mapping[str, Any], source: str | None) -> Limit:
    key, words = _NAMES[name]
    value = given.get(key)
    if value is None:
        statewide = thresholds()[name]
        return Limit(statewide.number, statewide, is_statewide=True)
    says = f"The field's own {words} distance{'; 0 means that it has none' if value == 0 else ''}."
    used = Threshold(key, says, source or "field rules, order not named", verified=False, value=value, unit="ft")
    return Limit(float(value), used, is_statewide=False)


def _ask(name: str) -> str:
    key, words = _NAMES[name]
    statewide = thresholds()[name]
    return (
        f"ASK: the field's {words} distance (`{key}`) is not loaded; the statewide {statewide.number:,.0f} ft were "
        "used. Load the current order of the field before filing."
    )
