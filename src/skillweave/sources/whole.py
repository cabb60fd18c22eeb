"""Every file of a skill's folder, for whoever hands a skill on whole: all that stands there, or why it cannot be."""

import os
import stat
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from skillweave.diagnostics import Diagnostic, Location
from skillweave.frontmatter.codes import Code
from skillweave.manifest import Manifest, ManifestFile, sha256_of
from skillweave.registry.source import IGNORED_FOLDERS, Package
from skillweave.sources import codes
from skillweave.sources.files import Mark, Refused, mark_of, read_below, refusal, resolved_inside
from skillweave.sources.names import is_plain, shown
from skillweave.sources.tree import MAX_BYTES, MAX_FILES, Tree


@dataclass(frozen=True, slots=True)
class Known:
    """What was known of a folder's files: what the manifest says of each file, and its mark if that tells a change."""

    files: Mapping[str, tuple[Mark | None, ManifestFile]] = field(default_factory=dict)


def package_of(folder: str, base: str, place: str, known: Package | None = None) -> Package:
    """Returns every file at and below the real path `folder`; only what changed since `known` is read again.

    Links count where they lead to a file inside the folder. A folder with anything that cannot be handed on, or over
    512 files or 16 MiB, gives no manifest but the findings that say why, at `place`.
    """
    before = known.memory.files if known is not None and isinstance(known.memory, Known) else {}
    tree, left = Tree({}, time.time_ns()), MAX_BYTES
    files: dict[str, tuple[Mark | None, ManifestFile]] = {}
    try:
        for path, target, status in _files_below(folder):
            if len(files) == MAX_FILES:
                raise Refused(codes.NOT_WHOLE, f"it has more than {MAX_FILES} files", "move some out of its folder")
            mark = mark_of(status)
            held = before.get(path)
            if held is None or held[0] != mark:
                data = read_below(base, target, MAX_BYTES).data
                held = (tree.trusted(mark), ManifestFile(path, sha256_of(data), len(data)))
            files[path] = held
            left -= held[1].size
            if left < 0:
                most = f"{MAX_BYTES >> 20} MiB"
                raise Refused(codes.NOT_WHOLE, f"its files have more than {most} together", "move some out of it")
    except (Refused, OSError, ValueError) as error:
        refused = error if isinstance(error, Refused) else refusal(error)
        return Package(None, (_finding(refused.code, place, refused.why, refused.fix),))
    return Package(Manifest(tuple(file for _, file in files.values())), (), Known(files))


def _files_below(folder: str) -> Iterator[tuple[str, str, os.stat_result]]:
    """Yields each file's path in the folder, its real path and status; raises Refused for the first that is none."""
    pending = [""]
    while pending:
        inside = pending.pop()
        with os.scandir(f"{folder}/{inside}" if inside else folder) as entries:
            found = sorted(entries, key=lambda entry: entry.name)
        for entry in found:
            path = f"{inside}/{entry.name}" if inside else entry.name
            if entry.name in IGNORED_FOLDERS:
                continue
            if not is_plain(entry.name):
                raise Refused(codes.NOT_WHOLE, f"'{shown(path)}' is no name on one line of UTF-8", "rename it")
            if entry.is_dir(follow_symlinks=False):
                pending.append(path)
                continue
            target = resolved_inside(folder, path) if entry.is_symlink() else f"{folder}{os.sep}{path}"
            status = os.stat(target, follow_symlinks=False)  # noqa: PTH116
            if not stat.S_ISREG(status.st_mode):
                raise Refused(codes.NOT_WHOLE, f"'{path}' leads to no regular file", "put the file itself there")
            yield path, target, status


def _finding(code: Code, place: str, why: str, fix: str) -> Diagnostic:
    return code.found(Location(place), f"'{place}' cannot be handed on whole: {why}", fix)
