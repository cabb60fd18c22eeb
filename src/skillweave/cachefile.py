"""Values that were worked out before, in files of a folder that may vanish or be damaged, and that processes share."""

import logging
import os
import pickle
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from io import BytesIO
from mmap import ACCESS_READ, mmap
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeVar

from skillweave.frozen import FrozenDict

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
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class CacheFolder:
    """A folder of files, each with the value for one key, packed; nothing that is wrong with it ever raises.

    A file is written whole or not at all, and read only where it is this user's own and its digest holds: another one
    is told to the log `skillweave`, removed, and counts as absent. Content is data and is never executed.
    """

    path: Path
    limit: int = LIMIT

    def kept(self, kind: str, key: bytes, cls: type[T], parts: Sequence[type], make: Callable[[], T]) -> T:
        """The value of `cls` for a key, made of values of `parts`; made and written where it is not there."""
        found = self.read(kind, key, (cls, *parts))
        if isinstance(found, cls):
            return found
        made = make()
        self.write(kind, key, made)
        return made

    def read(self, kind: str, key: bytes, classes: Sequence[type] = ()) -> Any:  # noqa: ANN401
        """The value that was written, of these classes, its arrays as views; None where none can be trusted."""
        content = self._content(kind, key)
        with suppress(Unpackable):
            return None if content is None else unpack(content, classes)

    def write(self, kind: str, key: bytes, value: object) -> bool:
        """Keep the value for a key; False where that is not possible."""
        import tempfile

        path = self._path(kind, key)
        written = None
        try:
            parts = pack(value)
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.path, suffix=".part", delete=False) as file:
                written = file.name
                file.writelines((_head(key, parts), *parts))
            os.replace(written, path)  # noqa: PTH105
        except Unpackable:
            return False
        except OSError as error:
            log.info("the cache file %s cannot be written: %s", path, error)
            if written is not None:
                with suppress(OSError):
                    os.unlink(written)  # noqa: PTH108
            return False
        self._shrink(path)
        return True

    def _content(self, kind: str, key: bytes) -> memoryview | None:
        """The content for a key, mapped into memory."""
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


ALIGNED = 64
"""Each array begins at a multiple of so many bytes, as vector instructions like it."""
_LENGTH = 8
_OF_ARRAYS = frozenset(
    {
        ("array", "_array_reconstructor"),
        ("array", "array"),
        ("numpy", "dtype"),
        ("numpy.core.numeric", "_frombuffer"),
        ("numpy._core.numeric", "_frombuffer"),
    }
)
"""What a pickle names to make an array."""


class Unpackable(ValueError):
    """A value that cannot be packed, or bytes that no value was packed into."""


def pack(value: object) -> list[bytes]:
    """Returns the value as parts to be written one after the other: their lengths, a pickle, and numpy's arrays.

    Raises Unpackable for a value that cannot be pickled.
    """
    arrays: list[bytes] = []
    try:
        head = pickle.dumps(value, protocol=5, buffer_callback=lambda array: arrays.append(array.raw().tobytes()))
    except (pickle.PicklingError, TypeError, AttributeError, RecursionError) as error:
        raise Unpackable(f"this value cannot be packed: {error}") from error
    lengths = [len(part).to_bytes(_LENGTH, "little") for part in (head, *arrays)]
    first = b"".join((len(lengths).to_bytes(_LENGTH, "little"), *lengths))
    return [part.ljust(-(-len(part) // ALIGNED) * ALIGNED, b"\0") for part in (first, head, *arrays)]


def unpack(content: bytes | memoryview, classes: Sequence[type]) -> Any:  # noqa: ANN401
    """Returns the value that was packed; raises Unpackable for other content, and for values of other classes.

    Arrays of numpy are not copied: they lie where the content lies.
    """
    whole = memoryview(content)
    parts: list[memoryview] = []
    try:
        at = _LENGTH * (1 + int.from_bytes(whole[:_LENGTH], "little"))
        lengths = whole[_LENGTH:at].cast("q").tolist()
        for length in lengths:
            at += -at % ALIGNED
            parts.append(whole[at : at + length])
            at += length
        if list(map(len, parts)) != lengths:
            raise Unpackable("the content ends early")
        head, *arrays = parts
        return _Reader(head, arrays, classes).load()
    except Exception as error:  # a damaged pickle raises anything
        raise Unpackable(f"this is not a packed value: {error}") from error


class _Reader(pickle.Unpickler):
    """Makes values of the known classes alone, so that content is never executed."""

    def __init__(self, head: memoryview, arrays: Sequence[memoryview], classes: Sequence[type]) -> None:
        super().__init__(BytesIO(head), buffers=arrays)
        self._known = {(cls.__module__, cls.__qualname__): cls for cls in (*classes, FrozenDict)}

    def find_class(self, module: str, name: str) -> Any:  # noqa: ANN401
        """Returns what a pickle names, where it may be there."""
        if (module, name) in _OF_ARRAYS:
            return super().find_class(module, name)
        return self._known[module, name]
