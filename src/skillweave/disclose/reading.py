"""What the model asked to read of a skill: a section of its text, or one of its documents."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from skillweave.disclose.block import Priced
from skillweave.disclose.sections import Section

READ = "read"
"""The stage of decisions on what the model asked to read."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """An undivided section with the key of its record, and whether its text is in the context already."""

    key: str
    section: Section
    there: bool = False

    def beside(self, keys: Collection[str]) -> "Leaf":
        """The same, there too if its key is among these."""
        return replace(self, there=True) if self.key in keys else self


@dataclass(frozen=True, slots=True)
class Reading:
    """A section to be shown, whole or without what is there already; `artifact` None means the skill's own text.

    `contents` is the key of the record of its table of contents, which stands in where its text does not fit.
    """

    section: Section
    leaves: tuple[Leaf, ...]
    contents: Leaf
    artifact: str | None = None

    def beside(self, keys: Collection[str]) -> "Reading":
        """The same where the texts of these keys are in the context."""
        leaves = tuple(leaf.beside(keys) for leaf in self.leaves)
        return replace(self, leaves=leaves, contents=self.contents.beside(keys))

    @property
    def missing(self) -> tuple[Leaf, ...]:
        """The leaves whose text is not in the context."""
        return tuple(leaf for leaf in self.leaves if not leaf.there)

    @property
    def what(self) -> str:
        """What is read, for people and for the model: "section 2.1", "the document references/a.md, section 3"."""
        place = f"section {self.section.id}" if self.section.id else ""
        if self.artifact is None:
            return place or "the whole text"
        document = " ".join(self.artifact.split())
        return f"{document}, {place}" if place else document


@dataclass(frozen=True, slots=True)
class Readout:
    """What is shown of a reading in this turn: a text with the leaves in it, its table of contents, or nothing.

    `cost` is what the text that is missing would take where it did not fit, `outline` what its table of contents would;
    `too_long` says that it never fits, whatever goes.
    """

    reading: Reading
    block: Priced | None = None
    leaves: tuple[Leaf, ...] = ()
    cost: int | None = None
    outline: int | None = None
    too_long: bool = False

    @property
    def keys(self) -> frozenset[str]:
        """The keys of what is shown."""
        shown = self.leaves or (self.reading.contents,)
        return frozenset(leaf.key for leaf in shown) if self.block is not None else frozenset()
