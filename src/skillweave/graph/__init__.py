"""Where a conversation stands among its skills, and where it may go: the skill graph (spec 3, seed 001)."""

from typing import TYPE_CHECKING

from skillweave.doors import door

if TYPE_CHECKING:
    from skillweave.graph.answers import GraphShown, GraphSkillShown, Next, Played, SimulationShown
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
    from skillweave.graph.findings import checkup_among
    from skillweave.graph.graph import Check, GraphBuilder, ScoredGraph, SkillGraph, WiredSkill
    from skillweave.graph.guards import FieldTest, Guard, Op
    from skillweave.graph.move import By, ClosedGuard, Cursor, Loser, Move, MoveContext, PredicateContext, Why
    from skillweave.graph.moving import Decided, Leaf
    from skillweave.graph.scoring import (
        EmbeddingScorer,
        EntryScoring,
        KeywordScorer,
        LexicalScorer,
        RankedEntry,
        ScoreCandidate,
        ScorePolicy,
        Scorer,
    )
    from skillweave.graph.simulate import Expect, Script, Simulated, Simulation, Step

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
    "GraphShown",
    "GraphSkill",
    "GraphSkillShown",
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
    "Next",
    "Node",
    "NodeKind",
    "Op",
    "Overlay",
    "Played",
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
    "SimulationShown",
    "SkillGraph",
    "Step",
    "UserContains",
    "Why",
    "WiredSkill",
    "checkup_among",
    "decide",
    "graph_schema",
]

__getattr__ = door(
    __name__,
    """
answers: GraphShown GraphSkillShown Next Played SimulationShown
builder: Fork decide
checked: CODES Checkup Level Problem
compiled: CompiledGraph all_intents compile_graph compile_lexicon conditions_of decisions_of needs_scoring wired_ids
conditions: AllOf AtIteration Condition EvalContext Guarded HistoryMin Intent KINDS Keywords Predicate Regex
    UserContains Verdict expression intents_of judge_guard leaves_of phrases_of read_condition spaced write_condition
data.codec: GRAPH_KEYS SCHEMA graph_schema read_graph write_graph
data.context: read_context
data.digest: digest_of
data.options: LIMIT_KEYS PICKS PICK_KEYS VISIT_KEYS
data.parts: DECISION_KEYS ENTRY_KEYS ROUTE_KEYS SKILL_KEYS read_on_status read_on_tool
declared: ANY Decide Declared Entry EntryPick GraphSkill Limits Route STATUSES TreeNode graph_skill leaf_ids
    require_tree_or_routes with_loaded_skills
drawn: Edge EdgeKind Node NodeKind Overlay
entry_scoring: best_of heard_of ranked_entries relevances scorable_entries score_entries scores_in_order
findings: checkup_among graph_findings graph_in
graph: Check GraphBuilder ScoredGraph SkillGraph WiredSkill
guards: FailedTest FieldTest Guard LISTED LONGEST_RESULT MISSING ORDERED Op Scalar Scales holds json_text read_guard
    type_name write_guard
move: By ClosedGuard Cursor LONGEST_TRAIL Loser Move MoveContext PredicateContext Why
moving: Decided LONGEST_UNKNOWN Leaf MOST_NAMED MOST_TOLD Notes at context_of described is_between is_never
    is_reachable judged_entries move_from refusal unknown_id walk
scoring: DEFAULT_POLICIES EmbeddingScorer EntryScoring KeywordScorer LexicalScorer RankedEntry ScoreCandidate
    ScorePolicy Scorer scorer_named
shape: inside line_of
simulate: Expect Script Simulated Simulation Step read_script
wording: BLANK printable visible
""",
)
