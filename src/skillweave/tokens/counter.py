"""How many tokens a text costs: the port, a counter that remembers, and exact counts in two public vocabularies."""

import re
from collections.abc import Iterator
from functools import cache, cached_property
from typing import TYPE_CHECKING, Protocol

from skillweave.errors import SkillweaveError
from skillweave.tokens.few import few_texts
from skillweave.tokens.ranks import VOCABULARIES, ranks_of

if TYPE_CHECKING:
    import tiktoken


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


DEFAULT_ENCODING = "o200k_base"
LONGEST_RUN = 500_000
"""The library stumbles somewhere above 600,000 blanks in a row."""
# Only tried where a run begins: tried at each of its blanks, it would take quadratic time.
_LONG_RUN = re.compile(rf"(?<!\s)\s{{{LONGEST_RUN},}}")


class Tiktoken:
    """Exact counts in a public vocabulary, offline; loads at the first count in 60 ms, or at `warm_up`."""

    exact = True

    def __init__(self, encoding: str = DEFAULT_ENCODING) -> None:
        if encoding not in VOCABULARIES:
            raise SkillweaveError(
                f"no vocabulary {encoding!r} is shipped; choose one of {', '.join(VOCABULARIES)}, or pass a counter"
            )
        self.encoding = encoding

    def warm_up(self) -> None:
        """Read the vocabulary and build the encoder now (0.2 s) instead of when they are needed."""
        self._bpe.encode_ordinary("")

    def count(self, text: str) -> int:
        """Tokens of the text; special tokens count as plain text, very long runs of blanks in pieces."""
        if "_bpe" not in vars(self):
            few = few_texts(self.encoding).count(text)
            if few is not None:
                return few
        return sum(len(self._bpe.encode_ordinary(piece)) for piece in _pieces(text))

    @cached_property
    def _bpe(self) -> "tiktoken.Encoding":
        return _encoding(self.encoding)


def _pieces(text: str) -> Iterator[str]:
    """The text as it is, unless a run of blanks in it is so long that matching it overflows the library's stack."""
    start = 0
    if len(text) > LONGEST_RUN:
        for run in _LONG_RUN.finditer(text):
            for end in range(run.start() + LONGEST_RUN, run.end(), LONGEST_RUN):
                yield text[start:end]
                start = end
    yield text[start:]


@cache
def _encoding(name: str) -> "tiktoken.Encoding":
    # One for all counters of the process: it never changes, takes 0.15 s to build and tens of MB to keep.
    import tiktoken

    vocabulary = VOCABULARIES[name]
    return tiktoken.Encoding(
        name,
        pat_str=vocabulary.split,
        mergeable_ranks=ranks_of(name),
        special_tokens={"<|endoftext|>": vocabulary.end_of_text},
    )
