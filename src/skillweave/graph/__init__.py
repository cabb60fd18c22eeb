"""Where a conversation stands among its skills, and where it may go: the skill graph (spec 3, seed 001)."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillweave.graph.builder import Fork, decide
    from skillweave.graph.checked import Checkup, Level, Problem
    from skillweave.graph.compiled import CompiledGraph
    from skillweave.graph.conditions import (
        AllOf,
        AtIteration,
        Condition,
        Guarded,
        HistoryMin,
        Intent,
        Keywords,
        Predicate,
        Regex,
        UserContains,
    )
    from skillweave.graph.data.codec import graph_schema
    from skillweave.graph.declared import ANY, Decide, Declared, Entry, EntryPick, GraphSkill, Limits, Route
    from skillweave.graph.drawn import Edge, EdgeKind, Node, NodeKind, Overlay
    from skillweave.graph.graph import Check, GraphBuilder, ScoredGraph, SkillGraph, WiredSkill
    from skillweave.graph.guards import FieldTest, Guard, Op
    from skillweave.graph.move import By, ClosedGuard, Cursor, Loser, Move, MoveContext, PredicateContext, Why
    from skillweave.graph.moving import Decided, Leaf
    from skillweave.graph.scorers import EmbeddingScorer, KeywordScorer, LexicalScorer
    from skillweave.graph.scoring import EntryScoring, RankedEntry, ScoreCandidate, ScorePolicy, Scorer
    from skillweave.graph.simulate import Expect, Script, Simulated, Simulation, Step

_HOMES = {
    name: module
    for module, names in {
        "builder": "Fork decide",
        "checked": "Checkup Level Problem",
        "compiled": "CompiledGraph",
        "conditions": "AllOf AtIteration Condition Guarded HistoryMin Intent Keywords Predicate Regex UserContains",
        "data.codec": "graph_schema",
        "declared": "ANY Decide Declared Entry EntryPick GraphSkill Limits Route",
        "drawn": "Edge EdgeKind Node NodeKind Overlay",
        "graph": "Check GraphBuilder ScoredGraph SkillGraph WiredSkill",
        "guards": "FieldTest Guard Op",
        "move": "By ClosedGuard Cursor Loser Move MoveContext PredicateContext Why",
        "moving": "Decided Leaf",
        "scorers": "EmbeddingScorer KeywordScorer LexicalScorer",
        "scoring": "EntryScoring RankedEntry ScoreCandidate ScorePolicy Scorer",
        "simulate": "Expect Script Simulated Simulation Step",
    }.items()
    for name in names.split()
}
"""Each name with the module that it is loaded from."""

__all__ = [
    "ANY",
    "AllOf",
    "AtIteration",
    "By",
    "Check",
    "Checkup",
    "ClosedGuard",
    "CompiledGraph",
    "Condition",
    "Cursor",
    "Decide",
    "Decided",
    "Declared",
    "Edge",
    "EdgeKind",
    "EmbeddingScorer",
    "Entry",
    "EntryPick",
    "EntryScoring",
    "Expect",
    "FieldTest",
    "Fork",
    "GraphBuilder",
    "GraphSkill",
    "Guard",
    "Guarded",
    "HistoryMin",
    "Intent",
    "KeywordScorer",
    "Keywords",
    "Leaf",
    "Level",
    "LexicalScorer",
    "Limits",
    "Loser",
    "Move",
    "MoveContext",
    "Node",
    "NodeKind",
    "Op",
    "Overlay",
    "Predicate",
    "PredicateContext",
    "Problem",
    "RankedEntry",
    "Regex",
    "Route",
    "ScoreCandidate",
    "ScorePolicy",
    "ScoredGraph",
    "Scorer",
    "Script",
    "Simulated",
    "Simulation",
    "SkillGraph",
    "Step",
    "UserContains",
    "Why",
    "WiredSkill",
    "decide",
    "graph_schema",
]


def __getattr__(name: str) -> object:
    """Load a name at its first use: a ledger needs the cursor only."""
    if name not in _HOMES:
        raise AttributeError(f"module 'skillweave.graph' has no attribute {name!r}; it has {', '.join(__all__)}")
    value: object = getattr(import_module(f"skillweave.graph.{_HOMES[name]}"), name)
    globals()[name] = value
    return value
