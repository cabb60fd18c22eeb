"""Lists of tool entries: compared by whole entries, order kept, never by any algebra on patterns (spec 4.3)."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, takewhile
from operator import attrgetter

from skillweave.compose.matching import Reading, permits, reading_of
from skillweave.relations.rules import Form, ToolEntry, read_entry


def union(lists: Iterable[Iterable[str]]) -> tuple[str, ...]:
    """Everything in any of the lists, the first position wins."""
    return tuple(dict.fromkeys(entry for entries in lists for entry in entries))


def intersection(lists: Sequence[Sequence[str]]) -> tuple[str, ...]:
    """What stands in every list, spelt the same, in the order of the first."""
    if not lists:
        return ()
    common = set(lists[0]).intersection(*lists[1:])
    return tuple(entry for entry in dict.fromkeys(lists[0]) if entry in common)


def without(entries: Sequence[str], forbidden: Sequence[str]) -> tuple[str, ...]:
    """The entries less the forbidden ones; a forbidden name without arguments takes all entries of that tool."""
    if not forbidden:
        return tuple(entries)
    removed = {read_entry(entry) for entry in forbidden}
    tools = {entry.tool for entry in removed if entry.form in (Form.TOOL, Form.BROKEN)}
    stems = tuple(tool[:-1] for tool in tools if tool.endswith("*"))
    kept = ((text, read_entry(text)) for text in entries)
    return tuple(
        text
        for text, entry in kept
        if entry not in removed and entry.tool not in tools and not entry.tool.startswith(stems)
    )


@dataclass(frozen=True, slots=True, eq=False)
class EntryIndex:
    """Entries by the tool that they are about, so that a policy of thousands of tools is not searched for each call.

    `starred` are those for all tools whose names begin in some way, by that beginning; `lengths` are those of the
    beginnings, the shortest first; `texts` has each entry as it is spelt, `ordered` has them
    by the names of their tools.
    """

    by_tool: Mapping[str, Sequence[ToolEntry]]
    starred: Mapping[str, Sequence[ToolEntry]]
    lengths: Sequence[int]
    texts: Mapping[ToolEntry, str]
    ordered: Sequence[ToolEntry]

    def about(self, tool: str) -> Sequence[ToolEntry]:
        """The entries about that tool."""
        exact = self.by_tool.get(tool, ())
        return (*exact, *self._by_beginning(tool)) if self.starred else exact

    def holds(self, entry: ToolEntry) -> bool:
        """Whether the same entry is here, or one for its whole tool."""
        return entry in self.texts or self.holds_whole(entry.tool)

    def holds_whole(self, tool: str) -> bool:
        """Whether an entry for all calls of the tool is here."""
        if ToolEntry(tool) in self.texts:
            return True
        return bool(self.starred) and any(one.form is Form.TOOL for one in self._by_beginning(tool))

    def has_wider(self, entry: ToolEntry) -> bool:
        """Whether another entry, for all tools whose names begin in a way, covers the entry."""
        return any(one.form is Form.TOOL and one != entry for one in self._by_beginning(entry.tool))

    def named_by(self, whole: ToolEntry) -> Sequence[ToolEntry]:
        """The entries about the tools that an entry for whole tools names."""
        if not whole.tool.endswith("*"):
            return self.by_tool.get(whole.tool, ())
        first = bisect_left(self.ordered, whole.tool[:-1], key=_tool_of)
        return tuple(takewhile(lambda entry: whole.names(entry.tool), islice(self.ordered, first, None)))

    def _by_beginning(self, tool: str) -> Iterator[ToolEntry]:
        for length in self.lengths[: bisect_right(self.lengths, len(tool))]:
            yield from self.starred.get(tool[:length], ())


_tool_of = attrgetter("tool")


@lru_cache(maxsize=256)
def index_entries(entries: tuple[str, ...]) -> EntryIndex:
    """The index of a list of entries; kept, since a conversation's policies repeat the same lists."""
    by_tool: dict[str, list[ToolEntry]] = {}
    starred: dict[str, list[ToolEntry]] = {}
    texts: dict[ToolEntry, str] = {}
    for text in entries:
        entry = read_entry(text)
        texts.setdefault(entry, text)
        if entry.tool.endswith("*"):
            starred.setdefault(entry.tool[:-1], []).append(entry)
        else:
            by_tool.setdefault(entry.tool, []).append(entry)
    return EntryIndex(by_tool, starred, sorted(set(map(len, starred))), texts, sorted(texts, key=_tool_of))


