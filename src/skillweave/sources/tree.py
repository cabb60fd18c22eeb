"""The folders below a source: what stands in them, which are skills, and the artifacts of each (spec 1.2)."""

import os
import posixpath
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field
from enum import StrEnum

from skillweave.diagnostics import Diagnostic, Location
from skillweave.errors import first_of
from skillweave.frontmatter.codes import Code
from skillweave.registry.source import IGNORED_FOLDERS, media_type_of
from skillweave.skill import ArtifactRef
from skillweave.sources import codes
from skillweave.sources.files import (
    FOLDER,
    Mark,
    Refused,
    is_inside,
    mark_of,
    open_below,
    refusal,
    resolved_inside,
    sizes_hold,
)
from skillweave.sources.names import is_plain, shown

SKILL_FILES = ("SKILL.md", "skill.md")

_BY_HANDLE = os.scandir in os.supports_fd
_TICK = 20_000_000
_COARSE_TICK = 2_000_000_000
_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Listing:
    """The names in one folder by kind, sorted; no `mark` if it changed so recently that a change might not show."""

    mark: Mark | None
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    skill: str | None = None
    misnamed: str | None = None


class Tree:
    """Listings of real paths at or below `base`, new or remembered; `changed` have other marks, None if unknown."""

    def __init__(
        self, remembered: Mapping[str, Listing], now: int, changed: Set[str] | None = None, *, base: str = ""
    ) -> None:
        self.base = base
        self._remembered = remembered
        self._now = now
        self._changed = changed
        self.seen: dict[str, Listing] = {}

    def listing(self, path: str) -> Listing:
        """What stands in the folder, looked at once per load; raises Refused."""
        listing = self.seen.get(path)
        if listing is None:
            known = self._remembered.get(path)
            listing = known if known is not None and self.holds(path, known.mark) else self._look(path)
            self.seen[path] = listing
        return listing

    def holds(self, path: str, mark: Mark | None) -> bool:
        """Whether something has the mark still that it had at the last load; without a mark nobody knows."""
        return mark is not None and self._changed is not None and path not in self._changed

    def _look(self, path: str) -> Listing:
        try:
            if not _BY_HANDLE or not self.base:
                return _scan(path, self.trusted(mark_of(os.stat(path))))  # noqa: PTH116 - a Path doubles the time
            handle = open_below(self.base, path, FOLDER)
            try:
                return _scan(handle, self.trusted(mark_of(os.fstat(handle))))
            finally:
                os.close(handle)
        except (OSError, ValueError) as error:
            raise refusal(error) from None

    def trusted(self, mark: Mark) -> Mark | None:
        """The mark, or None where a change within the file system's clock tick could leave it the same."""
        changed = max(mark[0], mark[1]) if os.name == "nt" else mark[1]
        tick = _COARSE_TICK if changed % _SECOND == 0 else _TICK
        return mark if changed < self._now - tick else None


class Passing(Tree):
    """Listings that are looked at anew each time and not kept: for more folders than should be in memory at once."""

    def listing(self, path: str) -> Listing:
        """What stands in the folder now; raises Refused."""
        return self._look(path)


def _scan(path: str | int, mark: Mark | None) -> Listing:
    kinds: dict[str, list[str]] = {"folders": [], "files": [], "links": [], "others": []}
    names = []
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.name not in IGNORED_FOLDERS:
                names.append(entry.name)
                kinds[_kind(entry)].append(entry.name)
    alike = sorted(name for name in names if len(name) == 8 and name.lower() == "skill.md")
    skill = next((name for name in SKILL_FILES if name in alike), None)
    misnamed = alike[0] if alike and skill is None else None
    sorted_kinds = {kind: tuple(sorted(found)) for kind, found in kinds.items()}
    return Listing(mark, **sorted_kinds, skill=skill, misnamed=misnamed)


def _kind(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_symlink() or (os.name == "nt" and _is_junction(entry)):
            return "links"
        if entry.is_file(follow_symlinks=False):
            return "files"
        return "folders" if entry.is_dir(follow_symlinks=False) else "others"
    except OSError:
        return "others"


def _is_junction(entry: os.DirEntry[str]) -> bool:
    tag = getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0)
    return tag == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)


DEPTH = 6
ARTIFACT_FOLDERS = ("assets", "references", "scripts")


class Nested(StrEnum):
    """Whether a skill inside another skill's folder belongs to that skill, or is one of its own."""

    PARENT = "parent"
    SEPARATE = "separate"


@dataclass(frozen=True, slots=True)
class Found:
    """A folder with a skill file: its path below the source (`""` for the source itself), in full, and that file."""

    relative: str
    path: str
    skill: str


