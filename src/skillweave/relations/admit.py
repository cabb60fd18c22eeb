"""Which of the selected and engaged skills may take part in this turn, group by group; never fails (spec 4.1)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from skillweave.decisions import Decision, Outcome
from skillweave.registry import Snapshot
from skillweave.relations.rules import (
    MOST_COMPANIONS,
    all_requirements,
    exclusions,
    name_shown,
    rule_shown,
    standing_shown,
)
from skillweave.select.candidates import Candidate, Selection, inactive_outcome
from skillweave.skill import SELECTABLE, Relation

STAGE = "admit"

Closures: TypeAlias = Mapping[str, Mapping[str, None]]
"""Skills that take part in their own right, each with itself and its companions in requirement order (as a key set)."""


@dataclass(frozen=True, slots=True)
class Group:
    """The head and its companions in requirement order; `candidate` is this turn's best match, None if only engaged."""

    head: str
    members: tuple[str, ...]
    candidate: Candidate | None = None


@dataclass(frozen=True, slots=True)
class Ranking:
    """Who comes first: this turn's matches by rank, then engaged skills; `places` are positions from 0."""

    matched: Mapping[str, Candidate]
    places: Mapping[str, int]
    engaged: frozenset[str]

    def place(self, skill_id: str) -> int:
        """The position of a skill, lower is better; what is neither matched nor engaged comes last."""
        return self.places.get(skill_id, len(self.places))


@dataclass(frozen=True, slots=True)
class Admission:
    """The groups that may take part, best first, and a decision for each matched or engaged skill in none."""

    groups: tuple[Group, ...] = ()
    decisions: tuple[Decision, ...] = ()


@dataclass(frozen=True, slots=True)
class OutOfScope:
    """The skills that belong to another place of the skill graph; `reason` gives the words for a skill's id."""

    skills: Collection[str]
    reason: Callable[[str], str]


def admit(
    selection: Selection,
    snapshot: Snapshot,
    *,
    engaged: Sequence[str],
    max_skills: int,
    granted: frozenset[str] | None = None,
    kept_out: Mapping[str, str] | None = None,
    elsewhere: OutOfScope | None = None,
) -> Admission:
    """Joins companions, settles conflicts, applies the limit; groups come by rank, then engaged ones.

    `engaged` ids, latest first, win conflicts; `max_skills` bounds new skills, each with its companions. Skills
    `elsewhere`, and those that require one, do not enter.
    """
    ranking = rank(selection.chosen, engaged)
    gate = _Gate(snapshot, ranking, max_skills, granted, kept_out or {}, elsewhere)
    earlier_first = sorted(ranking.places, key=lambda skill_id: skill_id not in ranking.engaged)
    refusals = {skill_id: gate.enter(skill_id) for skill_id in earlier_first}
    decisions = [
        _decision(skill_id, refusal, ranking.matched.get(skill_id))
        for skill_id in ranking.places
        if (refusal := refusals[skill_id]) is not None and skill_id not in gate.members
    ]
    return Admission(form_groups(gate.closures, ranking), tuple(decisions))


def rank(chosen: Sequence[Candidate], engaged: Sequence[str]) -> Ranking:
    """The order of this turn; of a skill that stands twice the first counts."""
    matched: dict[str, Candidate] = {}
    for candidate in chosen:
        matched.setdefault(candidate.skill_id, candidate)
    order = dict.fromkeys((*matched, *engaged))
    return Ranking(matched, {skill_id: place for place, skill_id in enumerate(order)}, frozenset(engaged))


def form_groups(closures: Closures, ranking: Ranking) -> tuple[Group, ...]:
    """Merge what shares a skill, so that each skill stands in one group; the best-placed group first."""
    if all(len(closure) == 1 for closure in closures.values()):
        # Skills without companions, as nearly all are, share nothing.
        ranked = sorted(closures, key=ranking.places.__getitem__)
        return tuple(Group(one, (one,), ranking.matched.get(one)) for one in ranked)
    groups = [_form_group(connected, ranking) for connected in _connected(closures)]
    return tuple(sorted(groups, key=lambda group: min(map(ranking.place, group.members))))


