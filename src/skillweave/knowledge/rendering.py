"""A line of entity context: `{field}` places in phrases that are left out where the field is missing (spec 6.2)."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import TypeAlias

from skillweave.errors import InvalidContext
from skillweave.frozen import FrozenJson
from skillweave.graph.guards import MISSING, Missing
from skillweave.knowledge.entity import Edge, Entity

LONGEST_TEMPLATE = 1000
"""Characters of a line as a pack writes it."""
LONGEST_VALUE = 500
"""Characters that one field of a node may take in a line."""
LONGEST_LINE = 1000
"""Characters of a line as it is shown."""
SCOPES = ("node", "edge", "from", "item")
"""Where a field can be looked up: in the node reached, the last edge, the node before it, the item of a list."""

MOST_NESTED = 10
"""Parentheses inside one another in a template."""

_DEEPEST = 8
_PLACE = re.compile(r"(\{[^{}]*\})")
_MARKS = re.compile(r"(, |; |: |\(|\))")
_BULLET = re.compile(r"\s*- ")
_JOINT = re.compile(r"[\s:.\u2013\u2014-]*")
_UNSEEN = re.compile(r"[\x00-\x1f\x7f-\x9f]")
_HIDDEN = re.compile("[\u200b\u202a-\u202e\u2060-\u206f\ufeff\U000e0000-\U000e007f]")
"""What turns the order of letters about, or is a text that no reader sees: both hide words that a model reads."""

Found: TypeAlias = FrozenJson | Missing


@dataclass(frozen=True, slots=True)
class FieldName:
    """The name of a field: where it is looked up, the empty text for the row itself, and the keys on the way to it."""

    scope: str
    keys: tuple[str, ...]

    def __str__(self) -> str:
        return ".".join((self.scope, *self.keys) if self.scope else self.keys)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a section: a node, the `edge` and the node `before` it if it was reached, and the item of a list."""

    node: Entity
    edge: Edge | None = None
    before: Entity | None = None
    item: Found = MISSING

    def find(self, name: FieldName) -> Found:
        """The value of the field; MISSING where there is none."""
        match name.scope:
            case "edge":
                if self.edge is not None and name.keys == ("relation",):
                    return self.edge.relation
                return MISSING if self.edge is None else _inside(self.edge.properties, name.keys)
            case "from":
                return MISSING if self.before is None else _of_node(self.before, name.keys)
            case "item":
                return _inside(self.item, name.keys)
            case "node":
                return _of_node(self.node, name.keys)
        if self.item is MISSING or name.keys in (("id",), ("label",)):
            return _of_node(self.node, name.keys)
        return self.item if name.keys == ("item",) else _inside(self.item, name.keys)


@dataclass(frozen=True, slots=True)
class Phrase:
    """A part of a line, shown whole or not at all, behind `before`; a tuple in it is a parenthesis."""

    before: str
    parts: "tuple[str | FieldName | tuple[Phrase, ...], ...]"


@dataclass(frozen=True, slots=True)
class Template:
    """A line with its places, ready to be filled; `bullet` is the dash that a list's line begins with."""

    bullet: str
    phrases: tuple[Phrase, ...]

    @property
    def fields(self) -> tuple[FieldName, ...]:
        """The fields that it has places for, in their order."""
        return tuple(_fields(self.phrases))


def field_name(text: str, key: str) -> FieldName:
    """The field that a text names, such as `edge.distance_ft`. Raises InvalidContext about that `key`."""
    keys = tuple(text.split("."))
    if not all(part and part.strip() == part for part in keys):
        fix = "write the name of a field, such as `name` or `edge.distance`"
        raise InvalidContext(key, f"has {text[:60]!r} in it, which names no field", fix)
    if len(keys) > 1 and keys[0] in SCOPES:
        return FieldName(keys[0], keys[1:])
    return FieldName("", keys)


