"""What selection yields: ranked candidates, and the rejected ones with the reason."""

from dataclasses import dataclass, field, replace
from typing import ClassVar

from skillweave.codec import Portable
from skillweave.decisions import Decision, Evidence, Outcome
from skillweave.diagnostics import Diagnostic
from skillweave.registry import Snapshot

MOST_EVIDENCE = 8
"""Pieces of evidence shown per skill; more are counted for the order, but not listed."""
NOT_ALLOWED = "it is not among the skills allowed in this turn"
VETOED = "one of its `never` phrases is in the message"
DENIED = "the message says that it is not about this"


@dataclass(frozen=True, slots=True)
class Candidate(Portable):
    """A skill that a matcher proposes; `score` is in [0, 1] and comparable only within one `matcher`.

    `probability` is how likely a knowledgeable person would want the skill loaded for this message, in [0, 1]; None
    where nothing was estimated. `arguments` are the words that the user gave with a mention, None without one and where
    the skill takes none. `together` are the skills that are given with this one or not at all, as a task rule says.
    """

    skill_id: str
    score: float
    matcher: str
    evidence: tuple[Evidence, ...] = ()
    arguments: str | None = None
    together: tuple[str, ...] = ()
    probability: float | None = None


@dataclass(frozen=True, slots=True)
class Rejected(Portable):
    """A considered skill that was not chosen, with the outcome it will have in the decisions and why."""

    candidate: Candidate
    outcome: Outcome
    reason: str

    def to_decision(self) -> Decision:
        """Return the decision that says why selection left this skill out."""
        candidate = self.candidate
        return Decision(
            candidate.skill_id,
            self.outcome,
            "select",
            self.reason,
            score=candidate.score,
            matcher=candidate.matcher,
            evidence=candidate.evidence,
            probability=candidate.probability,
        )


@dataclass(frozen=True, slots=True)
class Selection(Portable):
    """The ranking of one turn: every skill is in at most one of the three, chosen and offered ones best first.

    What is chosen is to be given; what is offered is likely enough for a line in the shortlist. `diagnostics` say what
    of the message was too long to be looked at; `goes_on` whether it asks for nothing new, so that what was offered
    before still is.
    """

    json_keys: ClassVar[tuple[str, ...]] = ("chosen", "rejected", "offered", "diagnostics?", "goes_on?")

    chosen: tuple[Candidate, ...] = ()
    rejected: tuple[Rejected, ...] = ()
    offered: tuple[Candidate, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    goes_on: bool = field(default=False, compare=False)


def refusal(
    skill_id: str, snapshot: Snapshot, within: frozenset[str] | None, forbidden: str | None = None
) -> tuple[Outcome, str] | None:
    """Return why a skill cannot be chosen, as outcome and reason; None where it can be.

    `within` are the ids that may be chosen, None for all. `forbidden` is a reason that the matcher has of its own.
    """
    skill = snapshot.get(skill_id)
    if skill is None:
        return Outcome.UNKNOWN, "no skill has this id"
    if not skill.status.selectable:
        return Outcome.INACTIVE, f"the skill is {skill.status.value}; only active ones are given"
    if forbidden is not None:
        return Outcome.FORBIDDEN, forbidden
    return None if within is None or skill_id in within else (Outcome.UNREACHABLE, NOT_ALLOWED)


def joined(first: Candidate, second: Candidate) -> Candidate:
    """Return the first verdict on a skill with the second's evidence added, and the arguments of whichever has some.

    A matcher that proposes the skill alone frees it from the set that a task rule gives it with.
    """
    evidence = tuple(dict.fromkeys((*first.evidence, *second.evidence)))
    arguments = second.arguments if first.arguments is None else first.arguments
    together = min(first.together, second.together, key=len)
    return replace(first, evidence=evidence[:MOST_EVIDENCE], arguments=arguments, together=together)


def within_places(selection: Selection, most: int) -> Selection:
    """Keep `most` places of a selection, reject the rest as `over-limit`; a set that a task rule gives takes one place.

    For those who only ask what matches: a turn counts its places where it admits.
    """
    kept: list[Candidate] = []
    over: list[Rejected] = []
    seated: set[str] = set()
    places = most
    for candidate in selection.chosen:
        if candidate.skill_id not in seated:
            if places == 0:
                over.append(Rejected(candidate, Outcome.OVER_LIMIT, f"max_skills is {most}, and no place is left"))
                continue
            places -= 1
            seated.update(candidate.together)
        kept.append(candidate)
    return replace(selection, chosen=tuple(kept), rejected=(*over, *selection.rejected))
