"""The port that skills come through, and what comes through it."""

from dataclasses import dataclass
from typing import Protocol

from skillweave.diagnostics import Diagnostic
from skillweave.skill import ArtifactRef, Skill


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a source holds now: every readable skill in a stable order, and a finding for each thing that is not.

    `memory` is the source's own: it comes back with the next `load`, so that unchanged skills are not read again.
    """

    skills: tuple[Skill, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    memory: object = None


class Reader(Protocol):
    """What reads the artifacts of the skills that it gave."""

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """The content of one listed artifact; raises ArtifactNotFound."""
        ...


class Source(Reader, Protocol):
    """Where skills come from; `skillweave.testing.sources` is the contract as tests."""

    @property
    def name(self) -> str:
        """How the source is called in origins; with namespaces, what stands before `__` in its ids."""
        ...

    async def load(self, previous: Loaded | None) -> Loaded:
        """Everything that the source holds; one bad skill is a finding and never hides another.

        `previous` is what this source answered last. Raises SourceUnavailable when nothing at all can be read.
        """
        ...


@dataclass(frozen=True, slots=True)
class Artifact:
    """A tier 3 document with its content; the reference has the size and hash of exactly these bytes."""

    ref: ArtifactRef
    data: bytes

    @property
    def text(self) -> str | None:
        """The content as text, None when it is binary: not UTF-8, or with NUL bytes."""
        if b"\0" in self.data:
            return None
        try:
            return self.data.decode("utf-8-sig")
        except UnicodeDecodeError:
            return None