def _connected(closures: Closures) -> list[Closures]:
    """The closures in clusters that share no member; members are joined by their roots, each closure once."""
    above: dict[str, str] = {}

    def root(member: str) -> str:
        while (parent := above.setdefault(member, member)) != member:
            above[member] = above[parent]
            member = parent
        return member

    for skill_id, closure in closures.items():
        for member in closure:
            above[root(member)] = root(skill_id)
    clusters: dict[str, dict[str, Mapping[str, None]]] = {}
    for skill_id, closure in closures.items():
        clusters.setdefault(root(skill_id), {})[skill_id] = closure
    return list(clusters.values())


def _form_group(closures: Closures, ranking: Ranking) -> Group:
    # Of two heads that share a companion, and of a mutual pair, the better-placed leads; a skill that another one
    # merely needs never does, so that an engaged skill's companion does not take its place by being matched alone.
    ranked = sorted(closures, key=ranking.place)
    companions = {
        member
        for owner, closure in closures.items()
        for member in closure
        if owner not in closures.get(member, (owner,))
    }
    heads = [skill_id for skill_id in ranked if skill_id not in companions]
    members = tuple(dict.fromkeys(member for skill_id in heads for member in closures[skill_id]))
    return Group(heads[0], members, ranking.matched.get(min(members, key=ranking.place)))


@dataclass(frozen=True, slots=True)
class _Refusal:
    outcome: Outcome
    reason: str


