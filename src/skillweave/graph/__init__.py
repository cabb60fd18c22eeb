"""Where a conversation stands among its skills, and where it may go: the skill graph (spec 3, seed 001)."""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skillweave.graph.builder import decide
    from skillweave.graph.checked import Checkup, Level, Problem
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
    from skillweave.graph.drawn import Edge, Node, Overlay
    from skillweave.graph.graph import Check, GraphBuilder, ScoredGraph, SkillGraph
    from skillweave.graph.guards import FieldTest, Guard, Op
    from skillweave.graph.move import Cursor, Move, MoveContext, PredicateContext
    from skillweave.graph.moving import Leaf
    from skillweave.graph.scorers import EmbeddingScorer, KeywordScorer, LexicalScorer
    from skillweave.graph.scoring import EntryScoring, ScoreCandidate, ScorePolicy, Scorer
    from skillweave.graph.simulate import Simulation, Step

_HOMES = {
    name: module
    for module, names in {
        "builder": "decide",
        "checked": "Checkup Level Problem",
        "conditions": "AllOf AtIteration Condition Guarded HistoryMin Intent Keywords Predicate Regex UserContains",
        "data.codec": "graph_schema",
        "declared": "ANY Decide Declared Entry EntryPick GraphSkill Limits Route",
        "drawn": "Edge Node Overlay",
        "graph": "Check GraphBuilder ScoredGraph SkillGraph",
        "guards": "FieldTest Guard Op",
        "move": "Cursor Move MoveContext PredicateContext",
        "moving": "Leaf",
        "scorers": "EmbeddingScorer KeywordScorer LexicalScorer",
        "scoring": "EntryScoring ScoreCandidate ScorePolicy Scorer",
        "simulate": "Simulation Step",
    }.items()
    for name in names.split()
}
"""Each name with the module that it is loaded from."""

__all__ = [
    "ANY",
    "AllOf",
    "AtIteration",
    "Check",
    "Checkup",
    "Condition",
    "Cursor",
    "Decide",
    "Declared",
    "Edge",
    "EmbeddingScorer",
    "Entry",
    "EntryPick",
    "EntryScoring",
    "FieldTest",
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
    "Move",
    "MoveContext",
    "Node",
    "Op",
    "Overlay",
    "Predicate",
    "PredicateContext",
    "Problem",
    "Regex",
    "Route",
    "ScoreCandidate",
    "ScorePolicy",
    "ScoredGraph",
    "Scorer",
    "Simulation",
    "SkillGraph",
    "Step",
    "UserContains",
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
