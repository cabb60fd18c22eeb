"""The port that skills come through, and what comes through it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from skillweave.diagnostics import Diagnostic, Location
from skillweave.events.event import EventType
from skillweave.skill import ArtifactRef, Skill
from skillweave.task import TaskRule

IGNORED_FOLDERS = frozenset({".git", "node_modules", ".venv", "__pycache__"})
"""Never entered and never followed: spec 1.2, and Python's caches, which come and go as scripts run."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a source holds now: every readable skill in a stable order, and a finding for each thing that is not.

    `memory` is the source's own: it comes back with the next `load`, so that unchanged skills are not read again.
    `events` are the event types that the source declares, by name, `task_rules` what it gives for which tasks, `graph`
    its skill graph in the data form, None without one, and `graph_location` where that stands.
    """

    skills: tuple[Skill, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    memory: object = None
    events: Mapping[str, EventType] = field(default_factory=lambda: MappingProxyType({}))
    task_rules: tuple[TaskRule, ...] = ()
    graph: Mapping[str, object] | None = None
    graph_location: Location | None = None


class Reader(Protocol):
    """What reads the artifacts of the skills that it gave."""

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """The content of one listed artifact; raises ArtifactNotFound."""
        ...


class Source(Reader, Protocol):
    """Where skills come from; `skillweave.testing.sources.SourceContract` is the contract as tests."""

    @property
    def name(self) -> str:
        """How the source is called in origins; with namespaces, what stands before `__` in its ids."""
        ...

    async def load(self, previous: Loaded | None) -> Loaded:
        """Everything that the source holds; one bad skill is a finding and never hides another.

        `previous` is what this source answered last. Raises SourceUnavailable when nothing at all can be read.
        """
        ...


@runtime_checkable
class Watched(Protocol):
    """What a source has besides when it lies in the file system: `Registry.watch` follows it."""

    @property
    def watched(self) -> tuple[Path, ...]:
        """The files and folders, as absolute paths, that decide what `load` answers; a folder with all below it."""
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
