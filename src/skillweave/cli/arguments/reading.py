"""Files and standard input that a command line names: regular files only, and within limits."""

import sys
from collections.abc import Iterator
from pathlib import Path

from skillweave.cli.failure import Mistake

MOST_BYTES = 16 * 1024 * 1024
"""What is read of standard input, and of any file but a transcript."""


def file_of(name: str) -> Path | None:
    """The file that a path or a `sqlite:///` URL names; None for what is on a server, or in memory."""
    scheme, separator, rest = name.partition("://")
    if not separator:
        return Path(name)
    return Path(rest.partition("?")[0].removeprefix("/")) if scheme == "sqlite" else None


def read_file(path: str, what: str, wanted: str, *, limit: int = MOST_BYTES) -> bytes:
    """The content of a regular file of at most `limit` bytes; errors call it `what`. Raises Mistake."""
    from skillweave.sources import codes
    from skillweave.sources.files import Refused, read_real

    try:
        return read_real(path, limit).data
    except Refused as refused:
        if refused.code is codes.VANISHED:
            raise Mistake(f"{what} {path!r} does not exist; check the path") from None
        fix = f"name {wanted}" if refused.code is codes.NOT_A_FILE else refused.fix
        raise Mistake(f"{what} {path!r} is not read: {refused.why}; {fix}") from None


def read_input(what: str) -> bytes:
    """All of standard input; raises Mistake for more than 16 MiB."""
    data = sys.stdin.buffer.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise Mistake(f"{what} on standard input has more than {MOST_BYTES >> 20} MiB; shorten it")
    return data


def input_lines(what: str) -> Iterator[bytes]:
    """Standard input line by line as they come; raises Mistake for a line of more than 16 MiB."""
    while line := sys.stdin.buffer.readline(MOST_BYTES + 1):
        if len(line) > MOST_BYTES:
            raise Mistake(f"{what} on standard input has more than {MOST_BYTES >> 20} MiB in one line; shorten it")
        yield line
