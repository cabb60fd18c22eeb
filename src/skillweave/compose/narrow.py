"""Two lists of tool entries as the one list that allows no call which either denies (spec 4.4)."""

from collections.abc import Sequence

from skillweave.compose.entries import index_entries
from skillweave.compose.matching import permits
from skillweave.relations.tool_entry import Form, ToolEntry, read_entry


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
    if entry.form is Form.TOOL or not permits(wide, entry.tool, entry.argument):
        return False
    if entry.form is Form.EXACT:
        return True
    # Below a folder no `..` may follow, so what goes on freely after a folder's name may lead out of it.
    return wide.form is Form.PREFIX and (not wide.argument.endswith("/") or entry.argument.endswith("/"))
