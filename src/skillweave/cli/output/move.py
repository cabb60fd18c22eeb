"""Where a turn went in the skill graph, for people: the step, what else asked for one, and where to go from there."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from skillweave.cli.output.page import Ink, Page
from skillweave.cli.output.words import listed
from skillweave.graph.declared import ANY

if TYPE_CHECKING:
    from skillweave.graph.move import Cursor, Move

SHOWN_LOST = 3
SHOWN_STEPS = 10


def move_text(move: "Move", reachable: tuple[str, ...], page: Page) -> Iterator[str]:
    """The move in one entry, a few of those that lost, and the skills that the model may open now."""
    label, ink = _label(move)
    yield page.entry(label, f"{_way(move)}{move.reason}", ink)
    for loser in move.losers[:SHOWN_LOST]:
        yield page.entry("not taken", f"to {loser.to}, by {loser.by.value}: {loser.reason}", Ink.FAINT)
    for closed in move.guards_closed[:SHOWN_LOST]:
        from_ = "any skill" if closed.from_ == ANY else closed.from_
        yield page.entry("closed", f"{way_text(from_, closed.to)}: {closed.reason}", Ink.FAINT)
    raised = (piece.text for piece in move.evidence if piece.kind == "raised")
    for text in list(raised)[:SHOWN_LOST]:
        yield page.entry("raised", text, Ink.WARN)
    yield page.entry("reachable", listed(reachable))


def cursor_text(cursor: "Cursor", page: Page) -> str:
    """Where a conversation stands in its skill graph, and the way there."""
    way = " -> ".join(cursor.trail[-SHOWN_STEPS:])
    earlier = "... -> " if cursor.trail[SHOWN_STEPS:] else ""
    return page.entry("at", f"{cursor.skill} in the skill graph; the way there: {earlier}{way}", Ink.STRONG)


def way_text(from_: str | None, to: str | None) -> str:
    """`triage -> refund`; what begins comes from the start."""
    return f"{from_ or 'start'} -> {to}"


def _label(move: "Move") -> tuple[str, Ink]:
    if move.moved:
        return "moved", Ink.GOOD
    if move.by.value == "stopped":
        return "stopped", Ink.WARN
    if any(piece.kind in ("leaf", "pick") for piece in move.evidence):
        return "decided", Ink.GOOD  # a tree has no cursor to be moved
    return ("nowhere yet", Ink.FAINT) if move.to is None else ("stays", Ink.STRONG)


def _way(move: "Move") -> str:
    if move.moved:
        return f"{way_text(move.from_, move.to)}, by {move.by.value}: "
    return "" if move.to is None else f"at {move.to}: "
