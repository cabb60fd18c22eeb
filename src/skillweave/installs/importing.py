"""The lock of the `skills` command, read so that what it installed is locked as what `add` brings."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skillweave.installs.adding import Added
from skillweave.installs.fetching import without_password
from skillweave.installs.lock import Locked, digests_of, read_lock, write_lock
from skillweave.installs.packages import File, InstallRefused, files_below
from skillweave.sources.files import Refused, read_plain

FOREIGN_LOCK = "skills-lock.json"
_MOST_BYTES = 16 * 1024 * 1024
_PUNCTUATION = "_-,;:!?.'\"()[]{}@*/\\&#%`^+<=>|~$"
"""ASCII in the order in which `localeCompare` sorts it, before digits and letters."""


def import_lock(path: Path, folder: Path) -> tuple[Added, ...]:
    """Locks the skills in the folder that the other lock names, all or none. Raises InstallRefused.

    Its hash is over paths and contents without anything between them, and its order depends on a language: it tells
    that nothing changed since, no more. From then on the SHA-256 of each file counts.
    """
    lock = read_lock(folder)
    added = tuple(_imported(folder, name, entry, path) for name, entry in sorted(_entries(path).items()))
    if not added:
        raise InstallRefused(f"{path} names no skill; there is nothing to import")
    entries = {**lock.skills, **{one.skill_id: one.locked for one in added}}
    try:
        write_lock(folder, replace(lock, skills=entries))
    except OSError as error:
        raise InstallRefused(f"{folder} cannot be written: {error.strerror}; check its rights") from None
    return added


def _entries(path: Path) -> Mapping[str, Mapping[str, object]]:
    try:
        stored = json.loads(read_plain(str(path), _MOST_BYTES).data)
        skills = stored["skills"]
        if stored["version"] != 1 or not all(isinstance(one["computedHash"], str) for one in skills.values()):
            raise InstallRefused(f"{path} has another version than 1, or hashes that are no texts; it is not imported")
    except (Refused, ValueError, RecursionError, KeyError, TypeError, AttributeError) as error:
        raise InstallRefused(f"{path} is no lock of the skills command: {error}; name a {FOREIGN_LOCK}") from None
    return dict(skills)


def _imported(folder: Path, name: str, entry: Mapping[str, object], path: Path) -> Added:
    place = folder / name
    if "/" in name or name.startswith(".") or place.is_symlink() or not place.is_dir():
        raise InstallRefused(f"{path} names {name[:100]!r}, which is no folder in {folder}; name theirs with --in")
    files = files_below(place)
    if entry["computedHash"] not in {_hash_of(files, sorted(files)), _hash_of(files, sorted(files, key=_by_locale))}:
        raise InstallRefused(f"{place} is not what {path} locked; install it anew, or add it from its source")
    source, kind = str(entry.get("source", "")), str(entry.get("sourceType", ""))
    address = f"https://github.com/{source}" if kind == "github" and "://" not in source else without_password(source)
    digests = digests_of({one: file.data for one, file in files.items()})
    ref = entry.get("ref")
    inside = str(entry.get("skillPath", ".")).rpartition("/")[0] or "."
    locked = Locked(
        address, "folder" if kind == "local" else "git", inside, digests, ref=ref if isinstance(ref, str) else None
    )
    return Added(name, "new", locked)


def _hash_of(files: Mapping[str, File], order: Sequence[str]) -> str:
    total = hashlib.sha256()
    for path in order:
        total.update(path.encode())
        total.update(files[path].data)
    return total.hexdigest()


def _by_locale(path: str) -> tuple[list[tuple[int, str]], str]:
    """The order of `localeCompare`: punctuation, digits, letters without their case, small ones first."""
    ranks = [(_PUNCTUATION.index(one) if one in _PUNCTUATION else 100, one.lower()) for one in path]
    return ranks, path.swapcase()
