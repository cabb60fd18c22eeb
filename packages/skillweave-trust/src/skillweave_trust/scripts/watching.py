"""What a run uses, summed over its whole tree of processes: memory, processes, bytes written."""

import os
import signal
import stat
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from skillweave_trust.scripts.values import Ended, Limits

__all__ = ["Use", "broken", "end_tree", "used_by"]

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


@dataclass(frozen=True, slots=True)
class Use:
    """What the processes below one use now: how many, their resident bytes, and bytes and files written."""

    processes: int
    memory: int
    written: int
    files: int


def used_by(process: int, work: Path) -> Use:
    """Returns what the tree below a process uses, and what stands in its folder or is open without a name.

    A file that was deleted while it is open, and memory in a file without a name, are in no folder: they are found by
    the descriptors of the processes that hold them.
    """
    below = _below(process)
    memory = sum(map(_resident, below))
    nameless: dict[tuple[int, int], int] = {}
    for one in below:
        _add_nameless(one, nameless)
    files, written = _in_folder(work)
    return Use(len(below), memory, written + sum(nameless.values()), files + len(nameless))


def broken(use: Use, limits: Limits, own: int) -> Ended | None:
    """Returns the limit that the tree broke; `own` processes of it belong to the runner."""
    if use.processes - own > limits.processes:
        return Ended.PROCESSES
    if use.memory > limits.memory:
        return Ended.MEMORY
    if use.written > limits.written or use.files > limits.files:
        return Ended.FILES
    return None


def end_tree(process: int, *, reaped: bool) -> None:
    """Kills everything below a process, then its group; returns when nothing of it runs any more.

    Of a process that was `reaped` only the group is left.
    """
    give_up = time.monotonic() + 5
    while below := [] if reaped else _below(process):
        for one in below:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
        if time.monotonic() > give_up:
            break
        time.sleep(0.002)
    with suppress(ProcessLookupError):
        os.killpg(process, signal.SIGKILL)


def _below(process: int) -> list[int]:
    """The living descendants of a process."""
    found: list[int] = []
    pending = [process]
    while pending:
        for task in _listed(f"/proc/{pending.pop()}/task"):
            with suppress(OSError):
                children = [int(one) for one in Path(f"{task}/children").read_text("ascii").split()]
                found += [one for one in children if not _is_dead(one)]
                pending += children
    return found


def _listed(folder: str) -> list[str]:
    try:
        return [f"{folder}/{name}" for name in os.listdir(folder)]  # noqa: PTH208 - a Path each costs more than the look
    except OSError:
        return []


def _is_dead(process: int) -> bool:
    try:
        return Path(f"/proc/{process}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()[0] in {"Z", "X"}
    except OSError:
        return True


def _resident(process: int) -> int:
    try:
        return int(Path(f"/proc/{process}/statm").read_text("ascii").split()[1]) * _PAGE
    except (OSError, IndexError):
        return 0


def _add_nameless(process: int, found: dict[tuple[int, int], int]) -> None:
    for place in _listed(f"/proc/{process}/fd"):
        with suppress(OSError):
            status = os.stat(place)  # noqa: PTH116
            if stat.S_ISREG(status.st_mode) and status.st_nlink == 0:
                found[status.st_dev, status.st_ino] = status.st_blocks * 512


def _in_folder(folder: Path) -> tuple[int, int]:
    count = size = 0
    for above, folders, names in os.walk(folder, followlinks=False):
        count += len(folders)
        for name in names:
            with suppress(OSError):
                status = os.lstat(f"{above}/{name}")
                count, size = count + 1, size + max(status.st_size, status.st_blocks * 512)
    return count, size
