"""The artifacts of a skill folder, listed but not read (spec 1.2)."""

import os
import posixpath
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from skillweave.registry.media import media_type_of
from skillweave.skill import ArtifactRef
from skillweave.sources.names import is_plain, shown
from skillweave.sources.reading import Refused, refusal, resolved_inside, sizes_hold
from skillweave.sources.search import ARTIFACT_FOLDERS, DEPTH, Found
from skillweave.sources.tree import Listing, Tree

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


def list_artifacts(tree: Tree, found: Found, known: Artifacts | None) -> Artifacts:
    """The files below `references/`, `assets/` and `scripts/`, within 512 files and 16 MiB; `known` where it holds."""
    here = {*found.listing.folders, *found.listing.links}
    if here.isdisjoint(ARTIFACT_FOLDERS):
        return NONE
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
