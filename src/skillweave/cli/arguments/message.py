"""MESSAGE as it comes from the command line, or from standard input."""

import sys

from skillweave.cli.failure import Mistake


def message_text(given: str) -> str:
    """The text of the message; `-` reads standard input. Raises Mistake for what is no UTF-8."""
    if given == "-":
        return decoded(sys.stdin.buffer.read(), "standard input")
    try:
        given.encode()
    except UnicodeEncodeError as error:
        raise Mistake(
            f"MESSAGE is no UTF-8 text from its character {error.start + 1} on; give it in UTF-8, or by standard input "
            "with `-` as MESSAGE"
        ) from None
    return given


def decoded(data: bytes, what: str) -> str:
    """Bytes as text, without a byte order mark; raises Mistake naming the first byte that is no UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Mistake(f"{what} is no UTF-8 text (byte {error.start + 1}); save it as UTF-8 and try again") from None
