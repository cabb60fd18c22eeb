"""The skills in a fetched folder, each with all of its files: regular ones only, and within limits."""

import asyncio
import os
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from skillweave.diagnostics import Severity
from skillweave.errors import SkillweaveError, first_of
from skillweave.registry.source import IGNORED_FOLDERS
from skillweave.sources.files import Refused, is_inside, read_plain
from skillweave.sources.folder import Folder
from skillweave.sources.names import is_plain, shown
from skillweave.sources.tree import MAX_BYTES, MAX_FILES


class InstallRefused(SkillweaveError):
    """A skill that is not added or removed; the text names it, the rule that it breaks, and the remedy."""


@dataclass(frozen=True, slots=True)
class File:
    """The content of a file, and whether its owner may run it."""

    data: bytes
    executable: bool = False


@dataclass(frozen=True, slots=True)
class Package:
    """A skill that can be added: its id and version, its folder in the source, and its files by their paths in it."""

    skill_id: str
    version: str | None
    path: str
    files: Mapping[str, File]


MOST_BYTES = 256 * 1024 * 1024
"""What the skills that are added at once may have together."""
_SHOWN = 20


def packages_in(root: Path, wanted: tuple[str, ...] | None = None, *, everything: bool = False) -> tuple[Package, ...]:
    """The wanted skills at and below a folder, or the only one there, sorted by path. Raises InstallRefused."""
    real = os.path.realpath(root)
    loaded = asyncio.run(Folder(real).load())
    located = ((skill.id, Path(skill.origin.location)) for skill in loaded.skills if skill.origin)
    places = {name: os.path.realpath(location.parent) for name, location in located}
    if wanted is not None:
        missing = [name for name in wanted if name not in places]
        if missing:
            there = ", ".join(sorted(places)[:20]) or "none at all"
            raise InstallRefused(f"the source has no skill {missing[0][:100]!r}; its skills are: {there}")
    if not places:
        errors = [found for found in loaded.diagnostics if found.severity is Severity.ERROR] or list(loaded.diagnostics)
        why = f": {errors[0].message}; {errors[0].fix}" if errors else ""
        why = why.replace(f"{real}/", "").replace(f"'{real}' holds no skill", "it holds none")
        raise InstallRefused(f"the source holds no skill that can be read{why}")
    if len(places) < len(loaded.skills):
        raise InstallRefused("the source has two skills of one id; name the folder of the one that you want")
    if len(places) > 1 and wanted is None and not everything:
        skills = first_of([*places], _SHOWN)
        raise InstallRefused(
            f"the source has {len(places)} skills: {skills}; name some with --skill, or add --all-skills"
        )
    versions = {skill.id: skill.version for skill in loaded.skills}
    chosen = {name: place for name, place in places.items() if wanted is None or name in wanted}
    packages: list[Package] = []
    left = MOST_BYTES
    for name, place in chosen.items():
        files = files_below(Path(place))
        left -= sum(len(file.data) for file in files.values())
        if left < 0:
            most = f"{MOST_BYTES >> 20} MiB"
            raise InstallRefused(f"the skills have more than {most} together; add them in several steps")
        if not is_inside(place, real):
            raise InstallRefused(f"the skill in '{shown(place)}' stands outside of the source; name its own folder")
        path = os.path.relpath(place, real).replace(os.sep, "/")
        if len(both := [one for one in files if one.lower() == "skill.md"]) > 1:
            raise InstallRefused(
                f"the skill in '{shown(path)}' has {' and '.join(both)}, and agents differ in which one they read; "
                "copy it, keep the one that you mean, and add the copy"
            )
        packages.append(Package(name, versions[name], path, files))
    return tuple(packages)


def files_below(folder: Path) -> dict[str, File]:
    """Every file of a skill's folder by its path; raises InstallRefused for links, devices and what is too much."""
    files: dict[str, File] = {}
    left = MAX_BYTES
    pending = [""]
    while pending:
        inside = pending.pop()
        for entry in _entries(folder / inside if inside else folder):
            path = f"{inside}/{entry.name}" if inside else entry.name
            mode = _mode(entry, path)
            if stat.S_ISDIR(mode):
                if entry.name not in IGNORED_FOLDERS:
                    pending.append(path)
                continue
            files[path] = File(_content(entry.path, path, left), bool(mode & stat.S_IXUSR))
            left -= len(files[path].data)
            if len(files) > MAX_FILES:
                raise InstallRefused(
                    f"the folder holds more than {MAX_FILES} files; name the folder of the skill alone"
                )
    return dict(sorted(files.items()))


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError as error:
        raise InstallRefused(f"'{shown(str(folder))}' cannot be listed: {error.strerror}; check its rights") from None


def _mode(entry: os.DirEntry[str], path: str) -> int:
    if not is_plain(entry.name):
        raise InstallRefused(f"'{shown(path)}' has a name that is not one line of UTF-8 text; rename it")
    try:
        mode = entry.stat(follow_symlinks=False).st_mode
    except OSError as error:
        raise InstallRefused(f"'{path}' cannot be read: {error.strerror}; check its rights") from None
    if stat.S_ISLNK(mode):
        raise InstallRefused(f"'{path}' is a link, and links are not copied; put the file itself there")
    if not stat.S_ISDIR(mode) and not stat.S_ISREG(mode):
        raise InstallRefused(f"'{path}' is no regular file; remove it")
    return mode


def _content(place: str, path: str, limit: int) -> bytes:
    try:
        return read_plain(place, limit).data
    except Refused as refused:
        too_much = f"the files of a skill have at most {MAX_BYTES >> 20} MiB together"
        why = too_much if "limit" in refused.why else refused.why
        raise InstallRefused(f"'{path}' is not copied: {why}; {refused.fix}") from None
