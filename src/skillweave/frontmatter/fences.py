"""A file of front matter and body: where the fences are, and what was repaired on the way (spec 1.2)."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from skillweave.diagnostics import Diagnostic, Location
from skillweave.frontmatter import codes
from skillweave.frontmatter.documents import read_yaml
from skillweave.frontmatter.events import FRONT_MATTER_LIMITS, Keys, Tree

MAX_FILE_BYTES = 1024 * 1024
"""A SKILL.md over this size is refused (spec 1.2)."""

_OPENING = re.compile(r"(?P<blank>(?:[ \t]*\n)*)---[ \t]*(?:\n|\Z)")
_CLOSING = re.compile(r"^---[ \t]*$", re.MULTILINE)
_LEADING_BLANK_LINES = re.compile(r"(?:[ \t]*\n)*")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A file in two parts: `fields`, None when the file is skipped (the diagnostics say why), and the `body` after it.

    `lines` tells on which line of the file a key stands; `body_line` is the line after the second fence.
    """

    fields: dict[str, Tree] | None
    body: str = ""
    lines: Mapping[Keys, int] = field(default_factory=dict)
    body_line: int = 1
    diagnostics: tuple[Diagnostic, ...] = ()


def read_front_matter(data: bytes, *, path: str) -> FrontMatter:
    """The front matter and body of a file's bytes; never raises, whatever the bytes are.

    A fence is a line of its own that holds `---` only, so a `---` inside a value cuts nothing.
    """
    if len(data) > MAX_FILE_BYTES:
        message = f"the file has {len(data)} bytes; up to {MAX_FILE_BYTES} are read"
        return _skipped(codes.FILE_TOO_LARGE.found(Location(path, 1), message, "move text to files beside it"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {data[error.start]:#04x} is no UTF-8"
        return _skipped(codes.NOT_UTF8.found(Location(path, line), message, "save the file as UTF-8"))
    found: list[Diagnostic] = []
    return _split(_tidied(text, path, found), path, found)


def tidy_body(text: str) -> str:
    """A body as it is kept: lines end in LF, no blank lines before it, no white space after it."""
    text = text.replace("\r\n", "\n")
    return text[_after_blank_lines(text, 0) :].rstrip()


def _after_blank_lines(text: str, start: int) -> int:
    blank = _LEADING_BLANK_LINES.match(text, start)
    return blank.end() if blank else start


def _tidied(text: str, path: str, found: list[Diagnostic]) -> str:
    if text.startswith(_BOM):
        text = text[len(_BOM) :]
        message = "a byte order mark stood before the first line"
        found.append(codes.BYTE_ORDER_MARK.found(Location(path, 1), message, "save the file as UTF-8 without BOM"))
    if "\r" in text and "\r\n" in text:
        line = text.count("\n", 0, text.index("\r\n")) + 1
        text = text.replace("\r\n", "\n")
        message = "lines end in CRLF; they were read as if they ended in LF"
        found.append(codes.CRLF.found(Location(path, line), message, "save the file with LF line ends"))
    return text


def _split(text: str, path: str, found: list[Diagnostic]) -> FrontMatter:
    opening = _OPENING.match(text)
    if opening is None:
        message = "the file does not begin with front matter"
        fix = "begin it with a line `---`, then `name:` and `description:`, then a line `---`"
        return _skipped(*found, codes.NO_FRONT_MATTER.found(Location(path, 1), message, fix))
    first = opening["blank"].count("\n") + 1
    if first > 1:
        message = f"{first - 1} blank lines stood before the front matter"
        found.append(codes.BLANK_BEFORE_FENCE.found(Location(path, 1), message, "begin the file with `---`"))
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        message = "the front matter that begins here is never closed"
        fix = "add a line `---` after its last key"
        return _skipped(*found, codes.UNCLOSED.found(Location(path, first), message, fix))
    source = text[opening.end() : closing.start()]
    if len(source) * 4 > FRONT_MATTER_LIMITS.characters and len(source.encode()) > FRONT_MATTER_LIMITS.characters:
        message = f"the front matter is larger than {FRONT_MATTER_LIMITS.characters} bytes"
        fix = "move text from the front matter to the body"
        return _skipped(*found, codes.FRONT_MATTER_TOO_LARGE.found(Location(path, first), message, fix))
    document = read_yaml(source, path=path, limits=FRONT_MATTER_LIMITS, first_line=first + 1)
    body = _after_blank_lines(text, closing.end())
    return FrontMatter(
        fields=document.data,
        body=text[body:].rstrip(),
        lines=document.lines,
        body_line=first + text.count("\n", opening.end() - 1, body),
        diagnostics=(*found, *document.diagnostics),
    )


def _skipped(*diagnostics: Diagnostic) -> FrontMatter:
    return FrontMatter(fields=None, diagnostics=diagnostics)
