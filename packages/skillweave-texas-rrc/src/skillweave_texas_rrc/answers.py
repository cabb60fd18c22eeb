"""What every answer of a calculator has in common: its checks, what it stands on, and its warnings."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum
from fractions import Fraction
from typing import ClassVar, NoReturn

from skillweave.packs import ToolRefused
from skillweave.values import Portable
from skillweave_texas_rrc.thresholds import Threshold

MOST = 10**12
"""More MCF, barrels, dollars or units of a factor than any lease has; beyond it an answer would not be a number."""
_LEAST = 1e-9
"""Below this a number that is not zero is a slip of the pen."""
_YEARS = (1900, 2200)
_MONTH = re.compile(r"(?:19|20)\d\d-(?:0[1-9]|1[0-2])", re.ASCII)


class Outcome(StrEnum):
    """How a check came out; `not_checked` means that what it needs was not given."""

    PASS = "pass"  # noqa: S105 - the word for a check that holds
    WARN = "warn"
    FAIL = "fail"
    NOT_CHECKED = "not_checked"


@dataclass(frozen=True, slots=True)
class Check(Portable):
    """A rule that was looked at: what was found, in words, and where the rule stands.

    Its keys are those of the event `VALIDATION_RESULT`.
    """

    check: str
    outcome: Outcome
    detail: str
    cite: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer(Portable):
    """The part that all answers have: `units` of its numbers, `checks`, and the `basis` that it stands on."""

    json_keys: ClassVar[tuple[str, ...]] = ("...", "units", "checks", "basis", "warnings")

    units: str
    checks: tuple[Check, ...] = ()
    basis: tuple[Threshold, ...] = field(default=(), repr=False)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What a person must look at: every check that did not pass, then the figures that nobody has verified."""
        told = [f"{one.outcome}: {one.detail}" for one in self.checks if one.outcome is not Outcome.PASS]
        unverified = [one.id for one in self.basis if not one.verified]
        if unverified:
            told.append(f"not verified, confirm before a filing uses them: {', '.join(unverified)}")
        return tuple(told)

    @property
    def outcome(self) -> Outcome:
        """The worst outcome among the checks; pass when there are none."""
        found = {one.outcome for one in self.checks}
        return next((one for one in (Outcome.FAIL, Outcome.WARN, Outcome.NOT_CHECKED) if one in found), Outcome.PASS)

    def named(self, check: str) -> Check:
        """The check of that name; raises KeyError."""
        for one in self.checks:
            if one.check == check:
                return one
        raise KeyError(check)


def check(name: str, holds: bool | None, cite: str, good: str, bad: str, *, weak: bool = False) -> Check:  # noqa: FBT001
    """A check that passes or fails (or warns, when it is `weak`); None is unknown, in the words of `bad`."""
    if holds is None:
        return Check(name, Outcome.NOT_CHECKED, bad, cite)
    if holds:
        return Check(name, Outcome.PASS, good, cite)
    return Check(name, Outcome.WARN if weak else Outcome.FAIL, bad, cite)


def refuse(place: str, why: str, fix: str) -> NoReturn:
    """Raise ToolRefused for the argument at this place, written as `gas_dispositions/12`."""
    raise ToolRefused(f"arguments#/{place}", why, fix)


def amount(place: str, value: float, least: float = 0, most: float = MOST) -> Fraction:
    """A number as it is written, exactly: 0.1 is one tenth; raises ToolRefused outside the range."""
    if not least <= value <= most:
        refuse(place, f"{value} is no possible value", f"give a number from {least:g} to {most:g}")
    return Fraction(str(value))


def divisor(place: str, value: float) -> Fraction:
    """An amount by which others are divided, or 0, which the caller looks at; raises ToolRefused also next to zero."""
    if 0 < value < _LEAST:
        refuse(place, f"{value} is so near to zero that no meter shows it", f"give 0, or a number from {_LEAST:g} on")
    return amount(place, value)


def amounts(place: str, values: Mapping[str, float]) -> dict[str, Fraction]:
    """Several numbers from 0 on, each as `amount` reads it."""
    return {key: amount(f"{place}/{key}", value) for key, value in values.items()}


def plain(value: Fraction) -> float:
    """The number again: whole where it is whole."""
    return value.numerator if value.denominator == 1 else float(value)


def total(values: Iterable[Fraction]) -> Fraction:
    """The exact sum."""
    return sum(values, Fraction(0))


def is_month(text: str) -> bool:
    """Whether a text is a month such as `2026-03`."""
    return _MONTH.fullmatch(text) is not None


def production_month(text: str, place: str = "month") -> str:
    """A production month such as `2026-03`; texts of months compare as the months do. Raises ToolRefused."""
    if not is_month(text):
        refuse(place, f"{text[:40]!r} is no month", "write year and month, such as 2026-03")
    return text


def day(text: str, place: str) -> date:
    """A date such as `2026-03-31`, between the years 1900 and 2200; raises ToolRefused."""
    try:
        found = date.fromisoformat(text)
    except ValueError:
        refuse(place, f"{text[:40]!r} is no date", "write year, month and day, such as 2026-03-31")
    first, last = _YEARS
    if not first <= found.year <= last:
        refuse(place, f"the year of {text} is not between {first} and {last}", "correct the year")
    return found


def number(value: Fraction | float) -> str:
    """A number in a sentence: thousands by comma, at most one decimal."""
    shown = f"{float(value):,.1f}"
    return shown.removesuffix(".0")
