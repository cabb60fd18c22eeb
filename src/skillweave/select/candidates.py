"""What selection yields: ranked candidates, and the rejected ones with the reason."""

from dataclasses import dataclass

from skillweave.decisions import Evidence, Outcome


@dataclass(frozen=True, slots=True)
class Candidate:
    """A skill that a matcher speaks for; `score` in [0, 1] compares within one `matcher` only."""

    skill_id: str
    score: float
    matcher: str
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected:
    """A considered skill that was not chosen, with the outcome it will have in the decisions and why."""

    candidate: Candidate
    outcome: Outcome
    reason: str


@dataclass(frozen=True, slots=True)
class Selection:
    """The ranking of one turn: every skill stands in at most one of the two, chosen ones best first."""

    chosen: tuple[Candidate, ...] = ()
    rejected: tuple[Rejected, ...] = ()
