"""What leads on from a place, before the limits are asked (spec 3.2)."""

from dataclasses import dataclass

from skillweave.decisions import Evidence
from skillweave.graph.move import By


@dataclass(frozen=True, slots=True)
class Taken:
    """The entry, route or pick that won: where it leads, and what speaks for it."""

    to: str
    by: By
    evidence: tuple[Evidence, ...]
    reason: str
