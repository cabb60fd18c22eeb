"""The key with which the log of approvals is sealed, in a file that only its owner reads."""

import os
import re
import secrets
from contextlib import suppress
from pathlib import Path

from skillweave.errors import InvalidValue

KEY_BYTES = 32
"""Bytes of a key."""
_WRITTEN = re.compile(rf"[0-9a-fA-F]{{{2 * KEY_BYTES}}}\s*")
_OTHERS = 0o077
"""The rights of everybody but the owner."""


def read_or_make_key(path: Path | str) -> bytes:
    """The key in the file, 32 bytes as 64 hex digits; where there is no file, one with a new key is made.

    Processes that make it at once all get the one key. Its owner alone may read it (mode 0600). Raises InvalidValue
    for a file that others can read, and for one that holds something else; OSError where it cannot be read or made.
    """
    path = Path(path)
    with suppress(FileNotFoundError):
        return read_key(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    opened = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(opened, "w", encoding="ascii") as file:
            file.write(f"{secrets.token_hex(KEY_BYTES)}\n")
            file.flush()
            os.fsync(file.fileno())
        # A link is made whole or not at all, and never in place of the file of somebody who was quicker.
        with suppress(FileExistsError):
            os.link(beside, path)
    finally:
        beside.unlink()
    return read_key(path)


def read_key(path: Path | str) -> bytes:
    """The key in the file; raises InvalidValue as `read_or_make_key`, OSError where it cannot be read."""
    path = Path(path)
    with path.open(encoding="ascii", errors="replace") as file:
        mode = os.fstat(file.fileno()).st_mode
        if os.name == "posix" and mode & _OTHERS:
            raise InvalidValue(
                f"the key file {path} can be read by others (mode {mode & 0o777:04o}), who could then write a log of "
                f"approvals that looks whole; run `chmod 600 {path}`, and make a new key if others had it"
            )
        text = file.read(4 * KEY_BYTES)
    if not _WRITTEN.fullmatch(text):
        raise InvalidValue(
            f"the key file {path} does not hold {2 * KEY_BYTES} hex digits; restore it from a copy, or, where no log "
            "of approvals was sealed with it, remove it for a new one"
        )
    return bytes.fromhex(text)
