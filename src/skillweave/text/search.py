"""Phrases and regular expressions of skills, all found in a text in linear time (spec 2.2)."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from typing import Any, Protocol

import re2
from ahocorasick_rs import AhoCorasick, MatchKind

WINDOW = 16_384
"""Folded characters searched at a time: bounds what the raw hits of one pass take in memory."""
LARGEST_PROGRAM = 5_000
"""Instructions of one compiled pattern: what a character of the text can cost at worst."""
SET_SIZE = 1_000
"""Patterns that are searched together in one pass."""

_PATTERN_MEMORY = 1 << 20
_SET_MEMORY = 32 << 20
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_UNSPACED_RANGES = (
    "\u0e00-\u0fff"  # Thai, Lao, Tibetan
    "\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f"  # Myanmar
    "\u1780-\u17ff\u19e0-\u19ff"  # Khmer
    "\u1950-\u19df\u1a20-\u1aaf\uaa80-\uaadf"  # Tai Le, New Tai Lue, Tai Tham, Tai Viet
    "\u1b00-\u1b7f\ua980-\ua9df"  # Balinese, Javanese
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u312f\u31a0-\u31bf\u31f0-\u31ff"  # kana, Bopomofo, radicals
    "\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uf900-\ufaff"  # Han, Yi
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"
)
_UNSPACED = re.compile(f"[{_UNSPACED_RANGES}]")
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")

UNSPACED_RUN = re.compile(f"[{_UNSPACED_RANGES}]+")
"""A run of characters of scripts that are written without spaces between words."""


LEFT, RIGHT, WHOLE = 1, 2, 4
"""What a phrase demands of the text around it; added up. Plain integers: they are read once per raw hit."""


def edges_of(phrase: str) -> int:
    """Return what the word rule demands of the text around a folded phrase.

    A boundary is demanded only where the phrase's own edge is a word character of a script with spaces; no phrase ends
    before a combining mark, since the mark belongs to its last character.
    """
    edges = WHOLE
    if phrase and _in_spaced_word(phrase[0]):
        edges += LEFT
    if phrase and _in_spaced_word(phrase[-1]):
        edges += RIGHT
    return edges


def fits(text: str, start: int, end: int, edges: int) -> bool:
    """Return whether the folded text around `start:end` has what the edges demand."""
    if edges & LEFT and start and _in_spaced_word(text[start - 1]):
        return False
    if edges and end < len(text):
        after = text[end]
        return not ((edges & RIGHT and _in_spaced_word(after)) or _is_mark(after))
    return True


@lru_cache(maxsize=8192)
def _in_spaced_word(character: str) -> bool:
    if character.isalnum() or character == "_" or _is_mark(character):
        return _UNSPACED.match(character) is None
    return False


@lru_cache(maxsize=8192)
def _is_mark(character: str) -> bool:
    return unicodedata.category(character)[0] == "M" and _VARIATION.match(character) is None


class MatchMode(StrEnum):
    """`word`: between boundaries, as people read; `substring`: anywhere, also inside a word."""

    WORD = "word"
    SUBSTRING = "substring"


@dataclass(frozen=True, slots=True)
class Automaton:
    """Phrases by number, in the order in which they were given; frozen, safe to share between threads."""

    matcher: AhoCorasick | None
    edges: bytes
    longest: int

    def find(self, text: str) -> dict[int, tuple[int, int]]:
        """The phrases that occur in the folded text, each with the span of its first occurrence."""
        if self.matcher is None:
            return {}
        window = max(WINDOW, 4 * self.longest)
        if len(text) <= 2 * window:
            window = max(len(text), 1)
        edges = self.edges
        found: dict[int, tuple[int, int]] = {}
        for begin in range(0, len(text), window):
            # What begins in this window may end in the next one, by at most the longest phrase.
            stretch = text[begin : begin + window + self.longest]
            for phrase, start, end in self.matcher.find_matches_as_indexes(stretch, overlapping=True):
                if phrase not in found and fits(text, begin + start, begin + end, edges[phrase]):
                    found[phrase] = (begin + start, begin + end)
        return found


def compile_automaton(phrases: Iterable[tuple[str, MatchMode]]) -> Automaton:
    """An automaton over folded, non-empty phrases; memory grows with their total length (never the DFA kind)."""
    texts: list[str] = []
    edges = bytearray()
    for text, mode in phrases:
        texts.append(text)
        edges.append(edges_of(text) if mode is MatchMode.WORD else 0)
    matcher = AhoCorasick(texts, matchkind=MatchKind.Standard, store_patterns=False) if texts else None
    return Automaton(matcher, bytes(edges), max(map(len, texts), default=0))


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


class _PatternSet(Protocol):
    def Match(self, text: bytes) -> list[int] | None: ...  # noqa: N802


@dataclass(frozen=True, slots=True)
class Patterns:
    """Compiled patterns by number, in the order in which they were given; frozen, safe to share between threads."""

    compiled: tuple[Pattern, ...] = ()
    sets: tuple[_PatternSet | None, ...] = field(default=(), repr=False)

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
        for place, together in enumerate(self.sets):
            begin = place * SET_SIZE
            size = min(SET_SIZE, len(self.compiled) - begin)
            hits = together.Match(encoded) if together is not None else None
            # A set that runs out of memory answers nothing at all: its last entry, which always matches, tells.
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
    sets = tuple(_pattern_set(sources[begin : begin + SET_SIZE]) for begin in range(0, len(sources), SET_SIZE))
    return Patterns(compiled, sets)


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


def _pattern_set(sources: Sequence[str]) -> _PatternSet | None:
    if len(sources) < 3:
        return None
    together = re2.Set.SearchSet(_options(_SET_MEMORY))
    try:
        for source in sources:
            together.Add(source)
        together.Add("")
        together.Compile()
    except re2.error:
        return None  # too much for one pass: the patterns are searched one by one instead
    searchable: _PatternSet = together
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