def inside(entries: Sequence[str], limit: Sequence[str]) -> tuple[str, ...]:
    """The entries that the limit holds: the same entry, or that tool's name without arguments."""
    limits = index_entries(tuple(limit))
    return tuple(text for text in entries if limits.holds(read_entry(text)))


def meet(entries: Sequence[str], limit: Sequence[str]) -> tuple[str, ...]:
    """What both lists leave: each entry that the other list holds; of two argument rules for one tool, the first's.

    Never wider than either when a call has to pass both lists as well, as `ToolPolicy.authorize` demands.
    """
    limits, own = index_entries(tuple(limit)), index_entries(tuple(entries))
    kept: dict[str, None] = {}
    for text in entries:
        entry = read_entry(text)
        if limits.holds(entry) or (entry.form is not Form.TOOL and entry.tool in limits.by_tool):
            kept[text] = None
        elif entry.form is Form.TOOL and not own.has_wider(entry):
            kept.update((limits.texts[other], None) for other in limits.named_by(entry))
    return tuple(kept)


MOST_PAIRS = 1_000
"""Pairs of patterns about one tool, one of each list, that are compared: each takes some 50 microseconds."""


def narrow(entries: Sequence[str], limit: Sequence[str]) -> tuple[str, ...]:
    """Returns the narrower of each two entries of which one covers the other, in the order of `entries`.

    Others are left out. Unlike the result of `meet`, this one stands alone: a call that it permits is permitted by both
    lists. Once `MOST_PAIRS` pairs of patterns were compared, patterns are kept only where both lists have them.
    """
    limits, own = index_entries(tuple(limit)), index_entries(tuple(entries))
    left = MOST_PAIRS
    kept: dict[str, None] = {}
    for text in entries:
        entry = read_entry(text)
        if entry.form is Form.BROKEN:
            continue
        if limits.holds(entry):
            kept[text] = None
            continue
        narrower: Iterable[ToolEntry] = ()
        if entry.form is not Form.TOOL:
            patterns = limits.by_tool.get(entry.tool, ())[: max(left, 0)]
            left -= len(patterns)
            if any(covers(other, entry) for other in patterns):
                kept[text] = None
            else:
                narrower = (other for other in patterns if covers(entry, other))
        elif not own.has_wider(entry):
            narrower = (other for other in limits.named_by(entry) if other.form is not Form.BROKEN)
        kept.update((limits.texts[other], None) for other in narrower)
    return tuple(kept)


def covers(wide: ToolEntry, entry: ToolEntry) -> bool:
    """Whether the first permits every call that the second permits; sure of it, not guessed."""
    if Form.BROKEN in (wide.form, entry.form) or not wide.names(entry.tool):
        return False
    if wide == entry or wide.form is Form.TOOL:
        return True
    if entry.form is Form.TOOL or entry.parameter != wide.parameter:
        return False
    readings = (reading_of(entry.parameter),) if entry.parameter else tuple(Reading)
    if not all(permits(wide, entry.tool, entry.argument, reading) for reading in readings):
        return False
    if entry.form is Form.EXACT:
        return True
    # Below a folder no `..` may follow, so what goes on freely after a folder's name may lead out of it.
    return wide.form is Form.PREFIX and (not wide.argument.endswith("/") or entry.argument.endswith("/"))
