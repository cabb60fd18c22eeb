"""A long text as a tree of sections that can be read one by one (spec 5.1)."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import pairwise

from skillweave.disclose.block import Priced
from skillweave.text.markdown import Block, blocks_of

SECTION_TOKENS = 600
"""A section of at most so many tokens is never divided; the parts of a divided one have about as many."""
MOST_ENTRIES = 30
"""So many sections at most stand side by side; more are put together in groups."""
MOST_LINES = 30_000
"""A text of more lines is divided between lines, without regard to headings: to look for them takes seconds."""
LONGEST_TITLE = 100
"""Characters of a section's title; a paragraph over a line of dashes is a heading for Markdown, however long it is."""
INTRODUCTION = "Introduction"

Count = Callable[[str], int]
_TO = " ... "
# Chinese and Japanese sentences follow each other without a blank.
_SENTENCE_END = re.compile(r"(?<=[.!?])[)\]\"'»”’]*\s+|(?<=[。！？])[）」』】»”’]*\s*")
_NUMBERED = re.compile(
    r"(?:section\s+)?(?P<number>\d+(?:\.\d+)*)[.:)]?(?:\s+(?P<title>.*))?", re.IGNORECASE | re.DOTALL
)
_LONGEST_NAME = 1000
_LIST_NUMBER = re.compile(r"\s*\d+\.\s+")


@dataclass(frozen=True, slots=True)
class Section:
    """A part of a text: a leaf with `text`, or a branch with `parts`; `id` is its number, empty for the whole."""

    id: str
    title: str
    tokens: int
    text: str = ""
    parts: tuple["Section", ...] = ()

    def leaves(self) -> tuple["Section", ...]:
        """The undivided sections inside, in order; itself when it is one."""
        return tuple(leaf for part in self.parts for leaf in part.leaves()) if self.parts else (self,)

    def walk(self) -> Iterator["Section"]:
        """Itself, then all sections inside, in reading order."""
        yield self
        for part in self.parts:
            yield from part.walk()

    @property
    def digest(self) -> str:
        """SHA-256 hex of its whole text."""
        text = "".join(leaf.text for leaf in self.leaves())
        return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(slots=True)
class _Node:
    """A section while the tree is built; `blocks` are its own text, the heading included."""

    title: str
    level: int = 0
    blocks: list[Block] = field(default_factory=list)
    parts: list["_Node"] = field(default_factory=list)

    def whole(self) -> str:
        return "".join([*(block.text for block in self.blocks), *(part.whole() for part in self.parts)])


def sections_of(title: str, parts: Sequence[tuple[str, str]], count: Count) -> Section:
    """The tree of titled parts; one without a title is Markdown with its own headings. No text is lost or doubled."""
    root = _Node(title)
    for name, text in parts:
        ended = text if text.endswith("\n") else f"{text}\n"
        if name:
            root.parts.append(_Node(name, 1, [Block(ended)]))
        else:
            _grow(root, blocks_of(ended) if ended.count("\n") <= MOST_LINES else (Block(ended),))
    return _numbered(_section(_unwrapped(root), count), "")


def find_section(whole: Section, wanted: str) -> Section | None:
    """The section of that number or title, or of both as listed, None without one; a unique title counts first."""
    name = wanted[:_LONGEST_NAME].strip().strip("#").strip()
    sections = {section.id: section for section in whole.walk()}
    if name.rstrip(".") in sections:
        return sections[name.rstrip(".")]
    numbered = _NUMBERED.fullmatch(name)
    for title in (name, numbered["title"] if numbered else None):
        titled = [one for one in sections.values() if title and one.title.casefold() == _shortened(title).casefold()]
        if len(titled) == 1:
            return titled[0]
    return sections.get(numbered["number"]) if numbered else None


def entries_of(section: Section) -> tuple[Section, ...]:
    """What a table of its contents lists: its parts, and level by level theirs, while the list stays short."""
    shown = section.parts
    deepest = section.parts
    while True:
        deepest = tuple(below for part in deepest for below in part.parts)
        if not deepest or len(shown) + len(deepest) > MOST_ENTRIES:
            return shown
        listed = {entry.id for entry in (*shown, *deepest)}
        shown = tuple(entry for entry in section.walk() if entry.id in listed)


def _grow(root: _Node, blocks: Sequence[Block]) -> None:
    open_nodes = [root]
    for block in blocks:
        if block.level:
            while open_nodes[-1].level >= block.level:
                open_nodes.pop()
            node = _Node(_shortened(block.title) or INTRODUCTION, block.level, [block])
            open_nodes[-1].parts.append(node)
            open_nodes.append(node)
        else:
            open_nodes[-1].blocks.append(block)


def _unwrapped(root: _Node) -> _Node:
    """A text under one title of its own starts with what that title holds."""
    if root.blocks or len(root.parts) != 1:
        return root
    only = root.parts[0]
    return _Node(only.title, 0, only.blocks, only.parts)


def _shortened(title: str, longest: int = LONGEST_TITLE) -> str:
    if len(title) <= longest:
        return title
    cut = title[: longest - 3]
    return f"{cut.rpartition(' ')[0] or cut}..."


def _section(node: _Node, count: Count) -> Section:
    whole = node.whole()
    tokens = count(whole)
    parts = _parts(node, count) if tokens > SECTION_TOKENS else []
    return Section("", node.title, tokens, parts=_grouped(parts)) if parts else Section("", node.title, tokens, whole)


def _parts(node: _Node, count: Count) -> list[Section]:
    """The parts of a long section; none where its text is one sentence."""
    own = "".join(block.text for block in node.blocks)
    if not node.parts:
        return _divided(node, count)
    parts = [_section(part, count) for part in node.parts]
    if not own:
        return parts
    if all(block.level or block.text.isspace() for block in node.blocks):
        return [_after(own, parts[0], count), *parts[1:]]
    return [_section(_Node(INTRODUCTION, node.level, node.blocks), count), *parts]