@lru_cache(maxsize=4096)
def template_of(line: str) -> Template:
    """The line with its places. Raises InvalidContext for a line that cannot be used."""
    if not line.strip() or len(line) > LONGEST_TEMPLATE:
        what = f"has a line of {len(line):,} characters"
        raise InvalidContext("render", what, f"write 1 to {LONGEST_TEMPLATE:,}, not all of them blank")
    if len(line.splitlines()) > 1:
        what = f"has a line break in {line[:60]!r}"
        raise InvalidContext("render", what, "write a list, with an entry for each line")
    if not _BULLET.sub("", line, count=1).strip():
        raise InvalidContext("render", "has a line that is a dash and nothing else", "write what stands behind it")
    bullet = _BULLET.match(line)
    begin = bullet.end() if bullet else 0
    pieces = _PLACE.split(line[begin:])
    if any("{" in text or "}" in text for text in pieces[::2]):
        what = f"has a brace in {line[:60]!r} that belongs to no field"
        raise InvalidContext("render", what, "write `{` and `}` around the name of a field only")
    phrases, _ = _phrases(_atoms(pieces), 0)
    return Template(line[:begin], phrases)


def render_line(template: Template, row: Row) -> str | None:
    """The line filled with what the row has: one line without a break; None where nothing that it names is there."""
    text = _shown(template.phrases, row)
    if not text:
        return None
    line = f"{template.bullet}{text}".rstrip()
    return line if len(line) <= LONGEST_LINE else f"{line[: LONGEST_LINE - 1].rstrip()}…"


def value_text(value: Found) -> str:
    """A value of a node as one line of text; empty for what says nothing: null, an empty text, an empty list."""
    text = _text(value, _DEEPEST)
    return text if len(text) <= LONGEST_VALUE else f"{text[: LONGEST_VALUE - 1].rstrip()}…"


def plain_line(text: str) -> str:
    """Somebody's text as one line: white space and control characters are one blank, what nobody sees is nothing."""
    return " ".join(_UNSEEN.sub(" ", _HIDDEN.sub("", text)).split())


def _of_node(node: Entity, keys: tuple[str, ...]) -> Found:
    if keys == ("id",):
        return node.id
    return node.label if keys == ("label",) else _inside(node.properties, keys)


def _inside(value: Found, keys: Sequence[str]) -> Found:
    for key in keys:
        if not isinstance(value, Mapping) or key not in value:
            return MISSING
        value = value[key]
    return value


def _text(value: Found, depth: int) -> str:
    if isinstance(value, str):
        # More would be cut anyway, and a text may be of any length.
        return plain_line(value[: 4 * LONGEST_VALUE])
    if value is None or isinstance(value, Missing):
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value) if abs(value) < 10**30 else f"{Decimal(value):.6e}"
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 10**15 else repr(value)
    if depth == 0:
        return "…"
    if isinstance(value, Mapping):
        pairs = islice(value.items(), LONGEST_VALUE)
        parts = ((plain_line(key[:LONGEST_VALUE]), _member(item, depth)) for key, item in pairs)
        return ", ".join(f"{key}: {text}" for key, text in parts if text)
    members = (_member(item, depth) for item in islice(value, LONGEST_VALUE))
    return ", ".join(text for text in members if text)


def _member(value: FrozenJson, depth: int) -> str:
    text = _text(value, depth - 1)
    return f"({text})" if text and isinstance(value, Mapping | tuple) else text


_Atom: TypeAlias = tuple[str, str | FieldName]


def _atoms(pieces: Sequence[str]) -> list[_Atom]:
    """The line in its smallest parts: texts, fields, and the marks at which phrases end."""
    atoms: list[_Atom] = []
    for number, piece in enumerate(pieces):
        if number % 2:
            atoms.append(("field", field_name(piece[1:-1], "render")))
        else:
            atoms += (("mark" if place % 2 else "text", text) for place, text in enumerate(_MARKS.split(piece)) if text)
    return _balanced(atoms)


