"""Docstrings without the sources of rules, which are for readers of the code."""

import re

_SOURCES = (
    (re.compile(r"\s*\((?:[^()]*,\s+)?(?:spec|seeds?)\s[^()]*\)"), ""),
    (re.compile(r"\s+(?:of|in) (?:the )?seeds? \d{3}(?: and \d{3})?(?:'s [\w ]+)?"), ""),
    (re.compile(r"\b[Ss]eed \d{3}'s "), "the "),
    (re.compile(r"\s+of spec \d+(?:\.\d+)?(?: and \d+(?:\.\d+)?)?"), ""),
    (re.compile(r"(?<=: )spec \d+(?:\.\d+)?, and "), ""),
)


def plain(docstring: str) -> str:
    """The text without `(spec 5.4)`, `(seed 002)` and the like."""
    for pattern, replacement in _SOURCES:
        docstring = pattern.sub(replacement, docstring)
    return docstring[:1].upper() + docstring[1:]
