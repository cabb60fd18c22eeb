"""Adding the companions that skills require, and saying why (spec 4.1)."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

from skillweave.codec import Portable
from skillweave.registry import Snapshot
from skillweave.relations.names import require_names
from skillweave.relations.rules import all_requirements
from skillweave.relations.wording import rule_shown


class Because(NamedTuple):
    """A skill and why it stands there."""

    skill: str
    because: str


@dataclass(frozen=True, slots=True)
class Completion(Portable):
    """A list of skills with its companions: `skills` are the given names, then what was added.

    `added` and `missing` are pairs (skill, because); a missing companion is not in the registry, so it was not added.
    """

    skills: tuple[str, ...]
    added: tuple[Because, ...] = ()
    missing: tuple[Because, ...] = ()


def complete_skills(names: Iterable[str], snapshot: Snapshot) -> Completion:
    """The names with all required companions, transitively: nearest first, each with the rule that asks for it.

    Given names stay as they are, unknown ones too: `validate_skills` reports those. Raises `InvalidSkill` for names
    that are not texts.
    """
    given = require_names(names)
    added: list[Because] = []
    missing: list[Because] = []
    for requirement in all_requirements(given, snapshot):
        companion = requirement.rule.skill
        reasons = added if companion in snapshot.skills else missing
        reasons.append(Because(companion, rule_shown(requirement.owner, requirement.rule)))
    return Completion((*given, *(skill for skill, _ in added)), tuple(added), tuple(missing))
