"""Lists of tool entries: compared by whole entries, order kept, never by any algebra on patterns (spec 4.3)."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

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
    """Entries by the tool that they are about, so that a policy of hundreds of tools is not searched for each call."""

    by_tool: Mapping[str, tuple[ToolEntry, ...]]
    starred: tuple[ToolEntry, ...]

    def about(self, tool: str) -> Sequence[ToolEntry]:
        """The entries about that tool."""
        exact = self.by_tool.get(tool, ())
        return (*exact, *(entry for entry in self.starred if entry.names(tool))) if self.starred else exact

    def holds(self, entry: ToolEntry) -> bool:
        """Whether the same entry is here, or one for its whole tool."""
        return any(other == entry or other.form is Form.TOOL for other in self.about(entry.tool))


@lru_cache(maxsize=256)
def index_entries(entries: tuple[str, ...]) -> EntryIndex:
    """The index of a list of entries; kept, since a conversation's policies repeat the same lists."""
    by_tool: dict[str, tuple[ToolEntry, ...]] = {}
    starred: list[ToolEntry] = []
    for entry in map(read_entry, entries):
        if entry.tool.endswith("*"):
            starred.append(entry)
        else:
            by_tool[entry.tool] = (*by_tool.get(entry.tool, ()), entry)
    return EntryIndex(by_tool, tuple(starred))


def inside(entries: Sequence[str], limit: Sequence[str]) -> tuple[str, ...]:
    """The entries that the limit holds: the same entry, or that tool's name without arguments."""
    limits = index_entries(tuple(limit))
    return tuple(text for text in entries if limits.holds(read_entry(text)))


def meet(entries: Sequence[str], limit: Sequence[str]) -> tuple[str, ...]:
    """What both lists leave: each entry that the other list holds; of two argument rules for one tool, the first's.

    Never wider than either when a call has to pass both lists as well, as `ToolPolicy.authorize` demands.
    """
    limits = index_entries(tuple(limit))
    kept: dict[str, None] = {}
    for text in entries:
        entry = read_entry(text)
        if limits.holds(entry) or _both_by_argument(entry, limits):
            kept[text] = None
        elif entry.form is Form.TOOL:
            kept.update((narrow, None) for narrow in limit if entry.names(read_entry(narrow).tool))
    return tuple(kept)


def _both_by_argument(entry: ToolEntry, limits: EntryIndex) -> bool:
    return entry.form is not Form.TOOL and entry.tool in limits.by_tool


def narrow(entries: Sequence[str], limit: Sequence[str]) -> tuple[str, ...]:
    """Of two entries of which one covers the other the narrower, in the order of `entries`; others are left out.

    Unlike `meet`, the result stands alone: a call that it permits is permitted by both lists. Whole entries only.
    """
    limits = index_entries(tuple(limit))
    narrower: dict[str, list[str]] = {}
    for text in limit:
        narrower.setdefault(read_entry(text).tool, []).append(text)
    kept: dict[str, None] = {}
    for text in entries:
        entry = read_entry(text)
        if any(covers(other, entry) for other in limits.about(entry.tool)):
            kept[text] = None
        else:
            alike = limit if entry.tool.endswith("*") else narrower.get(entry.tool, ())
            kept.update((other, None) for other in alike if covers(entry, read_entry(other)))
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
