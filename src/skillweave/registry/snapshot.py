"""All skills at one moment, and what differs between two such moments."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TypeVar, overload

from skillweave.checking import Checked
from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import SkillNotFound
from skillweave.events.event import EventType
from skillweave.registry.agents import Agent
from skillweave.registry.source import Reader
from skillweave.skill import Skill
from skillweave.task import TaskRule

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Offer:
    """A skill as the registry shows it; `given` is the value as `reader` knows it, who reads its artifacts."""

    skill: Skill
    reader: Reader
    given: Skill


@dataclass(frozen=True, slots=True, eq=False)
class Snapshot(Mapping[str, Skill]):
    """All skills at one moment, by id in registry order; `shadowed` lost a clash of ids and are not selected.

    `graph` and `context` are of the first source that has one, in their data form. Of `relabelled` ids only the version
    was overridden; `offers` say who reads artifacts. `snapshot[id]` raises SkillNotFound.
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
    agents: Mapping[str, Agent] = field(default_factory=lambda: MappingProxyType({}))
    offers: Mapping[str, Offer] = field(default_factory=lambda: MappingProxyType({}), repr=False)
    context: Mapping[str, object] | None = None

    def __getitem__(self, skill_id: str) -> Skill:
        known = Checked("snapshot").text("skill_id", skill_id)
        try:
            return self.skills[known]
        except KeyError:
            raise SkillNotFound(known, self.skills) from None

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


def is_same(one: Snapshot, other: Snapshot) -> bool:
    """Whether two snapshots say the same in the same order, whichever generation they are of."""
    return (
        len(one.skills) == len(other.skills)
        and list(one.skills) == list(other.skills)
        and one.skills == other.skills
        and (one.shadowed, one.diagnostics) == (other.shadowed, other.diagnostics)
        and (one.events, one.task_rules) == (other.events, other.task_rules)
        and (one.graph, one.graph_location) == (other.graph, other.graph_location)
        and (one.relabelled, one.agents, one.context) == (other.relabelled, other.agents, other.context)
    )


@dataclass(frozen=True, slots=True)
class Changes(Portable):
    """What a refresh changed, as ids in registry order; true when there is a new snapshot, be it for a finding only."""

    before: int
    generation: int
    added: tuple[str, ...] = ()
    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()

    def __bool__(self) -> bool:
        return self.generation != self.before


def changes_between(before: Snapshot, now: Snapshot) -> Changes:
    """What is in the later snapshot and was not in the earlier one, and the other way round."""
    if before is now:
        return Changes(before.generation, now.generation)
    return Changes(
        before.generation,
        now.generation,
        added=tuple(skill_id for skill_id in now.skills if skill_id not in before.skills),
        changed=tuple(
            skill_id for skill_id, skill in now.skills.items() if before.skills.get(skill_id, skill) != skill
        ),
        removed=tuple(skill_id for skill_id in before.skills if skill_id not in now.skills),
    )
