"""Skills in a folder of the file system (spec 1.2)."""

import asyncio
import os
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from skillweave.cachefile import CacheFolder, code_key, key_of
from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.errors import ArtifactNotFound, SourceUnavailable
from skillweave.formats.identity import digest_of_bytes
from skillweave.formats.strictness import Strictness
from skillweave.frontmatter.codes import MAX_FILE_BYTES
from skillweave.registry.codes import NO_SKILLS
from skillweave.registry.source import Loaded, Package, is_text, media_type_of
from skillweave.skill import (
    ArtifactRef,
    Checkpoint,
    CheckpointScope,
    Origin,
    OutputContract,
    Relation,
    RelationKind,
    RuleList,
    Skill,
    SkillText,
    Status,
    ToolRules,
    Triggers,
)
from skillweave.sources import codes
from skillweave.sources.files import (
    Mark,
    Refused,
    changed_among,
    read_below,
    read_inside,
    repository_of,
    resolved_inside,
    sizes_hold,
)
from skillweave.sources.names import expanded, shown
from skillweave.sources.phrases import FILE, MOST_BYTES, Phrases, phrases_in, unread_phrases
from skillweave.sources.tree import (
    DEPTH,
    MAX_BYTES,
    NONE,
    SKILL_FILES,
    Artifacts,
    Found,
    LeftOut,
    Listing,
    Nested,
    Passing,
    Search,
    Tree,
    list_artifacts,
)
from skillweave.sources.whole import package_of

MAX_TEXT_BYTES = 1024 * 1024
"""The largest text artifact that is read; other artifacts are bounded by what a skill may list, 16 MiB."""
_REPORT_EVERY = 64
PART = 256
"""Skills in one part of the stream."""

Progress = Callable[[int, int], None]
"""Told how many skill files were looked at, and how many there are; called from the loading thread."""


@dataclass(frozen=True, slots=True)
class Unit:
    """What one skill folder gave; `mark` is that of its skill file at `path`, None where it has to be read again."""

    path: str
    mark: Mark | None
    skill: Skill | None
    findings: tuple[Diagnostic, ...] = ()
    artifacts: Artifacts = NONE


@dataclass(frozen=True, slots=True)
class Memory:
    """What the last load saw; `probes` are trusted marks, `complete` if all are. Findings are about folders."""

    root: str = ""
    listings: Mapping[str, Listing] = field(default_factory=dict)
    units: Mapping[str, Unit] = field(default_factory=dict)
    probes: tuple[tuple[str, Mark], ...] = ()
    complete: bool = False
    sizes: tuple[tuple[str, int], ...] = ()
    findings: tuple[Diagnostic, ...] = ()


KIND = "folder"
_CODE = ("cachefile", "skill", "frozen", "diagnostics", "formats", "frontmatter", "sources", "registry/source")
"""What decides how skill files are read and kept."""
CLASSES = (
    *(Skill, Triggers, SkillText, OutputContract, ToolRules, Relation, Checkpoint, ArtifactRef, Origin),
    *(Status, RelationKind, RuleList, CheckpointScope, Severity, Diagnostic, Location),
    *(Unit, Artifacts, LeftOut, Listing),
)
_ELSEWHERE = Listing(None)


