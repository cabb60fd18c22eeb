"""A calculator of the pack: whether a ship fits into a berth."""

from collections.abc import Mapping
from typing import Any

from skillweave.packs import Tool

CLEARANCE_M = 0.5
"""So much water has to be below the keel."""


def _fits(arguments: Mapping[str, Any]) -> dict[str, Any]:
    clearance = arguments["depth_m"] - arguments["draught_m"]
    deep = clearance >= CLEARANCE_M
    long = arguments["quay_m"] >= arguments["length_m"]
    return {
        "fits": deep and long,
        "clearance_m": round(clearance, 2),
        "basis": f"{CLEARANCE_M} m of water below the keel, and a quay as long as the ship",
    }


_METRES = {"type": "number", "exclusiveMinimum": 0}

BERTH_FIT = Tool(
    name="berth_fit",
    description="Say whether a ship fits into a berth, in metres.",
    parameters={
        "type": "object",
        "properties": dict.fromkeys(("draught_m", "length_m", "depth_m", "quay_m"), _METRES),
        "required": ["draught_m", "length_m", "depth_m", "quay_m"],
        "additionalProperties": False,
    },
    returns={"type": "object", "required": ["fits", "clearance_m", "basis"]},
    run=_fits,
)
