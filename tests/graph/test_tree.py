"""Decision trees (spec 3.2, last paragraph)."""

from typing import Any

import pytest

from skillweave import ToolResult
from skillweave.graph import (
    AllOf,
    AtIteration,
    Condition,
    Decide,
    Decided,
    Declared,
    EntryScoring,
    HistoryMin,
    Intent,
    Leaf,
    MoveContext,
    Predicate,
    PredicateContext,
    Regex,
    SkillGraph,
    UserContains,
)
from skillweave.graph.compiled import compile_lexicon
from skillweave.graph.conditions import EvalContext
from skillweave.graph.declared import TreeNode, leaf_ids
from skillweave.graph.moving import walk
from tests.graph.moments import RISK, Unclear, guarded, messages, pieces, raises, said

REFUND, ORDER = said("refund"), said("order")
SHOP = Decide(REFUND, Decide(HistoryMin(2), "senior", "refund"), Decide(ORDER, "order", "triage", "about an order?"))


def _walked(tree: TreeNode, message: str = "", default: str | None = None, **moment: object) -> Leaf:
    context = MoveContext(message, **moment)  # type: ignore[arg-type]
    return walk(tree, default, EvalContext(compile_lexicon(Declared(tree=tree)), RISK, context))


class Counted:
    """Code that counts how often it is asked."""

    def __init__(self, answer: object) -> None:
        self.answer = answer
        self.asked = 0

    def __call__(self, _: PredicateContext) -> object:
        self.asked += 1
        return self.answer


@pytest.mark.parametrize(
    ("message", "history", "leaf"),
    [
        ("a refund", 0, "refund"),
        ("a refund", 2, "senior"),
        ("my order", 2, "order"),
        ("hello", 0, "triage"),
        ("refund my order", 0, "refund"),
    ],
)
def test_a_walk_follows_then_where_the_condition_holds_and_otherwise_where_not(
    message: str, history: int, leaf: str
) -> None:
    assert _walked(SHOP, message, history=messages(history)).skill == leaf


def test_a_skill_alone_is_a_tree_of_one_leaf() -> None:
    assert _walked("triage") == Leaf("triage")


def test_a_walk_tells_the_decisions_on_its_way() -> None:
    assert _walked(SHOP, "my order").path == (
        Decided(REFUND, None, held=False),
        Decided(ORDER, "about an order?", held=True),
    )


def test_a_walk_tells_what_its_conditions_found() -> None:
    assert pieces(_walked(SHOP, "a refund", history=messages(2)).evidence) == [
        ("keyword", "refund"),
        ("history", "at least 2 messages"),
    ]


def test_conditions_beside_the_way_are_not_asked() -> None:
    aside = Predicate(Counted(answer=True))
    tree = Decide(said("x"), Decide(aside, "a", "b"), Decide(said("y"), "c", Decide(aside, "d", "e")))
    assert _walked(tree, "y").skill == "c"
    assert aside.call.asked == 0  # type: ignore[attr-defined]


def test_the_tree_is_walked_once_so_that_every_condition_on_the_way_is_asked_once() -> None:
    codes = [Counted(answer=False) for _ in range(8)]
    tree: TreeNode = "end"
    for number, call in enumerate(codes):
        tree = Decide(Predicate(call), f"leaf-{number}", tree)
    SkillGraph.of(Declared(tree=tree, listed=False), check="off").explain(MoveContext())
    assert [call.asked for call in codes] == [1] * 8


def test_code_that_changes_its_mind_leads_to_exactly_one_leaf() -> None:
    answers = iter([False, True, False, True])
    call = Predicate(lambda _: next(answers))
    assert _walked(Decide(call, "a", Decide(call, "b", "c"))).skill == "b"


@pytest.mark.parametrize("condition", [Predicate(raises), Predicate(lambda _: Unclear()), AllOf((Predicate(raises),))])
def test_a_raising_condition_takes_the_default_leaf(condition: Condition) -> None:
    assert _walked(Decide(condition, "a", Decide(condition, "b", "c")), default="d").skill == "d"


def test_a_raising_condition_takes_its_otherwise_branch_where_there_is_no_default() -> None:
    assert _walked(Decide(Predicate(raises), "a", Decide(said("x"), "b", "c")), "x").skill == "b"


def test_a_raising_condition_is_told() -> None:
    leaf = _walked(Decide(Predicate(raises), "a", "b"))
    assert pieces(leaf.evidence) == [("raised", "raises: ValueError")]
    assert [decided.held for decided in leaf.path] == [False]


