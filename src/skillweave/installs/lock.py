"""The lock file of a folder of skills: which skill came from where, in which version, and the digest of every file."""

import hashlib
import json
import os
import secrets
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path

from skillweave.checks.codes import DIFFERS
from skillweave.codec import Portable
from skillweave.diagnostics import Diagnostic, Location, Severity
from skillweave.errors import InvalidData, first_of
from skillweave.installs.packages import InstallRefused, files_below
from skillweave.skill import is_skill_id
from skillweave.sources.files import Refused, read_plain

LOCK_FILE = "skillweave.lock"
VERSION = 1
_MOST_BYTES = 16 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class Locked(Portable):
    """An added skill: the source without a password, its `kind`, the `path` in it, and `sha256` digests by file."""

    source: str
    kind: str
    path: str
    sha256: Mapping[str, str] = field(hash=False)
    version: str | None = None
    ref: str | None = None
    commit: str | None = None


@dataclass(frozen=True, slots=True)
class Lock(Portable):
    """The added skills of one folder, by id."""

    version: int = VERSION
    skills: Mapping[str, Locked] = field(default_factory=dict, hash=False)


class Condition(StrEnum):
    """How an added skill is now, compared with what was added."""

    UNCHANGED = "unchanged"
    EDITED = "edited"
    MISSING = "missing"


@dataclass(frozen=True, slots=True)
class Standing(Portable):
    """An added skill as it is now; `differing` are the files that were edited, added or taken away since."""

    skill_id: str
    locked: Locked
    condition: Condition
    differing: tuple[str, ...] = ()


def read_lock(folder: Path) -> Lock:
    """The folder's lock, an empty one where there is none; raises InstallRefused for one that cannot be read."""
    path = folder / LOCK_FILE
    if not os.path.lexists(path):
        return Lock()
    try:
        stored = json.loads(read_plain(str(path), _MOST_BYTES).data)
        # A newer lock may have another shape: its version is looked at before the rest.
        version = stored.get("version") if isinstance(stored, dict) else None
        if isinstance(version, int) and version > VERSION:
            raise InstallRefused(
                f"{path} was written by a newer skillweave (version {version}, this one reads {VERSION}); upgrade it"
            )
        lock = Lock.from_dict(stored)
    except (Refused, ValueError, RecursionError, InvalidData) as error:
        fix = "restore it, or remove it and add the skills anew"
        raise InstallRefused(f"{path} cannot be read: {error}; {fix}") from None
    strange = next((name for name in lock.skills if not is_skill_id(name)), None)
    if strange is not None:
        raise InstallRefused(f"{path} names {strange[:100]!r}, which is no id of a skill; restore the file")
    return lock


def write_lock(folder: Path, lock: Lock) -> None:
    """Put the lock in place of what is there, whole or not at all; without skills there is no file. Raises OSError."""
    path = folder / LOCK_FILE
    if not lock.skills:
        path.unlink(missing_ok=True)
        return
    text = json.dumps(lock.to_dict(), indent=2, sort_keys=True, ensure_ascii=False)
    beside = path.with_name(f".{LOCK_FILE}.{secrets.token_hex(4)}")
    try:
        with beside.open("x", encoding="utf-8") as file:
            file.write(f"{text}\n")
            file.flush()
            os.fsync(file.fileno())
        beside.replace(path)
    finally:
        beside.unlink(missing_ok=True)


def standings(folder: Path, lock: Lock) -> Iterator[Standing]:
    """How each added skill is now, by id."""
    for skill_id in sorted(lock.skills):
        yield standing_of(folder, skill_id, lock.skills[skill_id])


def standing_of(folder: Path, skill_id: str, locked: Locked) -> Standing:
    """How one added skill is now; what can no longer be read counts as edited."""
    place = folder / skill_id
    if place.is_symlink() or not place.is_dir():
        condition = Condition.EDITED if os.path.lexists(place) else Condition.MISSING
        return Standing(skill_id, locked, condition)
    try:
        now = digests_of({path: file.data for path, file in files_below(place).items()})
    except InstallRefused:
        return Standing(skill_id, locked, Condition.EDITED)
    paths = sorted({*now, *locked.sha256})
    differing = tuple(path for path in paths if now.get(path) != locked.sha256.get(path))
    return Standing(skill_id, locked, Condition.EDITED if differing else Condition.UNCHANGED, differing)


def lock_findings(folder: Path, *, locked: bool) -> Iterator[Diagnostic]:
    """What is no longer as it was added, or not in the lock at all if `locked`, which makes each an error.

    Raises InstallRefused for a lock that cannot be read.
    """
    lock = read_lock(folder)
    severity = Severity.ERROR if locked else Severity.WARNING
    for standing in standings(folder, lock):
        if standing.condition is not Condition.UNCHANGED:
            what = first_of(standing.differing, 3) or f"its folder, which is {standing.condition.value}"
            message = f"'{standing.skill_id}' differs from {LOCK_FILE}: {what}"
            found = DIFFERS.found(Location(str(folder / LOCK_FILE)), message, "add it again with --force, or remove it")
            yield replace(found, severity=severity, skill=standing.skill_id)
    if not locked:
        return
    for place in sorted(folder.glob("*/SKILL.md")):
        if place.parent.name not in lock.skills:
            message = f"'{place.parent.name}' is not in {LOCK_FILE}"
            found = DIFFERS.found(Location(str(place)), message, "add it from its source, or check without --locked")
            yield replace(found, severity=severity)


def digests_of(files: Mapping[str, bytes]) -> dict[str, str]:
    """The SHA-256 of each file, in hex digits."""
    return {path: hashlib.sha256(data).hexdigest() for path, data in files.items()}
