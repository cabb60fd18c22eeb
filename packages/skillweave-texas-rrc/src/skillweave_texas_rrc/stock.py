"""The stock of oil or condensate on a lease over a month, as Form PR asks for it."""

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from skillweave_texas_rrc.answers import (
    MOST,
    Answer,
    Check,
    amount,
    amounts,
    check,
    number,
    plain,
    production_month,
    refuse,
    total,
)
from skillweave_texas_rrc.figures import factor
from skillweave_texas_rrc.volumes import Stream

OIL_CODES: Mapping[str, str] = {
    "0": "pipeline",
    "1": "truck",
    "2": "tank car or barge",
    "3": "tank cleaning",
    "4": "circulating oil, frac oil to another lease",
    "5": "spill loss",
    "6": "BS&W or sediment loss",
    "7": "other, such as stock adjustment, water bleed-off, lease use, road oil, theft",
    "8": "skim through the saltwater system",
    "9": "scrubber oil that left in casinghead gas, oil leases only",
    "99": "no code",
}
"""The disposition codes of oil and condensate on Form PR, and their names."""
_CODES = "Form PR, oil disposition codes"
_STOCK = "Form PR, stock on hand"


@dataclass(frozen=True, slots=True, kw_only=True)
class OilStockBalance(Answer):
    """Opening stock, production and dispositions of a month against its closing stock, in barrels.

    `expected_close_bbl` is what the first three leave; `difference_bbl` is that less the closing stock, and must be
    zero: it is oil that left without a disposition, or below zero oil that came from nowhere.
    """

    month: str
    opening_bbl: float
    produced_bbl: float
    disposed_bbl: float
    expected_close_bbl: float
    closing_bbl: float
    difference_bbl: float


def oil_stock_balance(
    month: str,
    opening_bbl: float,
    oil_bbl: float,
    oil_dispositions: Mapping[str, float],
    closing_bbl: float,
    previous_closing_bbl: float | None = None,
    stream: Stream = Stream.CASINGHEAD,
    *,
    spill_reached_water: bool = False,
) -> OilStockBalance:
    """The stock balance of one oil lease (or the condensate of a gas well) and production month, in barrels.

    `oil_dispositions` are volumes by the code of Form PR, `previous_closing_bbl` the closing stock of last month's
    report. A stock may not be below zero; a volume of code 7 may be, as it also corrects a stock. Raises ToolRefused.
    """
    when = production_month(month)
    for code in oil_dispositions:
        if code not in OIL_CODES:
            known = ", ".join(OIL_CODES)
            refuse(f"oil_dispositions/{code}", f"{code[:20]!r} is no oil disposition code", f"give one of {known}")
    opening, produced = amount("opening_bbl", opening_bbl), amount("oil_bbl", oil_bbl)
    closing = amount("closing_bbl", closing_bbl)
    by_code = amounts("oil_dispositions", {code: one for code, one in oil_dispositions.items() if code != "7"})
    if "7" in oil_dispositions:
        by_code["7"] = amount("oil_dispositions/7", oil_dispositions["7"], -MOST)
    disposed = total(by_code.values())
    expected = opening + produced - disposed
    return OilStockBalance(
        month=when,
        opening_bbl=opening_bbl,
        produced_bbl=oil_bbl,
        disposed_bbl=plain(disposed),
        expected_close_bbl=plain(expected),
        closing_bbl=closing_bbl,
        difference_bbl=plain(expected - closing),
        units="bbl",
        checks=(
            _balanced(expected, closing),
            _carried(opening, previous_closing_bbl),
            *_code_checks(by_code, stream, reached_water=spill_reached_water),
            check(
                "whole_bbl",
                all(one.denominator == 1 for one in (opening, produced, closing, *by_code.values())),
                _CODES,
                "all volumes are whole barrels",
                "Form PR takes whole barrels; round each volume so that the balance still holds",
                weak=True,
            ),
        ),
        basis=(factor("spill_report_bbl"),),
    )


def _balanced(expected: Fraction, closing: Fraction) -> Check:
    difference = expected - closing
    what = "left the tanks without a disposition" if difference > 0 else "are in the tanks and came from nowhere"
    return check(
        "oil_balance",
        not difference,
        _STOCK,
        f"opening + produced - dispositions is the closing stock, {number(closing)} bbl",
        f"{number(abs(difference))} bbl {what}: the stock should be {number(expected)} and is {number(closing)} bbl;"
        " look at gauges, run tickets and water draws before anything is adjusted",
    )


def _carried(opening: Fraction, previous: float | None) -> Check:
    last = None if previous is None else amount("previous_closing_bbl", previous)
    bad = (
        "the closing stock of last month was not given, so the opening stock was not checked"
        if last is None
        else f"opening stock {number(opening)} bbl is not last month's closing stock {number(last)} bbl;"
        " correct one of the two reports"
    )
    holds = None if last is None else opening == last
    return check("stock_carries_over", holds, _STOCK, "opening stock is last month's closing stock", bad)


def _code_checks(by_code: Mapping[str, Fraction], stream: Stream, *, reached_water: bool) -> list[Check]:
    spilled, limit = by_code.get("5", Fraction(0)), factor("spill_report_bbl")
    return [
        check(
            "form_h8",
            not (spilled and (reached_water or spilled >= Fraction(str(limit.number)))),
            limit.cite,
            "no spill that needs Form H-8",
            f"a spill of {number(spilled)} bbl{' that reached water' if reached_water else ''} needs Form H-8;"
            " say whether it was filed",
            weak=True,
        ),
        check(
            "code_9_oil_lease",
            not by_code.get("9") or stream is Stream.CASINGHEAD,
            _CODES,
            "code 9 is not used for condensate",
            "code 9 (scrubber oil) is for oil leases only; name what became of the condensate",
        ),
        check(
            "code_99",
            not by_code.get("99"),
            _CODES,
            "every volume has a code",
            "code 99 names no disposition; find the code of that oil",
        ),
    ]
