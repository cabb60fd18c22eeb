"""The port that skills come through, and what comes through it."""

import posixpath
from collections.abc import AsyncGenerator, AsyncIterable, AsyncIterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from skillweave.closing import ClosedOnExit, close_all
from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import ArtifactNotFound
from skillweave.events.event import EventType
from skillweave.manifest import Manifest
from skillweave.registry.agents import Agent
from skillweave.skill import Skill
from skillweave.task import TaskRule

IGNORED_FOLDERS = frozenset({".git", "node_modules", ".venv", "__pycache__", ".skillweave"})
"""Never entered and never followed; Python's caches come and go as scripts run, `.skillweave` is ours."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """What a source holds now: every readable skill in a stable order, and a finding for each thing that is not.

    `memory` is the source's own, and comes back with the next `load`. `graph` and `context` are in their data form,
    None without one; `events` are by name, `agents` by id.
    """

    skills: tuple[Skill, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    memory: object = None
    events: Mapping[str, EventType] = field(default_factory=lambda: MappingProxyType({}))
    task_rules: tuple[TaskRule, ...] = ()
    graph: Mapping[str, object] | None = None
    graph_location: Location | None = None
    agents: Mapping[str, Agent] = field(default_factory=lambda: MappingProxyType({}))
    context: Mapping[str, object] | None = None


class Reader(Protocol):
    """What reads the artifacts of the skills that it gave."""

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """The content of a listed artifact of the skill as it was given, also if replaced. Raises ArtifactNotFound."""
        ...


class Source(Reader, Protocol):
    """Where skills come from; more abilities are protocols: Watched, Versioned, Streamed, and `close`."""

    @property
    def name(self) -> str:
        """How the source is called in origins; with namespaces, what stands before `__` in its ids."""
        ...

    async def load(self, previous: Loaded | None) -> Loaded:
        """Everything that the source holds; bad skills are findings. Raises SourceUnavailable if none can be read."""
        ...


@runtime_checkable
class Watched(Protocol):
    """What a source has besides when it lies in the file system: `Registry.watch` follows its files."""

    @property
    def watched(self) -> tuple[Path, ...]:
        """The files and folders, as absolute paths, that decide what `load` answers; a folder with all below it."""
        ...


@runtime_checkable
class Versioned(Protocol):
    """What a source has that can say cheaply that nothing changed; a refresh loads only at another version."""

    async def version(self) -> str | None:
        """A text that changes with what `load` answers; None if the source cannot tell. Raises SourceUnavailable."""
        ...


@runtime_checkable
class Streamed(Protocol):
    """What a source has besides when it may hold more than should be in memory at once; see `stream_of`."""

    def stream(self) -> AsyncIterator[Loaded]:
        """Everything that `load` gives, in parts, in the same order. Raises SourceUnavailable."""
        ...


@dataclass(frozen=True, slots=True)
class Package:
    """Every file of one skill by digest and size; no manifest where it cannot be handed on whole, as `findings` say.

    `memory` is the source's own, and comes back when the same skill is asked for again.
    """

    manifest: Manifest | None
    findings: tuple[Diagnostic, ...] = ()
    memory: object = None


@runtime_checkable
class Packaged(Protocol):
    """What a source has besides when its skills are folders of files that can be handed on byte for byte."""

    async def packages(self, skills: Sequence[Skill], known: Mapping[str, Package]) -> Mapping[str, Package]:
        """What each of these skills is made of now, by id; one that is no folder is left out. `known` saves reading."""
        ...

    async def read_file(self, skill: Skill, path: str) -> bytes:
        """The bytes of any file of the skill, by its path in the manifest. Raises ArtifactNotFound."""
        ...


async def version_of(source: Source) -> str | None:
    """The source's version; None for a source that cannot tell it."""
    return await source.version() if isinstance(source, Versioned) else None


def watched_of(source: Source) -> tuple[Path, ...]:
    """The files and folders of the source; none for a source that does not lie in the file system."""
    return source.watched if isinstance(source, Watched) else ()


async def stream_of(source: Source) -> AsyncGenerator[Loaded, None]:
    """Everything that a source holds, in parts: those of its own stream, else what it loads as the only part."""
    if isinstance(source, Streamed):
        async for part in source.stream():
            yield part
    else:
        yield await source.load(None)