def _after(heading: str, section: Section, count: Count) -> Section:
    """The section with a heading before its first words, so that a heading alone is not a section."""
    if not section.parts:
        text = heading + section.text
        return replace(section, text=text, tokens=count(text))
    first, *others = section.parts
    longer = _after(heading, first, count)
    return replace(section, parts=(longer, *others), tokens=section.tokens + longer.tokens - first.tokens)


def _divided(node: _Node, count: Count) -> list[Section]:
    """Pieces of about the wanted size: of whole blocks, else of lines, else of sentences, which are never divided."""
    heading = "".join(block.text for block in node.blocks if block.level)
    texts = [piece for block in node.blocks if not block.level for piece in _pieces(block.text, count)]
    first, *others = _packed(texts, count) or [""]
    pieces = [heading + first, *others]
    if len(pieces) == 1:
        return []
    titles = (f"{node.title} ({place} of {len(pieces)})" for place in range(1, len(pieces) + 1))
    return [Section("", title, count(piece), piece) for title, piece in zip(titles, pieces, strict=True)]


def _pieces(text: str, count: Count) -> list[str]:
    if count(text) <= SECTION_TOKENS:
        return [text]
    lines = text.splitlines(keepends=True)
    return _packed([piece for line in lines for piece in _sentences(line, count)], count)


def _sentences(line: str, count: Count) -> list[str]:
    if count(line) <= SECTION_TOKENS:
        return [line]
    number = _LIST_NUMBER.match(line)
    start = number.end() if number else 0
    ends = [match.end() for match in _SENTENCE_END.finditer(line, start)]
    bounds = dict.fromkeys((0, *ends, len(line)))
    return [line[begin:end] for begin, end in pairwise(bounds)]


def _packed(texts: Sequence[str], count: Count) -> list[str]:
    packed: list[str] = []
    held: list[str] = []
    tokens = 0
    for text in texts:
        size = count(text)
        if held and tokens + size > SECTION_TOKENS and not text.isspace():
            packed.append("".join(held))
            held, tokens = [], 0
        held.append(text)
        tokens += size
    return [*packed, "".join(held)] if held else packed


def _grouped(parts: Sequence[Section]) -> tuple[Section, ...]:
    while len(parts) > MOST_ENTRIES:
        size = min(MOST_ENTRIES, -(-len(parts) // MOST_ENTRIES))
        groups = [parts[start : start + size] for start in range(0, len(parts), size)]
        parts = [group[0] if len(group) == 1 else _group(group) for group in groups]
    return tuple(parts)


def _group(parts: Sequence[Section]) -> Section:
    ends = (parts[0].title.partition(_TO)[0], parts[-1].title.rpartition(_TO)[2])
    title = _TO.join(_shortened(end, LONGEST_TITLE // 2 - len(_TO)) for end in ends)
    tokens = sum(part.tokens for part in parts)
    if tokens > SECTION_TOKENS:
        return Section("", title, tokens, parts=tuple(parts))
    # As one section: each would have a record of its own, and there may be thousands.
    return Section("", title, tokens, "".join(leaf.text for part in parts for leaf in part.leaves()))


def _numbered(section: Section, number: str) -> Section:
    first = 0 if section.parts and section.parts[0].title == INTRODUCTION else 1
    parts = tuple(
        _numbered(part, f"{number}.{place}" if number else str(place))
        for place, part in enumerate(section.parts, first)
    )
    return replace(section, id=number, parts=parts)


READ = "read"
"""The stage of decisions on what the model asked to read."""


@dataclass(frozen=True, slots=True)
class Leaf:
    """An undivided section with the key of its record, and whether its text is in the context already."""

    key: str
    section: Section
    there: bool = False

    def beside(self, keys: Collection[str]) -> "Leaf":
        """The leaf, marked as there where its key is among these."""
        return replace(self, there=True) if self.key in keys else self


@dataclass(frozen=True, slots=True)
class Reading:
    """A section to be shown, of an `artifact` or the skill's text; `contents` is the record that stands in for it."""

    section: Section
    leaves: tuple[Leaf, ...]
    contents: Leaf
    artifact: str | None = None

    def beside(self, keys: Collection[str]) -> "Reading":
        """The reading where the texts of these keys are in the context too."""
        leaves = tuple(leaf.beside(keys) for leaf in self.leaves)
        return replace(self, leaves=leaves, contents=self.contents.beside(keys))

    @property
    def missing(self) -> tuple[Leaf, ...]:
        """The leaves whose text is not in the context."""
        return tuple(leaf for leaf in self.leaves if not leaf.there)

    @property
    def what(self) -> str:
        """What is read, for people and for the model: "section 2.1", "the document references/a.md, section 3"."""
        place = f"section {self.section.id}" if self.section.id else ""
        if self.artifact is None:
            return place or "the whole text"
        document = " ".join(self.artifact.split())
        return f"{document}, {place}" if place else document


@dataclass(frozen=True, slots=True)
class Readout:
    """What is shown of a reading: leaves, its table of contents, or nothing; `too_long` never fits."""

    reading: Reading
    block: Priced | None = None
    leaves: tuple[Leaf, ...] = ()
    cost: int | None = None
    outline: int | None = None
    too_long: bool = False

    @property
    def keys(self) -> frozenset[str]:
        """The keys of what is shown."""
        shown = self.leaves or (self.reading.contents,)
        return frozenset(leaf.key for leaf in shown) if self.block is not None else frozenset()
