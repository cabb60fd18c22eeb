"""The ordinary file tools of a host: what the coding pair forbids, because nothing records what they change."""

from .scratch import Refused, Scratch


def write(scratch: Scratch, path: str, text: str) -> str:
    """Make or replace a file."""
    return f"wrote {path}, {scratch.write(path, text)} characters"


def edit(scratch: Scratch, path: str, old: str, new: str) -> str:
    """Replace a passage that stands in a file exactly once."""
    before = scratch.read(path)
    count = before.count(old) if old else 0
    if count != 1:
        raise Refused(f"the old text stands {count} times in {path[:60]!r}; give a passage that stands there once")
    scratch.write(path, before.replace(old, new))
    return f"changed {path}"