class Folder:
    """The skills in and below a folder; also the folder of a single skill, or its SKILL.md. Read by `load`.

    `name` is used in origins and namespaces. With a `cache` the first load, too, reads only what changed. Links lead to
    skills in the same git repository only; what stands in one of the folders `beside` is left to those sources.
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        *,
        name: str | None = None,
        strictness: Strictness = Strictness.LENIENT,
        nested: Nested = Nested.PARENT,
        progress: Progress | None = None,
        cache: CacheFolder | None = None,
        beside: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        given = expanded(Path(path))
        self._single = given.name in SKILL_FILES
        self._empty = os.fspath(path) == ""
        self._path = given
        self._folder = os.path.abspath(given.parent if self._single else given)  # noqa: PTH100 - keeps the named links
        above = (given.parent if self._single else given).as_posix()
        self._prefix = "" if above == "." else f"{above.rstrip('/')}/"
        self._nested = nested
        self._tell = progress or (lambda _done, _total: None)
        self._cache = cache
        self._beside = tuple(map(os.path.realpath, beside))
        self._way = (given.as_posix(), str(self._single), strictness.value, nested.value, *self._beside)
        last = shown(os.path.basename(self._folder))  # noqa: PTH119
        self._reader = UnitReader(shown(name or last or self._folder), strictness, self._show, last)

    @property
    def name(self) -> str:
        """What origins call this source."""
        return self._reader.source

    @property
    def watched(self) -> tuple[Path, ...]:
        """The folder."""
        return (Path(self._folder),)

    async def load(self, previous: Loaded | None = None) -> Loaded:
        """All skills, sorted by path; only changed files are read again. Raises SourceUnavailable."""
        return await asyncio.to_thread(self._load, previous)

    async def stream(self) -> AsyncIterator[Loaded]:
        """All skills in the order of `load`, 256 at a time and with nothing remembered; raises SourceUnavailable."""
        root = await asyncio.to_thread(self._root)
        base = await asyncio.to_thread(repository_of, root)
        search = await asyncio.to_thread(self._searched, root, Passing({}, time.time_ns(), base=base))
        phrases, _ = await asyncio.to_thread(self._phrases, root, search.tree)

        def look(part: Sequence[Found]) -> list[Unit]:
            tree = Tree({}, time.time_ns(), base=base)
            return [self._reader.look(found, tree, None) for found in part]

        for begin in range(0, len(search.found), PART):
            units = await asyncio.to_thread(look, search.found[begin : begin + PART])
            self._tell(min(begin + PART, len(search.found)), len(search.found))
            yield Loaded(
                phrases.given_to([unit.skill for unit in units if unit.skill is not None]),
                tuple(finding for unit in units for finding in unit.findings),
            )
        yield Loaded(diagnostics=(*search.findings, *phrases.findings))

    async def read(self, skill: Skill, artifact: str) -> bytes:
        """One listed artifact, text up to 1 MiB and other content up to 16 MiB; raises ArtifactNotFound."""
        return await asyncio.to_thread(self._read, skill, artifact)

    async def packages(self, skills: Sequence[Skill], known: Mapping[str, Package]) -> Mapping[str, Package]:
        """Every file of these skills, links to others included; what did not change is not read again."""
        return await asyncio.to_thread(self._packages, skills, known)

    async def read_file(self, skill: Skill, path: str) -> bytes:
        """Any file of the skill, up to 16 MiB; raises ArtifactNotFound."""
        return await asyncio.to_thread(self._read_file, skill, path, MAX_BYTES)

    def _packages(self, skills: Sequence[Skill], known: Mapping[str, Package]) -> dict[str, Package]:
        root = os.path.realpath(self._folder)
        base = repository_of(root)
        found: dict[str, Package] = {}
        for skill in skills:
            place = skill.origin.location if skill.origin else self._show("")
            try:
                folder = resolved_inside(root, self._folder_of(skill, place), within=base)
            except Refused as refused:
                finding = refused.code.found(Location(place), f"'{place}' is not handed on: {refused.why}", refused.fix)
                found[skill.id] = Package(None, (finding,))
            else:
                found[skill.id] = package_of(folder, base, place, known.get(skill.id))
        return found

    def _load(self, previous: Loaded | None) -> Loaded:
        root = self._root()
        if previous is None and self._cache is not None:
            previous = self._kept(self._cache, root)
        memory = previous.memory if previous is not None and isinstance(previous.memory, Memory) else Memory()
        now = time.time_ns()
        changed = changed_among(memory.probes) if root == memory.root else None
        if previous is not None and memory.complete and changed == set() and sizes_hold(memory.sizes):
            self._tell(len(memory.units), len(memory.units))
            return previous
        tree = Tree(memory.listings, now, changed, base=repository_of(root))
        search = self._searched(root, tree)
        units: dict[str, Unit] = {}
        for found in search.found:
            units[found.relative] = self._reader.look(found, tree, memory.units.get(found.relative))
            if len(units) % _REPORT_EVERY == 0:
                self._tell(len(units), len(search.found))
        self._tell(len(units), len(search.found))
        findings = tuple(search.findings)
        if self._cache is not None:
            unlinked = tuple((name, _unlinked(unit)) for name, unit in units.items())
            self._cache.write(KIND, self._key(root), (root, tree.seen, unlinked, findings))
        loaded = _loaded(root, tree.seen, units, findings)
        if root not in tree.seen or FILE not in tree.seen[root].files:
            return loaded
        return _phrased(loaded, *self._phrases(root, tree))

    def _phrases(self, root: str, tree: Tree) -> tuple[Phrases, tuple[tuple[str, Mark | None], ...]]:
        """The phrases beside the skills, with the mark of their file, as far as there is one."""
        if self._single or FILE not in tree.listing(root).files:
            return Phrases(), ()
        path, place = f"{root}{os.sep}{FILE}", self._show(FILE)
        try:
            content = read_below(tree.base or root, path, MOST_BYTES)
        except Refused as refused:
            return unread_phrases(refused, place), ((path, None),)
        return phrases_in(content.data, place), ((path, tree.trusted(content.mark)),)

    def _kept(self, cache: CacheFolder, root: str) -> Loaded | None:
        try:
            # Any other value than was packed fails below, or holds for no file.
            kept_root, listings, units, findings = cache.read(KIND, self._key(root), CLASSES)
            # An artifact's listing is the very one of its folder: that it still is, is how a change shows.
            relinked = {name: _relinked(unit, listings) for name, unit in units}
            # The phrases are not kept: where there are some, they are read again.
            phrased = FILE in listings[kept_root].files
            return _loaded(kept_root, listings, relinked, findings, known=not phrased)
        except (LookupError, TypeError, ValueError, AttributeError):
            return None

    def _key(self, root: str) -> bytes:
        return key_of(code_key(*_CODE), root, self.name, *self._way)

    def _searched(self, root: str, tree: Tree) -> Search:
        try:
            tree.listing(root)
        except Refused as refused:
            place = shown(str(self._path))
            raise SourceUnavailable(f"skill folder '{place}' cannot be listed: {refused.why}; {refused.fix}") from None
        depth = 0 if self._single else DEPTH
        search = Search(tree, root, self._nested, self._show, depth, tree.base, self._beside)
        search.run()
        if not search.found and not search.left_to_others:
            place = self._show("")
            message = f"'{place}' holds no skill: there is no SKILL.md in it or up to {DEPTH} folders down"
            fix = "put a folder with a SKILL.md there, or name another folder"
            search.findings.append(NO_SKILLS.found(Location(place), message, fix))
        return search

    def _root(self) -> str:
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

    def _read(self, skill: Skill, artifact: str) -> bytes:
        if all(ref.id != artifact for ref in skill.artifacts):
            raise ArtifactNotFound(skill.id, artifact, "the skill does not list it")
        limit = MAX_TEXT_BYTES if is_text(media_type_of(artifact)) else MAX_BYTES
        return self._read_file(skill, artifact, limit)

    def _folder_of(self, skill: Skill, artifact: str) -> str:
        """The skill's folder below the source's, empty where it is that one; raises ArtifactNotFound."""
        location, prefix = (skill.origin.location if skill.origin else ""), shown(self._prefix)
        folder = location.removeprefix(prefix).rpartition("/")[0]
        if not location.startswith(prefix) or folder.startswith("/") or ".." in folder.split("/"):
            raise ArtifactNotFound(skill.id, artifact, f"the skill is not from the folder '{self._show('')}'")
        return folder

    def _read_file(self, skill: Skill, artifact: str, limit: int) -> bytes:
        folder = self._folder_of(skill, artifact)
        try:
            root = os.path.realpath(self._folder)
            return read_inside(root, folder, artifact, limit, within=repository_of(root)).data
        except Refused as refused:
            raise ArtifactNotFound(skill.id, artifact, f"{refused.why}; {refused.fix}") from None

    def _show(self, relative: str) -> str:
        return shown(f"{self._prefix}{relative}" if relative else self._prefix.rstrip("/") or ".")


@dataclass(frozen=True, slots=True)
class UnitReader:
    """How a source reads its skills; `show` names a path below it for people, `folder` is its own folder's name."""

    source: str
    strictness: Strictness
    show: Callable[[str], str]
    folder: str

    def look(self, found: Found, tree: Tree, known: Unit | None) -> Unit:
        """What the folder gives; what did not change since it was `known` is not read again."""
        file = f"{found.path}{os.sep}{found.skill}"
        if known is not None and known.path != file:
            known = None
        try:
            listing = tree.listing(found.path)
            artifacts = list_artifacts(tree, found, listing, known.artifacts if known else None)
            if known is not None and tree.holds(file, known.mark):
                return known if artifacts is known.artifacts else self._with(known, artifacts, self.place(found))
            if found.skill in listing.links:
                content = read_inside(found.path, "", found.skill, MAX_FILE_BYTES, base=tree.base or found.path)
            else:
                content = read_below(tree.base or found.path, file, MAX_FILE_BYTES)
        except Refused as refused:
            place = self.place(found)
            finding = refused.code.found(Location(place), f"'{place}' is not read: {refused.why}", refused.fix)
            return Unit(file, None, None, (finding,))
        mark = tree.trusted(content.mark)
        if known is not None and known.skill is not None and known.skill.digest == digest_of_bytes(content.data):
            return self._with(replace(known, mark=mark), artifacts, self.place(found))
        return self._parse(found, Unit(file, mark, None, artifacts=artifacts), content.data)

    def place(self, found: Found) -> str:
        """The skill file's path as people see it."""
        return self.show(f"{found.relative}/{found.skill}" if found.relative else found.skill)

    def _parse(self, found: Found, unread: Unit, data: bytes) -> Unit:
        # Not loaded where everything is known: YAML and the formats take as long as all the rest.
        from skillweave.formats.skill_md import read_skill_md

        place = self.place(found)
        read = read_skill_md(
            data,
            path=place,
            folder=shown(os.path.basename(found.relative)) or self.folder,  # noqa: PTH119
            source=self.source,
            artifacts=unread.artifacts.refs,
            strictness=self.strictness,
        )
        findings = (*read.diagnostics, *_left_out(unread.artifacts, place, read.skill))
        return replace(unread, skill=read.skill, findings=findings)

    def _with(self, known: Unit, artifacts: Artifacts, place: str) -> Unit:
        """What is known, with its artifacts as they are now; the skill stays the same value where they are equal."""
        skill = known.skill
        if skill is not None and skill.artifacts != artifacts.refs:
            skill = replace(skill, artifacts=artifacts.refs)
        findings = known.findings
        if artifacts.left_out != known.artifacts.left_out:
            definition = (found for found in findings if found.code != codes.ARTIFACT_LEFT_OUT.name)
            findings = (*definition, *_left_out(artifacts, place, skill))
        return Unit(known.path, known.mark, skill, findings, artifacts)


