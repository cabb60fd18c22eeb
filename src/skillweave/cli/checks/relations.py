"""Relations that cannot be met: a required skill that is missing, and one that is required and excluded at once."""

from collections.abc import Iterator, Mapping

from skillweave.cli.checks import codes
from skillweave.cli.checks.lines import Lines
from skillweave.diagnostics import Diagnostic
from skillweave.errors import nearest_names
from skillweave.formats.identity import id_of
from skillweave.frontmatter import Code, Keys, Tree
from skillweave.registry import Snapshot
from skillweave.relations.rules import exclusions, requirements
from skillweave.skill import Relation, Skill


def relation_findings(skill: Skill, snapshot: Snapshot, lines: Lines) -> Iterator[Diagnostic]:
    """What is wrong with the relations of one skill."""
    excluded = {rule.skill: rule for rule in exclusions(skill)}
    for rule in requirements(skill):
        if rule.skill not in snapshot:
            near = nearest_names(rule.skill, snapshot)
            guess = f"did you mean {near[0]!r}? else " if near else ""
            message = f"skill {skill.id!r} requires {rule.skill!r}, and there is no such skill"
            fix = f"{guess}add that skill, or take the relation out"
            yield _found(codes.REQUIRED_MISSING, skill, rule, lines, message, fix)
        if rule.skill in excluded:
            kind = excluded[rule.skill].kind.value
            message = f"skill {skill.id!r} requires {rule.skill!r} and says {kind!r} of the same skill"
            fix = "take one of the two relations out"
            yield _found(codes.REQUIRED_EXCLUDED, skill, excluded[rule.skill], lines, message, fix)


def _found(code: Code, skill: Skill, rule: Relation, lines: Lines, message: str, fix: str) -> Diagnostic:
    def says_so(_: Keys, value: Tree) -> bool:
        if not isinstance(value, Mapping) or not isinstance(value.get("skill"), str):
            return False
        return id_of(str(value["skill"])) == rule.skill and value.get("kind", rule.kind.value) == rule.kind.value

    return Diagnostic(code.name, code.severity, message, fix, skill.id, lines.of(skill, says_so))
