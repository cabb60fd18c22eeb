"""What a knowledge graph says about the entity that a conversation works on."""

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Section:
    """A named part of an entity's context; its digest changes with the data."""

    name: str
    text: str

    @property
    def digest(self) -> str:
        """SHA-256 hex of the text."""
        return sha256(self.text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, slots=True)
class EntityContext:
    """The sections that were asked for and have content, in their order, and why others are missing."""

    entity: str
    sections: tuple[Section, ...] = ()
    omitted: tuple[str, ...] = ()


class ContextSource(Protocol):
    """Assembles entity context; it decides which tags show which sections."""

    async def assemble(self, entity: str, domain_tags: Sequence[str]) -> EntityContext:
        """The context of the entity for a skill with these tags; empty for an unknown entity."""
        ...
