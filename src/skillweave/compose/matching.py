"""Whether one call falls under one tool entry, always judged to the safe side (spec 4.3).

Rules on arguments narrow what an honest agent does; they are no sandbox, since a shell spells one thing in many ways.
"""

import re
from collections.abc import Mapping

from skillweave.relations.tool_entry import Form, ToolEntry

DEFAULT_ARGUMENT = "command"
"""The argument whose text is matched, where a tool's declaration names no other."""

_OPERATOR = re.compile(r"[;|&`<>]|\$\(")
_SEPARATOR = re.compile(r"[/\\]")


def matched_text(arguments: Mapping[str, object] | None, argument: str = DEFAULT_ARGUMENT) -> str | None:
    """The text that patterns are matched with, None when the call has no such text.

    Arguments that are no mapping, such as JSON text that a host has not parsed, have none.
    """
    text = arguments.get(argument) if isinstance(arguments, Mapping) else None
    return text if isinstance(text, str) else None


def permits(entry: ToolEntry, tool: str, text: str | None) -> bool:
    """Whether an allowing entry covers the call; a pattern on arguments never covers text that is not plain."""
    if entry.form is Form.BROKEN or not entry.names(tool):
        return False
    if entry.form is Form.TOOL:
        return True
    if text is None or not is_plain(text):
        return False
    if entry.form is Form.EXACT:
        return text.strip() == entry.argument
    return _continues(text.strip(), entry.argument)


def prohibits(entry: ToolEntry, tool: str, text: str | None) -> bool:
    """Whether a forbidding entry covers the call; a pattern on arguments covers all text that is not plain or missing.

    A prefix is taken letter by letter (`python:*` also stops `python3`), and so is what stands before a `*` elsewhere.
    """
    if not entry.names(tool):
        return False
    if entry.form in (Form.TOOL, Form.BROKEN) or text is None or not is_plain(text):
        return True
    stem, star, _ = entry.argument.partition("*")
    if entry.form is Form.EXACT and not star:
        return _squeezed(text) == _squeezed(entry.argument)
    return _squeezed(text).startswith(_squeezed(stem)) or (stem.endswith("/") and _climbs(text))


def is_plain(text: str) -> bool:
    """Whether a text means what it shows: no shell operator, no redirection, no control or invisible character."""
    return text.isprintable() and _OPERATOR.search(text) is None


def _continues(text: str, prefix: str) -> bool:
    # `git:*` is the command git, not gitleaks: what follows begins a new word, unless the prefix itself ended one.
    if not text.startswith(prefix):
        return False
    rest = text[len(prefix) :]
    if prefix.endswith("/"):
        return not _climbs(rest)
    return not prefix or not rest or rest[0] == " " or not prefix[-1].isalnum()


def _climbs(path: str) -> bool:
    return ".." in _SEPARATOR.split(path)


def _squeezed(text: str) -> str:
    return " ".join(text.split())
