"""Whole documents, read with limits and never silently: YAML, JSON, and files of front matter and body (spec 1.2)."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType

from skillweave.diagnostics import Diagnostic, Location
from skillweave.frontmatter import codes
from skillweave.frontmatter.codes import MAX_FILE_BYTES
from skillweave.frontmatter.yaml_text import (
    FRONT_MATTER_LIMITS,
    PACK_LIMITS,
    Keys,
    Limits,
    Parsed,
    Refused,
    Tree,
    parse,
    require_text,
    write_yaml,
)

_OPENING = re.compile(r"(?P<blank>(?:[ \t]*\n)*)---[ \t]*(?:\n|\Z)")
_CLOSING = re.compile(r"^---[ \t]*(?:\n(?:[ \t]*\n)*|\Z)", re.MULTILINE)
"""The second fence with the blank lines after it."""
_LEADING_BLANK_LINES = re.compile(r"\A(?:[ \t]*\n)+")
_BOM = "\ufeff"


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """A file's `fields` (None: skipped), the `body` after them, and the line of each key and of the body."""

    fields: dict[str, Tree] | None
    body: str = ""
    lines: Mapping[Keys, int] = field(default_factory=dict)
    body_line: int = 1
    diagnostics: tuple[Diagnostic, ...] = ()


def read_front_matter(data: bytes, *, path: str) -> FrontMatter:
    """The front matter and body of a file; never raises. A fence is a line that holds `---` only."""
    if len(data) > MAX_FILE_BYTES:
        message = f"the file has {len(data)} bytes; up to {MAX_FILE_BYTES} are read"
        return _skipped(codes.FILE_TOO_LARGE.found(Location(path, 1), message, "move text to files beside it"))
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        message = f"byte {data[error.start]:#04x} is not UTF-8"
        return _skipped(codes.NOT_UTF8.found(Location(path, line), message, "save the file as UTF-8"))
    found: list[Diagnostic] = []
    if text.startswith(_BOM):
        text = text[len(_BOM) :]
        message = "a byte order mark stood before the first line"
        found.append(codes.BYTE_ORDER_MARK.found(Location(path, 1), message, "save the file as UTF-8 without BOM"))
    if "\r" in text and "\r\n" in text:
        line = text.count("\n", 0, text.index("\r\n")) + 1
        text = text.replace("\r\n", "\n")
        message = "lines end in CRLF; they were read as if they ended in LF"
        found.append(codes.CRLF.found(Location(path, line), message, "save the file with LF line ends"))
    return _split(text, path, found)


def tidy_body(text: str) -> str:
    """A body as it is kept: lines end in LF, no blank lines before it, no white space after it."""
    return _LEADING_BLANK_LINES.sub("", text.replace("\r\n", "\n")).rstrip()


def write_front_matter(fields: Mapping[str, object], body: str = "") -> str:
    """A file of front matter and (tidied) body. Raises ValueError for text that UTF-8 cannot hold."""
    require_text(body)
    head = f"---\n{write_yaml(fields)}---\n"
    return f"{head}\n{body}\n" if body else head


def _split(text: str, path: str, found: list[Diagnostic]) -> FrontMatter:
    opening = _OPENING.match(text)
    if opening is None:
        message = "the file does not begin with front matter"
        fix = "begin it with a line `---`, then `name:` and `description:`, then a line `---`"
        missing = codes.NO_FRONT_MATTER.found(Location(path, 1), message, fix)
        return FrontMatter(None, tidy_body(text), diagnostics=(*found, missing))
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
    return FrontMatter(
        fields=document.data,
        body=text[closing.end() :].rstrip(),
        lines=document.lines,
        body_line=first + text.count("\n", opening.end() - 1, closing.end()),
        diagnostics=(*found, *document.diagnostics),
    )


def _skipped(*diagnostics: Diagnostic) -> FrontMatter:
    return FrontMatter(fields=None, diagnostics=diagnostics)


