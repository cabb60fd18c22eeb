"""What of a flaring authorization is used, and what days of exceptions are counted (16 TAC 3.32)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta
from enum import StrEnum
from fractions import Fraction
from itertools import pairwise
from math import ceil

from skillweave.values import Portable
from skillweave_texas_rrc.answers import (
    Answer,
    Check,
    Outcome,
    check,
    day,
    divisor,
    number,
    plain,
    refuse,
    total,
)
from skillweave_texas_rrc.figures import factor

RULE = "16 TAC 3.32"


class ExceptionStatus(StrEnum):
    """Whether the Commission has granted an exception; gas under a pending one is reported with code EP."""

    GRANTED = "granted"
    PENDING = "pending"


@dataclass(frozen=True, slots=True)
class Released(Portable):
    """Gas that was released from one day to another, both counted, in MCF; a day's volume has the same day twice."""

    start: str
    end: str
    mcf: float


@dataclass(frozen=True, slots=True)
class Span:
    """Days from the first to the last, both counted."""

    start: date
    end: date

    @property
    def days(self) -> int:
        """How many days these are."""
        return (self.end - self.start).days + 1

    def overlaps(self, other: "Span") -> bool:
        """Whether a day belongs to both."""
        return self.start <= other.end and other.start <= self.end

    def holds(self, other: "Span") -> bool:
        """Whether every day of the other one belongs to this."""
        return self.start <= other.start and other.end <= self.end


def span(start: str, end: str, place: str = "") -> Span:
    """The days between two dates; raises ToolRefused for texts that are no dates, and for an end before the start."""
    found = Span(day(start, f"{place}start"), day(end, f"{place}end"))
    if found.end < found.start:
        refuse(
            f"{place}end", f"the end {end} comes before the start {start}", "give the last day, not before the first"
        )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class AuthorizationUse(Answer):
    """How much of an authorization is used, in MCF, up to and with the day `as_of`.

    `cap_mcf` is MCF/d x days. `average_mcfd` is over the `days_elapsed`. `days_to_cap` is how long the rest lasts at
    that rate, and `cap_reached_on` the day on which it ends; None where nothing was released. `outside_mcf` was
    released on days that the authorization does not cover.
    """

    authorized_mcfd: float
    days: int
    cap_mcf: float
    used_mcf: float
    percent_used: float
    as_of: str
    days_elapsed: int
    average_mcfd: float
    days_to_cap: float | None
    cap_reached_on: str | None
    outside_mcf: float


def flare_authorization(
    authorized_mcfd: float,
    start: str,
    end: str,
    releases: Sequence[Released],
    as_of: str | None = None,
    status: ExceptionStatus = ExceptionStatus.GRANTED,
) -> AuthorizationUse:
    """The use of one authorization of `authorized_mcfd` from `start` to `end`, both days counted.

    `releases` are the volumes that it has to cover, by day or by longer spans that do not overlap; one that lies in it
    only in part counts whole, which is said. `as_of` is the last day that is looked at, that of the releases without
    it. A pending one authorizes nothing yet, which is said. Raises ToolRefused for spans that overlap, and for dates
    that cannot be.
    """
    rate = divisor("authorized_mcfd", authorized_mcfd)
    if not rate:
        refuse("authorized_mcfd", "nothing is authorized", "give the MCF/d of the exception, more than 0")
    term = span(start, end)
    rows = _rows(releases)
    inside = [row for row in rows if row.days.overlaps(term)]
    until = _until(as_of, term, inside)
    cap, used = rate * term.days, total(row.mcf for row in inside)
    elapsed = (until - term.start).days + 1
    average = used / elapsed
    to_cap = max(Fraction(0), cap - used) / average if average else None
    remaining = (term.end - until).days
    reached = None if to_cap is None or ceil(to_cap) > remaining else until + timedelta(ceil(to_cap))
    outside = total(row.mcf for row in rows if not row.days.overlaps(term))
    return AuthorizationUse(
        authorized_mcfd=authorized_mcfd,
        days=term.days,
        cap_mcf=plain(cap),
        used_mcf=plain(used),
        percent_used=float(100 * used / cap),
        as_of=until.isoformat(),
        days_elapsed=elapsed,
        average_mcfd=float(average),
        days_to_cap=None if to_cap is None else float(to_cap),
        cap_reached_on=None if reached is None else reached.isoformat(),
        outside_mcf=plain(outside),
        units="MCF; MCF/d; days, both ends counted",
        checks=(
            check(
                "granted",
                status is ExceptionStatus.GRANTED,
                RULE,
                "the exception is granted",
                "the exception is pending and authorizes nothing yet; gas of its days is reported with EP",
            ),
            _volume_cap(used, cap),
            _daily_cap(rate, term, inside),
            _average(rate, average, elapsed),
            _lasting(reached, used, cap, term),
            *_coverage(term, until, inside, outside),
        ),
        basis=(factor("warn_percent"), factor("mcfd_reading")),
    )


