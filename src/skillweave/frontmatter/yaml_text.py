"""YAML in and out: read as a bounded stream of events, so that it stops at the first thing that is refused."""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias, cast

import yaml

from skillweave.diagnostics import Diagnostic, Location
from skillweave.frontmatter import codes
from skillweave.frontmatter.codes import Code

Scalar: TypeAlias = "bool | int | float | str | None"

_INTEGER = re.compile(r"[-+]?[0-9]+", re.ASCII)
_PREFIXED = re.compile(r"0o[0-7]+|0x[0-9a-fA-F]+", re.ASCII)
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?", re.ASCII)
_WORDS: Mapping[str, Scalar] = {
    **dict.fromkeys(("", "~", "null", "Null", "NULL"), None),
    **dict.fromkeys(("true", "True", "TRUE"), True),
    **dict.fromkeys(("false", "False", "FALSE"), False),
}
_LONGEST_NUMBER = 400


class Plain(str):
    """Text that stood unquoted in YAML, so that a field of another type may read it as a number or a truth value."""

    __slots__ = ()


def core_value(text: str) -> Scalar:
    """What an unquoted scalar is in YAML 1.2 (core schema); numbers that JSON cannot hold stay text."""
    if text in _WORDS:
        return _WORDS[text]
    if len(text) > _LONGEST_NUMBER:
        return text
    if _INTEGER.fullmatch(text):
        return int(text)
    if _PREFIXED.fullmatch(text):
        return int(text, 0)
    number = float(text) if _FLOAT.fullmatch(text) else math.nan
    return number if math.isfinite(number) else text


