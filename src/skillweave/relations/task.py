"""The skills for a task as one complete list (seed 002: the selector gives skill names for a context; spec 2.1)."""

from collections.abc import Iterable
from dataclasses import dataclass

from skillweave.codec import Portable
from skillweave.decisions import Decision
from skillweave.registry import Snapshot
from skillweave.relations.admit import admit
from skillweave.relations.rules import all_requirements, rule_shown
from skillweave.relations.validate import Because
from skillweave.select.candidates import Selection
from skillweave.select.task import candidates_for
from skillweave.task import Task, TaskRule


@dataclass(frozen=True, slots=True)
class TaskSelection(Portable):
    """The skills for a task, companions included, the reason of each in the same order, and what is `left_out`."""

    skills: tuple[str, ...] = ()
    reasons: tuple[Because, ...] = ()
    left_out: tuple[Decision, ...] = ()


def select_skills(
    task: Task, rules: Iterable[TaskRule], snapshot: Snapshot, *, granted: frozenset[str] | None = None
) -> list[str]:
    """The ids of the skills for a task, companions included; a set that cannot be given whole is left out."""
    return list(explain_task(task, rules, snapshot, granted=granted).skills)


def explain_task(
    task: Task, rules: Iterable[TaskRule], snapshot: Snapshot, *, granted: frozenset[str] | None = None
) -> TaskSelection:
    """The skills that a task calls for, each with its reason, and why each that a rule names is left out, if it is."""
    found = candidates_for(task, rules, snapshot)
    admission = admit(found, snapshot, engaged=(), max_skills=len(found.chosen), granted=granted)
    skills = tuple(skill for group in admission.groups for skill in group.members)
    rejected = (one.to_decision() for one in found.rejected if one.candidate.skill_id not in skills)
    return TaskSelection(skills, tuple(_reasons(skills, found, snapshot)), (*admission.decisions, *rejected))


def _reasons(skills: tuple[str, ...], found: Selection, snapshot: Snapshot) -> Iterable[Because]:
    given = {one.skill_id: "; ".join(f"task rule {piece.text}" for piece in one.evidence) for one in found.chosen}
    needed = {
        requirement.rule.skill: rule_shown(requirement.owner, requirement.rule)
        for requirement in all_requirements([skill for skill in skills if skill in given], snapshot)
    }
    for skill in skills:
        yield Because(skill, given[skill] if skill in given else needed[skill])
