"""The matcher `task`: skills that a rule gives for the work as a whole (spec 2.1, seed 002)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skillweave.decisions import Evidence, Outcome
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.errors import nearest_names
from skillweave.registry import Snapshot
from skillweave.select.candidates import MOST_EVIDENCE, Candidate, Rejected, Selection
from skillweave.task import Task, TaskRule

MATCHER = "task"
SUGGESTED = 10
"""For so many unknown ids in rules the nearest known ones are looked up, which is slow among many skills."""


def candidates_for(
    task: Task, rules: Iterable[TaskRule], snapshot: Snapshot, within: frozenset[str] | None = None
) -> Selection:
    """What the rules give for the task, in the order of the rules, each skill once with all rules that name it."""
    found = _Found()
    for rule in rules:
        if rule.when.holds(task):
            found.add(rule, {skill: _unfit(skill, snapshot, within) for skill in rule.skills})
    return found.selection()


def check_task_rules(rules: Iterable[TaskRule], snapshot: Snapshot) -> tuple[Diagnostic, ...]:
    """A finding for every skill that a rule names and the registry does not have: the rule can give nothing then."""
    unknown = [(rule, skill) for rule in rules for skill in rule.skills if skill not in snapshot]
    return tuple(
        _about_unknown(rule, skill, nearest_names(skill, snapshot) if place < SUGGESTED else ())
        for place, (rule, skill) in enumerate(unknown)
    )


def _about_unknown(rule: TaskRule, skill: str, nearest: Sequence[str]) -> Diagnostic:
    message = f"task rule {rule.name} gives {skill[:100]!r}, which is not in the registry, so the rule gives nothing"
    meant = f"write {' or '.join(map(repr, nearest))} if that is meant, " if nearest else ""
    fix = f"{meant}load the skill, or take it out of the rule"
    return Diagnostic("task-rule-unknown-skill", Severity.WARNING, message, fix, location=rule.location)


@dataclass(slots=True)
class _Found:
    chosen: dict[str, Candidate] = field(default_factory=dict)
    rejected: dict[str, Rejected] = field(default_factory=dict)

    def add(self, rule: TaskRule, unfit: Mapping[str, "_Unfit | None"]) -> None:
        evidence = Evidence(MATCHER, rule.name)
        lacking = {skill: why for skill, why in unfit.items() if why is not None}
        for skill in rule.skills:
            candidate = Candidate(skill, 1.0, MATCHER, (evidence,), together=rule.skills)
            if not lacking:
                self._choose(candidate)
            else:
                missing = next(iter(lacking))
                partly = _Unfit(Outcome.UNMET, f"the task rule gives it with {missing!r} or not at all")
                why = lacking.get(skill, partly)
                self.rejected.setdefault(skill, Rejected(candidate, why.outcome, why.reason))

    def _choose(self, candidate: Candidate) -> None:
        known = self.chosen.setdefault(candidate.skill_id, candidate)
        if known is not candidate:
            evidence = tuple(dict.fromkeys((*known.evidence, *candidate.evidence)))
            together = min(known.together, candidate.together, key=len)
            self.chosen[candidate.skill_id] = replace(known, evidence=evidence[:MOST_EVIDENCE], together=together)

    def selection(self) -> Selection:
        left = (refusal for skill, refusal in self.rejected.items() if skill not in self.chosen)
        return Selection(tuple(self.chosen.values()), tuple(left))


@dataclass(frozen=True, slots=True)
class _Unfit:
    outcome: Outcome
    reason: str


def _unfit(skill_id: str, snapshot: Snapshot, within: frozenset[str] | None) -> _Unfit | None:
    skill = snapshot.get(skill_id)
    if skill is None:
        return _Unfit(Outcome.UNKNOWN, "no skill has this id")
    if not skill.status.selectable:
        return _Unfit(Outcome.INACTIVE, f"the skill is {skill.status.value}; only active ones are given")
    if within is not None and skill_id not in within:
        return _Unfit(Outcome.UNREACHABLE, "it is not among the skills allowed in this turn")
    return None
