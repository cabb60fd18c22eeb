"""What a transcript still holds of the blocks that were given (spec 5.4)."""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import sha256
from os.path import commonprefix

from skillweave.conversation import Message
from skillweave.disclose.block import text_digest
from skillweave.disclose.escape import HEADERS

_BEGINNING = commonprefix(HEADERS)  # noqa: RUF071 - letter by letter is what is meant
# Written with what all headers begin with, and without `^`: so the engine jumps from one such place to the next.
_HEADER = re.compile(f"{re.escape(_BEGINNING)}(?:{'|'.join(re.escape(h.removeprefix(_BEGINNING)) for h in HEADERS)})")


def blocks_in(messages: Sequence[Message]) -> Counter[str]:
    """How often each block stands in the messages, by the digest of its text; linear in their length.

    A header alone, in anybody's message, proves nothing: only the digest of the whole text does. Several blocks in one
    text are told apart by their headers; a message's id is not needed, so that hosts without ids work the same.
    """
    return Counter(
        text_digest(block) for message in messages for text in message.texts() for block in block_texts(text)
    )


def digest_of(messages: Sequence[Message]) -> str:
    """The same for two calls that the model made in one reply, another as soon as there is one more message."""
    whole = sha256()
    for message in messages:
        whole.update(repr((message.role.value, message.content)).encode("utf-8", "surrogatepass"))
    return whole.hexdigest()[:16]


def block_texts(text: str) -> Sequence[str]:
    """The blocks that one text holds, from header to header, with LF line ends."""
    return split_at_blocks(text)[1]


def split_at_blocks(text: str) -> tuple[str, Sequence[str]]:
    """What stands before the first block, and the blocks; the text itself where it holds none."""
    if _BEGINNING not in text:
        return text, ()
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    places = (match.start() for match in _HEADER.finditer(normal))
    starts = [place for place in places if place == 0 or normal[place - 1] == "\n"]
    if not starts:
        return text, ()
    return normal[: starts[0]], [normal[start:end] for start, end in zip(starts, [*starts[1:], None], strict=True)]
