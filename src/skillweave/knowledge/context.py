"""What a knowledge graph says about the entity that a conversation works on."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol, runtime_checkable

from skillweave.codec import Portable
from skillweave.knowledge.entity import Entity


@dataclass(frozen=True, slots=True)
class Section(Portable):
    """A named part of an entity's context; `sources` has the entities' ids of each line of the text, () if unknown."""

    name: str
    text: str
    sources: tuple[tuple[str, ...], ...] = ()

    @property
    def digest(self) -> str:
        """SHA-256 hex of the text."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()

    @property
    def lines(self) -> tuple[tuple[str, tuple[str, ...]], ...]:
        """Each line with the ids of the entities that it came from."""
        texts = self.text.split("\n")
        return tuple(zip(texts, (*self.sources, *[()] * (len(texts) - len(self.sources))), strict=False))


@dataclass(frozen=True, slots=True)
class EntityContext(Portable):
    """The sections that have content, in order, why others are missing, and tags that show nothing."""

    entity: str
    sections: tuple[Section, ...] = ()
    omitted: tuple[str, ...] = ()
    unknown_tags: tuple[str, ...] = ()


class ContextSource(Protocol):
    """Assembles entity context, and decides which tags show which sections; see `FindsEntities` too."""

    async def assemble(self, entity: str, domain_tags: Sequence[str]) -> EntityContext:
        """The context of the entity for a skill with these tags; empty for an unknown entity."""
        ...


@runtime_checkable
class FindsEntities(Protocol):
    """What a ContextSource has besides when it can say which entity a name means, in any of its spellings."""

    async def find(self, ref: str) -> Entity | None:
        """The entity of that name, or None. Raises AmbiguousEntity and StoreUnavailable."""
        ...


@runtime_checkable
class FindsNames(Protocol):
    """What a ContextSource has besides when it can say which entity a text names, as people write names."""

    async def find_in(self, text: str) -> Entity | None:
        """The entity that is named first in the text, None where none is.

        Raises as FindsEntities does.
        """
        ...
