"""Cutting folded text into the words that ranking counts."""

import re

from skillweave.text.boundary import UNSPACED_RUN
from skillweave.text.folding import fold
from skillweave.text.stop_words import STOP_WORDS

_MARKS = (
    "\u0300-\u036f\u0483-\u0487\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e8\u06ea-\u06ed"
    "\u0711\u0730-\u074a\u07a6-\u07b0\u0900-\u0903\u093a-\u094f\u0955-\u0957\u0962\u0963\u0981-\u0983\u09bc-\u09cd"
    "\u0a01-\u0a03\u0a3c-\u0a51\u0a81-\u0a83\u0abc-\u0acd\u0b01-\u0b03\u0b3c-\u0b57\u0b82\u0bbe-\u0bcd\u0c00-\u0c04"
    "\u0c3c-\u0c56\u0c81-\u0c83\u0cbc-\u0cd6\u0d00-\u0d03\u0d3b-\u0d4d\u0d81-\u0d83\u0dca-\u0ddf\u0e31\u0e34-\u0e3a"
    "\u0e47-\u0e4e\u0eb1\u0eb4-\u0ebc\u0ec8-\u0ecd\u0f71-\u0f84\u102b-\u103e\u1056-\u1059\u135d-\u135f\u17b4-\u17d3"
    "\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20f0\u3099\u309a"
)
_WORD = re.compile(f"[\\w{_MARKS}]{{2,}}|[^\\W\\d](?:\\+\\+|#)(?!\\w)|[^\\W\\d\x00-\x7f]")
_ASCII_WORD = re.compile(r"[a-z0-9]{2,}|[a-z](?:\+\+|#)(?!\w)")


def words_of(text: str) -> list[str]:
    """The content words of a text, folded, in order: two or more letters or digits, or `c++`, `c#`; no stop words.

    A run of a script without spaces counts as its overlapping pairs of characters.
    """
    folded = fold(text).replace("_", " ")
    ascii_only = folded.isascii()
    found = (_ASCII_WORD if ascii_only else _WORD).findall(folded)
    words = [word for word in found if word not in STOP_WORDS]
    if not ascii_only and UNSPACED_RUN.search(folded):
        return [piece for word in words for piece, _, _ in _pieces(word, 0)]
    return words


def word_spans(folded: str) -> dict[str, tuple[int, int]]:
    """The distinct content words of a folded text, each with the span of its first occurrence in that text."""
    text = folded.replace("_", " ")
    ascii_only = text.isascii()
    unspaced = not ascii_only and UNSPACED_RUN.search(text) is not None
    spans: dict[str, tuple[int, int]] = {}
    for match in (_ASCII_WORD if ascii_only else _WORD).finditer(text):
        word = match[0]
        if word in spans or word in STOP_WORDS:
            continue
        if not unspaced:
            spans[word] = match.span()
            continue
        for piece, start, end in _pieces(word, match.start()):
            spans.setdefault(piece, (start, end))
    return spans


def _pieces(word: str, offset: int) -> list[tuple[str, int, int]]:
    """A word with characters of unspaced scripts as pairs of these, the rest of it whole."""
    pieces: list[tuple[str, int, int]] = []
    done = 0
    for run in UNSPACED_RUN.finditer(word):
        start, end = run.span()
        if done < start:
            pieces.append((word[done:start], offset + done, offset + start))
        width = 2 if end - start > 1 else 1
        pieces.extend((word[at : at + width], offset + at, offset + at + width) for at in range(start, end - width + 1))
        done = end
    if done < len(word):
        pieces.append((word[done:], offset + done, offset + len(word)))
    return pieces