@dataclass(slots=True, eq=False)
class _Gate:
    """Who has entered so far; lives for one call of `admit`."""

    snapshot: Snapshot
    ranking: Ranking
    max_skills: int
    granted: frozenset[str] | None
    kept_out: Mapping[str, str]
    elsewhere: OutOfScope | None
    closures: dict[str, Mapping[str, None]] = field(default_factory=dict)
    members: set[str] = field(default_factory=set)
    excluded: dict[str, tuple[str, Relation]] = field(default_factory=dict)
    exclusions_of: dict[str, Sequence[Relation]] = field(default_factory=dict)
    entered: int = 0

    def enter(self, skill_id: str) -> _Refusal | None:
        """Let a skill in with its companions, or say why not; then nothing changes."""
        refusal = self._unfit(skill_id)
        if refusal is not None:
            return refusal
        candidate = self.ranking.matched.get(skill_id)
        together = () if candidate is None else candidate.together
        closure: Mapping[str, None] = {skill_id: None}
        if together or self.snapshot.skills[skill_id].relations or self.excluded or self.exclusions_of:
            refusal, closure = self._with_others(skill_id, together)
            if refusal is not None and together and skill_id in self.ranking.engaged:
                # It is engaged already, whatever becomes of what a rule would give with it now.
                refusal, closure = self._with_others(skill_id, ())
        if refusal is not None:
            return refusal
        # A companion that was matched as well came with its head; counting it again would punish a good match.
        counts = skill_id not in self.ranking.engaged and skill_id not in self.members
        if counts and self.entered >= self.max_skills:
            return _Refusal(Outcome.OVER_LIMIT, f"max_skills is {self.max_skills}, and no place is left")
        self.entered += counts
        self.closures[skill_id] = closure
        for member in closure:
            for rule in self.exclusions_of.get(member, ()):
                self.excluded.setdefault(rule.skill, (member, rule))
        self.members.update(closure)
        return None

    def _unfit(self, skill_id: str) -> _Refusal | None:
        """Why the skill cannot take part, whatever goes with it."""
        skill = self.snapshot.skills.get(skill_id)
        if skill is None:
            return _Refusal(Outcome.UNKNOWN, f"{name_shown(skill_id)} is {standing_shown(skill)}")
        if skill.status not in SELECTABLE:
            return _Refusal(inactive_outcome(skill), f"{name_shown(skill_id)} is {standing_shown(skill)}")
        if skill_id in self.kept_out:
            return _Refusal(Outcome.FORBIDDEN, self.kept_out[skill_id])
        if self.granted is not None and skill_id not in self.granted:
            return _Refusal(Outcome.FORBIDDEN, f"{name_shown(skill_id)} is not granted to this agent")
        if self.elsewhere is not None and skill_id in self.elsewhere.skills:
            return _Refusal(Outcome.NOT_AT_CURSOR, self.elsewhere.reason(skill_id))
        return None

    def _with_others(self, skill_id: str, together: Sequence[str]) -> tuple[_Refusal | None, Mapping[str, None]]:
        """All that goes with a skill, and why it cannot go now, if it cannot."""
        refusal: _Refusal | None = None
        closure: Mapping[str, None] = {skill_id: None}
        if together or self.snapshot.skills[skill_id].relations:
            refusal, closure = self._gathered(tuple(dict.fromkeys((skill_id, *together))))
        if refusal is None and (self.excluded or self.exclusions_of):
            refusal = self._conflict(skill_id, closure)
        return refusal, closure

    def _gathered(self, given: Sequence[str]) -> tuple[_Refusal | None, Mapping[str, None]]:
        """All that goes with the given skills, and why it cannot go together, if it cannot."""
        needed = all_requirements(given, self.snapshot, most=MOST_COMPANIONS + 1)
        closure = dict.fromkeys((*given, *(requirement.rule.skill for requirement in needed)))
        if len(needed) > MOST_COMPANIONS:
            reason = f"it needs more than {MOST_COMPANIONS} other skills, and no more go together"
            return _Refusal(Outcome.OVER_LIMIT, reason), closure
        for other in given[1:]:
            if (unfit := self._unfit(other)) is not None:
                reason = f"a task rule gives it with {name_shown(other)} or not at all; {unfit.reason}"
                return _Refusal(Outcome.UNMET, reason), closure
        for requirement in needed:
            if (unfit := self._unfit(requirement.rule.skill)) is not None:
                reason = f"{rule_shown(requirement.owner, requirement.rule)}; {unfit.reason}"
                return _Refusal(Outcome.UNMET, reason), closure
        for member in closure:
            for rule in self._exclusions(member):
                if rule.skill in closure:
                    reason = f"what goes with it cannot go together: {rule_shown(member, rule)}"
                    return _Refusal(Outcome.CONFLICT, reason), closure
        return None, closure

    def _conflict(self, skill_id: str, closure: Mapping[str, None]) -> _Refusal | None:
        for member in closure:
            if member in self.members:
                continue
            if member in self.excluded:
                owner, rule = self.excluded[member]
                return self._lost(skill_id, member, owner, rule_shown(owner, rule))
            for rule in self._exclusions(member):
                if rule.skill in self.members:
                    return self._lost(skill_id, member, rule.skill, rule_shown(member, rule))
        return None

    def _lost(self, skill_id: str, member: str, winner: str, sentence: str) -> _Refusal:
        why = "is engaged already" if winner in self.ranking.engaged else "comes first"
        brought = "" if member == skill_id else f"{name_shown(skill_id)} brings {name_shown(member)}, and "
        return _Refusal(Outcome.CONFLICT, f"{brought}{sentence}; {name_shown(winner)} {why}")

    def _exclusions(self, member: str) -> Sequence[Relation]:
        if member not in self.exclusions_of:
            self.exclusions_of[member] = exclusions(self.snapshot.skills[member])
        return self.exclusions_of[member]


def _decision(skill_id: str, refusal: _Refusal, candidate: Candidate | None) -> Decision:
    decision = Decision(skill_id, refusal.outcome, STAGE, refusal.reason)
    if candidate is None:
        return decision
    return replace(decision, score=candidate.score, matcher=candidate.matcher, evidence=candidate.evidence)
