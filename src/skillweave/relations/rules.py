"""What a skill's rules ask of others: its requirements and exclusions, each other skill once (seed 002)."""

from collections import deque
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from skillweave.registry import Snapshot
from skillweave.skill import Relation, RelationKind, Skill


@dataclass(frozen=True, slots=True)
class Requirement:
    """A rule of kind `requires` and the skill that declares it."""

    owner: str
    rule: Relation


def requirements(skill: Skill) -> Sequence[Relation]:
    """The rules that name a companion, the first rule of each; a skill that requires itself requires nothing."""
    return _once_each(skill, [rule for rule in skill.relations if rule.kind is RelationKind.REQUIRES])


def exclusions(skill: Skill) -> Sequence[Relation]:
    """The rules that exclude a skill, the first rule of each; a rule against the skill itself means nothing."""
    return _once_each(skill, [rule for rule in skill.relations if rule.kind is not RelationKind.REQUIRES])


def all_requirements(names: Iterable[str], snapshot: Snapshot) -> Sequence[Requirement]:
    """What the named skills bring, breadth first and transitively: each other skill once, in the registry or not."""
    waiting = deque(names)
    seen = set(waiting)
    found: list[Requirement] = []
    while waiting:
        skill = snapshot.skills.get(waiting.popleft())
        if skill is None or not skill.relations:
            continue
        for rule in requirements(skill):
            if rule.skill not in seen:
                seen.add(rule.skill)
                waiting.append(rule.skill)
                found.append(Requirement(skill.id, rule))
    return found


def needs_any(skill_id: str, others: Collection[str], snapshot: Snapshot) -> bool:
    """Whether the skill requires one of the others, itself or through its companions."""
    return any(needed.rule.skill in others for needed in all_requirements([skill_id], snapshot))


def _once_each(skill: Skill, rules: Sequence[Relation]) -> Sequence[Relation]:
    first: dict[str, Relation] = {}
    for rule in rules:
        first.setdefault(rule.skill, rule)
    first.pop(skill.id, None)
    return tuple(first.values())
