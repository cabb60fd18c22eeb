"""The port of token counting, and a wrapper that counts each text once."""

from collections import OrderedDict
from hashlib import blake2b
from typing import Protocol


class TokenCounter(Protocol):
    """Counts tokens; `encoding` names the vocabulary, `exact` says whether counts are the model's own."""

    @property
    def encoding(self) -> str:
        """The vocabulary that counts are in, such as `o200k_base`."""
        ...

    @property
    def exact(self) -> bool:
        """Whether a count equals what a model with this vocabulary is billed for."""
        ...

    def count(self, text: str) -> int:
        """Tokens of the text, without any framing by a provider; never raises on odd characters."""
        ...


REMEMBERED_TEXTS = 50_000


class CountedOnce:
    """The same counter, remembering the count of each text by its digest (spec 5.2)."""

    def __init__(self, counter: TokenCounter, *, remember: int = REMEMBERED_TEXTS) -> None:
        self._counter = counter
        self._remember = remember
        self._counts: OrderedDict[bytes, int] = OrderedDict()

    @property
    def encoding(self) -> str:
        """The wrapped counter's vocabulary."""
        return self._counter.encoding

    @property
    def exact(self) -> bool:
        """Whether the wrapped counter is exact."""
        return self._counter.exact

    def count(self, text: str) -> int:
        """Tokens of the text, counted at its first appearance only."""
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._counts.get(digest)
        if known is not None:
            return known
        tokens = self._counter.count(text)
        self._counts[digest] = tokens
        if len(self._counts) > self._remember:
            self._counts.popitem(last=False)
        return tokens
