"""Whole YAML and JSON documents, read with limits and never silently."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from skillweave.diagnostics import Diagnostic, Location
from skillweave.frontmatter import codes
from skillweave.frontmatter.events import PACK_LIMITS, Keys, Limits, Parsed, Refused, Tree, parse
from skillweave.frontmatter.repair import quote_value

_MOST_REPAIRS = 16
_NO_LINES: Mapping[Keys, int] = MappingProxyType({})


@dataclass(frozen=True, slots=True)
class Document:
    """A document's mapping, None when it was refused; `lines` tells where each key and list item stands."""

    data: dict[str, Tree] | None
    lines: Mapping[Keys, int]
    diagnostics: tuple[Diagnostic, ...]


def read_yaml(text: str, *, path: str, limits: Limits = PACK_LIMITS, first_line: int = 1) -> Document:
    """The one mapping in a YAML text: scalars stay text, unquoted ones as `Plain` (`resolved` types them).

    `first_line` is the line of the file on which the text begins. Nothing is raised: what is refused or repaired is
    in `diagnostics`, each with its line.
    """
    found: list[Diagnostic] = []
    try:
        parsed = _repaired(text, limits, path, first_line, found)
    except Refused as refusal:
        where = Location(path, refusal.line)
        return Document(None, _NO_LINES, (*found, refusal.code.found(where, refusal.message, refusal.fix)))
    found.extend(
        codes.DUPLICATE_KEY.found(
            Location(path, twice.line),
            f"key `{twice.key[:60]}` stands twice; the one in line {twice.first} counts",
            "remove one of them",
        )
        for twice in parsed.duplicates
    )
    return _document(parsed.data, parsed.lines, found, Location(path, first_line))


def read_json(text: str, *, path: str, limits: Limits = PACK_LIMITS) -> Document:
    """The one object in a JSON text, with the same limits; a key that stands twice counts once, the first."""
    found: list[Diagnostic] = []

    def once(pairs: list[tuple[str, Tree]]) -> dict[str, Tree]:
        data: dict[str, Tree] = {}
        for key, value in pairs:
            if key in data:
                message = f"key `{key[:60]}` stands twice; the first one counts"
                found.append(codes.DUPLICATE_KEY.found(Location(path), message, "remove one of them"))
            else:
                data[key] = value
        return data

    if len(text) > limits.characters:
        message = f"the JSON has {len(text)} characters; {limits.characters} are read"
        return Document(None, _NO_LINES, (codes.YAML_TOO_LARGE.found(Location(path), message, "split it"),))
    try:
        data: Tree = json.loads(text, object_pairs_hook=once, parse_constant=refuse_constant)
    except json.JSONDecodeError as error:
        where = Location(path, error.lineno)
        bad = codes.JSON_INVALID.found(where, f"the JSON is not valid: {error.msg}", "correct it at this line")
        return Document(None, _NO_LINES, (*found, bad))
    except (ValueError, RecursionError) as error:
        why = str(error).splitlines()[0]
        bad = codes.JSON_INVALID.found(Location(path), f"the JSON is not read: {why}", "write plain, shallow JSON")
        return Document(None, _NO_LINES, (*found, bad))
    refusal = _beyond(data, limits)
    if refusal is not None:
        bad = refusal.code.found(Location(path), refusal.message, refusal.fix)
        return Document(None, _NO_LINES, (*found, bad))
    return _document(data, _NO_LINES, found, Location(path))


def _repaired(text: str, limits: Limits, path: str, first_line: int, found: list[Diagnostic]) -> Parsed:
    repairs: list[Diagnostic] = []
    while True:
        try:
            parsed = parse(text, limits, first_line)
        except Refused as refusal:
            quoted = quote_value(text, refusal.line - first_line + 1) if refusal.code is codes.YAML_INVALID else None
            if quoted is None or len(repairs) == _MOST_REPAIRS:
                raise
        else:
            found.extend(repairs)
            return parsed
        text = quoted.text
        repairs.append(
            codes.REPAIRED.found(
                Location(path, quoted.line + first_line - 1),
                f"the value of `{quoted.key[:60]}` holds a colon or sign that needs quotes; it was read as text",
                f'put it in quotes: {quoted.key[:60]}: "..."',
            )
        )


def _document(data: Tree, lines: Mapping[Keys, int], found: list[Diagnostic], top: Location) -> Document:
    if isinstance(data, dict):
        return Document(data, lines, tuple(found))
    what = "it is empty" if data is None or data == "" else f"it holds a {_noun(data)}"
    bad = codes.NOT_A_MAPPING.found(top, f"keys with values are expected, but {what}", "write `key: value` lines")
    return Document(None, _NO_LINES, (*found, bad))


def _noun(data: Tree) -> str:
    return "list" if isinstance(data, list) else "single value"


def refuse_constant(name: str) -> float:
    """For `json.loads`: raise ValueError for NaN and the infinities, which Python reads and JSON does not have."""
    raise ValueError(f"{name} is no JSON value")


def _beyond(data: Tree, limits: Limits) -> Refused | None:
    """Walks without recursion, as the data may be deep."""
    level, depth, nodes = [data], 0, 0
    while level:
        nodes += len(level)
        if nodes > limits.nodes:
            return Refused(codes.YAML_TOO_LARGE, 1, f"more than {limits.nodes} values in one document", "split it")
        if depth > limits.depth:
            return Refused(
                codes.YAML_TOO_DEEP, 1, f"lists and objects are nested deeper than {limits.depth}", "flatten them"
            )
        level = [child for node in level for child in _children(node)]
        depth += 1
    return None


def _children(node: Tree) -> list[Tree]:
    if isinstance(node, dict):
        return list(node.values())
    return node if isinstance(node, list) else []
