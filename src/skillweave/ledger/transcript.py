"""What a transcript still holds of the blocks that were given (spec 5.4)."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from skillweave.conversation import Message
from skillweave.disclose.block import text_digest
from skillweave.disclose.escape import HEADERS

_BLOCK_START = re.compile("^(?:" + "|".join(re.escape(header) for header in HEADERS) + ")", re.MULTILINE)


def blocks_in(messages: Sequence[Message]) -> Counter[str]:
    """How often each block stands in the messages, by the digest of its text; linear in their length.

    A header alone, in anybody's message, proves nothing: only the digest of the whole text does. Several blocks in one
    text are told apart by their headers; a message's id is not needed, so that hosts without ids work the same.
    """
    return Counter(
        text_digest(block) for message in messages for text in message.texts() for block in _block_texts(text)
    )


def _block_texts(text: str) -> Iterator[str]:
    if HEADERS[0][:4] not in text:
        return
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    starts = [match.start() for match in _BLOCK_START.finditer(normal)]
    for start, end in zip(starts, [*starts[1:], len(normal)], strict=bool(starts)):
        yield normal[start:end]
