"""Ids of entities in what a user writes, found by the patterns of a pack (spec 6.2)."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from skillweave.errors import InvalidContext
from skillweave.knowledge.entity import alias_key
from skillweave.knowledge.rules import IdPattern
from skillweave.text.search import (
    LEAST_READ,
    MOST_MATCHED,
    MOST_STEPS,
    BrokenPattern,
    GroupedMatch,
    GroupedPattern,
    compile_groups,
    size_of,
)

LONGEST_REF = 200
"""Characters of an id that is recognised; longer is none."""
MOST_WORDS = 300
"""Words of a text in which names are looked for: half of them from its beginning, half from its end."""
LONGEST_IN_WORDS = 8
_WORD = re.compile(r"[^\s'\u2019,;:/()\u2013\u2014]+")
_GROUP = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True, slots=True)
class Recognised:
    """An id in a text: as the graph spells it, and as it was written."""

    ref: str
    written: str


class Recogniser:
    """Finds ids in a text; `size` counts the patterns' instructions. Raises InvalidContext for a bad pattern."""

    def __init__(self, patterns: Iterable[IdPattern] = ()) -> None:
        self._compiled = [(_compiled(one), one.spelled) for one in patterns]
        self.size = sum(size_of(pattern) for pattern, _ in self._compiled)
        self._most = min(MOST_MATCHED, max(LEAST_READ, MOST_STEPS // max(self.size, 1)))

    def find(self, text: str) -> Recognised | None:
        """The first id in the text, None without any; of a text that is too long both ends are read."""
        if not self._compiled:
            return None
        if len(text) > self._most:
            half = self._most // 2
            text = f"{text[:half]}\n{text[len(text) - half :]}"
        encoded = text.encode("utf-8", "replace")
        found = [(match, spelled) for pattern, spelled in self._compiled if (match := pattern.search(encoded))]
        for match, spelled in sorted(found, key=lambda one: one[0].span()[0]):
            start, end = match.span()
            written = encoded[start:end].decode("utf-8", "replace")
            ref = _spelled(match, spelled) if spelled else written
            if ref.strip() and len(ref) <= LONGEST_REF:
                return Recognised(ref.strip(), written)
        return None


def names_in(text: str) -> dict[str, str]:
    """What in the text may be the name of an entity, by its `alias_key`: what stands first, of that the longest, first.

    One word is a name where it has a digit or a capital and is not short, so that no everyday word is one.
    """
    words = _WORD.findall(text)
    if len(words) > MOST_WORDS:
        words = [*words[: MOST_WORDS // 2], *words[-MOST_WORDS // 2 :]]
    keys = [alias_key(word) for word in words]
    found: dict[str, str] = {}
    for start in range(len(words)):
        for end in range(min(start + LONGEST_IN_WORDS, len(words)), start, -1):
            key = "".join(keys[start:end])
            if keys[start] and keys[end - 1] and (end - start > 1 or _is_name(words[start], key)):
                found.setdefault(key, " ".join(words[start:end]))
    return found


def _is_name(word: str, key: str) -> bool:
    return len(key) > (4 if key.isdigit() else 3) and (word[0].isupper() or any(map(str.isdigit, word)))


def _compiled(one: IdPattern) -> GroupedPattern:
    try:
        pattern = compile_groups(one.pattern)
    except BrokenPattern as error:
        raise InvalidContext("pattern", f"cannot be used: {error}", error.fix) from None
    for group in _GROUP.findall(one.spelled):
        numbered = group.isascii() and group.isdigit() and int(group) <= pattern.groups
        if not numbered and group not in pattern.groupindex:
            names = ", ".join(f"{{{one}}}" for one in (*range(1, pattern.groups + 1), *pattern.groupindex))
            fix = f"write one of {names}" if pattern.groups else "put ( ) around the part that is meant"
            raise InvalidContext("as", f"names the group {group[:60]!r}, which the pattern does not have", fix)
    if {"{", "}"} & set(_GROUP.sub("", one.spelled)):
        raise InvalidContext("as", "has a brace that belongs to no group", "write `{1}`, or `{name}` for a named group")
    return pattern


def _spelled(match: GroupedMatch, spelled: str) -> str:
    def of(group: re.Match[str]) -> str:
        name = group[1]
        found = match.group(int(name) if name.isdigit() else name)
        return (found or b"").decode("utf-8", "replace")

    return _GROUP.sub(of, spelled)
