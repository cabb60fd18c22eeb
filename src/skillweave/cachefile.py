"""Values that were worked out before, in files of a folder that may vanish or be damaged, and that processes share."""

import json
import logging
import os
from array import array
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import cache
from hashlib import sha256
from mmap import ACCESS_READ, mmap
from pathlib import Path
from stat import S_ISREG
from typing import Any, TypeVar

from skillweave.frozen import EMPTY, FrozenDict

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
        self.write(kind, key, made, (cls, *parts))
        return made

    def read(self, kind: str, key: bytes, classes: Sequence[type] = ()) -> Any:  # noqa: ANN401
        """The value that was written with these classes, its arrays as views; None where none can be trusted."""
        content = self._content(kind, key)
        with suppress(Unpackable):
            return None if content is None else unpack(content, classes)

    def write(self, kind: str, key: bytes, value: object, classes: Sequence[type] = ()) -> bool:
        """Keep the value, which `pack` describes, for a key; False where that is not possible."""
        import tempfile

        path = self._path(kind, key)
        written = None
        try:
            parts = pack(value, classes)
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


LONG = 160
"""Characters from which on a text stands beside the JSON: there it need not be parsed."""
ALIGNED = 64
"""Each array begins at a multiple of so many bytes, as vector instructions like it."""
_LENGTH = 8
_TUPLE, _TEXT, _ARRAY, _NUMBERS, _NUMBERED, _FIRST = range(6)


class Unpackable(ValueError):
    """A value that cannot be packed, or bytes that no value was packed into."""


def pack(value: object, classes: Sequence[type]) -> list[bytes]:
    """The value as parts to be written one after the other: JSON for what is short, and beside it what is long.

    Values are None, truth values, numbers, texts, tuples and mappings of values by texts, arrays of `array` and numpy,
    enums, and dataclasses whose fields are their arguments; `classes` are those that may occur. Raises Unpackable for
    anything else.
    """
    writer = _Writer({cls: number for number, cls in enumerate(classes, _FIRST)})
    try:
        head = json.dumps(writer.write(value), separators=(",", ":")).encode()
    except (ValueError, RecursionError) as error:
        raise Unpackable(f"this value cannot be packed: {error}") from error
    return [len(head).to_bytes(_LENGTH, "little"), head, bytes(-(_LENGTH + len(head)) % ALIGNED), *writer.parts]


def unpack(content: bytes | memoryview, classes: Sequence[type]) -> Any:  # noqa: ANN401
    """The value that was packed with the same classes in the same order; raises Unpackable for other content.

    Arrays are not copied: they lie where the content lies.
    """
    whole = memoryview(content)
    end = _LENGTH + int.from_bytes(whole[:_LENGTH], "little")
    makers = (*_makers(whole[end + -end % ALIGNED :]), *classes)

    def read(found: list[Any]) -> Any:  # noqa: ANN401
        maker = makers[found[0]]
        return maker(*[read(one) if type(one) is list else one for one in found[1:]])

    def freeze(found: dict[str, Any]) -> Mapping[str, Any]:
        if not found:
            return EMPTY
        return FrozenDict((key, read(item) if type(item) is list else item) for key, item in found.items())

    try:
        return read([_TUPLE, json.loads(bytes(whole[_LENGTH:end]), object_hook=freeze)])[0]
    except (LookupError, TypeError, ValueError, RecursionError) as error:
        raise Unpackable(f"this is not a packed value: {error}") from error


def _makers(body: memoryview) -> tuple[Callable[..., Any], ...]:
    """What makes a value of each of the kinds that are no class, by their numbers."""

    def view(start: int, end: int) -> memoryview:
        if not 0 <= start <= end <= len(body):
            raise ValueError("the content ends early")
        return body[start:end]

    def text(start: int, end: int) -> str:
        return str(view(start, end), "utf-8", "surrogatepass")

    def numpy_array(kind: str, start: int, end: int, *shape: int) -> Any:  # noqa: ANN401
        import numpy as np

        return np.frombuffer(view(start, end), dtype=kind).reshape(shape)

    def numbers(code: str, start: int, end: int) -> Any:  # noqa: ANN401
        return view(start, end).cast(code)  # type: ignore[call-overload] # any of the codes of `array`

    def numbered(start: int, end: int) -> dict[str, int]:
        return {word: number for number, word in enumerate(text(start, end).split("\n"))}

    return lambda *items: items, text, numpy_array, numbers, numbered


class _Writer:
    def __init__(self, numbers: Mapping[type, int]) -> None:
        self.parts: list[bytes] = []
        self._numbers = numbers
        self._end = 0
        self._fields: dict[type, list[str]] = {}

    def write(self, value: Any) -> object:  # noqa: ANN401
        if isinstance(value, Enum):
            return [self._number(type(value)), value.value]
        if isinstance(value, str):
            return value if len(value) < LONG else [_TEXT, *self._beside(value.encode("utf-8", "surrogatepass"))]
        if value is None or isinstance(value, bool | int | float):
            return value
        if isinstance(value, tuple):
            return [_TUPLE, *map(self.write, value)]
        if isinstance(value, Mapping):
            words = _numbered(value)
            return self._mapping(value) if words is None else [_NUMBERED, *self._beside(words)]
        if isinstance(value, array | memoryview):
            code = value.typecode if isinstance(value, array) else value.format
            return [_NUMBERS, code, *self._beside(value.tobytes(), ALIGNED)]
        if hasattr(value, "__array_interface__"):
            return [_ARRAY, value.dtype.str, *self._beside(value.tobytes(), ALIGNED), *value.shape]
        if not is_dataclass(value):
            raise Unpackable(f"a {type(value).__name__} cannot be packed")
        names = self._fields.setdefault(type(value), [field.name for field in fields(value)])
        return [self._number(type(value)), *(self.write(getattr(value, name)) for name in names)]

    def _beside(self, data: bytes, step: int = 1) -> tuple[int, int]:
        """Where the data stand among the parts."""
        start = self._end + -self._end % step
        self.parts += (bytes(start - self._end), data)
        self._end = start + len(data)
        return start, self._end

    def _number(self, cls: type) -> int:
        if cls not in self._numbers:
            raise Unpackable(f"a {cls.__name__} cannot be packed")
        return self._numbers[cls]

    def _mapping(self, value: Mapping[Any, Any]) -> dict[str, object]:
        odd = next((key for key in value if not isinstance(key, str)), None)
        if odd is not None:
            raise Unpackable(f"the key {odd!r} is not text")
        return {key: self.write(item) for key, item in value.items()}


def _numbered(value: Mapping[Any, Any]) -> bytes | None:
    """The words of a plain dict whose values are 0, 1, 2 and so on, in lines; None for any other mapping."""
    numbers = value.values()
    if type(value) is not dict or set(map(type, numbers)) != {int} or list(numbers) != list(range(len(value))):
        return None
    if not all(isinstance(word, str) and "\n" not in word for word in value):
        return None
    return "\n".join(value).encode("utf-8", "surrogatepass")