@dataclass(slots=True)
class Search:
    """One pass over the folders below the real path `root`; `show` names places for people.

    Links lead to skills up to `within`; those in folders `beside` are left to their own sources.
    """

    tree: Tree
    root: str
    nested: Nested
    show: Callable[[str], str]
    depth: int = DEPTH
    within: str = ""
    beside: tuple[str, ...] = ()
    left_to_others: bool = False
    found: list[Found] = field(default_factory=list)
    findings: list[Diagnostic] = field(default_factory=list)
    _pending: list[tuple[str, int, str | None]] = field(default_factory=list)
    _links: list[tuple[str, int, str | None]] = field(default_factory=list)
    _entered: set[str] = field(default_factory=set)
    _inner: dict[str, list[str]] = field(default_factory=dict)
    _too_deep: int = 0

    def run(self) -> None:
        """Fill `found`, sorted, and `findings`; what links reach is looked at last, once, under its real path."""
        self._pending.append(("", 0, None))
        while self._pending or self._links:
            if self._pending:
                self._enter(*self._pending.pop())
            else:
                self._follow(*self._links.pop())
        self.found.sort(key=lambda found: found.relative)
        if self._inner or self._too_deep:
            self._sum_up()
        self.findings.sort(key=lambda finding: (str(finding.location), finding.code))

    def _enter(self, relative: str, depth: int, owner: str | None) -> None:
        if relative in self._entered:
            return
        self._entered.add(relative)
        path = f"{self.root}{os.sep}{relative}" if relative else self.root
        try:
            listing = self.tree.listing(path)
        except Refused as refused:
            self._refuse(relative, refused)
            return
        skipped: tuple[str, ...] = ()
        if listing.skill is not None and owner is not None:
            self._inner.setdefault(owner, []).append(relative)
        elif listing.skill is not None:
            self.found.append(Found(relative, path, listing.skill))
            if self.nested is Nested.PARENT:
                owner, skipped = relative, ARTIFACT_FOLDERS
        elif listing.misnamed is not None and owner is None:
            self._misnamed(relative, listing.misnamed)
        self._go_on(relative, depth, owner, listing, skipped)

    def _go_on(self, relative: str, depth: int, owner: str | None, listing: Listing, skipped: tuple[str, ...]) -> None:
        if depth >= self.depth:
            self._too_deep += sum(name not in skipped for name in listing.folders) if self.depth else 0
            return
        above = f"{relative}/" if relative else ""
        for name in listing.folders:
            if name not in skipped and name not in SKILL_FILES:
                self._pending.append((above + name, depth + 1, owner))
        if owner is None:
            self._links.extend((above + name, depth + 1, owner) for name in listing.links if name not in SKILL_FILES)

    def _follow(self, relative: str, depth: int, owner: str | None) -> None:
        try:
            target = resolved_inside(self.root, relative)
        except Refused as refused:
            path = os.path.join(self.root, relative)  # noqa: PTH118
            if any(os.path.isfile(os.path.join(path, name)) for name in SKILL_FILES):  # noqa: PTH113, PTH118
                self._follow_out(relative, os.path.realpath(path), refused)
            return
        if target != self.root and os.path.isdir(target):  # noqa: PTH112
            inside = os.path.relpath(target, self.root).replace(os.sep, "/")
            self._pending.append((inside, depth, owner))

    def _follow_out(self, relative: str, target: str, refused: Refused) -> None:
        """Take the one skill that a link out of the source leads to, if it is in the same repository."""
        if any(is_inside(target, folder) for folder in self.beside):
            self.left_to_others = True
            return
        if not self.within or not is_inside(target, self.within):
            self._refuse(relative, refused)
            return
        if target in self._entered:
            return
        self._entered.add(target)
        try:
            listing = self.tree.listing(target)
        except Refused as unreadable:
            self._refuse(relative, unreadable)
            return
        if listing.skill is not None:
            self.found.append(Found(relative, target, listing.skill))

    def _refuse(self, relative: str, refused: Refused) -> None:
        fix = refused.fix
        if refused.code is codes.LINK_OUTSIDE:
            fix = "copy the skill's folder there, or name the link's target as a source of its own; links are followed"
            fix += " to skills in the same git repository only"
        self._report(refused.code, f"folder '{self.show(relative)}' is not searched: {refused.why}", fix, relative)

    def _misnamed(self, relative: str, name: str) -> None:
        where = f"{relative}/{name}" if relative else name
        message = f"'{self.show(where)}' is no skill: the name of a skill file is SKILL.md"
        self._report(codes.MISNAMED, message, f"rename {name} to SKILL.md", where)

    def _sum_up(self) -> None:
        for owner, inner in sorted(self._inner.items()):
            first = first_of([f"'{self.show(relative)}'" for relative in sorted(inner)], 3)
            verb = "is" if len(inner) == 1 else "are"
            message = f"{first} {verb} part of the skill '{self.show(owner)}'"
            self._report(codes.NESTED, message, "ask for nested=separate to load them too", owner)
        if self._too_deep:
            message = f"{self._too_deep} folders more than {self.depth} levels down were not searched"
            self._report(codes.TOO_DEEP, message, "name a folder nearer to the skills", "")

    def _report(self, code: Code, message: str, fix: str, relative: str) -> None:
        self.findings.append(code.found(Location(self.show(relative)), message, fix))


