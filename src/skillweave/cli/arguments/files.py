"""What commands read from files and standard input: regular files only, and no more than 16 MiB of anything."""

import sys
from collections.abc import Iterator

from skillweave.cli.failure import Mistake

MOST_BYTES = 16 * 1024 * 1024


def read_file(path: str, what: str, wanted: str) -> bytes:
    """The bytes of a file; `what` names it and `wanted` what to give instead in errors.

    Raises Mistake for what is missing, too large, or no regular file: a device has no end, and a pipe perhaps no
    writer.
    """
    from skillweave.sources import codes
    from skillweave.sources.files import Refused, read_real

    try:
        return read_real(path, MOST_BYTES).data
    except Refused as refused:
        if refused.code is codes.VANISHED:
            raise Mistake(f"{what} {path!r} does not exist; check the path") from None
        fix = wanted if refused.code is codes.NOT_A_FILE else refused.fix
        raise Mistake(f"{what} {path!r} is not read: {refused.why}; {fix}") from None


def read_input(what: str) -> bytes:
    """All of standard input; raises Mistake where it has more than 16 MiB, as one without end has."""
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
