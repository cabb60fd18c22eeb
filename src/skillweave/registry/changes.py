"""What one snapshot has that the one before had not."""

from dataclasses import dataclass

from skillweave.codec import Portable
from skillweave.registry.snapshot import Snapshot


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
