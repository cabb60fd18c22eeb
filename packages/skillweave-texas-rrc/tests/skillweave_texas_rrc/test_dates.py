"""When things are due at the Railroad Commission."""

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.skillweave_texas_rrc.sample import ask

from skillweave.packs import ToolRefused
from skillweave_texas_rrc.dates import (
    block_end,
    form_pr_due,
    is_working_day,
    permit_lapse,
    protest_close,
)

DAYS = st.dates(date(1990, 1, 1), date(2090, 1, 1))
HOLIDAYS = st.frozensets(DAYS, max_size=20)


async def due(kind: str, day: str, **more: Any) -> str:
    found: str = (await ask("rrc_deadline", {"kind": kind, "day": day, **more}))["deadline"]
    return found


@pytest.mark.parametrize(
    ("month", "expected"),
    [
        ("2026-03-15", "2026-04-30"),
        ("2026-04-01", "2026-05-29"),
        ("2026-12-31", "2027-01-29"),
        ("2026-01-31", "2026-02-27"),
    ],
)
async def test_form_pr_is_due_on_the_last_working_day_of_the_next_month(month: str, expected: str) -> None:
    assert await due("form_pr", month) == expected


async def test_a_holiday_at_the_end_of_the_month_makes_form_pr_due_earlier() -> None:
    assert await due("form_pr", "2027-04-01") == "2027-05-31"
    assert await due("form_pr", "2027-04-01", holidays=["2027-05-31"]) == "2027-05-28"


async def test_without_holidays_the_answer_says_that_only_weekends_were_left_out() -> None:
    found = await ask("rrc_deadline", {"kind": "form_pr", "day": "2027-04-01"})
    assert any("the real one is earlier" in one for one in found["warnings"])
    found = await ask("rrc_deadline", {"kind": "form_pr", "day": "2027-04-01", "holidays": ["2027-07-05"]})
    assert found["warnings"] == []


async def test_a_protest_window_ends_21_days_after_notice() -> None:
    assert await due("protest_close", "2026-03-30") == "2026-04-20"


async def test_a_protest_window_that_ends_on_a_weekend_runs_on_to_monday() -> None:
    assert await due("protest_close", "2026-03-28") == "2026-04-20"
    assert await due("protest_close", "2026-03-28", holidays=["2026-04-20"]) == "2026-04-21"


async def test_a_deadline_that_was_moved_tells_the_day_it_was_counted_to() -> None:
    found = await ask("rrc_deadline", {"kind": "protest_close", "day": "2026-03-28"})
    assert (found["counted_to"], found["deadline"], found["weekday"]) == ("2026-04-18", "2026-04-20", "Monday")
    found = await ask("rrc_deadline", {"kind": "form_pr", "day": "2026-04-01"})
    assert (found["counted_to"], found["deadline"], found["weekday"]) == ("2026-05-31", "2026-05-29", "Friday")


async def test_the_length_of_the_protest_window_and_its_end_are_to_be_confirmed() -> None:
    found = await ask("rrc_deadline", {"kind": "protest_close", "day": "2026-03-30"})
    assert [one["verified"] for one in found["basis"]] == [False, False]
    assert sum("Confirm" in one for one in found["warnings"]) == 2


async def test_a_permit_lapses_two_years_after_its_approval() -> None:
    assert await due("permit_lapse", "2025-05-20") == "2027-05-20"
    assert await due("permit_lapse", "2024-02-29") == "2026-02-28"


@pytest.mark.parametrize(
    ("first", "last"), [("2026-01-15", "2026-02-28"), ("2026-03-01", "2026-04-14"), ("2026-04-15", "2026-05-29")]
)
async def test_a_block_of_45_days_counts_its_first_and_its_last_day(first: str, last: str) -> None:
    assert await due("exception_end", first) == last


async def test_an_exception_may_be_granted_for_other_days() -> None:
    assert await due("exception_end", "2026-01-01", days=1) == "2026-01-01"
    assert await due("exception_end", "2026-01-01", days=180) == "2026-06-29"
    with pytest.raises(ToolRefused, match="arguments#/days"):
        await due("exception_end", "2026-01-01", days=181)


async def test_days_mean_nothing_for_other_deadlines() -> None:
    with pytest.raises(ToolRefused, match="`days` means nothing for form_pr; leave it out"):
        await due("form_pr", "2026-01-01", days=45)


@pytest.mark.parametrize("day", ["2026-02-30", "2026-13-01", "1226-01-01"])
async def test_a_day_that_no_calendar_has_is_refused(day: str) -> None:
    with pytest.raises(ToolRefused, match="arguments#/day: "):
        await due("form_pr", day)


async def test_a_holiday_that_no_calendar_has_is_refused_by_its_place() -> None:
    with pytest.raises(ToolRefused, match="arguments#/holidays/1: "):
        await due("form_pr", "2026-01-01", holidays=["2026-01-01", "2026-02-30"])


async def test_a_day_in_another_form_is_refused() -> None:
    with pytest.raises(ToolRefused, match=r"arguments#/day: .*does not match"):
        await due("form_pr", "3/31/2026")


@given(DAYS, HOLIDAYS)
def test_form_pr_is_due_in_the_next_month_on_a_working_day_and_no_later_one_follows_there(
    day: date, holidays: frozenset[date]
) -> None:
    deadline = form_pr_due(day, holidays)
    assert is_working_day(deadline, holidays)
    assert (deadline.year * 12 + deadline.month) - (day.year * 12 + day.month) == 1
    later = deadline + timedelta(days=1)
    while later.month == deadline.month:
        assert not is_working_day(later, holidays)
        later += timedelta(days=1)


@given(DAYS, HOLIDAYS)
def test_a_protest_window_is_never_shorter_than_21_days(day: date, holidays: frozenset[date]) -> None:
    close = protest_close(day, holidays)
    assert is_working_day(close, holidays)
    assert (close - day).days >= 21
    between = (day + timedelta(days=n) for n in range(21, (close - day).days))
    assert not any(is_working_day(one, holidays) for one in between)


@given(DAYS, st.integers(1, 180))
def test_blocks_that_follow_each_other_leave_no_day_out(day: date, days: int) -> None:
    following = block_end(day, days) + timedelta(days=1)
    assert (following - day).days == days


@given(DAYS)
def test_a_permit_lapses_in_the_same_month(day: date) -> None:
    lapse = permit_lapse(day)
    assert (lapse.year - day.year, lapse.month) == (2, day.month)
