"""One skill folder: its SKILL.md read, or known from the last time, and its artifacts listed."""

import asyncio
import os
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import ArtifactNotFound, SourceUnavailable
from skillweave.formats.identity import digest_of_bytes
from skillweave.formats.skill_md import Strictness, read_skill_md
from skillweave.frontmatter import MAX_FILE_BYTES
from skillweave.registry.source import Loaded, is_text, media_type_of
from skillweave.skill import Skill
from skillweave.sources import codes
from skillweave.sources.files import Content, Mark, Refused, changed_among, read_inside, read_plain, sizes_hold
from skillweave.sources.names import expanded, is_plain, shown
from skillweave.sources.tree import (
    ARTIFACT_FOLDERS,
    DEPTH,
    MAX_BYTES,
    NONE,
    SKILL_FILES,
    Artifacts,
    Found,
    LeftOut,
    Listing,
    Nested,
    Search,
    Tree,
    list_artifacts,
)

_UNNAMED = Artifacts(
    left_out=(LeftOut("the skill's folder has no plain UTF-8 name", "rename the folder", ARTIFACT_FOLDERS),)
)


@dataclass(frozen=True, slots=True)
class Unit:
    """What one skill folder gave; `mark` is that of its skill file at `path`, None where it has to be read again."""

    path: str
    mark: Mark | None
    skill: Skill | None
    findings: tuple[Diagnostic, ...] = ()
    artifacts: Artifacts = NONE


@dataclass(frozen=True, slots=True)
class Reader:
    """How a source reads its skills: its name, how strictly, and how it tells people where something is.

    `show` takes a path below the source; `folder` is the name of the source's own folder, for a skill right in it.
    """

    source: str
    strictness: Strictness
    show: Callable[[str], str]
    folder: str

    def look(self, found: Found, tree: Tree, known: Unit | None) -> Unit:
        """The folder's unit; what did not change since it was `known` is not read again."""
        if known is not None and known.path != _path(found):
            known = None
        artifacts = _artifacts(found, tree, known)
        if known is not None and tree.holds(known.path, known.mark):
            return known if artifacts is known.artifacts else self._with(known, artifacts, self.place(found))
        try:
            content = _read(found)
        except Refused as refused:
            return Unit(_path(found), None, None, (self._refused(found, refused),))
        mark = tree.trusted(content.mark)
        if known is not None and known.skill is not None and known.skill.digest == digest_of_bytes(content.data):
            return self._with(replace(known, mark=mark), artifacts, self.place(found))
        return self._parse(found, content, mark, artifacts)

    def _parse(self, found: Found, content: Content, mark: Mark | None, artifacts: Artifacts) -> Unit:
        place = self.place(found)
        read = read_skill_md(
            content.data,
            path=place,
            folder=shown(os.path.basename(found.relative)) or self.folder,  # noqa: PTH119
            source=self.source,
            artifacts=artifacts.refs,
            strictness=self.strictness,
        )
        skill_id = read.skill.id if read.skill else None
        return Unit(
            _path(found), mark, read.skill, (*read.diagnostics, *_left_out(artifacts, place, skill_id)), artifacts
        )

    def place(self, found: Found) -> str:
        """The skill file's path as people see it."""
        return self.show(f"{found.relative}/{found.listing.skill}" if found.relative else f"{found.listing.skill}")

    def _with(self, known: Unit, artifacts: Artifacts, place: str) -> Unit:
        """The same definition, with what its artifacts are now; the very same skill where they are equal."""
        skill = known.skill
        if skill is not None and skill.artifacts != artifacts.refs:
            skill = replace(skill, artifacts=artifacts.refs)
        findings = known.findings
        if artifacts.left_out != known.artifacts.left_out:
            definition = (found for found in findings if found.code != codes.ARTIFACT_LEFT_OUT.name)
            findings = (*definition, *_left_out(artifacts, place, skill.id if skill else None))
        return Unit(known.path, known.mark, skill, findings, artifacts)

    def _refused(self, found: Found, refused: Refused) -> Diagnostic:
        place = self.place(found)
        return refused.code.found(Location(place), f"'{place}' is not read: {refused.why}", refused.fix)


def _path(found: Found) -> str:
    return f"{found.path}{os.sep}{found.listing.skill}"


def _read(found: Found) -> Content:
    name = found.listing.skill or ""
    if name in found.listing.links:
        return read_inside(found.path, "", name, MAX_FILE_BYTES)
    return read_plain(_path(found), MAX_FILE_BYTES)


def _artifacts(found: Found, tree: Tree, known: Unit | None) -> Artifacts:
    """A folder with a name that is not plain has no artifacts: none could be named."""
    if not is_plain(found.relative):
        return NONE if not any(name in found.listing.folders for name in ARTIFACT_FOLDERS) else _UNNAMED
    return list_artifacts(tree, found, known.artifacts if known else None)


def _left_out(artifacts: Artifacts, place: str, skill_id: str | None) -> tuple[Diagnostic, ...]:
    return tuple(replace(_finding(left_out, place), skill=skill_id) for left_out in artifacts.left_out)


def _finding(left_out: LeftOut, place: str) -> Diagnostic:
    first = ", ".join(f"'{artifact}'" for artifact in left_out.ids[:3])
    rest = len(left_out.ids) - 3
    verb = "is" if len(left_out.ids) == 1 else "are"
    message = f"{first}{f' and {rest} more' if rest > 0 else ''} {verb} not listed: {left_out.why}"
    return codes.ARTIFACT_LEFT_OUT.found(Location(place), message, left_out.fix)


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
