"""What a turn wants: where the conversation stands, who is wanted, and which contents have to be fetched."""

from skillweave.plan.plan import Plan, artifacts_to_show, make_plan
from skillweave.plan.position import Position
from skillweave.plan.wanted import Wanted
from skillweave.plan.wiring import Wiring, wire

__all__ = ["Plan", "Position", "Wanted", "Wiring", "artifacts_to_show", "make_plan", "wire"]
