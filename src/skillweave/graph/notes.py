"""What a move tells beside where it leads: who lost, which guards stayed closed, what raised (spec 3.2)."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeVar

from skillweave.decisions import Evidence
from skillweave.graph.declared import ANY, Route
from skillweave.graph.judging import Verdict
from skillweave.graph.move import By, ClosedGuard, Loser, Move

MOST_TOLD = 20
"""So many losers, closed guards and failures a move names: models and tools can bring any number of them."""
LONGEST_UNKNOWN = 100
"""Characters of an id that no skill of the graph has; a model can write any text in the place of one."""

_Note = TypeVar("_Note")


@dataclass(slots=True, eq=False)
class Notes:
    """Collects while one move is decided; each thing is told once."""

    losers: dict[Loser, None] = field(default_factory=dict)
    closed: dict[int, ClosedGuard] = field(default_factory=dict)
    failures: dict[Evidence, None] = field(default_factory=dict)

    def lost(self, loser: Loser) -> None:
        """Something would have led elsewhere."""
        if len(self.losers) < MOST_TOLD:
            self.losers[loser] = None

    def stayed_closed(self, route: Route, verdict: Verdict) -> None:
        """The route's guard kept it from firing; of several results, the first for which it did is told."""
        if verdict.closed is not None and id(route) not in self.closed and len(self.closed) < MOST_TOLD:
            reason = verdict.closed.reason
            self.closed[id(route)] = ClosedGuard(route.from_, route.to, str(route.guard), reason)

    def failed(self, verdict: Verdict, where: str) -> None:
        """A condition raised."""
        for piece in verdict.evidence:
            if len(self.failures) < MOST_TOLD:
                self.failures[Evidence(piece.kind, f"{where}: {piece.text}")] = None

    def move(self, to: str | None, from_: str | None, by: By, reason: str, evidence: Iterable[Evidence] = ()) -> Move:
        """The move with everything that was noted."""
        losers, closed = tuple(self.losers), tuple(self.closed.values())
        return Move(to, from_, by, (*evidence, *self.failures), losers, closed, reason)


def described(route: Route) -> str:
    """The route in words."""
    from_ = "any skill" if route.from_ == ANY else repr(route.from_)
    label = f" ({route.label})" if route.label else ""
    return f"route from {from_} to {route.to!r}{label}"


def unknown_id(skill_id: str) -> str:
    """An id that no skill of the graph has, cut and escaped so that any store takes it."""
    cut = skill_id[:LONGEST_UNKNOWN]
    return cut if cut.isprintable() else ascii(cut)[1:-1]
