"""Our own blocks in a host's list, told from the host's messages, so that they are never taken for somebody's words.

This says only whose a text is. Whether a block is in the context is the ledger's question, and a header proves nothing
there (spec 5.4).
"""

import re
from collections.abc import Sequence

from skillweave.conversation import Part
from skillweave.disclose.escape import HEADER_END, HEADERS

SEPARATOR = "\n\n"
"""Between two of our texts in one place; blocks are recognised from header to header."""

_HEADER = re.compile(
    f"(?:{'|'.join(re.escape(header) for header in HEADERS)})[^\r\n]*{re.escape(HEADER_END)}(?:\r?\n|$)"
)


def is_block(part: Part) -> bool:
    """Whether the part is a text that starts with the header line of a block."""
    return isinstance(part, str) and _HEADER.match(part) is not None


def all_blocks(parts: Sequence[Part]) -> bool:
    """Whether there is nothing but blocks, and at least one."""
    return bool(parts) and all(is_block(part) for part in parts)
