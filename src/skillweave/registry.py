"""Snapshots of all skills, and the one mutable reference to the newest (spec 1.3)."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from skillweave.diagnostics import Diagnostic
from skillweave.errors import SkillNotFound
from skillweave.skill import Skill


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot(Mapping[str, Skill]):
    """All skills at one moment, by id in registry order; `shadowed` lost a clash of ids to an earlier source."""

    skills: Mapping[str, Skill] = field(default_factory=lambda: MappingProxyType({}))
    generation: int = 0
    shadowed: tuple[Skill, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()

    def __getitem__(self, skill_id: str) -> Skill:
        try:
            return self.skills[skill_id]
        except KeyError:
            raise SkillNotFound(skill_id, self.skills) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.skills)

    def __len__(self) -> int:
        return len(self.skills)

    def active(self) -> tuple[Skill, ...]:
        """The skills that may be selected, in registry order."""
        return tuple(skill for skill in self.skills.values() if skill.status.selectable)
