"""The vocabularies that are shipped: how a text is cut in each, and the rank of every token."""

from dataclasses import dataclass
from functools import cache
from hashlib import sha256

from skillweave.errors import SkillweaveError

BETWEEN = b"\xc0\xc1"
"""What stands between two tokens of a file: bytes that no UTF-8 text has, so that no token holds both."""


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """A published vocabulary: the hash of the file that we ship, and how a text is cut before merging."""

    sha256: str
    split: str
    end_of_text: int


_CASED_WORD = r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]"
_LOWER = r"[\p{Ll}\p{Lm}\p{Lo}\p{M}]"
_SUFFIX = r"(?i:'s|'t|'re|'ve|'m|'ll|'d)"

VOCABULARIES = {
    "o200k_base": Vocabulary(
        sha256="a87e5adefecc2f5ef81deda1bb6d4250d8759eabde3b4e45e1fd6f353eac450e",
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
    "cl100k_base": Vocabulary(
        sha256="8aa70cd2ef028d270758ceef90b534380c4585e7fe3c983fd2e1c0537b30ea0c",
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


@cache
def ranks_of(encoding: str) -> dict[bytes, int]:
    """The rank of every token of a shipped vocabulary, read once. Raises SkillweaveError for a changed file."""
    from importlib.resources import files

    data = files("skillweave.tokens").joinpath("vocabularies", f"{encoding}.tokens").read_bytes()
    expected, found = VOCABULARIES[encoding].sha256, sha256(data).hexdigest()
    if found != expected:
        raise SkillweaveError(
            f"the vocabulary file of {encoding} is damaged (SHA-256 {found[:12]}…, expected {expected[:12]}…); "
            "install skillweave again"
        )
    tokens = data.split(BETWEEN)
    return dict(zip(tokens, range(len(tokens)), strict=True))
