"""Where a conversation stands among its skills, and where it may go: the skill graph (spec 3, seed 001)."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillweave.graph.builder import GraphBuilder, decide
    from skillweave.graph.checked import Checkup, Problem
    from skillweave.graph.declared import ANY, Declared, Entry, EntryPick, GraphSkill, Limits, Route
    from skillweave.graph.drawn import Edge, Node, Overlay
    from skillweave.graph.graph import Check, ScoredGraph, SkillGraph
    from skillweave.graph.move import Cursor, Look, Move, MoveContext
    from skillweave.graph.scoring import EntryScoring, ScorePolicy, Scorer

_HOMES = {
    "ANY": "declared",
    "Check": "graph",
    "Checkup": "checked",
    "Cursor": "move",
    "Declared": "declared",
    "Edge": "drawn",
    "Entry": "declared",
    "EntryPick": "declared",
    "EntryScoring": "scoring",
    "GraphBuilder": "builder",
    "GraphSkill": "declared",
    "Limits": "declared",
    "Look": "move",
    "Move": "move",
    "MoveContext": "move",
    "Node": "drawn",
    "Overlay": "drawn",
    "Problem": "checked",
    "Route": "declared",
    "ScoredGraph": "graph",
    "ScorePolicy": "scoring",
    "Scorer": "scoring",
    "SkillGraph": "graph",
    "decide": "builder",
}

__all__ = [
    "ANY",
    "Check",
    "Checkup",
    "Cursor",
    "Declared",
    "Edge",
    "Entry",
    "EntryPick",
    "EntryScoring",
    "GraphBuilder",
    "GraphSkill",
    "Limits",
    "Look",
    "Move",
    "MoveContext",
    "Node",
    "Overlay",
    "Problem",
    "Route",
    "ScorePolicy",
    "ScoredGraph",
    "Scorer",
    "SkillGraph",
    "decide",
]


def __getattr__(name: str) -> object:
    """Load a name at its first use: a ledger needs the cursor only."""
    if name not in _HOMES:
        raise AttributeError(f"module 'skillweave.graph' has no attribute {name!r}; it has {', '.join(__all__)}")
    value: object = getattr(import_module(f"skillweave.graph.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
