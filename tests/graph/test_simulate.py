from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave import Message, Role, ToolResult
from skillweave.errors import InvalidGraph
from skillweave.graph import (
    By,
    Declared,
    MoveContext,
    ScoreCandidate,
    ScorePolicy,
    Script,
    Simulation,
    SimulationShown,
    SkillGraph,
    Step,
)
from tests.depth import tried
from tests.graph.strategies import messages, plain_graphs, plain_ids, results

SUPPORT = SkillGraph.from_dict(
    {
        "entries": [{"skill": "triage", "match": {"keywords": ["refund", "charged"]}}, {"skill": "faq"}],
        "routes": [
            {"from": "triage", "to": "refund", "on_tool": "lookup_order", "on_status": "success"},
            {"from": "refund", "to": "closed", "when": {"all": [{"iteration": 1}, {"keywords": ["thanks"]}]}},
            {"from": "*", "to": "human", "guard": {"risk": {"gte": "high"}}, "priority": 10},
            {"from": "triage", "to": "faq"},
        ],
        "scales": {"risk": ["low", "high"]},
        "limits": {"iterations": 4},
    },
    check="off",
)
TREE = SkillGraph.from_dict(
    {
        "tree": {"if": {"keywords": ["refund"]}, "then": "refund", "else": "faq"},
    }
)


async def simulate(graph: SkillGraph, script: Script) -> Simulation:
    return await graph.simulate(script)


async def test_a_list_of_user_messages_tool_results_and_picks_gives_the_list_of_moves() -> None:
    simulation = await simulate(
        SUPPORT,
        [
            {"user": "I was charged twice"},
            {"tool": "lookup_order", "result": {"order": 7}},
            {"user": "thanks"},
            {"pick": "faq"},
            {"tools": [{"tool": "note"}, {"tool": "score", "result": {"risk": "high"}}]},
        ],
    )
    assert [(move.from_, move.to, move.by) for move in simulation.moves] == [
        (None, "triage", By.ENTRY),
        ("triage", "refund", By.ROUTE),
        ("refund", "closed", By.ROUTE),
        ("closed", "faq", By.PICK),
        ("faq", "human", By.ROUTE),
    ]
    assert simulation.cursor is not None
    assert simulation.cursor.trail == ("triage", "refund", "closed", "faq", "human")


async def test_the_graph_itself_plays_a_script_too() -> None:
    script = ["a refund", ToolResult("lookup_order", "")]
    assert await SUPPORT.simulate(script) == await simulate(SUPPORT, script)


async def test_words_of_the_user_begin_the_iterations_anew_and_every_other_step_is_the_next() -> None:
    script: list[Any] = ["refund", {}, {"tool": "t"}, {"pick": "nowhere"}, {}, "refund"]
    simulation = await simulate(SUPPORT, script)
    assert [move.by for move in simulation.moves] == [By.ENTRY, By.STAY, By.STAY, By.STAY, By.STOPPED, By.STAY]


async def test_a_script_may_begin_without_the_user() -> None:
    simulation = await simulate(SUPPORT, [{"pick": "triage"}, {"tool": "lookup_order"}])
    assert [move.to for move in simulation.moves] == ["triage", "refund"]


async def test_the_history_has_a_message_for_everything_that_was_said_called_and_answered() -> None:
    def skill_at(least: int) -> SkillGraph:
        data = {
            "entries": [{"skill": "early"}],
            "routes": [{"from": "early", "to": "late", "when": {"history_min": least}}],
        }
        return SkillGraph.from_dict(data)

    script: list[Any] = ["hello", {"tools": [{"tool": "a"}, {"tool": "b"}]}]
    assert [move.to for move in (await simulate(skill_at(4), script)).moves] == ["early", "late"]
    assert [move.to for move in (await simulate(skill_at(5), script)).moves] == ["early", "early"]


async def test_each_step_tells_the_skill_after_it_and_whether_its_expectation_came_true() -> None:
    simulation = await simulate(
        SUPPORT,
        [
            {"user": "refund", "expect": "triage"},
            {"tool": "lookup_order", "status": "failure", "expect": {"to": "refund", "by": "route"}},
            {"user": "hm"},
        ],
    )
    assert [(step.skill, step.held) for step in simulation] == [("triage", True), ("triage", False), ("triage", None)]
    assert not simulation.ok


