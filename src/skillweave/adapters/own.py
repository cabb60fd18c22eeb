"""Our own blocks in a host's list, told from the host's messages, so that they are never taken for somebody's words.

This says only whose a text is. Whether a block is in the context is the ledger's question, and a header proves nothing
there (spec 5.4).
"""

import re
from collections.abc import Sequence

from skillweave.conversation import Part
from skillweave.disclose.block import HEADER_END, HEADERS
from skillweave.turn.reconcile import split_at_blocks

SEPARATOR = "\n\n"
"""Between two of our texts in one place; blocks are recognised from header to header."""

_HEADER = re.compile(
    f"(?:{'|'.join(re.escape(header) for header in HEADERS)})[^\r\n]*{re.escape(HEADER_END)}(?:\r?\n|$)"
)


TAKEN_OUT = "(Skill text that stood here was taken out to make room; load it again when it is needed.)"
"""What stands in the place of a text that was taken out."""


def is_block(part: Part) -> bool:
    """Whether the part is a text that starts with the header line of a block, or stands in the place of one."""
    return isinstance(part, str) and (_HEADER.match(part) is not None or part == TAKEN_OUT)


def without_blocks(parts: Sequence[Part]) -> tuple[Part, ...]:
    """What a tool answered, without our blocks: the same whether they still stand there or were taken out."""
    texts = ("" if part == TAKEN_OUT else split_at_blocks(part)[0] for part in parts if isinstance(part, str))
    others = (part for part in parts if not isinstance(part, str))
    return (*(left for text in texts if (left := text.rstrip())), *others)


def all_blocks(parts: Sequence[Part]) -> bool:
    """Whether there is nothing but blocks, and at least one."""
    return bool(parts) and all(is_block(part) for part in parts)
