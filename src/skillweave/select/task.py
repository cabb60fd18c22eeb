"""Skills that rules give for the work as a whole, and what is wrong with such rules (spec 2.1, seed 002)."""

from collections.abc import Iterable, Sequence

from skillweave.decisions import Evidence, Outcome
from skillweave.diagnostics import Diagnostic, Severity
from skillweave.errors import nearest_names
from skillweave.registry import Snapshot
from skillweave.select.candidates import Candidate, Rejected, Selection, joined, refusal
from skillweave.task import Task, TaskRule

MATCHER = "task"
SUGGESTED = 10
"""For so many unknown ids in rules the nearest known ones are looked up, which is slow among many skills."""


def candidates_for(
    task: Task, rules: Iterable[TaskRule], snapshot: Snapshot, within: frozenset[str] | None = None
) -> Selection:
    """What the rules give for the task, in the order of the rules, each skill once with all rules that name it.

    A rule of which one skill cannot be given gives none of them.
    """
    chosen: dict[str, Candidate] = {}
    rejected: dict[str, Rejected] = {}
    for rule in rules:
        if not rule.when.holds(task):
            continue
        refused = {skill: why for skill in rule.skills if (why := refusal(skill, snapshot, within))}
        for skill in rule.skills:
            candidate = Candidate(skill, 1.0, MATCHER, (Evidence(MATCHER, rule.name),), together=rule.skills)
            if refused:
                missing = next(iter(refused))
                partly = Outcome.UNMET, f"the task rule gives it with {missing!r} or not at all"
                rejected.setdefault(skill, Rejected(candidate, *refused.get(skill, partly)))
            else:
                chosen[skill] = joined(chosen[skill], candidate) if skill in chosen else candidate
    left = (one for skill, one in rejected.items() if skill not in chosen)
    return Selection(tuple(chosen.values()), tuple(left))


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
