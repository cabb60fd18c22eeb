"""How messages and drawings show what somebody declared: on one line and short, whatever it holds."""

import re
from collections.abc import Iterable, Sequence
from itertools import islice
from unicodedata import category

BLANK = "(blank)"
"""Stands for a text of which nothing would be seen."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NO_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")
_SLACK = 10
_UNSEEN = frozenset({"Cf", "Zs"})
_LONGEST_NAME = 80
_MOST_NAMED = 5
_LONGEST_PIECE = 32
_MOST_PIECES = 3


def printable(text: str, longest: int) -> str:
    """The text on one line, cut with an ellipsis; control characters are blanks, half surrogates U+FFFD."""
    head = text[: longest * _SLACK]
    line = " ".join(_NO_CHARACTER.sub("\ufffd", _CONTROL.sub(" ", head)).split())
    if len(head) < len(text) and len(line) <= longest:
        line = f"{line[: longest - 1]}…"
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def visible(text: str, longest: int) -> str:
    """The printable text, or `BLANK` where nothing of it would be seen."""
    line = printable(text, longest)
    return BLANK if all(category(char) in _UNSEEN for char in line) else line


def piece(text: str) -> str:
    """The text as a part of a caption."""
    return printable(text, _LONGEST_PIECE)


def first_few(pieces: Iterable[str]) -> list[str]:
    """The first three pieces of a caption, and how many more there are."""
    rest = iter(pieces)
    first = list(islice(rest, _MOST_PIECES))
    more = sum(1 for _ in rest)
    return [*first, f"+{more} more"] if more else first


def named(text: str, longest: int = _LONGEST_NAME) -> str:
    """The text between backticks, as findings of the checkup name things."""
    cut = text[:longest]
    if not cut.isprintable():
        cut = "".join(letter if letter.isprintable() else "�" for letter in cut)
    return f"`{cut}…`" if len(text) > longest else f"`{cut}`"


def several(texts: Sequence[str]) -> str:
    """The first five texts between backticks, and how many more there are."""
    shown = list(map(named, texts[:_MOST_NAMED]))
    if len(texts) > _MOST_NAMED:
        return f"{', '.join(shown)} and {len(texts) - _MOST_NAMED} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}" if shown else "nothing"


def sentence(words: str) -> str:
    """The words as a sentence begins: with a capital letter."""
    return words[:1].upper() + words[1:]
