"""The files of a skill by path, digest and size: what locks, signatures, approvals and MCP are about (spec 10)."""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from skillweave.codec import Portable
from skillweave.errors import InvalidValue

__all__ = ["Manifest", "ManifestFile", "differing_paths", "manifest_of", "sha256_of"]


@dataclass(frozen=True, slots=True, order=True)
class ManifestFile(Portable):
    """One file: its path in the skill's folder with `/`, the SHA-256 of its raw bytes in hex, its size in bytes."""

    path: str
    sha256: str
    size: int


@dataclass(frozen=True, slots=True)
class Manifest(Portable):
    """Every file of a skill, sorted by path. Raises InvalidValue for a path that stands twice or breaks a line."""

    files: tuple[ManifestFile, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "files", tuple(sorted(self.files)))
        paths = [one.path for one in self.files]
        twice = next((path for path in paths if paths.count(path) > 1), None) if len(set(paths)) < len(paths) else None
        if twice is not None:
            raise InvalidValue(f"a manifest lists {twice[:100]!r} twice; list each file once")
        broken = next((path for path in paths if not path or "\n" in path or "\r" in path), None)
        if broken is not None:
            raise InvalidValue(f"a manifest lists {broken[:100]!r}, which is no path on one line; rename the file")

    @property
    def digest(self) -> str:
        """The skill's identity: SHA-256 in hex of one line `sha256 size path` for each file, sorted by path."""
        lines = "".join(f"{one.sha256} {one.size} {one.path}\n" for one in self.files)
        return sha256_of(lines.encode("utf-8", "surrogatepass"))

    @property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(one.size for one in self.files)

    def file(self, path: str) -> ManifestFile | None:
        """Returns the file at the path, None where the skill has none there."""
        return next((one for one in self.files if one.path == path), None)


def manifest_of(contents: Mapping[str, bytes]) -> Manifest:
    """Returns the manifest of files by their paths. Raises InvalidValue as Manifest does."""
    return Manifest(tuple(ManifestFile(path, sha256_of(data), len(data)) for path, data in contents.items()))


def differing_paths(one: Manifest, other: Manifest) -> tuple[str, ...]:
    """Returns the paths, sorted, of files that only one of the manifests lists or that differ between them."""
    return tuple(sorted(_paths(set(one.files) ^ set(other.files))))


def sha256_of(data: bytes) -> str:
    """Returns the SHA-256 of the bytes in hex digits."""
    return hashlib.sha256(data).hexdigest()


def _paths(files: Iterable[ManifestFile]) -> set[str]:
    return {one.path for one in files}
