"""Skills that go together: a group is admitted, shown and stepped down as one (spec 4.1)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from skillweave.select.candidates import Candidate

Closures: TypeAlias = Mapping[str, Mapping[str, None]]
"""Skills that take part in their own right, each with itself and its companions in requirement order (as a key set)."""


@dataclass(frozen=True, slots=True)
class Group:
    """Skills that go together: `members` are the head, then its companions in requirement order.

    `candidate` is the best-ranked match of this turn among the members, so its id may be a companion's; None says that
    the group is engaged from earlier turns and nothing in it was matched.
    """

    head: str
    members: tuple[str, ...]
    candidate: Candidate | None = None


@dataclass(frozen=True, slots=True)
class Standing:
    """Who comes first: this turn's matches in their rank, then the engaged skills in the order given.

    `matched` are the candidates by id, `places` the positions from 0, `engaged` the ids engaged from earlier turns.
    """

    matched: Mapping[str, Candidate]
    places: Mapping[str, int]
    engaged: frozenset[str]

    def place(self, skill_id: str) -> int:
        """The position of a skill, lower is better; what is neither matched nor engaged comes last."""
        return self.places.get(skill_id, len(self.places))

    def best(self, skills: Collection[str]) -> str:
        """The best-placed of some skills."""
        return min(skills, key=self.place)


def stand(chosen: Sequence[Candidate], engaged: Sequence[str]) -> Standing:
    """The order of this turn; of a skill that stands twice the first counts."""
    matched: dict[str, Candidate] = {}
    for candidate in chosen:
        matched.setdefault(candidate.skill_id, candidate)
    order = dict.fromkeys((*matched, *engaged))
    return Standing(matched, {skill_id: place for place, skill_id in enumerate(order)}, frozenset(engaged))


def form_groups(closures: Closures, standing: Standing) -> tuple[Group, ...]:
    """Merge what shares a skill, so that each skill stands in one group; the best-placed group first."""
    groups = [_form_group(connected, standing) for connected in _connected(closures)]
    return tuple(sorted(groups, key=lambda group: standing.place(standing.best(group.members))))


def _connected(closures: Closures) -> list[Closures]:
    cluster_of: dict[str, dict[str, Mapping[str, None]]] = {}
    for skill_id, closure in closures.items():
        merged = {skill_id: closure}
        for cluster in {id(found): found for member in closure if (found := cluster_of.get(member))}.values():
            merged.update(cluster)
        cluster_of.update((member, merged) for joined in merged.values() for member in joined)
    return list({id(cluster): cluster for cluster in cluster_of.values()}.values())


def _form_group(closures: Closures, standing: Standing) -> Group:
    # Of two heads that share a companion, and of a mutual pair, the better-placed leads; a skill that another one
    # merely needs never does, so that an engaged skill's companion does not take its place by being matched alone.
    ranked = sorted(closures, key=standing.place)
    heads = [skill_id for skill_id in ranked if not _is_companion(skill_id, closures)]
    members = tuple(dict.fromkeys(member for skill_id in heads for member in closures[skill_id]))
    return Group(heads[0], members, standing.matched.get(standing.best(members)))


def _is_companion(skill_id: str, closures: Closures) -> bool:
    return any(skill_id in closure and other not in closures[skill_id] for other, closure in closures.items())
