"""A copy of a skill's files, made of the bytes whose digests were just verified, and a folder to write into."""

import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from skillweave.manifest import Manifest, ManifestFile, differing_paths, manifest_of, sha256_of
from skillweave_trust.scripts.values import ScriptRefused

__all__ = ["Stage", "staged", "written_in"]


@dataclass(frozen=True, slots=True)
class Stage:
    """Where a run finds the skill, and where it may write."""

    skill: Path
    work: Path


@contextmanager
def staged(files: Mapping[str, bytes], manifest: Manifest) -> Iterator[Stage]:
    """Lends a fresh copy of the files; removes it, and whatever was written, at the end.

    The digests are taken of the very bytes that are written, so that nothing can change between check and run.
    Raises ScriptRefused where they differ from the manifest, and for a path out of the folder.
    """
    differing = differing_paths(manifest_of(files), manifest)
    if differing:
        raise ScriptRefused(
            f"'{differing[0]}' is not what was approved ({len(differing)} files differ); look at it and approve it anew"
        )
    root = Path(tempfile.mkdtemp(prefix="skillweave-run-"))
    try:
        stage = Stage(root / "skill", root / "work")
        stage.skill.mkdir()
        stage.work.mkdir()
        for path, data in files.items():
            if path.startswith("/") or not {"", ".", ".."}.isdisjoint(path.split("/")):
                raise ScriptRefused(f"'{path}' leads out of the skill's folder; remove it")
            target = stage.skill / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)
            target.chmod(0o555)
        yield stage
    finally:
        _make_removable(root)
        shutil.rmtree(root, ignore_errors=True)


def written_in(work: Path) -> tuple[ManifestFile, ...]:
    """Returns the regular files in the folder; links and devices that a script left are not followed."""
    found: list[ManifestFile] = []
    for folder, folders, names in os.walk(work, followlinks=False):
        folders.sort()
        for name in sorted(names):
            place = os.path.join(folder, name)  # noqa: PTH118 - names that are no UTF-8 stay as they are
            status = os.lstat(place)
            if not stat.S_ISREG(status.st_mode):
                continue
            Path(place).chmod(0o600)
            data = Path(place).read_bytes()
            path = os.path.relpath(place, work).encode("utf-8", "replace").decode()
            found.append(ManifestFile(path.replace("\n", "?").replace("\r", "?"), sha256_of(data), len(data)))
    return tuple(sorted(found))


def _make_removable(root: Path) -> None:
    """Gives every folder back the rights that a script may have taken from it."""
    for folder, folders, _ in os.walk(root, followlinks=False):
        for name in folders:
            place = Path(folder) / name
            if not place.is_symlink():
                place.chmod(0o700)
