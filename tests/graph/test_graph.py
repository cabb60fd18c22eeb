"""SkillGraph: one graph, several views of one function (spec 3.2)."""

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace

import pytest

from skillweave import Message, Role, Skill, Turn
from skillweave.errors import GraphRefused, InvalidGraph
from skillweave.graph import (
    Check,
    Cursor,
    Decide,
    Declared,
    EdgeKind,
    Entry,
    EntryPick,
    EntryScoring,
    FieldTest,
    GraphSkill,
    Guard,
    Keywords,
    KeywordScorer,
    MoveContext,
    NodeKind,
    Op,
    Overlay,
    Predicate,
    Regex,
    Route,
    ScoredGraph,
    SkillGraph,
)
from skillweave.graph.drawing.mermaid import to_mermaid
from skillweave.graph.drawing.svg import to_svg
from tests.graph.moments import answer, graph, pieces, said, skills

ENTRIES = (Entry("triage", said("hello"), ("hello",)), Entry("rules", base=True))
ROUTES = (Route("triage", "refund", on_tool="lookup"), Route("triage", "voucher"), Route("*", "help", said("help")))
SHOP = SkillGraph.of(Declared(skills("triage", "rules", "refund", "voucher", "help", "alone"), ENTRIES, ROUTES))
TREE = SkillGraph.of(Declared(tree=Decide(said("x"), "a", "b"), default="c", listed=False))


def test_a_graph_says_which_skill_a_conversation_is_in_where_it_may_go_next_and_which_the_model_may_open() -> None:
    _, cursor = SHOP.advance(None, Turn("t1", "c", Message(Role.USER, "hello")))
    assert cursor is not None
    assert cursor.skill == "triage"
    assert SHOP.next_skill(MoveContext(current="triage", tools=(answer("lookup"),))) == "refund"
    assert SHOP.reachable_skills("triage") == ("refund", "voucher", "help", "rules")


# views of one function


@pytest.mark.parametrize(
    "context",
    [
        MoveContext("hello"),
        MoveContext("nothing"),
        MoveContext(current="triage", tools=(answer("lookup"),)),
        MoveContext("help", current="triage", picks=("voucher",)),
        MoveContext(current="zzz", picks=("zzz",)),
    ],
)
def test_next_skill_is_where_explain_leads(context: MoveContext) -> None:
    assert SHOP.next_skill(context) == SHOP.explain(context).to


def test_advance_leads_where_explain_does() -> None:
    turn = Turn("t1", "c", Message(Role.USER, "hello"))
    move, cursor = SHOP.advance(None, turn)
    assert move == SHOP.explain(MoveContext("hello"))
    assert cursor is not None
    assert cursor.skill == move.to


def test_a_moment_may_be_given_as_a_mapping() -> None:
    assert SHOP.next_skill({"current": "triage", "tools": [{"tool": "lookup", "result": "ok"}]}) == "refund"
    assert SHOP.explain({"user": "hello"}) == SHOP.explain(MoveContext("hello"))


@pytest.mark.parametrize("odd", [{"usr": "x"}, {"iteration": 0}, {"tools": "x"}, [], "hello", None])
def test_a_moment_that_cannot_be_read_is_refused(odd: object) -> None:
    with pytest.raises(InvalidGraph):
        SHOP.explain(odd)  # type: ignore[arg-type]


def test_moving_asks_nothing_twice_and_changes_nothing() -> None:
    asked: list[object] = []
    one = graph((Entry("a", Predicate(asked.append)), Entry("b")))
    first = one.explain(MoveContext())
    assert (one.explain(MoveContext()), len(asked)) == (first, 2)


def test_a_condition_that_raises_never_raises_out_of_any_view() -> None:
    one = graph((Entry("a", Predicate(lambda _: 1 / 0)),), (Route("a", "b", Predicate(lambda _: 1 / 0)),))
    assert one.next_skill(MoveContext()) is None
    assert one.explain(MoveContext(current="a")).to == "a"
    assert one.advance(Cursor("a"), Turn("t", "c", Message(Role.USER, "x")))[0].to == "a"


