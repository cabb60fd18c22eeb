"""Calls of the kernel that no script needs and that leave memory where no process holds it, as a filter for bwrap."""

import platform
import struct
from pathlib import Path

__all__ = ["program_file"]

_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE, _KILL = 0x7FFF0000, 0x00050001, 0x80000000
_X32 = 0x40000000
_MACHINES = {
    # number of the architecture; shmget, msgget, semget, add_key, request_key, keyctl
    "x86_64": (0xC000003E, (29, 68, 64, 248, 249, 250)),
    "aarch64": (0xC00000B7, (194, 186, 190, 217, 218, 219)),
}
_SAME_EVERYWHERE = (425, 426, 427)
"""io_uring, whose requests go round a filter."""


def program_file(path: Path) -> Path | None:
    """Writes the filter for this machine; returns None for a kind of machine that has no table here."""
    known = _MACHINES.get(platform.machine())
    if known is None:
        return None
    architecture, own = known
    numbers = (*own, *_SAME_EVERYWHERE)
    lines = [
        (_LOAD, 0, 0, 4),
        (_EQUAL, 1, 0, architecture),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, 0),
        (_AT_LEAST, 0, 1, _X32),
        (_RETURN, 0, 0, _KILL),
    ]
    for number in numbers:
        lines += [(_EQUAL, 0, 1, number), (_RETURN, 0, 0, _REFUSE)]
    lines.append((_RETURN, 0, 0, _ALLOW))
    path.write_bytes(b"".join(struct.pack("=HBBI", *line) for line in lines))
    return path
