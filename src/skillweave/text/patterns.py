"""Regular expressions of skills, in an engine whose time is linear in the text (spec 2.2)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import re2

LARGEST_PROGRAM = 5_000
"""Instructions of one compiled pattern: what a character of the text can cost at worst."""
SHELF = 1_000
"""Patterns that are searched together in one pass."""

_PATTERN_MEMORY = 1 << 20
_SHELF_MEMORY = 32 << 20
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


class BrokenPattern(ValueError):
    """A pattern that this engine cannot or must not run; the text says why, `fix` what to do instead."""

    def __init__(self, why: str, fix: str) -> None:
        self.fix = fix
        super().__init__(why)


class _Match(Protocol):
    def span(self) -> tuple[int, int]: ...


class Pattern(Protocol):
    """A compiled pattern, as google-re2 gives it; searched in UTF-8 bytes. `programsize` is in instructions."""

    programsize: int

    def search(self, text: bytes) -> _Match | None:
        """The leftmost match."""
        ...


class _Shelf(Protocol):
    def Match(self, text: bytes) -> list[int] | None: ...  # noqa: N802


@dataclass(frozen=True, slots=True)
class Patterns:
    """Compiled patterns by number, in the order in which they were given; frozen, safe to share between threads."""

    compiled: tuple[Pattern, ...] = ()
    shelves: tuple[_Shelf | None, ...] = field(default=(), repr=False)

    def find(self, text: str) -> dict[int, tuple[int, int]]:
        """The patterns that match somewhere in a valid text, each with the span of its first match."""
        if not self.compiled:
            return {}
        encoded = text.encode()
        found: dict[int, tuple[int, int]] = {}
        for number in self._possible(encoded):
            match = self.compiled[number].search(encoded)
            start, end = match.span() if match else (0, 0)
            if start < end:
                found[number] = (start, end) if len(encoded) == len(text) else in_characters(encoded, start, end)
        return found

    def _possible(self, encoded: bytes) -> list[int]:
        possible: list[int] = []
        for place, shelf in enumerate(self.shelves):
            begin = place * SHELF
            size = min(SHELF, len(self.compiled) - begin)
            hits = shelf.Match(encoded) if shelf is not None else None
            # A shelf that runs out of memory answers nothing at all: its last entry, which always matches, tells.
            numbers = sorted(hits)[:-1] if hits and size in hits else range(size)
            possible.extend(begin + number for number in numbers)
        return possible


def compile_pattern(source: str) -> Pattern:
    """One pattern, case-insensitive, found anywhere in the text.

    Raises:
        BrokenPattern: it has a mistake, needs what a linear-time engine cannot do, is too large, or matches no text.
    """
    pattern = _compile(source, _options(_PATTERN_MEMORY))
    if _matches_nothing(pattern):
        raise BrokenPattern(
            "it matches empty text and so would select the skill on every message",
            "Make it require at least one character (`.+` if every message is meant).",
        )
    return pattern


def compile_exact(source: str) -> Pattern:
    """One pattern as it stands: letter case counts, and it may match empty text; raises BrokenPattern."""
    options = _options(_PATTERN_MEMORY)
    options.case_sensitive = True
    return _compile(source, options)


def compile_flagged(source: str, flags: str) -> Pattern:
    """One pattern as its flags say: `i` any letter case, `m` anchors at every line, `s` a dot is also a line break.

    Other flags mean nothing here. It may match empty text; raises BrokenPattern.
    """
    options = _options(_PATTERN_MEMORY)
    options.case_sensitive = "i" not in flags
    options.dot_nl = "s" in flags
    pattern = _compile(source, options)
    # The flag changes nothing but the anchors, so what compiled alone compiles with it too.
    return _compile(f"(?m){source}", options) if "m" in flags else pattern


def compile_patterns(sources: Sequence[str]) -> Patterns:
    """Patterns that `compile_pattern` accepts, prepared to be searched together."""
    compiled = tuple(compile_pattern(source) for source in sources)
    shelves = tuple(_shelve(sources[begin : begin + SHELF]) for begin in range(0, len(sources), SHELF))
    return Patterns(compiled, shelves)


def ascii_only_escapes(source: str) -> tuple[str, ...]:
    r"""The escapes of a pattern that know ASCII only in this engine (`\b`, `\B`, `\w`, `\W`), once each."""
    return tuple(dict.fromkeys(f"\\{match[1]}" for match in _ESCAPE.finditer(source) if match[1] in "bBwW"))


def in_characters(encoded: bytes, start: int, end: int) -> tuple[int, int]:
    r"""A stretch of UTF-8 bytes in characters; a character of which only some bytes match (`\C`) counts whole."""
    return len(encoded[:start].decode(errors="ignore")), len(encoded[:end].decode(errors="replace"))


def _compile(source: str, options: Any) -> Pattern:  # noqa: ANN401 - google-re2 has no types
    try:
        pattern = re2.compile(source, options)
        size = max(pattern.programsize, pattern.reverseprogramsize)
    except UnicodeEncodeError as error:
        raise BrokenPattern("it is not valid Unicode text", "Remove the lone surrogate from the pattern.") from error
    except re2.error as error:
        raise BrokenPattern(
            f"the regular expression engine refuses it: {_reason(error)}",
            "Correct it, or write it without look-around and back-references (RE2 syntax, `\\z` for the end).",
        ) from error
    if size > LARGEST_PROGRAM:
        raise BrokenPattern(
            f"it compiles to {size} instructions, more than {LARGEST_PROGRAM}",
            "Use smaller repetition counts, or split it into several patterns.",
        )
    compiled: Pattern = pattern
    return compiled


def _shelve(sources: Sequence[str]) -> _Shelf | None:
    if len(sources) < 3:
        return None
    shelf = re2.Set.SearchSet(_options(_SHELF_MEMORY))
    try:
        for source in sources:
            shelf.Add(source)
        shelf.Add("")
        shelf.Compile()
    except re2.error:
        return None  # too much for one pass: the patterns are searched one by one instead
    searchable: _Shelf = shelf
    return searchable


def _options(memory: int) -> Any:  # noqa: ANN401
    options = re2.Options()
    options.case_sensitive = False
    options.log_errors = False
    options.never_capture = True
    options.max_mem = memory
    return options


def _matches_nothing(pattern: Pattern) -> bool:
    matches = (pattern.search(b""), pattern.search(b"a"))
    return any(match is not None and len(set(match.span())) == 1 for match in matches)


def _reason(error: Exception) -> str:
    reason = error.args[0] if error.args else ""
    return reason.decode(errors="replace") if isinstance(reason, bytes) else str(reason)
