"""What stands in folders, remembered from one load to the next so that unchanged ones are not listed again."""

import os
import stat
from collections.abc import Mapping, Set
from dataclasses import dataclass

from skillweave.registry.source import IGNORED_FOLDERS
from skillweave.sources.reading import Mark, mark_of, refusal

SKILL_FILES = ("SKILL.md", "skill.md")

_TICK = 20_000_000
_COARSE_TICK = 2_000_000_000
_SECOND = 1_000_000_000


@dataclass(frozen=True, slots=True)
class Listing:
    """The names in one folder, each kind sorted; `others` are pipes, sockets and devices.

    `skill` is the skill file's name, of whatever kind it is; `misnamed` one that differs from it in case only. `mark`
    is None when the folder changed so recently that another change might not show.
    """

    mark: Mark | None
    folders: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    skill: str | None = None
    misnamed: str | None = None


class Tree:
    """Listings by path as of one moment (nanoseconds since 1970), `seen` in this load or remembered from the last.

    `changed` are the paths that have other marks than the remembered ones; None when nobody looked.
    """

    def __init__(self, remembered: Mapping[str, Listing], now: int, changed: Set[str] | None = None) -> None:
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
            return _scan(path, self.trusted(mark_of(os.stat(path))))  # noqa: PTH116 - a Path per folder doubles the time
        except (OSError, ValueError) as error:
            raise refusal(error) from None

    def trusted(self, mark: Mark) -> Mark | None:
        """The mark, or None where a change within the file system's clock tick could leave it the same."""
        changed = max(mark[0], mark[1]) if os.name == "nt" else mark[1]
        tick = _COARSE_TICK if changed % _SECOND == 0 else _TICK
        return mark if changed < self._now - tick else None


def _scan(path: str, mark: Mark | None) -> Listing:
    kinds: dict[str, list[str]] = {"folders": [], "files": [], "links": [], "others": []}
    names = []
    with os.scandir(path) as entries:
        for entry in entries:
            if entry.name not in IGNORED_FOLDERS:
                names.append(entry.name)
                kinds[_kind(entry)].append(entry.name)
    skill, misnamed = _skill_file(names)
    sorted_kinds = {kind: tuple(sorted(found)) for kind, found in kinds.items()}
    return Listing(mark, **sorted_kinds, skill=skill, misnamed=misnamed)


def _kind(entry: os.DirEntry[str]) -> str:
    try:
        if entry.is_symlink() or _is_junction(entry):
            return "links"
        if entry.is_file(follow_symlinks=False):
            return "files"
        return "folders" if entry.is_dir(follow_symlinks=False) else "others"
    except OSError:
        return "others"


def _is_junction(entry: os.DirEntry[str]) -> bool:
    if os.name != "nt":
        return False
    tag = getattr(entry.stat(follow_symlinks=False), "st_reparse_tag", 0)
    return tag == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)


def _skill_file(names: list[str]) -> tuple[str | None, str | None]:
    alike = sorted(name for name in names if len(name) == 8 and name.lower() == "skill.md")
    exact = next((name for name in SKILL_FILES if name in alike), None)
    return exact, None if exact or not alike else alike[0]
