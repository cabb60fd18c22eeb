"""A graph as the text of a Mermaid flowchart (spec 3.6)."""

import re
from collections.abc import Iterator, Sequence

from skillweave.graph.drawing.picture import End, EndKind, Mark, Picture, picture_of
from skillweave.graph.drawn import Edge, EdgeKind, Node, Overlay

_SHAPES = {
    EndKind.START: ('(["', '"])'),
    EndKind.ANY: ('(["', '"])'),
    EndKind.SKILL: ('["', '"]'),
    EndKind.PREDICATE: ('{"', '"}'),
    EndKind.UNKNOWN: ('["', '"]'),
}
_CLASSES = {
    Mark.VISITED: "fill:#dbeafe,stroke:#3b82f6,color:#172554",
    Mark.REACHABLE: "stroke:#16a34a,stroke-width:2px,stroke-dasharray:6 4",
    Mark.CURRENT: "fill:#2563eb,stroke:#1d4ed8,color:#ffffff,stroke-width:3px",
    Mark.APART: "fill-opacity:0.6,stroke-opacity:0.35",
}
_LONGEST_NAME = 40
_SLUG = re.compile(r"[^a-z0-9]+")
_SPECIAL = re.compile(r"[^\w ,()?!'“”…≥≤≠–-]|(?<![^\W_])[_-]|[_-](?![^\W_])|n(?= )(?<=direction)")
"""What Mermaid, Markdown or HTML may read as more than itself; an underscore or hyphen inside a word is safe.

The word `direction` before a blank turns the whole line into a statement, also inside quotes.
"""
_OWN_ESCAPES = re.compile("(?<=ﬂ)(?=°)|(?<=¶)(?=ß)")
"""Where Mermaid's own spelling of an escape begins and ends; it looks for that in the finished drawing as well."""
_WORD_JOINER = "\u2060"
_PREFIXES = {
    EndKind.START: "start",
    EndKind.ANY: "any",
    EndKind.SKILL: "s",
    EndKind.PREDICATE: "if",
    EndKind.UNKNOWN: "s",
}


def to_mermaid(nodes: Sequence[Node], edges: Sequence[Edge], overlay: Overlay | None = None) -> str:
    """A `flowchart TD` of these nodes and edges, dotted for the model's ways; any ids and labels parse."""
    picture = picture_of(nodes, edges, overlay)
    names = _names(picture.ends)
    return "\n".join(["flowchart TD", *(f"  {line}" for line in _lines(picture, names))])


def _lines(picture: Picture, names: Sequence[str]) -> Iterator[str]:
    for name, end in zip(names, picture.ends, strict=True):
        opening, closing = _SHAPES[end.kind]
        label = "▶ start" if end.kind is EndKind.START else _escaped(end.label)
        yield f"{name}{opening}{label}{closing}"
    for arrow in picture.arrows:
        label = f'|"{_escaped(arrow.label)}"|' if arrow.label else ""
        shaft = "-.->" if arrow.kind is EdgeKind.MODEL else "-->"
        yield f"{names[arrow.source]} {shaft}{label} {names[arrow.target]}"
    for mark, style in _CLASSES.items():
        marked = [name for name, end in zip(names, picture.ends, strict=True) if mark in end.marks]
        if marked:
            yield f"classDef {mark.value} {style}"
            yield f"class {','.join(marked)} {mark.value}"


def _names(ends: Sequence[End]) -> list[str]:
    taken: set[str] = set()
    repeats: dict[str, int] = {}
    names = []
    for end in ends:
        slug = _SLUG.sub("-", end.id[:_LONGEST_NAME].lower()).strip("-")
        base = _PREFIXES[end.kind] + (f"-{slug}" if slug else "")
        name = base
        while name in taken:
            repeats[base] = repeats.get(base, 1) + 1
            name = f"{base}-{repeats[base]}"
        taken.add(name)
        names.append(name)
    return names


def _escaped(label: str) -> str:
    return _SPECIAL.sub(lambda found: f"#{ord(found[0])};", _OWN_ESCAPES.sub(_WORD_JOINER, label))
