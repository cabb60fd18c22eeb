"""Days by which something is due: filings, protests, permits, exceptions."""

from collections.abc import Callable, Mapping
from datetime import date, timedelta
from types import MappingProxyType
from typing import Any, TypeAlias

from skillweave.packs import JsonObject, Tool, ToolRefused
from skillweave_texas_rrc.answers import day as read_day
from skillweave_texas_rrc.schemas import Schema, answer, record, several
from skillweave_texas_rrc.thresholds import Threshold, basis_of, thresholds, to_confirm

_DAY: Schema = {"type": "string", "pattern": r"^\d{4}-\d{2}-\d{2}$"}
_SATURDAY = 5
_DECEMBER = 12
_LEAP_DAY = (2, 29)
Holidays: TypeAlias = frozenset[date]
_Due: TypeAlias = tuple[date, date, tuple[str, ...]]
"""The day that is counted to, that day moved to a working day, and the ids of the thresholds that led to it."""


def is_working_day(day: date, holidays: Holidays) -> bool:
    """Whether it is Monday to Friday and none of the holidays that were given."""
    return day.weekday() < _SATURDAY and day not in holidays


def last_working_day(day: date, holidays: Holidays) -> date:
    """The day itself or the nearest working day before it."""
    while not is_working_day(day, holidays):
        day -= timedelta(days=1)
    return day


def next_working_day(day: date, holidays: Holidays) -> date:
    """The day itself or the nearest working day after it."""
    while not is_working_day(day, holidays):
        day += timedelta(days=1)
    return day


def form_pr_due(month: date, holidays: Holidays) -> date:
    """The last working day of the month after the production month, of which any day is given."""
    return last_working_day(_end_of_next(month), holidays)


def protest_close(notice: date, holidays: Holidays) -> date:
    """The last day for a protest: so many days after notice, moved on to a working day (not verified)."""
    return next_working_day(_window_end(notice), holidays)


def permit_lapse(approved: date) -> date:
    """The same day two years after approval; 28 February for the 29th."""
    is_leap_day = (approved.month, approved.day) == _LEAP_DAY
    years = int(thresholds()["permit_life"].number)
    return approved.replace(year=approved.year + years, day=28 if is_leap_day else approved.day)


def block_end(first: date, days: int) -> date:
    """The last day of a block of days, the first one included."""
    return first + timedelta(days=days - 1)


def _window_end(notice: date) -> date:
    return notice + timedelta(days=int(thresholds()["protest_window"].number))


def _end_of_next(month: date) -> date:
    return _first_of_next(_first_of_next(month)) - timedelta(days=1)


def _first_of_next(day: date) -> date:
    return date(day.year + day.month // _DECEMBER, day.month % _DECEMBER + 1, 1)


def _form_pr(day: date, holidays: Holidays, _: Mapping[str, Any]) -> _Due:
    return _end_of_next(day), form_pr_due(day, holidays), ("form_pr_due",)


def _protest(day: date, holidays: Holidays, _: Mapping[str, Any]) -> _Due:
    return _window_end(day), protest_close(day, holidays), ("protest_window", "protest_roll")


def _permit(day: date, _: Holidays, __: Mapping[str, Any]) -> _Due:
    return permit_lapse(day), permit_lapse(day), ("permit_life",)


def _exception(day: date, _: Holidays, arguments: Mapping[str, Any]) -> _Due:
    days = arguments.get("days", int(thresholds()["exception_block"].number))
    return block_end(day, days), block_end(day, days), ("exception_block", "exception_most")


_KINDS: Mapping[str, Callable[[date, Holidays, Mapping[str, Any]], _Due]] = MappingProxyType(
    {
        "form_pr": _form_pr,
        "protest_close": _protest,
        "permit_lapse": _permit,
        "exception_end": _exception,
    }
)
_ON_WORKING_DAYS = ("form_pr", "protest_close")
_PARAMETERS: Schema = record(
    {
        "kind": {
            "type": "string",
            "enum": list(_KINDS),
            "description": "form_pr: the production report, `day` is any day of the production month. protest_close: "
            "the end of the protest window, `day` is the day of notice. permit_lapse: `day` is the day of approval. "
            "exception_end: the last day of a Rule 32 exception, `day` is its first day.",
        },
        "day": {**_DAY, "description": "The day it counts from, such as 2026-03-31."},
        "days": {
            "type": "integer",
            "minimum": 1,
            "maximum": 180,
            "description": "For exception_end: the days that are granted, first and last included; 45 if absent.",
        },
        "holidays": several(
            _DAY, 500, "Federal and Texas holidays, and days on which the RRC is closed; weekends are known."
        ),
    },
    ("kind", "day"),
)
_RETURNS = answer("kind", "day", "counted_to", "deadline", "weekday")


def rrc_deadline(arguments: Mapping[str, Any]) -> JsonObject:
    """The day by which it is due. Raises ToolRefused for a day that no calendar has, or that is far from today's."""
    kind = arguments["kind"]
    if "days" in arguments and kind != "exception_end":
        raise ToolRefused("arguments#/days", f"`days` means nothing for {kind}", "leave it out")
    holidays = frozenset(read_day(one, f"holidays/{n}") for n, one in enumerate(arguments.get("holidays") or ()))
    counted, due, used = _KINDS[kind](read_day(arguments["day"], "day"), holidays, arguments)
    rules: list[Threshold] = [thresholds()[name] for name in used]
    return {
        "kind": kind,
        "day": arguments["day"],
        "counted_to": counted.isoformat(),
        "deadline": due.isoformat(),
        "weekday": f"{due:%A}",
        "units": "calendar days",
        "basis": basis_of(rules),
        "warnings": [*_about_holidays(kind, holidays), *to_confirm(rules)],
    }


def _about_holidays(kind: str, holidays: Holidays) -> list[str]:
    if holidays or kind not in _ON_WORKING_DAYS:
        return []
    earlier = "earlier" if kind == "form_pr" else "later"
    return [
        f"Only weekends were left out: where a holiday falls on that day, the real one is {earlier}. Give `holidays`."
    ]


TOOLS = (
    Tool(
        "rrc_deadline",
        "The day by which something is due at the Railroad Commission: Form PR, the end of a protest window, the lapse "
        "of a drilling permit, the last day of a Rule 32 exception.",
        _PARAMETERS,
        _RETURNS,
        rrc_deadline,
    ),
)