@dataclass(frozen=True, slots=True)
class _Row:
    days: Span
    mcf: Fraction


def _rows(releases: Sequence[Released]) -> list[_Row]:
    read = [
        (_Row(span(one.start, one.end, f"releases/{at}/"), divisor(f"releases/{at}/mcf", one.mcf)), at)
        for at, one in enumerate(releases)
    ]
    read.sort(key=lambda row: (row[0].days.start, row[0].days.end))
    for (before, _), (after, at) in pairwise(read):
        if before.days.overlaps(after.days):
            shared = f"{after.days.start} is in another one already"
            refuse(f"releases/{at}", f"two releases share days: {shared}", "count each day's gas once")
    return [row for row, _ in read]


def _until(as_of: str | None, term: Span, inside: Sequence[_Row]) -> date:
    last = max((row.days.end for row in inside), default=None)
    if as_of is None:
        if last is None:
            refuse("as_of", "no release lies in the authorization", "say up to which day it is to be looked at")
        return min(last, term.end)
    until = day(as_of, "as_of")
    if until < term.start:
        refuse("as_of", f"{as_of} comes before the authorization begins", f"give a day from {term.start} on")
    if last is not None and last > until:
        refuse("releases", f"a release ends on {last}, after {as_of}", "leave it out, or give a later `as_of`")
    return min(until, term.end)


def _volume_cap(used: Fraction, cap: Fraction) -> Check:
    limit = factor("warn_percent")
    percent = 100 * used / cap
    told = f"{number(used)} of {number(cap)} MCF are used, {float(percent):.1f} %"
    if percent > 100:
        return Check("volume_cap", Outcome.FAIL, f"{told}: {number(used - cap)} MCF are not authorized", RULE)
    if percent >= Fraction(str(limit.number)):
        return Check("volume_cap", Outcome.WARN, f"{told}; {limit.number:g} % is where a warning is due", RULE)
    return Check("volume_cap", Outcome.PASS, told, RULE)


def _daily_cap(rate: Fraction, term: Span, inside: Sequence[_Row]) -> Check:
    over = [row for row in inside if term.holds(row.days) and row.mcf / row.days.days > rate]
    if over:
        worst = max(over, key=lambda row: row.mcf / row.days.days)
        when = f"{worst.days.start}" if worst.days.days == 1 else f"{worst.days.start} to {worst.days.end}, on average"
        told = f"read as a daily cap: {number(worst.mcf / worst.days.days)} MCF/d on {when}, over {number(rate)} MCF/d"
        more = f", and {len(over) - 1} more" if len(over) > 1 else ""
        return Check("daily_cap", Outcome.FAIL, told + more, RULE)
    return check(
        "daily_cap",
        None if any(row.days.days > 1 for row in inside) else True,
        RULE,
        f"read as a daily cap: no day is over {number(rate)} MCF/d",
        "read as a daily cap: not known, as volumes of several days hide single days; give them by day",
    )


def _average(rate: Fraction, average: Fraction, elapsed: int) -> Check:
    told = f"read as an average: {number(average)} MCF/d over {elapsed} days"
    good, bad = f"{told}, within {number(rate)}", f"{told}, over {number(rate)}"
    return check("average_rate", average <= rate, RULE, good, bad)


def _lasting(reached: date | None, used: Fraction, cap: Fraction, term: Span) -> Check:
    bad = (
        "the volume is used up"
        if used >= cap
        else f"at this rate the volume ends on {reached}, and the authorization on {term.end}"
    )
    good = f"at this rate the volume lasts to the end, {term.end}"
    return check("volume_lasts", reached is None and used < cap, RULE, good, bad, weak=True)


def _coverage(term: Span, until: date, inside: Sequence[_Row], outside: Fraction) -> list[Check]:
    partial = [row.days for row in inside if not term.holds(row.days)]
    seen = Span(term.start, until)
    known = sum(
        Span(max(row.days.start, seen.start), min(row.days.end, seen.end)).days
        for row in inside
        if row.days.overlaps(seen)
    )
    spans = ", ".join(f"{one.start} to {one.end}" for one in partial)
    return [
        check(
            "whole_spans",
            not partial,
            RULE,
            "every release lies whole in the authorization or outside it",
            f"counted whole, though only in part inside: {spans}; give volumes by day to split them",
            weak=True,
        ),
        check(
            "every_day_known",
            known == seen.days,
            RULE,
            f"there is a volume for each of the {seen.days} days",
            f"{seen.days - known} of {seen.days} days have no volume and count as zero",
            weak=True,
        ),
        check(
            "nothing_outside",
            not outside,
            RULE,
            "no release lies outside the authorization",
            f"{number(outside)} MCF were released on days that it does not cover; name their authority",
            weak=True,
        ),
    ]