def _left_out(artifacts: Artifacts, place: str, skill: Skill | None) -> Iterator[Diagnostic]:
    for left_out in artifacts.left_out:
        first = ", ".join(f"'{artifact}'" for artifact in left_out.ids[:3])
        rest = len(left_out.ids) - 3
        verb = "is" if len(left_out.ids) == 1 else "are"
        message = f"{first}{f' and {rest} more' if rest > 0 else ''} {verb} not listed: {left_out.why}"
        finding = codes.ARTIFACT_LEFT_OUT.found(Location(place), message, left_out.fix)
        yield replace(finding, skill=skill.id if skill else None)


def _loaded(
    root: str,
    listings: Mapping[str, Listing],
    units: Mapping[str, Unit],
    findings: tuple[Diagnostic, ...],
    *,
    known: bool = True,
) -> Loaded:
    marks = [(path, listing.mark) for path, listing in listings.items()]
    marks += [(unit.path, unit.mark) for unit in units.values()]
    probes = tuple((path, mark) for path, mark in marks if mark is not None)
    sizes = tuple(size for unit in units.values() for size in unit.artifacts.sizes)
    memory = Memory(root, listings, units, probes, known and len(probes) == len(marks), sizes, findings)
    told = (*(finding for unit in units.values() for finding in unit.findings), *findings)
    return Loaded(tuple(unit.skill for unit in units.values() if unit.skill is not None), told, memory)