MAX_FILES = 512
MAX_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Why artifacts are not listed, with their ids as people can read them."""

    why: str
    fix: str
    ids: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Artifacts:
    """The artifacts of one skill in order of their ids, what was left out, and what both depend on."""

    refs: tuple[ArtifactRef, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    listings: tuple[tuple[str, Listing], ...] = ()
    sizes: tuple[tuple[str, int], ...] = ()

    def still_hold(self, tree: Tree) -> bool:
        """Whether no folder's listing and no file's size is different now."""
        try:
            return sizes_hold(self.sizes) and all(tree.listing(path) is listing for path, listing in self.listings)
        except Refused:
            return False


NONE = Artifacts()


def list_artifacts(tree: Tree, found: Found, listing: Listing, known: Artifacts | None) -> Artifacts:
    """The files below `references/`, `assets/` and `scripts/`, within 512 files and 16 MiB; `known` where it holds."""
    here = {*listing.folders, *listing.links}
    if here.isdisjoint(ARTIFACT_FOLDERS):
        return NONE
    if not is_plain(found.relative):  # no artifact of it could be named
        why = "the skill's folder has no plain UTF-8 name"
        return Artifacts(left_out=(LeftOut(why, "rename the folder", ARTIFACT_FOLDERS),))
    if known is not None and known.listings and known.still_hold(tree):
        return known
    return _Collection(tree, found.path).collect(name for name in ARTIFACT_FOLDERS if name in here)


class _Collection:
    """One walk through a skill's artifact folders: real folders first, then what links inside the skill reach."""

    def __init__(self, tree: Tree, folder: str) -> None:
        self._tree = tree
        self._folder = folder
        self._listings: dict[str, Listing] = {}
        self._sizes: dict[str, tuple[str, int]] = {}
        self._refused: dict[tuple[str, str], list[str]] = {}

    def collect(self, tops: Iterable[str]) -> Artifacts:
        pending = list(tops)
        while pending:
            links = [link for top in pending for link in self._walk(top)]
            pending = [link for link in sorted(links) if self._leads_to_folder(link)]
        refs = tuple(self._within_limits(sorted(self._sizes)))
        left_out = tuple(LeftOut(*reason, tuple(map(shown, sorted(ids)))) for reason, ids in self._refused.items())
        return Artifacts(refs, left_out, tuple(self._listings.items()), tuple(self._sizes.values()))

    def _walk(self, top: str) -> Iterator[str]:
        """List one folder, which may be a link, and those below it; yield the links found."""
        try:
            pending = [(top, resolved_inside(self._folder, top))]
        except Refused as refused:
            self._refuse(refused, top)
            return
        while pending:
            inside, path = pending.pop()
            listing = self._enter(inside, path)
            if listing is None:
                continue
            for name in (*listing.files, *listing.others):
                self._add(f"{inside}/{name}", f"{path}{os.sep}{name}")
            if inside.count("/") == DEPTH:
                for name in listing.folders:
                    self._leave_out(f"it is more than {DEPTH} folders down", "move it up", f"{inside}/{name}")
                continue
            pending.extend((f"{inside}/{name}", f"{path}{os.sep}{name}") for name in listing.folders)
            yield from (f"{inside}/{name}" for name in listing.links)

    def _enter(self, inside: str, path: str) -> Listing | None:
        """The listing of a folder that was not entered yet, so that links in a circle come to an end."""
        if path in self._listings or path == self._folder:
            return None
        try:
            listing = self._listings[path] = self._tree.listing(path)
        except Refused as refused:
            self._refuse(refused, inside)
            return None
        return listing

    def _leads_to_folder(self, link: str) -> bool:
        """Whether a link leads to a folder that is to be walked; a file that it leads to is added."""
        try:
            target = resolved_inside(self._folder, link)
        except Refused as refused:
            self._refuse(refused, link)
            return False
        if os.path.isdir(target):  # noqa: PTH112
            return True
        self._add(link, target)
        return False

    def _add(self, artifact: str, path: str) -> None:
        if not is_plain(artifact):
            self._leave_out("its name is not one line of UTF-8 text", "rename it", artifact)
            return
        try:
            status = os.stat(path)  # noqa: PTH116
        except (OSError, ValueError) as error:
            self._refuse(refusal(error), artifact)
            return
        if stat.S_ISREG(status.st_mode):
            self._sizes[artifact] = (path, status.st_size)
        else:
            self._leave_out("it is not a regular file", "remove it", artifact)

    def _within_limits(self, artifacts: Iterable[str]) -> Iterator[ArtifactRef]:
        count = total = 0
        for artifact in artifacts:
            size = self._sizes[artifact][1]
            if count == MAX_FILES or total + size > MAX_BYTES:
                why = f"a skill lists at most {MAX_FILES} files and {MAX_BYTES >> 20} MiB"
                self._leave_out(why, "remove what the agent does not need", artifact)
                continue
            count += 1
            total += size
            yield ArtifactRef(artifact, posixpath.basename(artifact), media_type_of(artifact), size)

    def _refuse(self, refused: Refused, artifact: str) -> None:
        self._leave_out(refused.why, refused.fix, artifact)

    def _leave_out(self, why: str, fix: str, artifact: str) -> None:
        self._refused.setdefault((why, fix), []).append(artifact)
