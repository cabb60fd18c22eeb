"""What was read for a turn before it is settled."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from skillweave.decisions import Decision
from skillweave.disclose.render import Inlined
from skillweave.knowledge.context import EntityContext


def _no_artifacts() -> Mapping[str, tuple[Inlined, ...]]:
    return MappingProxyType({})


def _no_contexts() -> Mapping[str, EntityContext]:
    return MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Fetched:
    """Contents by skill id, and a decision for each that could not be had in time."""

    artifacts: Mapping[str, tuple[Inlined, ...]] = field(default_factory=_no_artifacts)
    contexts: Mapping[str, EntityContext] = field(default_factory=_no_contexts)
    decisions: tuple[Decision, ...] = ()

    @property
    def documents(self) -> Mapping[tuple[str, str], Inlined]:
        """The artifacts by skill and id."""
        return {(skill, inlined.ref.id): inlined for skill, found in self.artifacts.items() for inlined in found}
