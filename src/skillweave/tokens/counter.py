"""How many tokens a text costs: the port, a counter that remembers, and exact counts in two public vocabularies."""

import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import blake2b, sha256
from typing import TYPE_CHECKING, Protocol

from skillweave.errors import SkillweaveError

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


REMEMBERED_TEXTS = 50_000


class CountedOnce:
    """A counter around another one, that asks it once for each text and remembers texts by their digest (spec 5.2)."""

    def __init__(self, counter: TokenCounter, *, remember: int = REMEMBERED_TEXTS) -> None:
        self.encoding = counter.encoding
        self.exact = counter.exact
        self._counter = counter
        self._remember = remember
        self._counts: OrderedDict[bytes, int] = OrderedDict()

    def count(self, text: str) -> int:
        """Return the tokens of the text, counted at its first appearance only."""
        digest = blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()
        known = self._counts.get(digest)
        if known is not None:
            return known
        tokens = self._counter.count(text)
        self._counts[digest] = tokens
        if len(self._counts) > self._remember:
            self._counts.popitem(last=False)
        return tokens


@dataclass(frozen=True, slots=True)
class _Vocabulary:
    """A published vocabulary: the hash of its rank file, and how a text is cut before merging."""

    sha256: str
    split: str
    end_of_text: int


_CASED_WORD = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"

VOCABULARIES = {
    "o200k_base": _Vocabulary(
        sha256="446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
        split="|".join(
            [
                rf"{_CASED_WORD}*{_LOWER}+{_SUFFIX}?",
                rf"{_CASED_WORD}+{_LOWER}*{_SUFFIX}?",
                r"\p{N}{1,3}",
                r" ?[^\s\p{L}\p{N}]+[\r\n/]*",
                r"\s*[\r\n]+",
                r"\s+(?!\S)",
                r"\s+",
            ]
        ),
        end_of_text=199_999,
    ),
    "cl100k_base": _Vocabulary(
        sha256="223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
        split="|".join(
            [
                r"'(?i:[sdmt]|ll|ve|re)",
                r"[^\r\n\p{L}\p{N}]?+\p{L}++",
                r"\p{N}{1,3}+",
                r" ?[^\s\p{L}\p{N}]++[\r\n]*+",
                r"\s++$",
                r"\s*[\r\n]",
                r"\s+(?!\S)",
                r"\s",
            ]
        ),
        end_of_text=100_257,
    ),
}
DEFAULT_ENCODING = "o200k_base"
LONGEST_RUN = 500_000
"""The library stumbles somewhere above 600,000 blanks in a row."""
# Only tried where a run begins: tried at each of its blanks, it would take quadratic time.
_LONG_RUN = re.compile(rf"(?<!\s)\s{{{LONGEST_RUN},}}")


class Tiktoken:
    """Exact counts in a public vocabulary, offline; the vocabulary is built at the first count or by `warm_up`."""

    exact = True

    def __init__(self, encoding: str = DEFAULT_ENCODING) -> None:
        if encoding not in VOCABULARIES:
            raise SkillweaveError(
                f"no vocabulary {encoding!r} is shipped; choose one of {', '.join(VOCABULARIES)}, or pass a counter"
            )
        self.encoding = encoding

    def warm_up(self) -> None:
        """Build the vocabulary now (0.3 to 0.5 s) instead of at the first count."""
        self._bpe.encode_ordinary("")

    def count(self, text: str) -> int:
        """Tokens of the text; markup of special tokens counts as the plain text that it is in a skill.

        A run of more than 500,000 blanks, over which the library would stumble, is counted in pieces.
        """
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
    # One for all counters of the process: it never changes, takes half a second to build and tens of MB to keep.
    import tiktoken

    vocabulary = VOCABULARIES[name]
    return tiktoken.Encoding(
        name,
        pat_str=vocabulary.split,
        mergeable_ranks=_ranks(name, vocabulary.sha256),
        special_tokens={"<|endoftext|>": vocabulary.end_of_text},
    )


def _ranks(encoding: str, expected: str) -> dict[bytes, int]:
    import gzip
    from base64 import b64decode
    from importlib.resources import files

    packed = files("skillweave.tokens").joinpath("vocabularies", f"{encoding}.tiktoken.gz").read_bytes()
    lines = gzip.decompress(packed)
    found = sha256(lines).hexdigest()
    if found != expected:
        raise SkillweaveError(
            f"the vocabulary file of {encoding} is damaged (SHA-256 {found[:12]}…, expected {expected[:12]}…); "
            "install skillweave again"
        )
    pairs = (line.split() for line in lines.splitlines() if line)
    return {b64decode(token): int(rank) for token, rank in pairs}
