"""Folding text so that spellings of one word are equal, with the way back to the original characters (spec 2.2)."""

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple, Protocol, cast

import re2
from ahocorasick_rs import AhoCorasick, MatchKind

CHUNK = 512
"""Text is folded in pieces of about so many characters: a span is mapped back within one piece only, and a long run of
combining marks, which normalisation sorts in quadratic time, costs no more than a piece's square."""
LONGEST_CLUSTER = 64
"""A character with more marks than this is cut, so that a message made of marks alone still ends."""

_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Folded:
    """A text and its folded form; `original` has lone surrogates replaced, so it is valid and as long as the input.

    `folded_starts` and `original_starts` are where the pieces begin, empty when both texts have the same positions.
    """

    original: str
    text: str
    folded_starts: tuple[int, ...] = ()
    original_starts: tuple[int, ...] = ()
    _origins: dict[int, list[tuple[int, int]]] = field(default_factory=dict, repr=False, compare=False)

    def span(self, start: int, end: int) -> tuple[int, int]:
        """The original characters that a non-empty stretch of the folded text came from, whole clusters."""
        if not self.folded_starts:
            return start, end
        return self._origin(start)[0], self._origin(end - 1)[1]

    def _origin(self, position: int) -> tuple[int, int]:
        piece = bisect_right(self.folded_starts, position) - 1
        origins = self._origins.get(piece)
        if origins is None:
            begin = self.original_starts[piece]
            after = self.original_starts[piece + 1] if piece + 1 < len(self.original_starts) else len(self.original)
            last = self.folded_starts[piece + 1] if piece + 1 < len(self.folded_starts) else len(self.text)
            folded = last - self.folded_starts[piece]
            origins = self._origins[piece] = _origins_of(self.original[begin:after], begin, folded)
        return origins[min(position - self.folded_starts[piece], len(origins) - 1)]


def fold(text: str) -> str:
    """The folded form: NFD, casefold, NFKC, casefold, NFKC; white space becomes spaces, lone surrogates U+FFFD."""
    return _with_spaces(text.lower()) if text.isascii() else fold_message(text).text


def fold_message(text: str) -> Folded:
    """The folded form together with the way back to the original; linear in the length of the text."""
    if text.isascii():
        return Folded(text, _with_spaces(text.lower()))
    original = _SURROGATE.sub("\ufffd", text)
    starts = tuple(_pieces(original))
    ends = (*starts[1:], len(original))
    folded = [_fold_piece(original[start:end]) for start, end in zip(starts, ends, strict=True)]
    offsets = accumulate((len(piece) for piece in folded[:-1]), initial=0)
    return Folded(original, "".join(folded), tuple(offsets), starts)


def _fold_piece(piece: str) -> str:
    folded = unicodedata.normalize("NFD", piece).casefold()
    folded = unicodedata.normalize("NFKC", folded).casefold()
    return _with_spaces(unicodedata.normalize("NFKC", folded))


def _with_spaces(text: str) -> str:
    for space in "\n\t\r\v\f":  # several times faster than `translate` on text that is not ASCII
        text = text.replace(space, " ")
    return text


def _pieces(text: str) -> list[int]:
    starts = [0]
    while (start := starts[-1] + CHUNK) < len(text):
        limit = min(start + LONGEST_CLUSTER, len(text))
        while start < limit and _extends(text[start]):
            start += 1
        if start == len(text):
            break
        starts.append(start)
    return starts


def _origins_of(piece: str, begin: int, folded: int) -> list[tuple[int, int]]:
    """For each of the piece's `folded` characters, the cluster of the original text that it came from."""
    if len(piece) == folded and not any(map(_extends, set(piece))):  # one for one: most text that is not ASCII
        return list(zip(range(begin, begin + folded), range(begin + 1, begin + folded + 1), strict=True))
    starts = [0]
    for position in range(1, len(piece)):
        if not _extends(piece[position]) or position - starts[-1] >= LONGEST_CLUSTER:
            starts.append(position)
    origins: list[tuple[int, int]] = []
    for start, end in zip(starts, [*starts[1:], len(piece)], strict=True):
        origins.extend([(begin + start, begin + end)] * len(_fold_cached(piece[start:end])))
    return origins


@lru_cache(maxsize=8192)
def _fold_cached(piece: str) -> str:
    return _fold_piece(piece)


def _extends(character: str) -> bool:
    """Whether normalisation may join the character with the one before: marks, and the parts of Hangul syllables."""
    if character < "\u0300":
        return False
    return (
        unicodedata.category(character)[0] == "M"
        or "\u1160" <= character <= "\u11ff"
        or "\u3133" <= character <= "\u318e"
        or "\ud7b0" <= character <= "\ud7fb"
        or "\uff9e" <= character <= "\uffdc"
    )


WINDOW = 2_048
"""Folded characters searched at a time: bounds what the raw hits of one pass take in memory."""
MOST_RAW_HITS = 1_000_000
"""So many places where a phrase stands are looked at in one text, half a second of work; words hold few of them."""
LARGEST_PROGRAM = 5_000
"""Instructions of one compiled pattern: what a character of the text can cost at worst."""
SET_SIZE = 1_000
"""Patterns that are searched together in one pass."""
MOST_STEPS = 1_000_000_000
"""Instructions of patterns times characters of a text, at worst half a second of work; usual texts need far less."""
LEAST_READ = 1_000
"""So many characters of a text are searched, however large the patterns are."""
MOST_MATCHED = 65_536
"""So many characters of a message are matched, the first and the last half of them."""

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


