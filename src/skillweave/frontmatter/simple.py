"""The YAML of most front matter, read line by line: twice as fast as the stream of events.

It reads keys with texts, one level of lists and mappings, and nothing else. Whatever is not of that kind, down to
comments and blank lines, it leaves to the events; what it does read, it reads the same (property-tested).
"""

import re

from skillweave.frontmatter.events import Keys, Parsed, Tree
from skillweave.frontmatter.scalars import Plain

LONGEST = 8192
"""Characters of the longest text that is tried; so no limit of the events can be passed by."""

_NEVER = r"\x00-\x1f\x7f-\xa0\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff"
# Possessive: what follows a text can never lie inside it, and trying that would be quadratic in its spaces.
_PLAIN = rf"[^\W_][^{_NEVER}:#]*+(?:(?::(?![ ]|\Z)|(?<![ ])#)[^{_NEVER}:#]*+)*+"
_QUOTED = rf"\"[^{_NEVER}\"\\]*\"|'[^{_NEVER}']*'"
_ITEM = rf"[^\W_][^{_NEVER}:#,\[\]{{}}]*|{_QUOTED}"
_VALUE = rf"(?P<plain>{_PLAIN})|(?P<quoted>{_QUOTED})[ ]*"
_KEY = r"(?P<key>[A-Za-z_][A-Za-z0-9_-]{0,99})"

_TOP_LINE = re.compile(rf"{_KEY}:(?:[ ]+(?:{_VALUE}|(?P<items>\[[ ]*(?:{_ITEM})(?:,[ ]*(?:{_ITEM}))*\])[ ]*))?[ ]*")
_INNER_LINE = re.compile(rf"(?P<indent>[ ]*)(?:-[ ]+|{_KEY}:[ ]+)(?:{_VALUE})")
_ITEMS = re.compile(rf"({_ITEM})")


def parse_simple(text: str, first_line: int) -> Parsed | None:
    """The same as `parse` for text of the simple kind, None for any other."""
    if not text or len(text) > LONGEST:
        return None
    data: dict[str, Tree] = {}
    lines: dict[Keys, int] = {}
    rows = text.removesuffix("\n").split("\n")
    at = 0
    while at < len(rows):
        row = _TOP_LINE.fullmatch(rows[at])
        if row is None or row["key"] in data:
            return None
        key = row["key"]
        lines[(key,)] = first_line + at
        at += 1
        if row["plain"] is not None or row["quoted"] is not None:
            data[key] = _scalar(row)
        elif row["items"] is not None:
            data[key] = _flow(row["items"], key, first_line + at - 1, lines)
        else:
            end = _block(rows, at, key, first_line, data, lines)
            if end is None:
                return None
            at = end
    return Parsed(data, lines, ())


def _scalar(row: re.Match[str]) -> str:
    plain: str | None = row["plain"]
    return Plain(plain.rstrip(" ")) if plain is not None else row["quoted"][1:-1]


def _flow(items: str, key: str, line: int, lines: dict[Keys, int]) -> list[Tree]:
    found: list[Tree] = []
    for item in _ITEMS.findall(items[1:-1]):
        lines[(key, len(found))] = line
        found.append(item[1:-1] if item[0] in "\"'" else Plain(item.rstrip(" ")))
    return found


def _block(
    rows: list[str], at: int, key: str, first_line: int, data: dict[str, Tree], lines: dict[Keys, int]
) -> int | None:
    """Reads the list or mapping under a key that has no value beside it; the index behind it, None where not simple."""
    mapping: dict[str, Tree] = {}
    items: list[Tree] = []
    indent: str | None = None
    while at < len(rows):
        row = _INNER_LINE.fullmatch(rows[at])
        if row is None or (row["key"] is not None and not row["indent"]):
            break
        name = row["key"]
        if (indent is not None and row["indent"] != indent) or name in mapping:
            return None
        indent = row["indent"]
        if name is None:
            lines[(key, len(items))] = first_line + at
            items.append(_scalar(row))
        else:
            lines[(key, name)] = first_line + at
            mapping[name] = _scalar(row)
        at += 1
    if items and mapping:
        return None
    data[key] = items or mapping or Plain("")
    return at
