"""The one function behind `next_skill`, `explain` and `advance`: where to from here, and why (spec 3.2)."""

from collections.abc import Mapping

from skillweave.decisions import Evidence
from skillweave.graph.beginning import begin, why_none
from skillweave.graph.compiled import Compiled
from skillweave.graph.context import MoveContext
from skillweave.graph.declared import Limits
from skillweave.graph.judging import Sight
from skillweave.graph.move import By, Loser, Move, Why
from skillweave.graph.notes import Notes, unknown_id
from skillweave.graph.picking import accept
from skillweave.graph.routing import leave
from skillweave.graph.scoring import EntryScoring
from skillweave.graph.tree import walk


def move_from(compiled: Compiled, context: MoveContext, scoring: EntryScoring | None = None) -> Move:
    """Where the conversation stands after this moment; pure, and it never raises for what conditions do."""
    sight = Sight(compiled.lexicon, compiled.declared.scales, context, scoring)
    return _among_entries(compiled, sight) if compiled.declared.tree is None else _in_tree(compiled, sight)


def _in_tree(compiled: Compiled, sight: Sight) -> Move:
    """The leaf is told as evidence: in a tree nobody moves."""
    declared, context = compiled.declared, sight.context
    leaf = walk(declared.tree or "", declared.default, sight)
    evidence = (Evidence("leaf", leaf.skill), *leaf.evidence)
    reason = f"the tree leads to {leaf.skill!r}"
    over = _too_many_iterations(declared.limits, context.iteration)
    if over is not None:
        return Move(context.current, context.current, By.STOPPED, evidence, reason=f"{over}; {reason}")
    by = By.NONE if context.current is None else By.STAY
    return Move(context.current, context.current, by, evidence, reason=reason)


def _among_entries(compiled: Compiled, sight: Sight) -> Move:
    notes, context, limits = Notes(), sight.context, compiled.declared.limits
    current = _known(compiled, context.current, notes)
    over = _too_many_iterations(limits, context.iteration)
    if over is not None:
        return notes.move(current, current, By.STOPPED, over)
    led = None
    if not context.between:
        led = begin(compiled, sight, notes) if current is None else leave(compiled, current, sight, notes)
    taken = accept(compiled, current, context, led, notes)
    if taken is None and current is None:
        return notes.move(None, None, By.NONE, why_none(compiled, sight))
    if taken is None:
        return notes.move(current, current, By.STAY, f"nothing leads away from {current!r} now")
    over = _too_many_visits(limits, context.visits, taken.to)
    if over is not None:
        notes.lost(Loser(taken.to, taken.by, Why.LIMIT, over))
        return notes.move(current, current, By.STOPPED, over)
    return notes.move(taken.to, current, taken.by, taken.reason, taken.evidence)


def _known(compiled: Compiled, current: str | None, notes: Notes) -> str | None:
    """The current skill, None where the graph does not know it."""
    if current is None or current in compiled.wired:
        return current
    shown = unknown_id(current)
    reason = f"{shown!r} has no place in this graph, which starts again"
    notes.lost(Loser(shown, By.STAY, Why.UNKNOWN, reason))
    return None


def _too_many_iterations(limits: Limits, iteration: int) -> str | None:
    most = limits.iterations
    return f"the limit of {most} iterations is reached" if most is not None and iteration > most else None


def _too_many_visits(limits: Limits, visits: Mapping[str, int], to: str) -> str | None:
    most = limits.visits_to(to)
    if most is not None and visits.get(to, 0) >= most:
        return f"the limit of {most} visits of {to!r} is reached"
    if limits.all_visits is not None and sum(visits.values()) >= limits.all_visits:
        return f"the limit of {limits.all_visits} visits is reached"
    return None