def _balanced(atoms: Sequence[_Atom]) -> list[_Atom]:
    """The atoms in which a parenthesis without its other half is a text like any other."""
    opened: list[int] = []
    pairs: set[int] = set()
    deepest = 0
    for place, atom in enumerate(atoms):
        if atom == ("mark", "("):
            opened.append(place)
        elif atom == ("mark", ")") and opened:
            deepest = max(deepest, len(opened))
            pairs |= {opened.pop(), place}
    if deepest > MOST_NESTED:
        what = f"has {deepest} parentheses inside one another"
        raise InvalidContext("render", what, f"write at most {MOST_NESTED}")
    return [
        ("text", text) if kind == "mark" and text in ("(", ")") and place not in pairs else (kind, text)
        for place, (kind, text) in enumerate(atoms)
    ]


def _phrases(atoms: Sequence[_Atom], at: int) -> tuple[tuple[Phrase, ...], int]:
    """The phrases from there to the end of the line or of the parenthesis, and where that is."""
    found: list[Phrase] = []
    before = ""
    parts: list[str | FieldName] = []

    def end(mark: str) -> None:
        nonlocal before, parts
        if parts:
            found.append(Phrase(before, tuple(parts)))
            before = ""
        before, parts = before + mark, []

    while at < len(atoms):
        kind, text = atoms[at]
        at += 1
        if (kind, text) == ("mark", ")"):
            break
        if (kind, text) == ("mark", "("):
            gap = ""
            if parts and isinstance(parts[-1], str):
                whole = parts.pop()
                bare = str(whole).rstrip()
                gap = str(whole)[len(bare) :]
                parts += [bare] if bare else []
            end(gap)
            inner, at = _phrases(atoms, at)
            found.append(Phrase(before, (inner,)))
            before = ""
        elif (kind, text) == ("mark", ": ") and (parts or not found) and all(isinstance(one, str) for one in parts):
            # `Status: {status}` is one phrase; behind a field a colon begins another.
            parts.append(text)
        elif kind == "mark":
            end(str(text))
        elif not parts and not before and found and isinstance(text, str):
            # Behind a parenthesis a colon or a blank joins what follows to what stands before it.
            joint = _JOINT.match(text)
            before = joint[0] if joint else ""
            parts += [text[len(before) :]] if text[len(before) :] else []
        else:
            parts.append(text)
    end("")
    return _with_fields(found), at


def _with_fields(phrases: Sequence[Phrase]) -> tuple[Phrase, ...]:
    """The phrases so that each has a field: text without one goes with the field before it, at first with the next."""
    found: list[Phrase] = []
    for phrase in phrases:
        last = found[-1] if found else None
        if last is not None and not (_has_field(last) and _has_field(phrase)):
            found[-1] = Phrase(last.before, (*last.parts, phrase.before, *phrase.parts))
        else:
            found.append(phrase)
    return tuple(found)


def _has_field(phrase: Phrase) -> bool:
    return next(_fields((phrase,)), None) is not None


def _fields(phrases: Iterable[Phrase]) -> Iterator[FieldName]:
    for phrase in phrases:
        for part in phrase.parts:
            if isinstance(part, FieldName):
                yield part
            elif isinstance(part, tuple):
                yield from _fields(part)


def _shown(phrases: Sequence[Phrase], row: Row) -> str:
    text = ""
    for phrase in phrases:
        parts = [_part(part, row) for part in phrase.parts]
        if None not in parts:
            text += (phrase.before if text else "") + "".join(part for part in parts if part)
    return text


def _part(part: str | FieldName | tuple[Phrase, ...], row: Row) -> str | None:
    if isinstance(part, str):
        return part
    if isinstance(part, FieldName):
        return value_text(row.find(part)) or None
    inner = _shown(part, row)
    return f"({inner})" if inner else None
