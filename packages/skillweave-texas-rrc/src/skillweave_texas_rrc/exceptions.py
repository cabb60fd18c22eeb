"""The days of exceptions of one flare point: joined, gaps, the 180-day mark, and when a hearing is needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise

from skillweave.values import Portable
from skillweave_texas_rrc.answers import Answer, Check, amount, check, day, number
from skillweave_texas_rrc.authorization import RULE, ExceptionStatus, Span, span
from skillweave_texas_rrc.figures import factor
from skillweave_texas_rrc.thresholds import Threshold, thresholds
from skillweave_texas_rrc.volumes import Stream


@dataclass(frozen=True, slots=True)
class FlareException(Portable):
    """An exception of a flare point from one day to another, both counted."""

    id: str
    start: str
    end: str
    status: ExceptionStatus = ExceptionStatus.GRANTED


@dataclass(frozen=True, slots=True)
class Days(Portable):
    """A run of days, both ends counted; `ids` are the exceptions that it consists of, none for a gap."""

    start: str
    end: str
    days: int
    ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExceptionDays(Answer):
    """The days of all exceptions of a flare point.

    `total_days` counts each day once, `granted_days` those that are granted. `mark_on` is the last day that staff may
    grant, where it is reached. `next_block` is what may be asked for after the last exception, None when nothing is
    left. `uncovered` are days with a release and without an exception. `needs_hearing` is None where it is not known.
    """

    exceptions: tuple[Days, ...]
    joined: tuple[Days, ...]
    gaps: tuple[Days, ...]
    total_days: int
    granted_days: int
    days_left: int
    mark_on: str | None
    next_block: Days | None
    uncovered: tuple[str, ...]
    needs_hearing: bool | None


def exception_days(
    exceptions: Sequence[FlareException],
    hydrocarbon_mcfd: float | None = None,
    release_days: Sequence[str] = (),
    stream: Stream = Stream.CASINGHEAD,
) -> ExceptionDays:
    """Count the days of exceptions of one flare point, joined where they overlap.

    `hydrocarbon_mcfd` is the rate that is asked for, hydrocarbons only; without it a hearing cannot be judged once the
    days are used up. `release_days` are days on which gas was released. Raises ToolRefused for dates that cannot be.
    """
    spans = [(one, span(one.start, one.end, f"exceptions/{at}/")) for at, one in enumerate(exceptions)]
    spans.sort(key=lambda row: (row[1].start, row[1].end))
    joined = _joined(spans)
    granted = sum(part.days for part, _ in _joined([row for row in spans if row[0].status is ExceptionStatus.GRANTED]))
    days = sum(part.days for part, _ in joined)
    block, most = thresholds()["exception_block"], thresholds()["exception_most"]
    limit = factor("hearing_oil_mcfd" if stream is Stream.CASINGHEAD else "hearing_gas_well_mcfd")
    left = max(0, int(most.number) - days)
    released = sorted({day(one, f"release_days/{at}") for at, one in enumerate(release_days)})
    uncovered = tuple(
        one.isoformat() for one in released if not any(part.start <= one <= part.end for part, _ in joined)
    )
    gaps = tuple(
        _told(Span(before.end + timedelta(1), after.start - timedelta(1)))
        for (before, _), (after, _) in pairwise(joined)
    )
    hearing = _needs_hearing(days > most.number, hydrocarbon_mcfd, limit)
    return ExceptionDays(
        exceptions=tuple(_told(part, (one.id,)) for one, part in spans),
        joined=tuple(_told(part, ids) for part, ids in joined),
        gaps=gaps,
        total_days=days,
        granted_days=granted,
        days_left=left,
        mark_on=_mark(joined, int(most.number)),
        next_block=_next(joined, min(left, int(block.number))),
        uncovered=uncovered,
        needs_hearing=hearing,
        units="days, both ends counted; MCF/d of hydrocarbon gas",
        checks=_checks(spans, gaps, days, uncovered, hearing, limit),
        basis=(block, most, limit, factor("exception_alert_days"), factor("days_counted")),
    )


def _joined(spans: Sequence[tuple[FlareException, Span]]) -> list[tuple[Span, tuple[str, ...]]]:
    """The spans, in order of their start, with those joined that overlap or touch."""
    parts: list[tuple[Span, tuple[str, ...]]] = []
    for one, days in spans:
        if parts and days.start <= parts[-1][0].end + timedelta(1):
            before, ids = parts[-1]
            parts[-1] = (Span(before.start, max(before.end, days.end)), (*ids, one.id))
        else:
            parts.append((days, (one.id,)))
    return parts


def _told(days: Span, ids: tuple[str, ...] = ()) -> Days:
    return Days(days.start.isoformat(), days.end.isoformat(), days.days, ids)


def _mark(joined: Sequence[tuple[Span, tuple[str, ...]]], most: int) -> str | None:
    counted = 0
    for part, _ in joined:
        if counted + part.days >= most:
            return (part.start + timedelta(most - counted - 1)).isoformat()
        counted += part.days
    return None


def _next(joined: Sequence[tuple[Span, tuple[str, ...]]], days: int) -> Days | None:
    if not joined or not days:
        return None
    first = joined[-1][0].end + timedelta(1)
    return _told(Span(first, first + timedelta(days - 1)))


def _needs_hearing(beyond: bool, rate: float | None, limit: Threshold) -> bool | None:  # noqa: FBT001
    if not beyond:
        return False
    return None if rate is None else amount("hydrocarbon_mcfd", rate) > limit.number


def _checks(
    spans: Sequence[tuple[FlareException, Span]],
    gaps: Sequence[Days],
    days: int,
    uncovered: Sequence[str],
    hearing: bool | None,  # noqa: FBT001
    limit: Threshold,
) -> tuple[Check, ...]:
    block, most = thresholds()["exception_block"], thresholds()["exception_most"]
    alert = factor("exception_alert_days")
    long = [f"{one.id} ({part.days} days)" for one, part in spans if part.days > block.number]
    holes = ", ".join(f"{one.start} to {one.end} ({one.days} days)" for one in gaps)
    rate = f"over {limit.number:g} MCF/d of hydrocarbon gas"
    return (
        check(
            "block_days",
            not long,
            block.cite,
            f"no exception is longer than {block.number:g} days",
            f"longer than the {block.number:g} days that staff grant at a time: {', '.join(long)}; read the grant",
            weak=True,
        ),
        check(
            "no_gaps",
            not gaps,
            RULE,
            "no day is missing between the exceptions",
            f"no exception on {holes}; gas released then needs another authority",
            weak=True,
        ),
        check(
            "releases_covered",
            not uncovered,
            RULE,
            "every release day given has an exception",
            f"gas was released without an exception on {', '.join(uncovered)}; name its authority",
        ),
        check(
            "alert_days",
            days < alert.number,
            most.cite,
            f"{days} of {most.number:g} days are counted",
            f"{days} of {most.number:g} days are counted; prepare what follows, as staff grant no more than these",
            weak=True,
        ),
        check(
            "hearing",
            None if hearing is None else not hearing,
            limit.cite,
            f"no hearing is needed for {number(days)} days at this rate",
            f"{days} days are over {most.number:g} and the rate was not given; {rate} it needs a hearing"
            if hearing is None
            else f"{days} days are over {most.number:g}, {rate}: only a final order after a hearing can allow it",
        ),
    )
