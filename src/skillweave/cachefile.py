"""Files of what was worked out before, in a folder that may vanish or be damaged, and that processes share."""

import logging
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from mmap import ACCESS_READ, mmap
from pathlib import Path
from stat import S_ISREG

log = logging.getLogger("skillweave")

LIMIT = 512 * 1024 * 1024
"""Bytes of all files together; beyond it those go first that were not used for longest."""
HEAD = 128
"""Bytes before the content: a file can be mapped, and what begins here is aligned for any number."""
SUFFIX = ".skillweave"
_READ = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_MAGIC = b"skillweave cache"
_STALE_SECONDS = 3600
"""After this a half-written file is no other process's work any more."""


@dataclass(frozen=True, slots=True)
class CacheFolder:
    """A folder of files, each with the content for one key; nothing that is wrong with it ever raises.

    A file is written whole or not at all, and read only where it is this user's own and its digest holds: another one
    is told to the log `skillweave`, removed, and counts as absent. Content is data and is never executed.
    """

    path: Path
    limit: int = LIMIT

    def read(self, kind: str, key: bytes) -> memoryview | None:
        """The content for a key, mapped into memory; None where there is none that can be trusted."""
        path = self._path(kind, key)
        try:
            # What is not a plain file of ours, such as a pipe or a link, must not be waited for nor followed.
            with os.fdopen(os.open(path, _READ), "rb") as file:
                status = os.fstat(file.fileno())
                if not S_ISREG(status.st_mode):
                    raise OSError("it is not a plain file")
                whole = memoryview(mmap(file.fileno(), 0, access=ACCESS_READ)) if status.st_size else memoryview(b"")
        except FileNotFoundError:
            return None
        except (OSError, ValueError) as error:
            log.warning("the cache file %s cannot be read (%s), and is not used", path, error)
            return None
        if hasattr(os, "geteuid") and status.st_uid not in {os.geteuid(), 0}:
            log.warning("the cache file %s is another user's, and is not used", path)
            return None
        content = whole[HEAD:]
        if whole[:HEAD].tobytes() != _head(key, [content]):
            content.release()
            whole.release()
            log.warning("the cache file %s is damaged or of another program; it is made anew", path)
            with suppress(OSError):
                path.unlink()
            return None
        with suppress(OSError):
            os.utime(path)  # what was used last is kept longest
        return content

    def write(self, kind: str, key: bytes, parts: Sequence[bytes | memoryview]) -> bool:
        """Keep the parts, one after the other, as the content for a key; False where that is not possible."""
        import tempfile

        path = self._path(kind, key)
        written = None
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.path, suffix=".part", delete=False) as file:
                written = file.name
                file.write(_head(key, parts))
                for part in parts:
                    file.write(part)
            os.replace(written, path)  # noqa: PTH105
        except OSError as error:
            log.info("the cache file %s cannot be written: %s", path, error)
            if written is not None:
                with suppress(OSError):
                    os.unlink(written)  # noqa: PTH108
            return False
        self._shrink(path)
        return True

    def _path(self, kind: str, key: bytes) -> Path:
        return self.path / f"{kind}-{key.hex()[:40]}{SUFFIX}"

    def _shrink(self, newest: Path) -> None:
        """Remove what was not used for longest until all fits, and what a process that ended left half-written."""
        with suppress(OSError):
            seen = [(path.stat(), path) for path in self.path.iterdir() if path.suffix in {SUFFIX, ".part"}]
            total = sum(status.st_size for status, _ in seen)
            now = newest.stat().st_mtime
            for status, path in sorted(seen, key=lambda one: one[0].st_mtime):
                half = path.suffix == ".part"
                if path != newest and (status.st_mtime < now - _STALE_SECONDS if half else total > self.limit):
                    with suppress(OSError):
                        path.unlink()
                    total -= status.st_size


def key_of(*parts: str | bytes) -> bytes:
    """A key that depends on each of the parts and on where one ends."""
    digest = sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass") if isinstance(part, str) else part
        digest.update(len(data).to_bytes(8, "little"))
        digest.update(data)
    return digest.digest()


@cache
def code_key(*packages: str) -> bytes:
    """A key of this release and of the source of these parts of it, such as `formats`, so that an edit counts too."""
    from skillweave._version import __version__

    home = Path(__file__).parent
    return key_of(__version__, *(_source(path) for name in packages for path in _modules(home / name)))


def default_folder() -> Path:
    """The user's own cache folder for this program."""
    from platformdirs import user_cache_path

    return user_cache_path("skillweave", appauthor=False)


def _head(key: bytes, parts: Iterable[bytes | memoryview]) -> bytes:
    digest = sha256(key)
    for part in parts:
        digest.update(part)
    return (_MAGIC + key + digest.digest()).ljust(HEAD, b"\0")


def _modules(path: Path) -> list[Path]:
    return sorted(path.glob("*.py")) if path.is_dir() else [path.with_suffix(".py")]


def _source(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""  # installed without its source: the release alone says which it is
