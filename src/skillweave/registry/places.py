"""Where to look for changes of files and folders, also of those that are replaced, or vanish and come back."""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skillweave.errors import CannotWatch
from skillweave.registry.source import IGNORED_FOLDERS

MOST_FOLDERS = 20_000
WHOLE_TREES = sys.platform in ("darwin", "win32")
"""Whether the system follows a folder with all below it. On Linux it follows single folders, and `watchfiles` would go
through ignored ones and through links, which might lead anywhere."""
_MOST_LINKS = 40
_ANY: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Places:
    """Folders to follow with everything below (`deep`), and folders to follow on their own level, with the names there.

    No names stand for all that are not ignored.
    """

    deep: frozenset[str] = frozenset()
    level: Mapping[str, frozenset[str]] = field(default_factory=dict)

    def matters(self, path: str) -> bool:
        """Whether a change of that path can change what is followed; one of an unknown place may."""
        above = path
        while above not in self.deep:
            higher = os.path.dirname(above)  # noqa: PTH120 - many paths in a row
            if higher == above:
                return self._matters_there(*os.path.split(path))
            above = higher
        return IGNORED_FOLDERS.isdisjoint(Path(path[len(above) :]).parts)

    def _matters_there(self, folder: str, name: str) -> bool:
        names = self.level.get(folder, _ANY)
        return name in names or (not names and name not in IGNORED_FOLDERS)


def places_of(watched: Iterable[Path]) -> Places:
    """Where to look so that no change of these files and folders is missed, as they are now.

    Raises CannotWatch for a folder with too many below it.
    """
    deep: set[str] = set()
    names: dict[str, set[str]] = {}
    folders: set[str] = set()
    for path in map(str, watched):
        for point in _points(path):
            folder, name = _nearest(point)
            names.setdefault(folder, set()).add(name)
        if not os.path.isdir(path):  # noqa: PTH112
            continue
        if WHOLE_TREES:
            deep.add(path)
        else:
            folders.update(_folders(path))
    level = {folder: frozenset(there) for folder, there in names.items() if there != {""}}
    readable = {folder: there for folder, there in {**level, **dict.fromkeys(folders, _ANY)}.items() if _open(folder)}
    if not (deep or readable):
        raise CannotWatch("neither the folders of skills nor those above them can be read; give the process the right")
    return Places(frozenset(deep), readable)


def _points(path: str) -> Iterator[str]:
    """A path, each link on the way to what it means, and that itself: where something new might be put."""
    for _ in range(_MOST_LINKS):
        yield path
        link = next((above for above in _from_the_top(path) if os.path.islink(above)), None)  # noqa: PTH114
        if link is None:
            return
        yield link
        try:
            target = os.path.join(os.path.dirname(link), os.readlink(link))  # noqa: PTH115, PTH118, PTH120
        except OSError:
            return
        path = os.path.normpath(target + path[len(link) :])


def _from_the_top(path: str) -> list[str]:
    """Every folder above the path and the path, the highest first."""
    return [*(str(above) for above in reversed(Path(path).parents)), path]


def _nearest(path: str) -> tuple[str, str]:
    """The lowest folder above the path that is there, and the name in it that leads to the path."""
    folder, name = os.path.split(path)
    while not os.path.isdir(folder) and name:  # noqa: PTH112
        folder, name = os.path.split(folder)
    return folder, name


def _folders(root: str) -> set[str]:
    """The folder and those below it; links are not gone through, nor what is ignored."""
    found = {root}
    pending = [root]
    while pending:
        below = _below(pending.pop())
        pending += below
        found.update(below)
        if len(found) > MOST_FOLDERS:
            fix = "name a folder nearer to the skills"
            raise CannotWatch(f"'{root}' has more than {MOST_FOLDERS:,} folders in it, too many to follow; {fix}")
    return found


def _open(folder: str) -> bool:
    """Whether a folder can be followed: `watchfiles` takes no name that is no UTF-8, and needs the right to read."""
    try:
        return os.access(folder.encode(), os.R_OK)
    except UnicodeEncodeError:
        return False


def _below(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return [
                entry.path
                for entry in entries
                if entry.name not in IGNORED_FOLDERS and entry.is_dir(follow_symlinks=False)
            ]
    except OSError:
        return []  # it is gone, or nobody may look into it
