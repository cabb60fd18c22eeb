"""The key with which the log of approvals is sealed, in a file that only its owner reads."""

import os
import re
import secrets
import stat
from contextlib import suppress
from pathlib import Path

from skillweave.errors import InvalidValue

KEY_BYTES = 32
"""Bytes of a key."""
LEAST_VALUES = 8
"""Different bytes that a key has at least; of random keys not one in 10^30 has fewer."""
_WRITTEN = re.compile(rf"[0-9a-fA-F]{{{2 * KEY_BYTES}}}\s*")
_OTHERS = 0o077
"""The rights of everybody but the owner."""


def read_or_make_key(path: Path | str) -> bytes:
    """The key in the file, 32 bytes as 64 hex digits; where there is no file, one with a new key is made.

    Processes that make it at once all get the one key. Its owner alone may read it (mode 0600). Raises InvalidValue for
    what is no regular file, that others can read, or that holds something else than a random key; OSError where it
    cannot be read or made.
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
    with open(path, encoding="ascii", errors="replace", opener=_open_at_once) as file:
        mode = os.fstat(file.fileno()).st_mode
        if not stat.S_ISREG(mode):
            raise InvalidValue(f"the key file {path} is no regular file; name a file with {2 * KEY_BYTES} hex digits")
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
    key = bytes.fromhex(text)
    if len(set(key)) < LEAST_VALUES:
        raise InvalidValue(
            f"the key file {path} holds a key that can be guessed: only {len(set(key))} of its {KEY_BYTES} bytes "
            f"differ; draw one with `(umask 077; openssl rand -hex {KEY_BYTES} > {path})`"
        )
    return key


def _open_at_once(path: str, flags: int) -> int:
    """Open as asked, but wait for nobody: a pipe that nobody writes to would hold the service up."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))
