"""Reading a file that somebody else wrote: bounded, never blocking, never out of its folder (spec 1.2, spec 10)."""

import errno
import os
import stat
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import BinaryIO

from skillweave.frontmatter.codes import FILE_TOO_LARGE, Code
from skillweave.sources import codes
from skillweave.sources.names import quoted

_PLAIN = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
_UNLINKED = _PLAIN | getattr(os, "O_NOFOLLOW", 0)
FOLDER = _UNLINKED | getattr(os, "O_DIRECTORY", 0)
"""For `open_below` of a folder."""
_STEP = FOLDER | getattr(os, "O_PATH", 0)
"""For a folder on the way, which need not be readable."""
_STEPWISE = os.open in os.supports_dir_fd

Mark = tuple[int, int, int, int]
"""What tells that a file or folder changed: mtime, ctime, size, inode."""


class Refused(Exception):
    """A file that is not read; `code` is the finding's, `why` and `fix` are its words."""

    def __init__(self, code: Code, why: str, fix: str) -> None:
        self.code = code
        self.why = why
        self.fix = fix
        super().__init__(why)


@dataclass(frozen=True, slots=True)
class Content:
    """The bytes of a file and the mark that it had when reading began."""

    data: bytes
    mark: Mark


def mark_of(status: os.stat_result) -> Mark:
    """The mark of a file or folder as `os.stat` saw it."""
    return status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino


def changed_among(probes: Iterable[tuple[str, Mark]]) -> set[str]:
    """The files and folders that have another mark now, or are gone."""
    look = os.stat
    changed = set()
    for path, (mtime, ctime, size, inode) in probes:
        try:
            now = look(path)
        except (OSError, ValueError):
            changed.add(path)
            continue
        if now.st_mtime_ns != mtime or now.st_ctime_ns != ctime or now.st_size != size or now.st_ino != inode:
            changed.add(path)
    return changed


def sizes_hold(sizes: Iterable[tuple[str, int]]) -> bool:
    """Whether every file still has its size."""
    try:
        return all(os.stat(path).st_size == size for path, size in sizes)  # noqa: PTH116
    except (OSError, ValueError):
        return False


def read_plain(path: str, limit: int) -> Content:
    """A regular file that is not a link, at most `limit` bytes; raises Refused."""
    return _read(lambda: os.open(path, _UNLINKED), limit)


def read_below(base: str, path: str, limit: int) -> Content:
    """A regular file by its real path below `base`, at most `limit` bytes; no part may be a link. Raises Refused."""
    return _read(lambda: open_below(base, path), limit)


def read_real(path: str, limit: int) -> Content:
    """A regular file that was named by the user, and may be a link therefore; raises Refused."""
    return _read(lambda: _open_real(path), limit)


def open_real(path: str) -> BinaryIO:
    """Such a file to be read piece by piece, whatever its size; raises Refused."""
    handle = _open_real(path)
    try:
        mode = os.fstat(handle).st_mode
        if stat.S_ISREG(mode):
            return os.fdopen(handle, "rb")
    except OSError as error:
        os.close(handle)
        raise refusal(error) from None
    os.close(handle)
    raise _not_a_file(_kind(mode))


def _open_real(path: str) -> int:
    try:
        return os.open(os.path.realpath(path), _UNLINKED)
    except (OSError, ValueError) as error:
        refused = refusal(error)
        if refused.code is codes.VANISHED:
            raise Refused(codes.VANISHED, "No such file or directory", "check the path") from None
        raise refused from None


def read_inside(
    root: str, folder: str, name: str, limit: int, *, within: str | None = None, base: str | None = None
) -> Content:
    """A regular file in a folder below the real path `root`; links may lead about in the folder. Raises Refused.

    Up to `within` the folder itself may be a link; below `base` nothing may become one meanwhile.
    """
    within = within or root
    target = resolved_inside(resolved_inside(root, folder, within=within), name)
    return _read(lambda: open_below(base or within, target), limit)


def resolved_inside(root: str, relative: str, *, within: str | None = None) -> str:
    """The real path below a real folder. Raises Refused if a link leads out of it, or out of `within` around it."""
    within = within or root
    try:
        target = os.path.realpath(f"{root}{os.sep}{relative}")
    except (OSError, ValueError) as error:
        raise refusal(error) from None
    if not is_inside(target, within):
        raise Refused(
            codes.LINK_OUTSIDE,
            f"it is a link that leads out of its folder, to {quoted(target)}",
            "put the file itself there in place of the link",
        )
    return target


