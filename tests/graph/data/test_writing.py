import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from skillweave.errors import InvalidGraph
from skillweave.graph import (
    AllOf,
    AtIteration,
    Decide,
    Declared,
    Entry,
    EntryPick,
    EntryScoring,
    FieldTest,
    GraphSkill,
    Guard,
    Keywords,
    LexicalScorer,
    Limits,
    MoveContext,
    Op,
    Predicate,
    Route,
    ScorePolicy,
    SkillGraph,
    graph_schema,
)
from skillweave.graph.data.codec import read_graph, write_graph
from skillweave.graph.declared import TreeNode
from tests.depth import tried
from tests.graph.data.readable import readable
from tests.graph.strategies import LongestWins, moments_of

VALIDATOR = Draft202012Validator(graph_schema())


def always(_look: object) -> bool:
    return True


@given(readable, st.data())
@tried(33)
def test_a_graph_that_travelled_as_data_is_the_same_graph_and_moves_alike(
    declared: Declared, data: st.DataObject
) -> None:
    written = write_graph(declared)
    assert json.loads(json.dumps(written)) == written
    assert read_graph(written) == declared
    VALIDATOR.validate(written)
    graph = SkillGraph.of(declared, check="off")
    travelled = SkillGraph.from_dict(json.loads(json.dumps(graph.to_dict())), check="off")
    assert travelled.digest == graph.digest
    ids = st.sampled_from([*(skill.id for skill in declared.skills), "nowhere"])
    moment: MoveContext = data.draw(moments_of(ids))
    scoring = data.draw(st.none() | st.builds(EntryScoring, st.just("s"), st.none() | ids, st.just(()), st.none()))
    assert travelled.explain(moment, scoring) == graph.explain(moment, scoring)
    assert travelled.reachable_skills(moment.current) == graph.reachable_skills(moment.current)
    assert travelled.leaf(moment) == graph.leaf(moment)
    unlisted = replace(declared, listed=False)
    again = read_graph(write_graph(unlisted))
    # Skills that were not listed are written where the wiring does not tell them.
    assert {skill.id: skill for skill in again.skills}.items() >= {skill.id: skill for skill in declared.skills}.items()
    assert SkillGraph.of(again, check="off").digest == SkillGraph.of(unlisted, check="off").digest


def test_the_form_is_the_smallest() -> None:
    declared = Declared(
        skills=(GraphSkill("a"), GraphSkill("b", "B")),
        entries=(Entry("a", Keywords(("x",))), Entry("b", base=True)),
        routes=(Route("a", "b", on_status=("success",)), Route("b", "a", on_status=("success", "partial"))),
        pick=EntryPick.READ,
        limits=Limits(3),
    )
    assert write_graph(declared) == {
        "skills": ["a", {"id": "b", "description": "B"}],
        "entries": [{"skill": "a", "match": {"keywords": ["x"]}}, {"skill": "b", "base": True}],
        "routes": [
            {"from": "a", "to": "b", "on_status": "success"},
            {"from": "b", "to": "a", "on_status": ["success", "partial"]},
        ],
        "pick": "read",
        "limits": {"visits": 3},
    }


def test_an_empty_graph_is_an_empty_mapping() -> None:
    assert write_graph(Declared(listed=False)) == {}
    assert write_graph(Declared()) == {"skills": []}


def test_skills_that_the_wiring_tells_are_not_written() -> None:
    data = {"entries": [{"skill": "a"}], "routes": [{"from": "a", "to": "b"}]}
    assert write_graph(read_graph(data)) == data


def test_a_scorer_is_written_by_its_name_with_what_is_unusual_about_it() -> None:
    assert write_graph(read_graph({"pick": "lexical"})) == {"pick": "lexical"}
    pick = LexicalScorer(ScorePolicy(margin=0.5))
    assert write_graph(Declared(pick=pick))["pick"] == {"by": "lexical", "min_score": None, "margin": 0.5}


@pytest.mark.parametrize(
    ("declared", "place"),
    [
        (Declared(entries=(Entry("a", Predicate(always)),)), r"entries\[0\]\.match"),
        (Declared(routes=(Route("a", "b"), Route("a", "b", Predicate(always)))), r"routes\[1\]\.when"),
        (Declared(tree=Decide(AtIteration(1), "a", Decide(Predicate(always), "b", "c"))), r"tree\.else\.if"),
        (Declared(entries=(Entry("a", AllOf((AtIteration(1), Predicate(always)))),)), r"entries\[0\]\.match\.all\[1\]"),
    ],
)
def test_a_graph_with_code_in_it_cannot_be_written_as_data(declared: Declared, place: str) -> None:
    with pytest.raises(
        InvalidGraph, match=rf"^{place}: the condition is code \(always\), which data cannot carry; say it"
    ):
        write_graph(declared)


def test_a_scorer_of_the_host_cannot_be_written_as_data() -> None:
    with pytest.raises(
        InvalidGraph, match=r"^pick: the scorer 'longest' is code, which data cannot carry; pick by one of"
    ):
        write_graph(Declared(pick=LongestWins()))


@pytest.mark.parametrize(
    "declared",
    [
        Declared(entries=(Entry("*"),)),
        Declared(entries=(Entry("a\nb"),)),
        Declared(entries=(Entry("a", label=""),)),
        Declared(entries=(Entry("a", Keywords(())),)),
        Declared(routes=(Route("ANY", "a"), Route("a", "ANY"))),
        Declared(routes=(Route("a", "b", guard=Guard((FieldTest("n", Op.EQ, float("nan")),))),)),
        Declared(skills=(GraphSkill("a"), GraphSkill("a"))),
        Declared(skills=(GraphSkill("a", extra={"body": "x"}),)),
        Declared(tree="a", entries=(Entry("a"),)),
        Declared(limits=Limits(0)),
    ],
    ids=repr,
)
def test_what_could_not_be_read_again_is_not_written(declared: Declared) -> None:
    with pytest.raises(InvalidGraph):
        write_graph(declared)


def test_a_tree_without_end_is_refused_without_overflowing_the_stack() -> None:
    tree: TreeNode = "a"
    for _ in range(50_000):
        tree = Decide(AtIteration(1), "b", tree)
    with pytest.raises(InvalidGraph, match=r"^tree: more than 200 decisions"):
        write_graph(Declared(tree=tree))


def test_what_was_written_is_the_callers_own() -> None:
    declared = read_graph({"skills": [{"id": "a", "notes": {"x": [1]}}], "scales": {"risk": ["low"]}})
    data: Any = write_graph(declared)
    data["skills"][0]["notes"]["x"].append(2)
    data["scales"]["risk"].append("high")
    assert write_graph(declared) != data