def resolved(value: object) -> object:
    """The data with each unquoted scalar typed by the YAML 1.2 core schema; quoted ones stay text."""
    if isinstance(value, Plain):
        return core_value(str(value))
    if isinstance(value, Mapping):
        return {key: resolved(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [resolved(item) for item in value]
    return value


Tree: TypeAlias = "bool | int | float | str | list[Tree] | dict[str, Tree] | None"
"""Data as it was read; from YAML every scalar in it is text, `Plain` where it stood unquoted."""
Keys: TypeAlias = "tuple[str | int, ...]"
"""The way to a value: keys of mappings and indexes of lists, outermost first."""

Parser: TypeAlias = "type[yaml.SafeLoader] | type[yaml.CSafeLoader]"

PARSER: Parser = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""PyYAML's C parser, or the slower one in Python where PyYAML was built without it."""


@dataclass(frozen=True, slots=True)
class Limits:
    """How much is read: `characters` of text, `nodes` (scalars, lists, mappings), `depth` of nesting."""

    characters: int
    nodes: int
    depth: int = 32


FRONT_MATTER_LIMITS = Limits(characters=64 * 1024, nodes=10_000)
PACK_LIMITS = Limits(characters=16 * 1024 * 1024, nodes=1_000_000)


class Refused(Exception):
    """The text cannot be read, because of what stands on that `line`, None where the line is not known."""

    def __init__(self, code: Code, line: int | None, message: str, fix: str) -> None:
        self.code = code
        self.line = line
        self.message = message
        self.fix = fix
        super().__init__(message)

    def found(self, path: str) -> Diagnostic:
        """The refusal as a diagnostic about that file."""
        return self.code.found(Location(path, self.line), self.message, self.fix)


@dataclass(frozen=True, slots=True)
class Parsed:
    """One document: its data, the line of each key and item, and each duplicate key with its line and the first."""

    data: Tree
    lines: Mapping[Keys, int]
    duplicates: tuple[tuple[str, int, int], ...]


def parse(
    text: str, limits: Limits, first_line: int = 1, parser: type[yaml.SafeLoader] | type[yaml.CSafeLoader] = PARSER
) -> Parsed:
    """The one document in the text, None if there is none; it begins on `first_line`. Raises Refused."""
    if len(text) > limits.characters:
        message = f"{len(text)} characters of YAML; {limits.characters} are read"
        raise Refused(codes.YAML_TOO_LARGE, first_line, message, "split it")
    try:
        return _Builder(parser(text), limits, first_line).document()
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line = mark.line + first_line if mark else first_line
        problem = " ".join(str(error.problem or error.context or "it cannot be parsed").split())
        fix = "put the value in quotes, and indent with spaces"
        raise Refused(codes.YAML_INVALID, line, f"the YAML is not valid: {problem}", fix) from error
    except yaml.reader.ReaderError as error:
        line = text.encode("utf-8", "surrogatepass")[: error.position].count(b"\n") + first_line
        message, fix = "a control character stands in the YAML", "remove it, or write it as an escape"
        raise Refused(codes.YAML_INVALID, line, message, fix) from error
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + first_line
        raise Refused(codes.YAML_INVALID, line, "half of a surrogate pair is not text", "remove it") from error


class _Mark(Protocol):
    line: int


class _Event(Protocol):
    """What all events have in common here; the two parsers only agree by shape."""

    start_mark: _Mark
    anchor: str | None
    tag: str | None
    value: str
    style: str | None


_SCALAR: type[object] = yaml.ScalarEvent
_ALIAS: type[object] = yaml.AliasEvent
_MAPPING: type[object] = yaml.MappingStartEvent
_MAPPING_END: type[object] = yaml.MappingEndEvent
_SEQUENCE_END: type[object] = yaml.SequenceEndEvent
_STREAM_END: type[object] = yaml.StreamEndEvent


class _Builder:
    """Turns events into text, lists and dicts; PyYAML's C loader dies on 100 KB of `[` and shares alias bombs."""

    __slots__ = ("_depth", "_duplicates", "_first_line", "_left", "_limits", "_lines", "_next")

    def __init__(self, parser: yaml.SafeLoader | yaml.CSafeLoader, limits: Limits, first_line: int) -> None:
        self._next = cast("Callable[[], _Event]", parser.get_event)
        self._limits = limits
        self._first_line = first_line
        self._left = limits.nodes
        self._depth = 0
        self._lines: dict[Keys, int] = {}
        self._duplicates: list[tuple[str, int, int]] = []

    def document(self) -> Parsed:
        self._next()
        if isinstance(self._next(), _STREAM_END):
            return Parsed(None, self._lines, ())
        data = self._node(self._next(), ())
        self._next()
        following = self._next()
        if not isinstance(following, _STREAM_END):
            fix = "keep one document, with no `---` line inside"
            raise self._refused(following, codes.YAML_INVALID, "a second YAML document begins", fix)
        return Parsed(data, self._lines, tuple(self._duplicates))

    def _node(self, event: _Event, keys: Keys) -> Tree:
        """What begins with the event; refused are aliases, anchors, tags, and what is too much."""
        self._left -= 1
        if event.anchor is not None or event.tag is not None or self._left < 0:
            raise self._unwelcome(event)
        if isinstance(event, _SCALAR):
            return str(event.value) if event.style else Plain(event.value)
        if self._depth == self._limits.depth:
            message = f"lists and mappings are nested deeper than {self._limits.depth}"
            raise self._refused(event, codes.YAML_TOO_DEEP, message, "flatten them")
        self._depth += 1
        node = self._mapping(keys) if isinstance(event, _MAPPING) else self._sequence(keys)
        self._depth -= 1
        return node

    def _unwelcome(self, event: _Event) -> Refused:
        if event.anchor is not None:  # an alias has its name as anchor, and no tag
            what, sign = ("alias", "*") if isinstance(event, _ALIAS) else ("anchor", "&")
            message = f"YAML {what} `{sign}{str(event.anchor)[:60]}` is refused"
            fix = f"write the value out, or quote a text that begins with `{sign}`"
            return self._refused(event, codes.YAML_ALIAS, message, fix)
        if event.tag is not None:
            message = f"YAML tag `{event.tag[:60]}` is refused"
            fix = "remove the tag, or quote a text that begins with `!`"
            return self._refused(event, codes.YAML_TAG, message, fix)
        message = f"more than {self._limits.nodes} values in one document"
        return self._refused(event, codes.YAML_TOO_LARGE, message, "split it, or move the data to a file of its own")

    def _mapping(self, keys: Keys) -> dict[str, Tree]:
        mapping: dict[str, Tree] = {}
        event = self._next()
        while not isinstance(event, _MAPPING_END):
            if not isinstance(event, (_SCALAR, _ALIAS)):
                raise self._refused(event, codes.YAML_INVALID, "a key is not text", "write a word before the colon")
            name, line = str(self._node(event, keys)), event.start_mark.line + self._first_line
            here = (*keys, name)
            if name in mapping:
                self._duplicates.append((name, line, self._lines[here]))
                # The value is read past: its limits hold, its lines and duplicates are nobody's.
                kept = self._lines, self._duplicates
                self._lines, self._duplicates = {}, []
                self._node(self._next(), ())
                self._lines, self._duplicates = kept
            else:
                self._lines[here] = line
                mapping[name] = self._node(self._next(), here)
            event = self._next()
        return mapping

    def _sequence(self, keys: Keys) -> list[Tree]:
        items: list[Tree] = []
        event = self._next()
        while not isinstance(event, _SEQUENCE_END):
            here = (*keys, len(items))
            self._lines[here] = event.start_mark.line + self._first_line
            items.append(self._node(event, here))
            event = self._next()
        return items

    def _refused(self, event: _Event, code: Code, message: str, fix: str) -> Refused:
        return Refused(code, event.start_mark.line + self._first_line, message, fix)


_WIDE = 1 << 20
_ODD = re.compile("[^\t\n -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
"""Line ends that only YAML 1.1 knows, control characters, byte order marks: written as escapes."""


class _Writer(yaml.SafeDumper):
    """Writes every value out: equal lists are no aliases of each other."""

    def ignore_aliases(self, data: object) -> bool:
        return True


def _represent_text(writer: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = None
    if _ODD.search(text):
        require_text(text)
        style = '"'
    elif "\n" in text and not text[0].isspace():
        style = "|"
    elif not isinstance(core_value(text), str):
        style = "'"
    return writer.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Writer.add_representer(str, _represent_text)


def write_yaml(data: Mapping[str, object]) -> str:
    """The JSON data as YAML, in their order. Raises ValueError for text that UTF-8 cannot hold."""
    return yaml.dump(data, Dumper=_Writer, sort_keys=False, allow_unicode=True, width=_WIDE)


def require_text(text: str) -> None:
    """Raises ValueError for text that UTF-8 cannot carry (half of a surrogate pair)."""
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(f"half of a surrogate pair ({text[error.start]!r}) cannot be written; remove it") from error