async def collect(parts: AsyncIterable[Loaded]) -> Loaded:
    """The parts of a stream as one value; graph and context of the first part that has one, the last memory."""
    together = [part async for part in parts]
    graphs = [part for part in together if part.graph is not None]
    return Loaded(
        tuple(skill for part in together for skill in part.skills),
        tuple(finding for part in together for finding in part.diagnostics),
        together[-1].memory if together else None,
        MappingProxyType({name: event_type for part in together for name, event_type in part.events.items()}),
        tuple(rule for part in together for rule in part.task_rules),
        graphs[0].graph if graphs else None,
        graphs[0].graph_location if graphs else None,
        MappingProxyType({agent_id: agent for part in together for agent_id, agent in part.agents.items()}),
        next((part.context for part in together if part.context is not None), None),
    )


class WrappedSource(ClosedOnExit):
    """A source around another one, whose abilities all go through; override `changed`, and `read` where ids change."""

    def __init__(self, source: Source) -> None:
        self.source = source

    @property
    def name(self) -> str:
        """The wrapped source's name."""
        return self.source.name

    @property
    def watched(self) -> tuple[Path, ...]:
        """The wrapped source's files and folders."""
        return watched_of(self.source)

    def changed(self, loaded: Loaded) -> Loaded:
        """What this source makes of an answer of the wrapped one, or of a part of it: by default nothing else."""
        return loaded

    async def load(self, previous: Loaded | None = None) -> Loaded:
        """What the wrapped source loads, changed; the same value again while that one gives the same."""
        before = previous.memory if previous is not None and isinstance(previous.memory, Loaded) else None
        inner = await self.source.load(before)
        if previous is not None and inner is before:
            return previous
        # The wrapped source gets its own answer back next time, not what was made of it.
        return replace(self.changed(inner), memory=inner)

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """The wrapped source's content; raises ArtifactNotFound."""
        return await self.source.read(skill, artifact)

    async def packages(self, skills: Sequence[Skill], known: Mapping[str, Package]) -> Mapping[str, Package]:
        """The wrapped source's packages; none where its skills are no folders."""
        return await self.source.packages(skills, known) if isinstance(self.source, Packaged) else {}

    async def read_file(self, skill: Skill, path: str) -> bytes:
        """The wrapped source's file; raises ArtifactNotFound."""
        if not isinstance(self.source, Packaged):
            raise ArtifactNotFound(skill.id, path, f"the skills of '{self.name}' are no folders of files")
        return await self.source.read_file(skill, path)

    async def version(self) -> str | None:
        """The wrapped source's version."""
        return await version_of(self.source)

    async def stream(self) -> AsyncIterator[Loaded]:
        """The wrapped source's stream, each part changed."""
        async for part in stream_of(self.source):
            yield self.changed(part)

    async def close(self) -> None:
        """Close the wrapped source."""
        await close_all((self.source,))


UNKNOWN = "application/octet-stream"
_ADDED = {
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".go": "text/plain",
    ".js": "text/javascript",
    ".jsonl": "application/jsonl",
    ".jsx": "text/javascript",
    ".markdown": "text/markdown",
    ".md": "text/markdown",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
    ".ps1": "text/plain",
    ".rb": "text/plain",
    ".rs": "text/plain",
    ".sql": "application/sql",
    ".toml": "application/toml",
    ".ts": "text/plain",
    ".tsx": "text/plain",
    ".webp": "image/webp",
    ".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    ".yaml": "application/yaml",
    ".yml": "application/yaml",
}
"""What skills bring along and the standard table lacks, or names differently from one Python to the next."""
_TEXT = frozenset(
    {f"application/{kind}" for kind in ("json", "jsonl", "sql", "toml", "yaml", "xml", "x-sh", "x-csh", "javascript")}
)


def media_type_of(name: str) -> str:
    """The media type by the suffix; the machine's own tables are not asked. Unknown: application/octet-stream."""
    return _of_suffix(posixpath.splitext(name)[1].lower())


def is_text(media_type: str) -> bool:
    """Whether documents of this type are meant to be read as text."""
    return media_type.startswith("text/") or media_type.endswith(("+xml", "+json")) or media_type in _TEXT


@lru_cache(maxsize=512)
def _of_suffix(suffix: str) -> str:
    return _ADDED.get(suffix) or _built_in().get(suffix, UNKNOWN)


@cache
def _built_in() -> dict[str, str]:
    from mimetypes import MimeTypes

    return MimeTypes().types_map[1]
