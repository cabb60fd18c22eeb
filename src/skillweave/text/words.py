"""The words of a text: how it is cut, which of them say nothing, and when two count as the same."""

import re
import unicodedata
from collections.abc import Iterator
from itertools import filterfalse, groupby
from pathlib import Path

from skillweave.text.plain import MARKS, lower_words, plain_text
from skillweave.text.search import UNSPACED_RUN, fold


def _listed(name: str, part: str = "") -> frozenset[str]:
    """The words of a list; of one that has headings those under one of them, where it is named."""
    text = Path(__file__).with_name(name).read_text(encoding="utf-8")
    lines = (text.partition(f"# {part}\n")[2].partition("\n#")[0] if part else text).splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


STOP_WORDS = _listed("stop_words.txt") | _listed("function_words.txt")
"""Words that say nothing about what a message is about; they are neither indexed nor looked for.

English ones, and those of some other languages without their marks, as far as no English text means something by them.
"""
ENGLISH_STOP_WORDS = _listed("stop_words.txt", "English")
SHARED_WORDS = _listed("shared_words.txt")
"""Function words of other languages that mean something in English, such as `hat` and `la`."""
_DROPPED = STOP_WORDS.union("abcdefghijklmnopqrstuvwxyz0123456789")

_WORD = re.compile(f"[\\w{MARKS}]{{2,}}|[^\\W\\d](?:\\+\\+|#)(?!\\w)|[^\\W\\d\x00-\x7f]")
_ASCII_WORD = re.compile(r"[a-z0-9]{2,}|[a-z](?:\+\+|#)(?!\w)")


def plain_word(word: str) -> str:
    """A folded word without the marks on its letters."""
    if word.isascii():
        return word
    return "".join(letter for letter in unicodedata.normalize("NFD", word) if not unicodedata.combining(letter))


_LAST_MARK = "\u309a"
"""Behind it no letter has a mark that could be taken from it, nor is one a mark."""


def _is_empty(word: str) -> bool:
    if word in STOP_WORDS:
        return True
    return not word.isascii() and word[0] <= _LAST_MARK and plain_word(word) in STOP_WORDS


def words_of(text: str) -> list[str]:
    """The content words of a text, folded, in order: two or more letters or digits, or `c++`, `c#`; no stop words.

    A run of a script without spaces counts as its overlapping pairs of characters.
    """
    plain = plain_text(text)
    if plain is None:
        return list(_mixed_words(text)) if "\n" in text else _folded_words(text)
    cut = lower_words(plain)
    return _folded_words(plain) if cut is None else list(filterfalse(_DROPPED.__contains__, cut))


def _mixed_words(text: str) -> Iterator[str]:
    # Folding is slow, and most lines of most texts with an accent have none.
    for odd, lines in groupby(text.split("\n"), lambda line: plain_text(line) is None):
        block = "\n".join(lines)
        yield from _folded_words(block) if odd else words_of(block)


def _folded_words(text: str) -> list[str]:
    folded = fold(text).replace("_", " ")
    ascii_only = folded.isascii()
    found = (_ASCII_WORD if ascii_only else _WORD).findall(folded)
    words = [word for word in found if not _is_empty(word)]
    if not ascii_only and UNSPACED_RUN.search(folded):
        return [word[start:end] for word in words for start, end in _pieces(word)]
    return words


def is_foreign(folded: str) -> bool:
    """Whether a folded text has function words of another language and none of English."""
    words = {plain_word(word) for word in _WORD.findall(folded)}
    return words.isdisjoint(ENGLISH_STOP_WORDS) and not words.isdisjoint(STOP_WORDS)


def words_in(folded: str) -> Iterator[tuple[str, int, int]]:
    """The content words of a folded text in order, each with its span in that text."""
    text = folded.replace("_", " ")
    ascii_only = text.isascii()
    unspaced = not ascii_only and UNSPACED_RUN.search(text) is not None
    for match in (_ASCII_WORD if ascii_only else _WORD).finditer(text):
        word = match[0]
        if _is_empty(word):
            continue
        if unspaced:
            yield from ((word[a:b], match.start() + a, match.start() + b) for a, b in _pieces(word))
        else:
            yield word, match.start(), match.end()


def word_spans(folded: str) -> dict[str, tuple[int, int]]:
    """The distinct content words of a folded text, each with the span of its first occurrence in that text."""
    spans: dict[str, tuple[int, int]] = {}
    for word, start, end in words_in(folded):
        spans.setdefault(word, (start, end))
    return spans


def _pieces(word: str) -> list[tuple[int, int]]:
    """The spans of each two characters of an unspaced script in a word, and of what else is in it, whole."""
    pieces: list[tuple[int, int]] = []
    done = 0
    for run in () if word.isascii() else UNSPACED_RUN.finditer(word):
        start, end = run.span()
        if done < start:
            pieces.append((done, start))
        width = 2 if end - start > 1 else 1
        pieces += [(at, at + width) for at in range(start, end - width + 1)]
        done = end
    if done < len(word):
        pieces.append((done, len(word)))
    return pieces


_SIBILANT_E = ("sse", "xe", "che", "she", "zze")


def singular(word: str) -> str:
    """The form under which a folded word is compared with others: without the `s` of a plural, and what comes with it.

    A rule of spelling, no dictionary: the form need not be a word (`movies` and `movie` are both `movy`). Words of
    three letters, and an `s` after `s` or `u`, stay as they are.
    """
    if len(word) < 4:
        return word
    stem = word[:-1] if word[-1] == "s" and word[-2] not in "su" else word
    if stem.endswith("ie") and len(stem) > 3:
        return stem[:-2] + "y"
    return stem[:-1] if stem.endswith(_SIBILANT_E) else stem


LIGHT_WORDS = _listed("light_words.txt")
"""Everyday English words: ranking counts them like others, but sharing them hardly shows that a skill is meant."""
