"""Task rules of all sources as one list, and what of them outlives a broken edit (spec 1.3 and 2.1)."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from skillweave.diagnostics import Diagnostic, Severity, has_errors
from skillweave.formats.codes import TASK_RULE
from skillweave.formats.identity import namespaced
from skillweave.registry.precedence import Precedence
from skillweave.registry.source import Loaded
from skillweave.skill import Skill
from skillweave.task import TaskRule


def merge_task_rules(
    brought: Iterable[tuple[str, Sequence[Skill], Sequence[TaskRule]]], precedence: Precedence
) -> tuple[TaskRule, ...]:
    """All rules in the order of their sources; with namespaces a rule means its own source's skills.

    `brought` are the sources' names with their skills and rules.
    """
    rules: list[TaskRule] = []
    for source, skills, own in brought:
        if precedence is Precedence.NAMESPACE and own:
            ids = {skill.id: namespaced(source, skill.id) for skill in skills}
            rules += (replace(rule, skills=tuple(ids.get(skill, skill) for skill in rule.skills)) for rule in own)
        else:
            rules += own
    return tuple(rules)


def last_good_task_rules(
    before: Sequence[TaskRule], loaded: Loaded
) -> tuple[tuple[TaskRule, ...], tuple[Diagnostic, ...]]:
    """What the source brings now; where rules cannot be read, also those that were there before, a finding for each."""
    if not _unreadable(loaded):
        return loaded.task_rules, ()
    now = {(rule.when, rule.skills) for rule in loaded.task_rules}
    kept = tuple(rule for rule in before if (rule.when, rule.skills) not in now)
    return (*loaded.task_rules, *kept), tuple(map(_kept, kept))


def _unreadable(loaded: Loaded) -> bool:
    nothing_at_all = not loaded.skills and has_errors(loaded.diagnostics)
    return nothing_at_all or any(found.code == TASK_RULE.name for found in loaded.diagnostics)


def _kept(rule: TaskRule) -> Diagnostic:
    return Diagnostic(
        "kept-last-good",
        Severity.WARNING,
        f"task rule {rule.name} can no longer be read; its last good version stays in use",
        "mend the error reported for it, or delete it",
        location=rule.location,
    )