def repository_of(folder: str) -> str:
    """The nearest folder with a `.git` at or above a real path; the folder itself where there is none."""
    above = folder
    while not os.path.lexists(os.path.join(above, ".git")):  # noqa: PTH118
        parent = os.path.dirname(above)  # noqa: PTH120
        if parent == above:
            return folder
        above = parent
    return above


def is_inside(path: str, folder: str) -> bool:
    """Whether a real path is that of a folder or of something below it."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


def refusal(error: OSError | ValueError) -> Refused:
    """What the system's answer means for the reader."""
    code = error.errno if isinstance(error, OSError) else None
    if code in (errno.ENOENT, errno.ENOTDIR):
        return Refused(codes.VANISHED, "it was listed a moment ago and is gone", "nothing, unless it should be there")
    if code in (errno.ELOOP, errno.EMLINK):
        return Refused(codes.LINK_OUTSIDE, "it is a link in a circle or became a link meanwhile", "put the file there")
    if code == errno.ENXIO:
        return _not_a_file("a socket or a pipe")
    why = os.strerror(code) if code else str(error)
    return Refused(codes.UNREADABLE, f"it cannot be read: {why}", "give the process the right to read it")


def open_below(base: str, target: str, flags: int = _UNLINKED) -> int:
    """A handle of a real path at or below `base`, opened folder by folder so that no swap leads out; OSError."""
    if target == base:
        return os.open(base, flags)
    if not _STEPWISE:
        return _open_checked(target, flags)
    names = target.removeprefix(base).strip(os.sep).split(os.sep)  # noqa: PTH206 - undecodable names stay as they are
    above = os.open(base, _STEP)
    try:
        for name in names[:-1]:
            below = os.open(name, _STEP, dir_fd=above)
            os.close(above)
            above = below
        return os.open(names[-1], flags, dir_fd=above)
    finally:
        os.close(above)


def _open_checked(target: str, flags: int) -> int:
    """Where the system opens nothing from a folder's handle: opened by name, then seen to stand at its real path."""
    handle = os.open(target, flags)
    try:
        if os.path.realpath(target) == target and os.path.samestat(os.fstat(handle), os.stat(target)):  # noqa: PTH116
            return handle
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    except BaseException:
        os.close(handle)
        raise


def _read(opened: Callable[[], int], limit: int) -> Content:
    try:
        handle = opened()
    except (OSError, ValueError) as error:
        raise refusal(error) from None
    try:
        status = os.fstat(handle)
        if not stat.S_ISREG(status.st_mode):
            raise _not_a_file(_kind(status.st_mode))
        if status.st_size > limit:
            raise _too_large(status.st_size, limit)
        data = os.read(handle, status.st_size + 1)
        if len(data) != status.st_size:  # the file grows while it is read, or the system gives it in pieces
            data = _to_the_end(handle, data, limit)
        return Content(data, mark_of(status))
    except OSError as error:
        raise refusal(error) from None
    finally:
        os.close(handle)


def _to_the_end(handle: int, data: bytes, limit: int) -> bytes:
    """The data and what follows it, one byte over the limit at most."""
    pieces = [data]
    total = len(data)
    while pieces[-1] and total <= limit:
        pieces.append(os.read(handle, limit + 1 - total))
        total += len(pieces[-1])
    if total > limit:
        raise _too_large(total, limit)
    return b"".join(pieces)


def _kind(mode: int) -> str:
    kinds = ((stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"))
    return next((name for test, name in kinds if test(mode)), "a device")


def _not_a_file(kind: str) -> Refused:
    return Refused(codes.NOT_A_FILE, f"it is {kind}, not a regular file", "put a regular file there")


def _too_large(size: int, limit: int) -> Refused:
    return Refused(
        FILE_TOO_LARGE,
        f"it has {_bytes(size)}, more than the limit of {_bytes(limit)}",
        "shorten it, or split it into several files",
    )


def _bytes(count: int) -> str:
    for unit, size in (("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.{0 if count % size == 0 else 1}f} {unit}"
    return f"{count} bytes"
