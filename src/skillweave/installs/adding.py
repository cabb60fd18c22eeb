"""Putting skills into a folder and taking them out: all of it or nothing, and never over what somebody edited."""

import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from skillweave.codec import Portable
from skillweave.errors import first_of
from skillweave.installs.fetching import Origin
from skillweave.installs.lock import (
    Condition,
    Lock,
    Locked,
    Standing,
    digests_of,
    read_lock,
    standing_of,
    write_lock,
)
from skillweave.installs.packages import InstallRefused, Package
from skillweave.sources.tree import SKILL_FILES

WORK = Path(".skillweave") / "change"
"""Where new and old skills stand while they change places; no source of skills looks into `.skillweave`."""


@dataclass(frozen=True, slots=True)
class Added(Portable):
    """What became of a skill that was to be added: `new`, `replaced`, or `unchanged`, as it was there already."""

    skill_id: str
    change: str
    locked: Locked


def add_skills(folder: Path, packages: Sequence[Package], origin: Origin, *, force: bool = False) -> tuple[Added, ...]:
    """Copies skills into the folder and notes them in the lock, or raises InstallRefused; `force` replaces edits."""
    folder = _folder(folder)
    with _exchange(folder) as exchange:
        # Read only now, when no other command can write it: what that added must stay in the lock.
        lock = read_lock(folder)
        added = [_planned(folder, lock, package, origin, force=force) for package in packages]
        changing = [(package, one) for package, one in zip(packages, added, strict=True) if one.change != "unchanged"]
        entries = {**lock.skills, **{one.skill_id: one.locked for one in added}}
        for package, _ in changing:
            exchange.put(package)
        write_lock(folder, replace(lock, skills=entries))
    return tuple(added)


def remove_skill(folder: Path, skill_id: str, *, force: bool = False) -> Locked:
    """Takes an added skill out, with `force` an edited one. Raises InstallRefused, and then nothing was changed."""
    _require_added(folder, skill_id, read_lock(folder))
    with _exchange(folder) as exchange:
        # Read again, now that no other command can write it.
        lock = read_lock(folder)
        locked = _require_added(folder, skill_id, lock)
        standing = standing_of(folder, skill_id, locked)
        _require_own(folder / skill_id, standing, force=force)
        _require_no_link(folder / skill_id)
        rest = {name: one for name, one in lock.skills.items() if name != skill_id}
        exchange.take(skill_id)
        write_lock(folder, replace(lock, skills=rest))
    return locked


def _require_added(folder: Path, skill_id: str, lock: Lock) -> Locked:
    locked = lock.skills.get(skill_id)
    if locked is None:
        there = ", ".join(sorted(lock.skills)) or "none"
        raise InstallRefused(
            f"skill {skill_id[:100]!r} was not added to {folder}; those that were: {there}. What you wrote yourself "
            "you delete yourself"
        )
    return locked


_FORCE = "to lose what was edited, add --force"


def _planned(folder: Path, lock: Lock, package: Package, origin: Origin, *, force: bool) -> Added:
    """What is to be done with one skill; raises InstallRefused where somebody's own work is in its place."""
    place, digests = folder / package.skill_id, digests_of({path: one.data for path, one in package.files.items()})
    made = Locked(origin.source, origin.kind.value, package.path, digests, package.version, origin.ref, origin.commit)
    if not os.path.lexists(place):
        return Added(package.skill_id, "new", made)
    _require_no_link(place)
    known = lock.skills.get(package.skill_id)
    if known is None:
        if not force:
            raise InstallRefused(f"{place} is there already and was not added from anywhere; {_FORCE}")
        return Added(package.skill_id, "replaced", made)
    standing = standing_of(folder, package.skill_id, known)
    _require_own(place, standing, force=force)
    same = standing.condition is Condition.UNCHANGED and known.sha256 == digests
    return Added(package.skill_id, "unchanged" if same else "replaced", made)


def _require_own(place: Path, standing: Standing, *, force: bool) -> None:
    """Refuse to lose what somebody edited."""
    if standing.condition is Condition.EDITED and not force:
        what = f" ({first_of(standing.differing, 3)})" if standing.differing else ""
        raise InstallRefused(f"{place} was edited since it was added{what}; {_FORCE}")


def _require_no_link(place: Path) -> None:
    if place.is_symlink():
        raise InstallRefused(f"{place} is a link and is left alone; remove it yourself")


def _folder(folder: Path) -> Path:
    if folder.name in SKILL_FILES or (folder / SKILL_FILES[0]).exists():
        raise InstallRefused(f"{folder} is a skill itself; name the folder above it")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InstallRefused(f"the folder {folder} cannot be made: {error.strerror}; name another one") from None
    return folder


@dataclass(slots=True)
class _Exchange:
    """Skills that change places; `undo` puts everything back."""

    folder: Path
    work: Path
    _done: list[tuple[Path, Path]] = field(default_factory=list)

    def put(self, package: Package) -> None:
        new = self.work / "new" / package.skill_id
        for path, file in package.files.items():
            target = new / path
            target.parent.mkdir(parents=True, exist_ok=True)
            with target.open("xb") as written:
                written.write(file.data)
            if file.executable:
                os.chmod(target, 0o755)  # noqa: PTH101, S103 - a script of the skill, as its author made it
        self.take(package.skill_id)
        self._move(new, self.folder / package.skill_id)

    def take(self, skill_id: str) -> None:
        if os.path.lexists(self.folder / skill_id):
            old = self.work / "old" / skill_id
            old.parent.mkdir(parents=True, exist_ok=True)
            self._move(self.folder / skill_id, old)

    def undo(self) -> None:
        failed: OSError | None = None
        while self._done:
            from_, to = self._done.pop()
            try:
                if os.path.lexists(to) and not os.path.lexists(from_):
                    to.rename(from_)
            except OSError as error:
                failed = failed or error
        if failed is not None:
            # What cannot be put back is not deleted either.
            raise InstallRefused(
                f"the skills of {self.folder} cannot be put back: {failed.strerror or failed}; they stand in "
                f"{self.work / 'old'}, move them by hand"
            ) from None
        self.clean()

    def clean(self) -> None:
        shutil.rmtree(self.work, ignore_errors=True)
        with suppress(OSError):  # something else may stand beside it
            self.work.parent.rmdir()

    def _move(self, from_: Path, to: Path) -> None:
        # Noted before it is done: after an interrupt in between, nobody would put it back.
        self._done.append((from_, to))
        from_.rename(to)


@contextmanager
def _exchange(folder: Path) -> Iterator[_Exchange]:
    """One change at a time; whatever is raised inside puts everything back."""
    work = folder / WORK
    try:
        work.parent.mkdir(exist_ok=True)
        work.mkdir()
    except FileExistsError:
        raise InstallRefused(
            f"another command changes the skills of {folder}, or one was ended in the middle; in that case put back "
            f"what stands in {work / 'old'}, then delete {work}"
        ) from None
    except OSError as error:
        raise InstallRefused(f"{folder} cannot be written: {error.strerror}; name a folder that is yours") from None
    exchange = _Exchange(folder, work)
    try:
        yield exchange
    except OSError as error:
        exchange.undo()
        raise InstallRefused(
            f"the skills of {folder} cannot be changed: {error.strerror or error}; everything is as it was"
        ) from None
    except BaseException:
        exchange.undo()
        raise
    exchange.clean()
