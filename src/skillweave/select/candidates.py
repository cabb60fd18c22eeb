"""What selection yields: ranked candidates, and the rejected ones with the reason."""

from dataclasses import dataclass

from skillweave.codec import Portable
from skillweave.decisions import Decision, Evidence, Outcome


@dataclass(frozen=True, slots=True)
class Candidate(Portable):
    """A skill that a matcher speaks for; `score` in [0, 1] compares within one `matcher` only.

    `arguments` are the words that the user gave with a mention, None without one and where the skill takes none.
    `together` are the skills that are given with this one or not at all, as a task rule says.
    """

    skill_id: str
    score: float
    matcher: str
    evidence: tuple[Evidence, ...] = ()
    arguments: str | None = None
    together: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Rejected(Portable):
    """A considered skill that was not chosen, with the outcome it will have in the decisions and why."""

    candidate: Candidate
    outcome: Outcome
    reason: str

    def to_decision(self) -> Decision:
        """The decision that the skill was left in selection."""
        candidate = self.candidate
        return Decision(
            candidate.skill_id,
            self.outcome,
            "select",
            self.reason,
            score=candidate.score,
            matcher=candidate.matcher,
            evidence=candidate.evidence,
        )


@dataclass(frozen=True, slots=True)
class Selection(Portable):
    """The ranking of one turn: every skill stands in at most one of the two, chosen ones best first."""

    chosen: tuple[Candidate, ...] = ()
    rejected: tuple[Rejected, ...] = ()