MOST_REPAIRS = 16
"""So many values of one text are put in quotes: for each, the text is read again from its beginning."""
MOST_REREAD = 4 * 1024 * 1024
"""Characters that are read again for repairs of one text; one is always tried."""
_NO_LINES: Mapping[Keys, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Document:
    """A document's mapping, None when it was refused; `lines` tells where each key and list item stands."""

    data: dict[str, Tree] | None
    lines: Mapping[Keys, int]
    diagnostics: tuple[Diagnostic, ...]


def read_yaml(text: str, *, path: str, limits: Limits = PACK_LIMITS, first_line: int = 1) -> Document:
    """The one mapping in a YAML text that begins on `first_line`; unquoted scalars are `Plain` text. Never raises."""
    found: list[Diagnostic] = []
    parsed: Parsed | None = None
    while parsed is None:
        try:
            parsed = parse(text, limits, first_line)
        except Refused as refusal:
            line = refusal.line - first_line + 1 if refusal.code is codes.YAML_INVALID and refusal.line else 0
            quoted = quote_value(text, line) if line else None
            if quoted is None:
                return Document(None, _NO_LINES, (refusal.found(path),))
            if len(found) >= (most := _repairs_of(len(text))):
                again = f"{most} values before it were put in quotes already, the most in {len(text):,} characters"
                limit = codes.TOO_MANY_REPAIRS.found(
                    Location(path, refusal.line), f"a value needs quotes, and {again}", "quote values that hold a colon"
                )
                return Document(None, _NO_LINES, (limit,))
            text = quoted.text
            message = f"the value of `{quoted.key[:60]}` holds a colon or sign that needs quotes; it was read as text"
            where = Location(path, quoted.line + first_line - 1)
            found.append(codes.REPAIRED.found(where, message, f'put it in quotes: {quoted.key[:60]}: "..."'))
    for key, line, first in parsed.duplicates:
        message = f"key `{key[:60]}` appears twice; the one in line {first} counts"
        found.append(codes.DUPLICATE_KEY.found(Location(path, line), message, "remove one of them"))
    if isinstance(parsed.data, dict):
        return Document(parsed.data, parsed.lines, tuple(found))
    return _no_mapping(parsed.data, found, Location(path, first_line))


def _repairs_of(characters: int) -> int:
    return min(MOST_REPAIRS, max(1, MOST_REREAD // max(characters, 1)))


def read_json(text: str, *, path: str, limits: Limits = PACK_LIMITS) -> Document:
    """The one object in a JSON text, with the same limits; a key that stands twice counts once, the first."""
    found: list[Diagnostic] = []

    def once(pairs: list[tuple[str, Tree]]) -> dict[str, Tree]:
        data: dict[str, Tree] = {}
        for key, value in pairs:
            if key in data:
                message = f"key `{key[:60]}` appears twice; the first one counts"
                found.append(codes.DUPLICATE_KEY.found(Location(path), message, "remove one of them"))
            else:
                data[key] = value
        return data

    try:
        if len(text) > limits.characters:
            message = f"the JSON has {len(text)} characters; {limits.characters} are read"
            raise Refused(codes.YAML_TOO_LARGE, None, message, "split it")
        data = _parse_json(text, once)
        _require_within(data, limits)
    except Refused as refusal:
        return Document(None, _NO_LINES, (*found, refusal.found(path)))
    if isinstance(data, dict):
        return Document(data, _NO_LINES, tuple(found))
    return _no_mapping(data, found, Location(path))


def refuse_constant(name: str) -> float:
    """For `json.loads`: raise ValueError for NaN and the infinities, which Python reads and JSON does not have."""
    raise ValueError(f"{name} is not a JSON value")


def _parse_json(text: str, pairs: Callable[[list[tuple[str, Tree]]], dict[str, Tree]]) -> Tree:
    try:
        data: Tree = json.loads(text, object_pairs_hook=pairs, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        message = f"the JSON is not valid: {error.msg}"
        raise Refused(codes.JSON_INVALID, error.lineno, message, "correct it at this line") from None
    except (ValueError, RecursionError) as error:
        message = f"the JSON is not read: {str(error).splitlines()[0]}"
        raise Refused(codes.JSON_INVALID, None, message, "write plain, shallow JSON") from None
    return data


def _no_mapping(data: Tree, found: list[Diagnostic], top: Location) -> Document:
    noun = "list" if isinstance(data, list) else "single value"
    what = "it is empty" if data is None or data == "" else f"it holds a {noun}"
    bad = codes.NOT_A_MAPPING.found(top, f"keys with values are expected, but {what}", "write `key: value` lines")
    return Document(None, _NO_LINES, (*found, bad))


def _require_within(data: Tree, limits: Limits) -> None:
    """Raises Refused for more values or levels than the limits allow; walks without recursion, as data may be deep."""
    level, depth, nodes = [data], 0, 0
    while level:
        nodes += len(level)
        if nodes > limits.nodes:
            message = f"more than {limits.nodes} values in one document"
            raise Refused(codes.YAML_TOO_LARGE, None, message, "split it")
        if depth > limits.depth:
            message = f"lists and objects are nested deeper than {limits.depth}"
            raise Refused(codes.YAML_TOO_DEEP, None, message, "flatten them")
        level = [child for node in level for child in _children(node)]
        depth += 1


def _children(node: Tree) -> list[Tree]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []


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
    """The YAML with the value around that line in quotes; None if that cannot be meant (block texts, tags, aliases)."""
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
