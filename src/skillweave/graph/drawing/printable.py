"""Declared text as a drawing shows it: on one line, not too long, of characters that every format can hold."""

import re
from unicodedata import category

BLANK = "(blank)"
"""Stands for a text of which nothing would be seen."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_NO_CHARACTER = re.compile("[\ud800-\udfff\ufffe\uffff]")
_SLACK = 10
_UNSEEN = frozenset({"Cf", "Zs"})


def printable(text: str, longest: int) -> str:
    """The text on one line, of at most so many characters; the end of a longer one becomes an ellipsis.

    Control characters count as white space. What is no character (half of a surrogate pair) becomes U+FFFD, since
    neither UTF-8 nor XML can hold it.
    """
    head = text[: longest * _SLACK]
    line = " ".join(_NO_CHARACTER.sub("\ufffd", _CONTROL.sub(" ", head)).split())
    if len(head) < len(text) and len(line) <= longest:
        line = f"{line[: longest - 1]}…"
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def seen(text: str, longest: int) -> str:
    """The printable text, or `BLANK` where nothing of it would be seen."""
    line = printable(text, longest)
    return BLANK if all(category(char) in _UNSEEN for char in line) else line
