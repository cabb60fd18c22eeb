"""Quotes where the author left them out: `description: Use when: a colon follows` (spec 1.2)."""

import re
from dataclasses import dataclass

_ENTRY = re.compile(r"(?P<indent>[ ]*(?:-[ ]+)*)(?P<key>\w[\w ./-]*):[ \t]+(?P<value>\S.*)")
_CLOSED_THEN_TEXT = re.compile(r"""(?:\[[^\[\]]*\]|"[^"\\]*"|'[^']*')[ \t]*[^\s#,]""")
_NEVER_QUOTED = frozenset("\"'[{|>&*!#")


@dataclass(frozen=True, slots=True)
class Quoted:
    """The text with one more value in quotes; `line` counts from 1. No line was added or removed."""

    text: str
    key: str
    line: int


def quote_value(text: str, line: int) -> Quoted | None:
    """The same YAML with the value around that line in quotes; None where that cannot be what was meant.

    Left alone are block texts, aliases, tags, and quotes or brackets that never close.
    """
    lines = text.split("\n")
    start = 0
    while start < line and start < len(lines):
        entry = _ENTRY.fullmatch(lines[start])
        if entry is None:
            start += 1
            continue
        end = _end(lines, start, len(entry["indent"]))
        if start < line <= end:
            return _quoted(lines, start, end, entry)
        start = end
    return None


def _end(lines: list[str], start: int, indent: int) -> int:
    """The index after the last line of a value: all that follows and is indented more than its key."""
    end = start + 1
    for index in range(start + 1, len(lines)):
        content = lines[index].lstrip(" ")
        if not content.strip():
            continue
        if len(lines[index]) - len(content) <= indent:
            break
        end = index + 1
    return end


def _quoted(lines: list[str], start: int, end: int, entry: re.Match[str]) -> Quoted | None:
    value = entry["value"]
    if value[0] in _NEVER_QUOTED and not _CLOSED_THEN_TEXT.match(value):
        return None
    at = entry.start("value")
    body = [lines[start][at:], *lines[start + 1 : end]]
    body = "\n".join(body).rstrip().replace("'", "''").split("\n")
    body[0] = f"{lines[start][:at]}'{body[0]}"
    body[-1] += "'"
    return Quoted("\n".join([*lines[:start], *body, *lines[end:]]), entry["key"].strip(), start + 1)
