"""What a drilling permit application (Form W-1) costs."""

from collections.abc import Mapping
from typing import Any

from skillweave.packs import JsonObject, Tool
from skillweave_texas_rrc.schemas import Schema, answer, described, record
from skillweave_texas_rrc.thresholds import Threshold, basis_of, thresholds

_DEPTHS = ((2000, "w1_to_2000_ft"), (4000, "w1_to_4000_ft"), (9000, "w1_to_9000_ft"))
"""The deepest total depth in feet of each base fee, itself included."""
_PARAMETERS: Schema = record(
    {
        "total_depth_ft": {
            "type": "number",
            "exclusiveMinimum": 0,
            "maximum": 60_000,
            "description": "Total depth on the application, in feet.",
        },
        "exception": described({"type": "boolean"}, "Whether exceptions to Rule 37 or 38 are applied for with it."),
        "expedite": described({"type": "boolean"}, "Whether expedited handling is asked for."),
    },
    ("total_depth_ft",),
)
_RETURNS = answer("lines", "total")


def w1_fee(arguments: Mapping[str, Any]) -> JsonObject:
    """The fee by its lines: base, surcharge and total, in US dollars."""
    known = thresholds()
    asked = [("drilling permit", known[_for_depth(arguments["total_depth_ft"])])]
    if arguments.get("exception"):
        asked.append(("exceptions to Rules 37 and 38, once for the application", known["w1_exception"]))
    if arguments.get("expedite"):
        asked.append(("expedited handling", known["w1_expedite"]))
    lines = [_line(what, fee) for what, fee in asked]
    return {
        "lines": list(lines),
        "total": sum(_total(fee) for _, fee in asked),
        "units": "USD",
        "basis": basis_of((*(fee for _, fee in asked), known["fee_surcharge"])),
        "warnings": ["Fees change: compare with the RRC's current table of fees before paying."],
    }


def _for_depth(depth_ft: float) -> str:
    return next((name for deepest, name in _DEPTHS if depth_ft <= deepest), "w1_deeper")


def _line(what: str, fee: Threshold) -> JsonObject:
    return {"what": what, "base": fee.number, "surcharge": _total(fee) - fee.number, "total": _total(fee)}


def _total(fee: Threshold) -> float:
    return fee.number * (100 + thresholds()["fee_surcharge"].number) / 100


TOOLS = (
    Tool(
        "w1_fee",
        "What an application for a drilling permit (Form W-1) costs: base fee by depth, exception fee, expedite fee, "
        "each with its surcharge.",
        _PARAMETERS,
        _RETURNS,
        w1_fee,
    ),
)