# trees


def test_a_tree_gives_its_leaf_and_a_flat_graph_gives_none() -> None:
    leaf = TREE.leaf({"user": "x"})
    assert leaf is not None
    assert (leaf.skill, SHOP.leaf(MoveContext())) == ("a", None)


def test_the_leaf_of_a_tree_is_the_one_that_its_move_tells() -> None:
    for message in ("x", "y"):
        leaf = TREE.leaf(MoveContext(message))
        assert leaf is not None
        assert pieces(TREE.explain(MoveContext(message)).evidence)[0] == ("leaf", leaf.skill)


# building


def test_a_graph_of_values_is_checked_unless_it_is_said_otherwise() -> None:
    wrong = Declared(skills("a"), (Entry("b"),))
    with pytest.raises(GraphRefused, match="unknown-skill"):
        SkillGraph.of(wrong)
    assert SkillGraph.of(wrong, check=Check.OFF).next_skill(MoveContext()) == "b"


def test_with_warn_the_problems_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    SkillGraph.of(Declared(skills("a"), (Entry("b"),)), check="warn")
    assert "[unknown-skill]" in caplog.text


def test_a_graph_of_parts_that_exclude_each_other_is_refused_whatever_the_check() -> None:
    with pytest.raises(InvalidGraph, match="has a tree and entries"):
        SkillGraph.of(Declared(tree="a", entries=(Entry("a"),)), check="off")


def test_a_graph_with_a_broken_expression_is_refused_whatever_the_check() -> None:
    with pytest.raises(InvalidGraph, match="cannot be used"):
        SkillGraph.of(Declared(entries=(Entry("a", Regex("(")),)), check="off")


def test_only_a_graph_built_with_a_scorer_can_score_its_entries() -> None:
    scored = graph((Entry("a"),), pick=KeywordScorer())
    assert isinstance(scored, ScoredGraph)
    for pick in EntryPick:
        assert not hasattr(graph((Entry("a"),), pick=pick), "score_entries")


async def test_a_graph_with_a_scorer_scores_and_moves_by_what_the_scorer_said() -> None:
    one = SkillGraph.from_dict(
        {"entries": [{"skill": "refund-money"}, {"skill": "track-order"}], "pick": "keyword"}, check="off"
    )
    assert isinstance(one, ScoredGraph)
    scoring = await one.score_entries({"user": "please track my order"})
    assert one.next_skill({"user": "please track my order"}, scoring) == "track-order"


# versions


def test_the_digest_identifies_the_wiring() -> None:
    same = SkillGraph.of(replace(SHOP.declared))
    other = SkillGraph.of(replace(SHOP.declared, routes=ROUTES[:1]))
    assert same.digest == SHOP.digest
    assert other.digest != SHOP.digest


def test_a_graph_that_knows_more_of_its_skills_is_the_same_version() -> None:
    told = SHOP.with_skills({"triage": Skill("triage", "Triage", "Sorts"), "unknown": Skill("unknown", "U", "x")})
    assert told.digest == SHOP.digest
    assert (told.declared.skills[0].description, len(told.declared.skills)) == ("Sorts", len(SHOP.declared.skills))


def test_a_graph_with_a_scorer_still_scores_when_it_knows_more_of_its_skills() -> None:
    assert isinstance(graph((Entry("a"),), pick=KeywordScorer()).with_skills({}), ScoredGraph)


def test_data_and_back_is_the_same_graph() -> None:
    again = SkillGraph.from_dict(SHOP.to_dict())
    assert (again.declared, again.digest) == (SHOP.declared, SHOP.digest)


# the skills of a graph


def test_skills_come_with_their_compiled_triggers_in_the_order_of_declaration() -> None:
    found = {one.skill.id: [(edge.from_, edge.kind) for edge in one.triggers] for one in SHOP.skills}
    assert found == {
        "triage": [(None, EdgeKind.ENTRY)],
        "rules": [(None, EdgeKind.ENTRY)],
        "refund": [("triage", EdgeKind.TOOL)],
        "voucher": [("triage", EdgeKind.MODEL)],
        "help": [("*", EdgeKind.PREDICATE)],
        "alone": [],
    }


