"""Unpacking what somebody else packed: no path out of the folder, no links, no devices, and within limits."""

import bz2
import gzip
import lzma
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, cast

from skillweave.installs.packages import InstallRefused
from skillweave.sources.names import is_plain, shown

ZIP_SUFFIXES = (".zip", ".skill")
TAR_SUFFIXES = (".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tbz2", ".tar.xz", ".txz")
MOST_ENTRIES = 4096
MOST_BYTES = 64 * 1024 * 1024
"""What all files of an archive may have together when they are unpacked."""
_PIECE = 1 << 16
_DRIVE = re.compile(r"[A-Za-z]:")
_UNREADABLE = (
    *(zipfile.BadZipFile, tarfile.TarError, zlib.error, lzma.LZMAError, EOFError, NotImplementedError),
    *(ValueError, IndexError),
)
"""What the readers of archives raise for a damaged one; the last two for names and sizes that make no sense."""


@dataclass(frozen=True, slots=True)
class _Entry:
    name: str
    executable: bool
    content: IO[bytes]


def is_archive(path: Path) -> bool:
    """Whether the file's name is that of an archive that can be unpacked."""
    return path.name.lower().endswith((*ZIP_SUFFIXES, *TAR_SUFFIXES))


def unpack(archive: Path, into: Path) -> None:
    """Writes the files of a zip or tar archive below an empty folder; raises InstallRefused for unsafe ones."""
    entries = _zipped if archive.name.lower().endswith(ZIP_SUFFIXES) else _tarred
    left = MOST_BYTES
    try:
        for entry in entries(archive):
            left -= _write(entry, into / _checked(entry.name), left)
    except _UNREADABLE as error:
        raise InstallRefused(f"'{archive}' is no archive that can be read: {error}; pack it anew") from None
    except OSError as error:
        raise InstallRefused(f"'{archive}' cannot be unpacked: {error.strerror or error}; check the file") from None


def _zipped(archive: Path) -> Iterator[_Entry]:
    with zipfile.ZipFile(archive) as opened:
        _require_few(len(opened.infolist()))
        for info in opened.infolist():
            mode = info.external_attr >> 16
            if info.flag_bits & 0x1:
                raise InstallRefused(f"'{shown(info.filename)}' is encrypted; pack it without a password")
            if stat.S_ISLNK(mode):
                raise _link(info.filename)
            if info.is_dir():
                _checked(info.filename.rstrip("/"))
                continue
            with opened.open(info) as content:
                yield _Entry(info.filename, bool(mode & stat.S_IXUSR), content)


def _tarred(archive: Path) -> Iterator[_Entry]:
    with closing(_Bounded(archive)) as file, tarfile.open(fileobj=cast("IO[bytes]", file), mode="r:") as opened:
        for number, member in enumerate(opened, start=1):
            _require_few(number)
            if member.isdir():
                _checked(member.name.rstrip("/"))
                continue
            if not member.isreg():
                raise _link(member.name)
            content = opened.extractfile(member)
            if content is not None:
                with content:
                    yield _Entry(member.name, bool(member.mode & stat.S_IXUSR), content)


_OPENERS: tuple[tuple[bytes, Callable[[Path, str], object]], ...] = (
    *((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\x00", lzma.open)),
)
"""How a compressed file begins, and what unpacks it."""


class _Bounded:
    """An unpacked tar file, of which only so much can be read: even a header may claim to be gigabytes long."""

    def __init__(self, archive: Path) -> None:
        with archive.open("rb") as file:
            start = file.read(6)
        opener = next((opener for magic, opener in _OPENERS if start.startswith(magic)), Path.open)
        self._file = cast("IO[bytes]", opener(archive, "rb"))
        self._left = 2 * MOST_BYTES
        self.seek, self.tell, self.close = self._file.seek, self._file.tell, self._file.close

    def read(self, size: int) -> bytes:
        """As a file; raises InstallRefused for more than may be read."""
        self._left -= size
        if self._left < 0:
            raise _too_big()
        return self._file.read(size)


def _too_big() -> InstallRefused:
    most = f"{MOST_BYTES >> 20} MiB"
    return InstallRefused(f"the archive has more than {most} when it is unpacked; pack the skills alone")


def _require_few(entries: int) -> None:
    if entries > MOST_ENTRIES:
        raise InstallRefused(f"the archive has more than {MOST_ENTRIES:,} entries; pack the skills alone")


def _link(name: str) -> InstallRefused:
    return InstallRefused(f"'{shown(name)}' in the archive is a link or a device; pack the file itself")


def _checked(name: str) -> str:
    plain = name.removeprefix("./")
    parts = plain.split("/")
    if (
        not is_plain(name)
        or "\\" in name
        or _DRIVE.match(name)
        or name.startswith("/")
        or any(part in ("", "..") or len(part.encode("utf-8", "surrogatepass")) > 255 for part in parts)
        or (plain != "." and "." in parts)
    ):
        raise InstallRefused(f"'{shown(name[:200])}' in the archive is no plain path below a folder; pack it anew")
    return plain


def _write(entry: _Entry, target: Path, left: int) -> int:
    """Write one file; how many bytes it has. Raises InstallRefused for more than are left."""
    target.parent.mkdir(parents=True, exist_ok=True)
    written = 0
    try:
        with target.open("xb") as file:
            while piece := entry.content.read(_PIECE):
                written += len(piece)
                if written > left:
                    raise _too_big()
                file.write(piece)
    except FileExistsError:
        raise InstallRefused(f"'{shown(entry.name)}' stands twice in the archive; pack it anew") from None
    if entry.executable:
        os.chmod(target, 0o755)  # noqa: PTH101, S103 - a script of the skill, as its author packed it
    return written
