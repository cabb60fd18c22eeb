"""The top-level blocks of a Markdown text: headings, and what stands between them, byte for byte."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token


@dataclass(frozen=True, slots=True)
class Block:
    """A paragraph, list, table or fence with the blank lines after it; `level` 1 to 6 for a heading, else 0."""

    text: str
    level: int = 0
    title: str = ""


def blocks_of(text: str) -> tuple[Block, ...]:
    """The blocks in order; joined, their texts are the text again with LF line ends.

    A `#` inside a fence, a list or a quotation is not a heading (CommonMark).
    """
    normal = text.replace("\r\n", "\n").replace("\r", "\n")
    lines = _lines(normal)
    starts = list(_starts(normal))
    if not starts or starts[0][0] > 0:
        starts.insert(0, (0, 0, ""))
    ends = [start for start, _, _ in starts[1:]] + [len(lines)]
    found = (
        Block("".join(lines[start:end]), level, title) for (start, level, title), end in zip(starts, ends, strict=True)
    )
    return tuple(block for block in found if block.text)


def _lines(text: str) -> list[str]:
    """Lines ended by LF alone, as Markdown counts them; `splitlines` also ends them at other characters."""
    pieces = text.split("\n")
    return [f"{piece}\n" for piece in pieces[:-1]] + ([pieces[-1]] if pieces[-1] else [])


def _starts(text: str) -> Iterator[tuple[int, int, str]]:
    tokens = _parser().parse(text)
    for place, token in enumerate(tokens):
        if token.level == 0 and token.nesting >= 0 and token.map is not None:
            yield token.map[0], *_heading(tokens, place)


def _heading(tokens: "list[Token]", place: int) -> tuple[int, str]:
    if tokens[place].type != "heading_open":
        return 0, ""
    return int(tokens[place].tag.removeprefix("h")), " ".join(tokens[place + 1].content.split())


@cache
def _parser() -> "MarkdownIt":
    from markdown_it import MarkdownIt

    # Only where blocks begin matters: emphasis, links and the like are never looked at. A table is a paragraph here,
    # because as a table it would be parsed cell by cell, and a wide one has many more cells than characters.
    return MarkdownIt("commonmark").disable(["inline", "text_join"])
