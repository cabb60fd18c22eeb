"""The page that text for people is laid out on, words and figures on it, and the answer that a command gives."""

import json
import os
import re
import shutil
import textwrap
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Protocol, TextIO

if TYPE_CHECKING:
    from skillweave.decisions import Evidence
    from skillweave.diagnostics import Diagnostic

WIDEST = 100
"""What a terminal gets at most: longer lines are hard to read."""
NARROWEST = 40
COLUMN = 17
"""Where texts begin beside their labels; the longest outcome fits before it."""
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


class Ink(StrEnum):
    """How a piece of text stands out, as the parameters of an ANSI escape."""

    STRONG = "1"
    FAINT = "2"
    GOOD = "32"
    WARN = "33"
    BAD = "31"


@dataclass(frozen=True, slots=True)
class Page:
    """`width` in columns; `inks` are those that the terminal can show, none for a pipe or a file."""

    width: int = 80
    inks: frozenset[Ink] = frozenset()

    def paint(self, text: str, ink: Ink) -> str:
        """The text in that ink, plain where there is none."""
        return f"\x1b[{ink.value}m{text}\x1b[0m" if ink in self.inks and text else text

    def wrap(self, text: str, indent: int = 0) -> str:
        """The text in lines of the page's width, each indented."""
        space = " " * indent
        lines = textwrap.wrap(
            printable(" ".join(text.split())),
            max(20, self.width - indent),
            break_long_words=False,
            break_on_hyphens=False,
        )
        return "\n".join(f"{space}{line}" for line in lines)

    def entry(self, label: str, text: str, ink: Ink | None = None) -> str:
        """A label and a wrapped text beside it."""
        body = self.wrap(text, COLUMN).lstrip(" ")
        shown = label if ink is None else self.paint(label, ink)
        return f"{shown}{' ' * max(1, COLUMN - len(label))}{body}".rstrip()

    def inset(self, columns: int) -> "Page":
        """A narrower page, for text that is indented as a whole afterwards."""
        return Page(self.width - columns, self.inks)

    def excerpt(self, text: str, lines: int) -> str:
        """The first lines of a text behind a bar, long ones cut, and how many more there are."""
        all_lines = printable(text).splitlines()
        shown = [_cut(line, self.width - 4) for line in all_lines[:lines]]
        rest = len(all_lines) - lines
        if rest > 0:
            shown.append(f"... {counted(rest, 'more line')}")
        return "\n".join(self.paint(f"  | {line}".rstrip(), Ink.FAINT) for line in shown)


def page_for(stream: TextIO) -> Page:
    """The page of a stream; 80 plain columns without a terminal. COLUMNS, NO_COLOR and FORCE_COLOR are obeyed."""
    return Page(_width_of(stream), frozenset(Ink) if _takes_colours(stream) else frozenset())


def _width_of(stream: TextIO) -> int:
    stated = os.environ.get("COLUMNS", "")
    if stated.isascii() and stated.isdigit() and int(stated):
        return max(NARROWEST, int(stated))
    return min(WIDEST, shutil.get_terminal_size().columns) if stream.isatty() else Page().width


def _takes_colours(stream: TextIO) -> bool:
    if os.environ.get("NO_COLOR"):
        return False
    forced = os.environ.get("FORCE_COLOR")
    if forced:
        return forced.lower() not in ("0", "false")
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def printable(text: str) -> str:
    """The text without what would control a terminal or cannot be encoded: such characters as escapes."""
    return _UNPRINTABLE.sub(_escaped, text)


def _cut(line: str, room: int) -> str:
    if len(line) <= room:
        return line
    start = line[: room - 4]
    return f"{start.rsplit(' ', 1)[0].rstrip() or start} ..."


def _escaped(match: re.Match[str]) -> str:
    code = ord(match.group())
    return f"\\x{code:02x}" if code < 0x100 else f"\\u{code:04x}"


class Written(Protocol):
    """A value that has a JSON form."""

    def to_dict(self) -> Any:  # noqa: ANN401 - a mapping, which a TypedDict is to no type checker
        """The JSON form."""
        ...


@dataclass(frozen=True, slots=True)
class Answer:
    """A command's value for JSON, text for people, `notes` for stderr, exit `code` and published `schema`."""

    value: Callable[[], Written]
    text: Callable[[Page], str]
    code: int = 0
    notes: tuple[str, ...] = ()
    schema: str | None = None

    def as_json(self, indent: int | None = 2) -> str:
        """The JSON text in ASCII, with its `$schema`; one line if `indent` is None."""
        from skillweave.schemas import naming

        data: dict[str, Any] = self.value().to_dict()
        named = {} if self.schema is None else naming(self.schema)
        return json.dumps({**named, **data}, indent=indent, ensure_ascii=True)


@dataclass(frozen=True, slots=True)
class Stream:
    """Answers that come one after the other, until there are no more or the user ends it; JSON is a line for each."""

    answers: Iterator[Answer]


def counted(count: int, noun: str, several: str = "") -> str:
    """`1 skill`, `22 skills`, `2 entries`; `several` is the plural that takes more than an `s`."""
    return f"{count:,} {noun if count == 1 else several or f'{noun}s'}"


def below(lines: Sequence[str], *last: str) -> str:
    """The lines, and below them, after an empty one, the last."""
    return "\n".join([*lines, *([""] if lines else []), *last])


def tally_shown(loaded: int, skipped: int, repaired: int) -> str:
    """`22 skills loaded, 0 skipped, 1 repaired`."""
    return f"{counted(loaded, 'skill')} loaded, {skipped:,} skipped, {repaired:,} repaired"


def listed(names: Iterable[str], none: str = "none") -> str:
    """The names with commas."""
    return ", ".join(names) or none


def evidence_shown(evidence: "Sequence[Evidence]") -> str:
    """`keyword 'bonjour', words 'letter', 'greet'`; at most five pieces."""
    from skillweave.decisions import evidence_in_words

    shown = evidence_in_words(replace(piece, text=piece.text[:60]) for piece in evidence[:5])
    return (shown or "no evidence") + (f" and {len(evidence) - 5} more" if len(evidence) > 5 else "")


_LEVELS = {"error": Ink.BAD, "warning": Ink.WARN, "info": Ink.FAINT}


def finding_line(found: "Diagnostic", page: Page) -> str:
    """One line without breaks, so that it can be searched and counted."""
    place = f"{found.location}: " if found.location else ""
    level = page.paint(found.severity.value, _LEVELS[found.severity.value])
    text = " ".join(f"{found.message} [{found.code}]; {found.fix}".split())
    return f"{printable(place)}{level}: {printable(text)}"


def shown_time(seconds: float) -> str:
    """A time of the store's clock for people; the bare seconds where the calendar has no such year."""
    from datetime import UTC, datetime

    try:
        return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    except (ValueError, OverflowError, OSError):
        return f"second {seconds:g}"
