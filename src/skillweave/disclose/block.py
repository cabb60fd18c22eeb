"""A block: a piece of text in the context that can be recognised again by the digest of its text."""

import re
from dataclasses import dataclass
from hashlib import sha256

from skillweave.diagnostics import Diagnostic

_DIGEST_LENGTH = 32


@dataclass(frozen=True, slots=True)
class Priced:
    """A text with its tokens, its digest, and what had to be escaped in it."""

    text: str
    tokens: int
    digest: str
    diagnostics: tuple[Diagnostic, ...] = ()

    def carrier(self, turn_id: str) -> str:
        """The id of the message that carries this text, given in this turn: a replay's is the same, others differ."""
        return carrier_of(self.digest, turn_id)


def text_digest(text: str) -> str:
    """The digest of a block's normalised text: LF line ends, lines stripped on the right (spec 5.4)."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    normal = "\n".join(map(str.rstrip, lines)).rstrip("\n")
    return sha256(normal.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGEST_LENGTH]


def carrier_of(digest: str, turn_id: str) -> str:
    """The id of the message that carries the text of that digest, given in that turn."""
    turn = sha256(turn_id.encode("utf-8", "surrogatepass")).hexdigest()[:12]
    return f"sw-{digest}-{turn}"


_CARRIER = re.compile(rf"sw-([0-9a-f]{{{_DIGEST_LENGTH}}})-[0-9a-f]{{12}}")


def digest_in(carrier: str) -> str:
    """The text digest inside a carrier; the empty text for an id that is not a carrier."""
    match = _CARRIER.fullmatch(carrier)
    return match.group(1) if match else ""
