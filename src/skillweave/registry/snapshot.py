"""All skills at one moment, unchangeable."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar, overload

from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import SkillNotFound
from skillweave.events.event import EventType
from skillweave.skill import Skill
from skillweave.task import TaskRule

T = TypeVar("T")


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot(Mapping[str, Skill]):
    """All skills at one moment, by id in registry order; `shadowed` lost a clash of ids and are not selected.

    `events` are the event types that sources declare, by name; `task_rules` those of all sources, in their order.
    `graph` is the skill graph of the first source that has one, in its data form, and `graph_location` where that
    stands. Of the `relabelled` ids only the version was overridden, so that the shadowed skill is the same definition.
    `snapshot[id]` raises SkillNotFound for an unknown id, while `get` and `in` do not.
    """

    skills: Mapping[str, Skill] = field(default_factory=lambda: MappingProxyType({}))
    generation: int = 0
    shadowed: tuple[Skill, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    events: Mapping[str, EventType] = field(default_factory=lambda: MappingProxyType({}))
    task_rules: tuple[TaskRule, ...] = ()
    relabelled: tuple[str, ...] = ()
    graph: Mapping[str, object] | None = None
    graph_location: Location | None = None

    def __getitem__(self, skill_id: str) -> Skill:
        try:
            return self.skills[skill_id]
        except KeyError:
            raise SkillNotFound(skill_id, self.skills) from None

    def __iter__(self) -> Iterator[str]:
        return iter(self.skills)

    def __len__(self) -> int:
        return len(self.skills)

    def __contains__(self, skill_id: object) -> bool:
        return skill_id in self.skills

    @overload
    def get(self, key: str, /) -> Skill | None: ...
    @overload
    def get(self, key: str, /, default: Skill | T) -> Skill | T: ...
    def get(self, key: str, /, default: Skill | T | None = None) -> Skill | T | None:
        """The skill of that id, or the default: no error and no search for similar names."""
        return self.skills.get(key, default)

    @property
    def loaded(self) -> int:
        """How many definitions became a Skill, shadowed ones too (spec 1.3)."""
        return len(self.skills) + len(self.shadowed) - len(self.relabelled)

    def active(self) -> tuple[Skill, ...]:
        """The skills that may be selected, in registry order."""
        return tuple(skill for skill in self.skills.values() if skill.status.selectable)
