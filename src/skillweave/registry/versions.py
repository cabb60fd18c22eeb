"""All versions of one skill that are loaded now, and how they stand to the one in use (spec 1.1, 1.3)."""

from dataclasses import dataclass

from skillweave.formats.identity import Order, compare_versions
from skillweave.registry.snapshot import Snapshot
from skillweave.skill import Origin, Skill


@dataclass(frozen=True, slots=True)
class LoadedVersion:
    """One definition of a skill; `order` is how its version stands to that in use, None where one of them has none."""

    skill: Skill
    order: Order | None

    @property
    def version(self) -> str | None:
        """The version as its author wrote it."""
        return self.skill.version

    @property
    def origin(self) -> Origin | None:
        """Where it comes from."""
        return self.skill.origin


def versions_of(snapshot: Snapshot, skill_id: str) -> tuple[LoadedVersion, ...]:
    """The one in use first, then those that it shadows, in the order in which they lost; raises SkillNotFound."""
    used = snapshot[skill_id]
    shadowed = (skill for skill in snapshot.shadowed if skill.id == skill_id)
    return tuple(LoadedVersion(skill, _order(skill.version, used.version)) for skill in (used, *shadowed))


def _order(version: str | None, used: str | None) -> Order | None:
    return None if version is None or used is None else compare_versions(version, used)
