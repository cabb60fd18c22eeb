"""Moves, reachable skills and checkups as people read them."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from skillweave.cli.output.move import way_text
from skillweave.cli.output.page import Ink, Page, printable
from skillweave.cli.output.words import counted, evidence_shown
from skillweave.graph.declared import ANY

if TYPE_CHECKING:
    from skillweave.graph.checked import Checkup
    from skillweave.graph.declared import Declared
    from skillweave.graph.move import Move

_LEVELS = {"error": Ink.BAD, "warning": Ink.WARN}


def move_text(move: "Move", leaf: str | None, page: Page) -> str:
    """Where the conversation goes, by what and why; then what lost, and which guards were closed."""
    return "\n".join(_move_lines(move, leaf, page))


def reachable_text(found: Sequence[str], current: str | None, page: Page) -> str:
    """One id a line."""
    if found:
        return "\n".join(map(printable, found))
    return page.wrap("Nothing can be reached from here." if current else "The graph has no entry.")


def checkup_text(report: "Checkup", declared: "Declared", page: Page) -> str:
    """A line for each problem and note, which can be searched and counted, and what the graph holds."""
    lines = [
        f"{page.paint(one.level.value, _LEVELS[one.level.value])}: "
        + printable(" ".join(f"{one.message} {one.fix} [{one.code}]".split()))
        for one in report.problems
    ]
    notes = [page.paint(printable(" ".join(f"note: {note}".split())), Ink.FAINT) for note in report.notes]
    lines += notes
    return "\n".join([*lines, *([""] if lines else []), _summary(report, declared)])


def _summary(report: "Checkup", declared: "Declared") -> str:
    levels = [problem.level.value for problem in report.problems]
    found = [counted(levels.count(level), level) for level in _LEVELS if level in levels]
    if declared.tree is None:
        entries = len(declared.entries)
        parts = f"{entries:,} {'entry' if entries == 1 else 'entries'}, {counted(len(declared.routes), 'route')}"
    else:
        parts = "a decision tree"
    return f"{counted(len(declared.skills), 'skill')}, {parts}: {', '.join(found) or 'nothing is wrong'}."


def _move_lines(move: "Move", leaf: str | None, page: Page) -> Iterator[str]:
    if leaf is not None:
        yield page.entry("leaf", leaf, Ink.GOOD)
    else:
        yield page.entry("to", "nowhere yet" if move.to is None else move.to, Ink.GOOD if move.moved else None)
    if move.from_ is not None:
        yield page.entry("from", move.from_)
    yield page.entry("by", f"{move.by.value}: {move.reason}")
    if move.evidence:
        yield page.entry("evidence", evidence_shown(move.evidence))
    for loser in move.losers:
        yield page.entry("not taken", f"to {loser.to}, by {loser.by.value}: {loser.reason}", Ink.FAINT)
    for closed in move.guards_closed:
        from_ = "any skill" if closed.from_ == ANY else closed.from_
        yield page.entry("closed", f"{way_text(from_, closed.to)}: {closed.reason}", Ink.FAINT)