def without_middle(text: str, most: int = MOST_MATCHED) -> str:
    """The text with line breaks for what stands between its first and last `most / 2` characters; each at its place."""
    half = most // 2
    between = len(text) - 2 * half
    return text if between <= 0 else "".join((text[:half], "\n" * between, text[len(text) - half :]))


class Found(NamedTuple):
    """What was found in a text, by number, each with the span of its first occurrence; `read` characters were read."""

    spans: dict[int, tuple[int, int]]
    read: int


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

    def search(self, text: str) -> Found:
        """The phrases that occur in the folded text; where they stand in more than a million places it ends there."""
        if self.matcher is None:
            return Found({}, len(text))
        window = max(WINDOW, 4 * self.longest)
        if len(text) <= 2 * window:
            window = max(len(text), 1)
        edges = self.edges
        found: dict[int, tuple[int, int]] = {}
        raw = 0
        for begin in range(0, len(text), window):
            # What begins in this window may end in the next one, by at most the longest phrase.
            stretch = text[begin : begin + window + self.longest]
            if stretch.isspace():
                continue
            hits = self.matcher.find_matches_as_indexes(stretch, overlapping=True)
            for phrase, start, end in hits:
                if phrase not in found and fits(text, begin + start, begin + end, edges[phrase]):
                    found[phrase] = (begin + start, begin + end)
            raw += len(hits)
            if raw > MOST_RAW_HITS and begin + window < len(text):
                return Found(found, begin + window)
        return Found(found, len(text))


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
    """A compiled pattern, as google-re2 gives it; searched in UTF-8 bytes. the sizes are in instructions."""

    programsize: int
    reverseprogramsize: int

    def search(self, text: bytes) -> _Match | None:
        """The leftmost match."""
        ...


class GroupedMatch(_Match, Protocol):
    """Where a pattern matched, and what its groups did."""

    def group(self, group: int | str) -> bytes | None:
        """The bytes that a group matched, by its number from 1 or its name; None for one that took no part."""
        ...


class GroupedPattern(Pattern, Protocol):
    """A compiled pattern whose groups are known: how many there are, and the numbers of those with names."""

    groups: int
    groupindex: Mapping[str, int]

    def search(self, text: bytes) -> GroupedMatch | None:
        """The leftmost match."""
        ...


class _PatternSet(Protocol):
    def Match(self, text: bytes) -> list[int] | None: ...  # noqa: N802


@dataclass(frozen=True, slots=True)
class Patterns:
    """Compiled patterns by number, in the order in which they were given; frozen, safe to share between threads.

    `size` are the instructions of all of them.
    """

    compiled: tuple[Pattern, ...] = ()
    sets: tuple[_PatternSet | None, ...] = field(default=(), repr=False)
    size: int = 0

    def search(self, text: str) -> Found:
        """The patterns that match somewhere in a valid text.

        Of a text that is too long for patterns that large it reads the beginning and the end.
        """
        if not self.compiled:
            return Found({}, len(text))
        encoded = text.encode()
        possible = self._possible(encoded)
        size = sum(size_of(self.compiled[number]) for number in possible)
        most = max(LEAST_READ, MOST_STEPS // max(size, 1))
        if len(text) <= most:
            whole = {number: span for number in possible if (span := self._first(number, text, encoded))}
            return Found(whole, len(text))
        half = most // 2
        shorter = f"{text[:half]}\n{text[len(text) - half :]}"
        encoded, gap = shorter.encode(), len(text) - len(shorter)
        found = {number: span for number in possible if (span := self._first(number, shorter, encoded))}
        return Found({number: _moved(span, half, gap) for number, span in found.items()}, 2 * half)

    def _first(self, number: int, text: str, encoded: bytes) -> tuple[int, int] | None:
        match = self.compiled[number].search(encoded)
        start, end = match.span() if match else (0, 0)
        if start == end:
            return None
        return (start, end) if len(encoded) == len(text) else in_characters(encoded, start, end)

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


def _moved(span: tuple[int, int], after: int, by: int) -> tuple[int, int]:
    start, end = span
    return start + by * (start > after), end + by * (end > after + 1)


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


def size_of(pattern: Pattern) -> int:
    """Instructions of a compiled pattern, forwards or backwards, whichever are more."""
    return max(pattern.programsize, pattern.reverseprogramsize)


def compile_groups(source: str) -> GroupedPattern:
    """What `compile_pattern` gives, with what each group of the pattern matched; raises BrokenPattern."""
    options = _options(_PATTERN_MEMORY)
    options.never_capture = False
    pattern = cast("GroupedPattern", _compile(source, options))
    if _matches_nothing(pattern):
        raise BrokenPattern("it matches empty text", "Make it require at least one character.")
    return pattern


def compile_flagged(source: str, flags: str = "") -> Pattern:
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
    return Patterns(compiled, sets, sum(map(size_of, compiled)))


def ascii_only_escapes(source: str) -> tuple[str, ...]:
    r"""The escapes of a pattern that know ASCII only in this engine (`\b`, `\B`, `\w`, `\W`), once each."""
    return tuple(dict.fromkeys(f"\\{match[1]}" for match in _ESCAPE.finditer(source) if match[1] in "bBwW"))


def in_characters(encoded: bytes, start: int, end: int) -> tuple[int, int]:
    r"""A stretch of UTF-8 bytes in characters; a character of which only some bytes match (`\C`) counts whole."""
    return len(encoded[:start].decode(errors="ignore")), len(encoded[:end].decode(errors="replace"))


def _compile(source: str, options: Any) -> Pattern:  # noqa: ANN401 - google-re2 has no types
    try:
        pattern = re2.compile(source, options)
        size = size_of(pattern)
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
