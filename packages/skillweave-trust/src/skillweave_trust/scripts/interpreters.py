"""Which program runs a script: a table, never what the script asks for in its first line."""

import shutil
import sys
from pathlib import Path, PurePosixPath

from skillweave_trust.scripts.values import ScriptRefused

__all__ = ["INTERPRETERS", "interpreter_for"]

INTERPRETERS = {
    ".py": ("python3", "-B"),
    ".sh": ("sh",),
    ".bash": ("bash",),
    ".js": ("node",),
    ".mjs": ("node",),
    ".cjs": ("node",),
}
_PLACES = "/usr/bin:/bin:/usr/local/bin"


def interpreter_for(path: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Returns the command that runs a script, and the folders besides the system's that it has to read.

    Raises ScriptRefused for a file that is no script, and where the machine has no interpreter for it.
    """
    suffix = PurePosixPath(path).suffix.lower()
    if suffix not in INTERPRETERS:
        raise ScriptRefused(f"'{path}' is no script that is run here; those end in {', '.join(sorted(INTERPRETERS))}")
    program, *options = INTERPRETERS[suffix]
    found = shutil.which(program, path=_PLACES)
    if found is not None:
        return (found, *options), ()
    if program == "python3":
        own = Path(sys.base_prefix).resolve()
        return (str(own / "bin" / "python3"), *options), (str(own),)
    raise ScriptRefused(f"'{path}' needs {program}, which is not in {_PLACES.replace(':', ', ')}; install it there")
