"""Skills in a folder of the file system (spec 1.2)."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import ArtifactNotFound, SourceUnavailable
from skillweave.formats.skill_md import Strictness
from skillweave.registry.media import is_text, media_type_of
from skillweave.registry.source import Loaded
from skillweave.skill import Skill
from skillweave.sources import codes
from skillweave.sources.artifacts import MAX_BYTES
from skillweave.sources.names import expanded, shown
from skillweave.sources.reading import Mark, Refused, changed_among, read_inside, sizes_hold
from skillweave.sources.search import DEPTH, Nested, Search
from skillweave.sources.tree import SKILL_FILES, Listing, Tree
from skillweave.sources.units import Reader, Unit

MAX_TEXT_BYTES = 1024 * 1024
"""The largest text artifact that is read; other artifacts are bounded by what a skill may list, 16 MiB."""
_REPORT_EVERY = 64

Progress = Callable[[int, int], None]
"""Told how many skill files were looked at, and how many there are; called from the loading thread."""


@dataclass(frozen=True, slots=True)
class _Memory:
    """What was seen at the last load; `probes` are the marks that can be trusted, `complete` if all can."""

    root: str = ""
    listings: Mapping[str, Listing] = field(default_factory=dict)
    units: Mapping[str, Unit] = field(default_factory=dict)
    probes: tuple[tuple[str, Mark], ...] = ()
    complete: bool = False
    sizes: tuple[tuple[str, int], ...] = ()

    def changed(self, root: str) -> set[str] | None:
        """The paths that are not as they were; None when this is the memory of another folder."""
        return changed_among(self.probes) if root == self.root else None


class Folder:
    """The skills in and below a folder; also the folder of a single skill, or its SKILL.md.

    `name` is what origins and namespaces call the source; by default the folder's own name. Nothing is read before
    `load`.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        strictness: Strictness = Strictness.LENIENT,
        nested: Nested = Nested.PARENT,
        progress: Progress | None = None,
    ) -> None:
        given = expanded(Path(path))
        self._single = given.name in SKILL_FILES
        self._empty = os.fspath(path) == ""
        self._path = given
        self._folder = os.path.abspath(given.parent if self._single else given)  # noqa: PTH100 - keeps the named links
        self._prefix = _prefix(given.parent if self._single else given)
        self._nested = nested
        self._progress = progress
        last = shown(os.path.basename(self._folder))  # noqa: PTH119
        self._reader = Reader(shown(name or last or self._folder), strictness, self._show, last)

    @property
    def name(self) -> str:
        """What origins call this source."""
        return self._reader.source

    @property
    def watched(self) -> tuple[Path, ...]:
        """The folder."""
        return (Path(self._folder),)

    async def load(self, previous: Loaded | None = None) -> Loaded:
        """All skills, sorted by path; files that did not change since `previous` are not read again.

        Raises SourceUnavailable when the folder is missing, is no folder, or cannot be listed.
        """
        return await asyncio.to_thread(self._load, previous)

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """One listed artifact, text up to 1 MiB and other content up to 16 MiB; raises ArtifactNotFound."""
        return await asyncio.to_thread(self._read, skill, artifact)

    def _load(self, previous: Loaded | None) -> Loaded:
        memory = previous.memory if previous is not None and isinstance(previous.memory, _Memory) else _Memory()
        now = time.time_ns()
        root = self._root()
        changed = memory.changed(root)
        if previous is not None and memory.complete and changed == set() and sizes_hold(memory.sizes):
            self._tell(len(memory.units), len(memory.units))
            return previous
        tree = Tree(memory.listings, now, changed)
        self._require_listing(tree, root)
        search = Search(tree, root, self._nested, self._show, 0 if self._single else DEPTH)
        search.run()
        units: dict[str, Unit] = {}
        for found in search.found:
            units[found.relative] = self._reader.look(found, tree, memory.units.get(found.relative))
            if len(units) % _REPORT_EVERY == 0:
                self._tell(len(units), len(search.found))
        self._tell(len(units), len(search.found))
        skills = tuple(unit.skill for unit in units.values() if unit.skill is not None)
        findings = [finding for unit in units.values() for finding in unit.findings]
        findings += search.findings if units else [*search.findings, self._no_skills()]
        return Loaded(skills, tuple(findings), _memory(root, tree.seen, units))

    def _tell(self, done: int, total: int) -> None:
        if self._progress is not None:
            self._progress(done, total)

    def _root(self) -> str:
        """The folder's real path."""
        place = shown(str(self._path))
        if self._empty:
            raise SourceUnavailable("the path of a skill folder is empty; name a folder, `.` for the current one")
        if not os.path.lexists(self._path):
            raise SourceUnavailable(f"skill folder '{place}' does not exist; create it, or name another one")
        if not self._single and not self._path.is_dir():
            raise SourceUnavailable(
                f"'{place}' is not a folder of skills; name the folder of a SKILL.md or one above it, or a pack "
                "(a .yaml, .yml or .json file)"
            )
        return os.path.realpath(self._folder)

    def _require_listing(self, tree: Tree, root: str) -> None:
        try:
            tree.listing(root)
        except Refused as refused:
            place = shown(str(self._path))
            raise SourceUnavailable(f"skill folder '{place}' cannot be listed: {refused.why}; {refused.fix}") from None

    def _read(self, skill: Skill, artifact: str) -> bytes:
        if all(ref.id != artifact for ref in skill.artifacts):
            raise ArtifactNotFound(skill.id, artifact, "the skill does not list it")
        location, prefix = (skill.origin.location if skill.origin else ""), shown(self._prefix)
        folder = location.removeprefix(prefix).rpartition("/")[0]
        if not location.startswith(prefix) or folder.startswith("/") or ".." in folder.split("/"):
            raise ArtifactNotFound(skill.id, artifact, f"the skill is not from the folder '{self._show('')}'")
        limit = MAX_TEXT_BYTES if is_text(media_type_of(artifact)) else MAX_BYTES
        try:
            return read_inside(os.path.realpath(self._folder), folder, artifact, limit).data
        except Refused as refused:
            raise ArtifactNotFound(skill.id, artifact, f"{refused.why}; {refused.fix}") from None

    def _show(self, relative: str) -> str:
        return shown(f"{self._prefix}{relative}" if relative else self._prefix.rstrip("/") or ".")

    def _no_skills(self) -> Diagnostic:
        place = self._show("")
        message = f"'{place}' holds no skill: there is no SKILL.md in it or up to {DEPTH} folders down"
        fix = "put a folder with a SKILL.md there, or name another folder"
        return codes.NO_SKILLS.found(Location(place), message, fix)


def _memory(root: str, listings: Mapping[str, Listing], units: Mapping[str, Unit]) -> _Memory:
    marks = [(path, listing.mark) for path, listing in listings.items()]
    marks += [(unit.path, unit.mark) for unit in units.values()]
    probes = tuple((path, mark) for path, mark in marks if mark is not None)
    sizes = tuple(size for unit in units.values() for size in unit.artifacts.sizes)
    return _Memory(root, listings, units, probes, len(probes) == len(marks), sizes)


def _prefix(folder: Path) -> str:
    text = folder.as_posix()
    return "" if text == "." else text if text.endswith("/") else f"{text}/"