async def test_a_simulation_without_expectations_is_all_right() -> None:
    assert (await simulate(SUPPORT, ["refund"])).ok
    assert (await simulate(SUPPORT, [])).ok


async def test_the_json_form_has_the_keys_of_each_move_and_what_was_expected() -> None:
    played = await simulate(SUPPORT, [{"user": "refund", "expect": {"to": "triage", "by": "entry"}}, "x"])
    data = SimulationShown.of(played).to_dict()
    assert data["ok"] is True
    first, second = data["moves"]
    assert first.keys() == {
        *("to", "from", "by", "evidence", "losers", "guards_closed", "reason", "skill", "expect", "held")
    }
    assert (first["to"], first["skill"], first["expect"], first["held"]) == (
        "triage",
        "triage",
        {"to": "triage", "by": "entry"},
        True,
    )
    assert (second["expect"], second["held"]) == (None, None)


async def test_of_a_tree_each_step_gives_the_leaf_which_is_what_is_expected() -> None:
    simulation = await simulate(TREE, [{"user": "a refund", "expect": "refund"}, {"user": "hello", "expect": "refund"}])
    assert [(step.leaf, step.move.to, step.held) for step in simulation] == [
        ("refund", None, True),
        ("faq", None, False),
    ]
    assert SimulationShown.of(simulation).to_dict()["moves"][0]["leaf"] == "refund"
    assert simulation.cursor is None


@dataclass(frozen=True)
class LikesRefunds:
    name: str = "likes-refunds"
    policy: ScorePolicy = field(default_factory=lambda: ScorePolicy(min_score=0.5))

    async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
        return {one.id: float("refund" in message and "refund" in one.id) for one in candidates}


async def test_entries_are_scored_where_the_graph_has_a_scorer() -> None:
    graph = SkillGraph.builder().entry("faq").entry("refund").entry_by(LikesRefunds()).build("off")
    simulation = await simulate(graph, ["hello", "a refund please"])
    assert [(move.to, move.by) for move in simulation.moves] == [(None, By.NONE), ("refund", By.SCORER)]


async def test_what_a_scorer_raises_is_not_held_back() -> None:
    class Broken(LikesRefunds):
        async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
            raise RuntimeError("out of order")

    graph = SkillGraph.builder().entry("faq").entry_by(Broken()).build("off")
    with pytest.raises(RuntimeError, match="out of order"):
        await simulate(graph, ["hello"])


async def test_a_script_that_cannot_be_read_is_refused_before_anything_is_played() -> None:
    with pytest.raises(InvalidGraph, match=r"steps\[1\]: the key 'usr' means nothing here"):
        await simulate(SUPPORT, ["refund", {"usr": "x"}])


async def test_two_simulations_of_one_graph_do_not_meet() -> None:
    first = await simulate(SUPPORT, ["refund"])
    second = await simulate(SUPPORT, ["refund"])
    assert first == second


steps = st.builds(
    Step,
    user=st.none() | messages,
    tools=st.lists(results, max_size=2).map(tuple),
    picks=st.lists(plain_ids | st.just("nowhere"), max_size=2).map(tuple),
)


@given(plain_graphs, st.lists(steps, max_size=6))
@tried(16)
async def test_each_move_begins_where_the_one_before_it_ended(declared: Declared, script: list[Step]) -> None:
    graph = SkillGraph.of(declared, check="off")
    at: str | None = None
    for step in await simulate(graph, script):
        assert step.move.from_ == at
        assert step.skill == step.move.to
        at = step.skill


@given(plain_graphs, messages)
@tried(16)
async def test_a_first_step_moves_as_the_graph_itself_does(declared: Declared, message: str) -> None:
    graph = SkillGraph.of(declared, check="off")
    (step,) = await simulate(graph, [Step(user=message)])
    assert step.move.to == graph.next_skill(MoveContext(user=message, history=(Message(Role.USER, message),)))
