"""Which of the model's picks is accepted (spec 3.2, 3.3)."""

from skillweave.decisions import Evidence
from skillweave.graph.compiled import Compiled
from skillweave.graph.context import MoveContext
from skillweave.graph.move import By, Loser, Why
from skillweave.graph.notes import Notes, unknown_id
from skillweave.graph.reachable import is_reachable, reachable_from, refusal
from skillweave.graph.taken import Taken


def accept(
    compiled: Compiled, current: str | None, context: MoveContext, taken: Taken | None, notes: Notes
) -> Taken | None:
    """What was `taken` already, else the first pick that can be reached; every pick that leads elsewhere is noted.

    To open a base skill is no step: it applies beside the cursor, wherever that is.
    """
    for pick in dict.fromkeys(context.picks):
        if pick == current or pick in compiled.base:
            continue
        if pick not in compiled.wired:
            shown = unknown_id(pick)
            notes.lost(Loser(shown, By.PICK, Why.UNKNOWN, f"{shown!r} has no place in this graph"))
        elif not is_reachable(compiled, current, pick):
            reason = refusal(pick, current, reachable_from(compiled, current))
            notes.lost(Loser(pick, By.PICK, Why.UNREACHABLE, reason))
        elif taken is None:
            reason = f"the model picked {pick!r}, which can be reached"
            taken = Taken(pick, By.PICK, (Evidence("pick", pick),), reason)
        elif taken.to != pick:
            notes.lost(Loser(pick, By.PICK, Why.OVERRULED, f"the conversation goes to {taken.to!r} first"))
    return taken