def test_base_entries_are_told_among_the_skills() -> None:
    assert [one.skill.id for one in SHOP.skills if one.base] == ["rules"]


def test_an_overlay_has_where_a_conversation_was_is_and_can_go() -> None:
    cursor = Cursor("refund", {"triage": 1, "refund": 2})
    assert SHOP.overlay(cursor) == Overlay(("triage", "refund"), "refund", ("help", "triage", "rules"))
    assert SHOP.overlay(None) == Overlay((), None, ("triage", "rules"))


# size


def _large(size: int) -> SkillGraph:
    ids = [f"s{number}" for number in range(size)]
    entries = [Entry(one, Keywords((f"word{number}",))) for number, one in enumerate(ids)]
    guard = Guard((FieldTest("n", Op.GT, 3),))
    routes = [
        Route(one, ids[(number * 7 + step) % size], on_tool=f"tool{step}", guard=guard)
        for number, one in enumerate(ids)
        for step in range(5)
    ]
    return SkillGraph.of(Declared(tuple(map(GraphSkill, ids)), tuple(entries), tuple(routes)), check="off")


def test_a_graph_of_a_thousand_skills_and_five_thousand_routes_moves_like_a_small_one() -> None:
    large = _large(1_000)
    assert large.next_skill(MoveContext("the word999 of it")) == "s999"
    assert large.next_skill(MoveContext(current="s10", tools=(answer("tool3", '{"n": 4}'),))) == "s73"


# the same everywhere

_SCRIPT = """
import json
from skillweave.graph import MoveContext, SkillGraph
from skillweave.dialogue import ToolResult
graph = SkillGraph.from_dict({
    "entries": [{"skill": f"e{n}", "match": {"keywords": [f"w{n}", "all"]}} for n in range(50)],
    "routes": [{"from": "e1", "to": f"r{n}", "guard": {"n": {"gt": n}}} for n in range(50)],
    "limits": {"visits": {"per_skill": {f"r{n}": 1 for n in range(50)}}},
}, check="off")
moments = [
    MoveContext("all w7 w3"),
    MoveContext(current="e1", tools=(ToolResult("t", '{"n": 0}'),), picks=tuple(f"e{n}" for n in range(9))),
    MoveContext(current="e1", picks=("zzz", "r3", "e2")),
]
print(json.dumps([graph.explain(one).to_dict() for one in moments]), graph.digest, graph.reachable_skills("e1"))
"""


def test_another_process_with_another_hash_seed_moves_the_same() -> None:
    said_by = [
        subprocess.run(
            [sys.executable, "-c", _SCRIPT],
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
            env={"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "77")
    ]
    assert said_by[0] == said_by[1]
    assert '"to": "e0"' in said_by[0]


def test_a_scoring_may_be_handed_to_every_view() -> None:
    one = graph((Entry("a"), Entry("b")), pick=KeywordScorer())
    scoring = EntryScoring("keyword", "b")
    context: Mapping[str, object] = {"user": "x"}
    turn = Turn("t1", "c", Message(Role.USER, "x"))
    assert one.next_skill(context, scoring) == one.explain(context, scoring).to == "b"
    assert one.advance(None, turn, scoring)[0].to == "b"


def test_a_graph_is_drawn_from_its_own_nodes_and_edges_which_are_always_present() -> None:
    empty = SkillGraph.of(Declared(), check="off")
    for one in (SHOP, TREE, empty):
        assert (one.to_mermaid(), one.to_svg()) == (to_mermaid(one.nodes, one.edges), to_svg(one.nodes, one.edges))
    assert [node.id for node in SHOP.nodes] == ["triage", "rules", "refund", "voucher", "help", "alone"]
    assert {node.kind for node in SHOP.nodes} == {NodeKind.SKILL}
    assert {node.id: node.kind.value for node in TREE.nodes} == {
        "d0": "predicate",
        "a": "skill",
        "b": "skill",
        "c": "skill",
    }
    assert (empty.nodes, empty.edges) == ((), ())
