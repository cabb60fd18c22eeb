"""The days of the exceptions of a flare point: inclusive, joined, with gaps, and what follows at 180."""

from datetime import date, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.packs import ToolRefused
from skillweave_texas_rrc.answers import Outcome
from skillweave_texas_rrc.authorization import ExceptionStatus
from skillweave_texas_rrc.exceptions import Days, ExceptionDays, FlareException, exception_days
from skillweave_texas_rrc.volumes import Stream

FIRST = FlareException("fa-1", "2026-01-15", "2026-02-28")
SECOND = FlareException("fa-2", "2026-03-01", "2026-04-14")
THIRD = FlareException("fa-3", "2026-04-15", "2026-05-29", ExceptionStatus.PENDING)
FOURTH = FlareException("fa-4", "2026-05-30", "2026-07-13")
FIFTH = FlareException("fa-5", "2026-07-14", "2026-07-14")
BEGIN = date(2026, 1, 1)
spans = st.lists(st.tuples(st.integers(0, 300), st.integers(1, 60)), min_size=1, max_size=8)


def spanned(rows: list[tuple[int, int]]) -> ExceptionDays:
    return exception_days(
        [
            FlareException(str(at), str(BEGIN + timedelta(first)), str(BEGIN + timedelta(first + days - 1)))
            for at, (first, days) in enumerate(rows)
        ],
        hydrocarbon_mcfd=10,
    )


def test_each_of_the_three_exceptions_has_45_days_with_both_ends_counted() -> None:
    assert [one.days for one in exception_days([FIRST, SECOND, THIRD]).exceptions] == [45, 45, 45]


def test_exceptions_that_follow_each_other_are_one_run_of_135_days() -> None:
    found = exception_days([SECOND, FIRST, THIRD])
    assert found.joined == (Days("2026-01-15", "2026-05-29", 135, ("fa-1", "fa-2", "fa-3")),)
    assert (found.total_days, found.days_left, found.gaps) == (135, 45, ())


def test_a_pending_exception_counts_and_is_not_granted() -> None:
    assert exception_days([FIRST, SECOND, THIRD]).granted_days == 90


def test_the_next_block_begins_on_the_day_after_and_ends_at_180_days() -> None:
    assert exception_days([FIRST, SECOND, THIRD]).next_block == Days("2026-05-30", "2026-07-13", 45)


def test_the_next_block_is_shorter_where_fewer_days_are_left() -> None:
    found = exception_days([FIRST, SECOND, THIRD, FlareException("x", "2026-05-30", "2026-06-30")])
    assert found.next_block == Days("2026-07-01", "2026-07-13", 13)


def test_overlaps_count_once() -> None:
    found = exception_days([FIRST, FlareException("again", "2026-02-20", "2026-03-05")])
    assert (found.total_days, len(found.joined)) == (50, 1)


def test_a_gap_is_listed_with_its_days() -> None:
    found = exception_days([FIRST, THIRD])
    assert found.gaps == (Days("2026-03-01", "2026-04-14", 45),)
    assert found.named("no_gaps").outcome is Outcome.WARN


def test_the_mark_is_the_180th_day() -> None:
    assert exception_days([FIRST, SECOND, THIRD]).mark_on is None
    assert exception_days([FIRST, SECOND, THIRD, FOURTH]).mark_on == "2026-07-13"


def test_the_mark_leaves_gaps_out() -> None:
    later = FlareException("later", "2026-09-01", "2026-10-15")
    assert exception_days([FIRST, SECOND, THIRD, later]).mark_on == "2026-10-15"


def test_exactly_180_days_need_no_hearing_and_leave_none() -> None:
    found = exception_days([FIRST, SECOND, THIRD, FOURTH], hydrocarbon_mcfd=1200)
    assert (found.total_days, found.days_left, found.next_block, found.needs_hearing) == (180, 0, None, False)


def test_over_180_days_and_over_50_mcf_a_day_need_a_hearing() -> None:
    found = exception_days([FIRST, SECOND, THIRD, FOURTH, FIFTH], hydrocarbon_mcfd=50.1)
    assert found.needs_hearing is True
    assert found.named("hearing").outcome is Outcome.FAIL
    assert "only a final order after a hearing" in found.named("hearing").detail


def test_over_180_days_at_50_mcf_a_day_need_none() -> None:
    assert exception_days([FIRST, SECOND, THIRD, FOURTH, FIFTH], hydrocarbon_mcfd=50).needs_hearing is False


def test_a_gas_well_needs_one_from_15_mcf_a_day_on() -> None:
    several = [FIRST, SECOND, THIRD, FOURTH, FIFTH]
    assert exception_days(several, hydrocarbon_mcfd=16, stream=Stream.GAS_WELL).needs_hearing is True


def test_over_180_days_without_a_rate_the_hearing_is_not_known() -> None:
    found = exception_days([FIRST, SECOND, THIRD, FOURTH, FIFTH])
    assert found.needs_hearing is None
    assert found.named("hearing").outcome is Outcome.NOT_CHECKED


def test_an_exception_longer_than_45_days_is_named() -> None:
    found = exception_days([FlareException("long", "2026-01-15", "2026-03-01")]).named("block_days")
    assert found.outcome is Outcome.WARN
    assert "long (46 days)" in found.detail


def test_a_warning_begins_at_150_days() -> None:
    to_149 = FlareException("x", "2026-05-30", "2026-06-12")
    to_150 = FlareException("x", "2026-05-30", "2026-06-13")
    assert exception_days([FIRST, SECOND, THIRD, to_149]).named("alert_days").outcome is Outcome.PASS
    assert exception_days([FIRST, SECOND, THIRD, to_150]).named("alert_days").outcome is Outcome.WARN


def test_release_days_without_an_exception_are_listed_once() -> None:
    found = exception_days([FIRST, SECOND], release_days=["2026-04-15", "2026-02-28", "2026-01-14", "2026-04-15"])
    assert found.uncovered == ("2026-01-14", "2026-04-15")
    assert found.named("releases_covered").outcome is Outcome.FAIL


def test_no_exception_at_all_counts_nothing() -> None:
    found = exception_days([], release_days=["2026-04-15"])
    assert (found.total_days, found.next_block, found.uncovered) == (0, None, ("2026-04-15",))


def test_an_end_before_the_start_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/exceptions/1/end"):
        exception_days([FIRST, FlareException("x", "2026-03-01", "2026-02-01")])


@given(spans)
def test_the_days_are_those_of_the_calendar_that_any_exception_holds(rows: list[tuple[int, int]]) -> None:
    held = {first + at for first, days in rows for at in range(days)}
    found = spanned(rows)
    assert found.total_days == len(held)
    assert sum(one.days for one in found.gaps) == max(held) - min(held) + 1 - len(held)


@given(spans)
def test_the_order_of_exceptions_changes_nothing(rows: list[tuple[int, int]]) -> None:
    there, back = spanned(rows), spanned(rows[::-1])
    assert (there.total_days, there.gaps, there.mark_on) == (back.total_days, back.gaps, back.mark_on)


@given(spans)
def test_the_mark_is_the_180th_day_that_any_exception_holds(rows: list[tuple[int, int]]) -> None:
    held = sorted({first + at for first, days in rows for at in range(days)})
    wanted = str(BEGIN + timedelta(held[179])) if len(held) >= 180 else None
    assert spanned(rows).mark_on == wanted