def test_a_raising_condition_beside_the_way_changes_nothing() -> None:
    tree = Decide(said("x"), "a", Decide(Predicate(raises), "b", "c"))
    assert _walked(tree, "x", default="d") == _walked(tree, "x")
    assert _walked(tree, "x").skill == "a"


def test_a_default_leaf_is_not_taken_where_nothing_raises() -> None:
    assert _walked(Decide(said("x"), "a", "b"), "y", default="d").skill == "b"


def test_a_guard_of_a_tree_looks_at_the_last_tool_result() -> None:
    tree = Decide(guarded("risk", "gte", "high"), "a", "b")
    first, last = ToolResult("t", '{"risk": "critical"}'), ToolResult("t", '{"risk": "low"}')
    assert _walked(tree, tools=(first, last)).skill == "b"
    assert _walked(tree, tools=(last, first)).skill == "a"
    assert _walked(tree).skill == "b"


def test_leaves_come_in_depth_first_order_once_each() -> None:
    assert leaf_ids(SHOP) == ("senior", "refund", "order", "triage")
    assert leaf_ids(Decide(REFUND, "a", Decide(ORDER, "b", "a"))) == ("a", "b")


def test_a_skill_may_stand_at_several_leaves() -> None:
    tree = Decide(REFUND, "a", Decide(ORDER, "b", "a"))
    assert [_walked(tree, message).skill for message in ("refund", "order", "hello")] == ["a", "b", "a"]


def test_the_default_leaf_comes_last_where_it_stands_nowhere_else() -> None:
    assert leaf_ids(Decide(REFUND, "a", "b"), "c") == ("a", "b", "c")
    assert leaf_ids(Decide(REFUND, "a", "b"), "a") == ("a", "b")


def test_no_tree_has_no_leaves() -> None:
    assert leaf_ids(None) == ()
    assert leaf_ids(None, "a") == ()


@pytest.mark.parametrize("side", ["then", "otherwise"])
def test_a_tree_twenty_thousand_levels_deep_is_walked_without_recursion(side: str) -> None:
    tree: TreeNode = "deep"
    for _ in range(20_000):
        tree = Decide(REFUND, tree, "side") if side == "then" else Decide(REFUND, "side", tree)
    assert _walked(tree, "refund" if side == "then" else "").skill == "deep"
    assert set(leaf_ids(tree)) == {"deep", "side"}


def test_a_graph_of_a_tree_two_hundred_levels_deep_moves_and_reaches_like_any_other() -> None:
    tree: TreeNode = "leaf-0"
    for number in range(1, 201):
        tree = Decide(said(f"word{number}"), f"leaf-{number}", tree)
    graph = SkillGraph.of(Declared(tree=tree, listed=False), check="off")
    leaf = graph.leaf(MoveContext("word1"))
    assert leaf is not None
    assert (leaf.skill, len(leaf.path)) == ("leaf-1", 200)
    assert graph.reachable_skills() == tuple(f"leaf-{number}" for number in reversed(range(201)))


def test_a_tree_whose_branches_share_a_decision_is_walked_over_once() -> None:
    node: TreeNode = "leaf"
    for number in range(200):
        node = Decide(said(f"w{number}"), node, node)
    assert leaf_ids(node) == ("leaf",)


@pytest.mark.parametrize(
    ("condition", "moment"),
    [
        (REFUND, {"user": "a refund"}),
        (Regex("ref"), {"user": "a refund"}),
        (UserContains("fun"), {"user": "a refund"}),
        (HistoryMin(1), {"history": messages(1)}),
        (AtIteration(3), {"iteration": 3}),
        (AllOf((REFUND, AtIteration(3))), {"user": "a refund", "iteration": 3}),
        (Intent("a refund"), {"scoring": EntryScoring("s", None, intent="a refund")}),
        (guarded("status", "eq", "denied"), {"tools": (ToolResult("t", "", "denied"),)}),
        (Predicate(lambda look: look.context.iteration == 3), {"iteration": 3}),
    ],
)
def test_a_decision_of_a_tree_may_have_any_condition(condition: Condition, moment: dict[str, Any]) -> None:
    one = SkillGraph.of(Declared(tree=Decide(condition, "a", "b"), listed=False), check="off")
    scoring = moment.pop("scoring", None)
    for context, heard, leaf in ((MoveContext(**moment), scoring, "a"), (MoveContext(), None, "b")):
        found = one.leaf(context, heard)
        assert found is not None
        assert found.skill == leaf