def _phrased(loaded: Loaded, phrases: Phrases, marks: Sequence[tuple[str, Mark | None]]) -> Loaded:
    """The same with the phrases of the skills, whose file the memory then follows too."""
    if not marks or not isinstance(memory := loaded.memory, Memory):
        return loaded
    probes = tuple((path, mark) for path, mark in marks if mark is not None)
    followed = replace(memory, probes=(*memory.probes, *probes), complete=memory.complete and len(probes) == len(marks))
    told = (*loaded.diagnostics, *phrases.findings)
    return replace(loaded, skills=phrases.given_to(loaded.skills), diagnostics=told, memory=followed)


def _unlinked(unit: Unit) -> Unit:
    """The unit without the listings of its artifacts' folders, which the memory has already."""
    listings = tuple((path, _ELSEWHERE) for path, _ in unit.artifacts.listings)
    return replace(unit, artifacts=replace(unit.artifacts, listings=listings)) if listings else unit


def _relinked(unit: Unit, listings: Mapping[str, Listing]) -> Unit:
    artifacts = unit.artifacts
    if not artifacts.listings:
        return replace(unit, artifacts=NONE) if artifacts == NONE else unit
    return replace(
        unit, artifacts=replace(artifacts, listings=tuple((path, listings[path]) for path, _ in artifacts.listings))
    )
