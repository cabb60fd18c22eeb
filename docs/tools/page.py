"""A page of the documentation as data: its blocks of code, its headings, its links."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from textwrap import dedent

FENCE = re.compile(
    r"^(?P<indent>[ ]*)(?P<ticks>`{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^(?P=indent)(?P=ticks)[ ]*$",
    re.MULTILINE | re.DOTALL,
)
OUTPUT = "Output"
"""The title of a block that holds what the Python block before it prints."""

_TITLE = re.compile(r'title="([^"]*)"')
_HEADING = re.compile(r"^(#{1,6})[ ]+(.+?)[ ]*(?:\{[^}\n]*\})?$", re.MULTILINE)
_CODE_SPAN = re.compile(r"(`+)(?!`).*?(?<!`)\1(?!`)")
_LINK = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\[\]]*\])*\]\((?P<target>[^()\s]+)\)")
_SYMBOL = re.compile(r"(?<!!)\[(?:[^\[\]]|\[[^\[\]]*\])+\]\[(?P<symbol>[\w.]+)\]")
_IMAGE = re.compile(r"!\[[^\[\]]*\]\((?P<target>[^()\s]+)\)")
_EXPLICIT_ID = re.compile(r"""<[^>]*\bid="([^"]+)"|\{[^}\n]*#([\w-]+)[^}\n]*\}""")
_DIRECTIVE = re.compile(r"^:::[ ]+([\w.]+)[ ]*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block; its body stands from `start` to `end` of the page, it begins on `line` and is over at `after`."""

    language: str
    title: str | None
    body: str
    indent: str
    start: int
    end: int
    after: int
    line: int


class Page:
    """A Markdown file; nothing but its text is read."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.text = path.read_text(encoding="utf-8")

    @cached_property
    def blocks(self) -> tuple[Block, ...]:
        """The fenced blocks in order."""
        return tuple(_block(match, self.text) for match in FENCE.finditer(self.text))

    @cached_property
    def prose(self) -> str:
        """The text with its code, in blocks and in lines, taken out."""
        return _CODE_SPAN.sub(lambda span: span[1] + span[1], FENCE.sub("", self.text))

    @cached_property
    def anchors(self) -> frozenset[str]:
        """What a link may name after `#`: the ids of headings, and those that are given."""
        given = (one or other for one, other in _EXPLICIT_ID.findall(self.prose))
        return frozenset((*_heading_ids(FENCE.sub("", self.text)), *given))

    @property
    def links(self) -> tuple[str, ...]:
        """The targets of links and images as they are written."""
        return (*_targets(_LINK, self.prose), *self.images)

    @property
    def images(self) -> tuple[str, ...]:
        """The targets of images."""
        return tuple(_targets(_IMAGE, self.prose))

    @property
    def symbols(self) -> tuple[str, ...]:
        """The Python names that are linked to the reference: `[text][skillweave.Weaver]`."""
        return tuple(match["symbol"] for match in _SYMBOL.finditer(self._without_blocks))

    @property
    def directives(self) -> tuple[str, ...]:
        """The Python names that the reference documents here: `::: skillweave.weaver`."""
        return tuple(_DIRECTIVE.findall(self.prose))

    @property
    def _without_blocks(self) -> str:
        return FENCE.sub("", self.text)


def _block(match: re.Match[str], text: str) -> Block:
    info = match["info"].strip()
    title = _TITLE.search(info)
    return Block(
        language=info.split()[0].split("{")[0] if info else "",
        title=title[1] if title else None,
        body=dedent(match["body"]) if match["indent"] else match["body"],
        indent=match["indent"],
        start=match.start("body"),
        end=match.end("body"),
        after=match.end(),
        line=text.count("\n", 0, match.start()) + 1,
    )


def _targets(pattern: re.Pattern[str], prose: str) -> Iterator[str]:
    return (match["target"] for match in pattern.finditer(prose))


def _heading_ids(text: str) -> Iterator[str]:
    taken: set[str] = set()
    for _, heading in _HEADING.findall(text):
        base = slug(heading)
        name, number = base, 0
        while name in taken:
            number += 1
            name = f"{base}_{number}"
        taken.add(name)
        yield name


def slug(heading: str) -> str:
    """The id of a heading: its words in lower case with hyphens, without code marks, links or accents."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading)
    ascii_only = unicodedata.normalize("NFKD", plain).encode("ascii", "ignore").decode()
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip().lower())
