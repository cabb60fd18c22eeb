import string
from dataclasses import replace

import pytest
from hypothesis import given

from skillweave.graph import (
    AllOf,
    AtIteration,
    Condition,
    Decide,
    Declared,
    Entry,
    EntryPick,
    FieldTest,
    GraphSkill,
    Guard,
    HistoryMin,
    Keywords,
    KeywordScorer,
    Limits,
    Op,
    Predicate,
    Regex,
    Route,
    ScorePolicy,
    SkillGraph,
)
from skillweave.graph.data.codec import read_graph
from skillweave.graph.data.digest import digest_of
from skillweave.graph.declared import TreeNode
from tests.depth import tried
from tests.graph.strategies import LongestWins, graphs, odd_graphs

BASE = Declared(
    skills=(GraphSkill("a"), GraphSkill("b")),
    entries=(Entry("a", Keywords(("x", "y"))),),
    routes=(Route("a", "b", on_tool="t"),),
)


def yes(_look: object) -> bool:
    return True


def no(_look: object) -> bool:
    return False


@pytest.mark.parametrize(
    "changed",
    [
        replace(BASE, skills=(*BASE.skills, GraphSkill("c"))),
        replace(BASE, entries=()),
        replace(BASE, entries=(Entry("a", Keywords(("xy",))),)),
        replace(BASE, entries=(Entry("a", Keywords(("y", "x"))),)),
        replace(BASE, entries=(Entry("a", Keywords(("x", "y")), base=True),)),
        replace(BASE, routes=(Route("b", "a", on_tool="t"),)),
        replace(BASE, routes=(Route("a", "b", on_tool=Regex("t")),)),
        replace(BASE, routes=(Route("a", "b", on_tool="t", on_status=("success",)),)),
        replace(BASE, routes=(Route("a", "b", on_tool="t", priority=1),)),
        replace(BASE, routes=(Route("a", "b", on_tool="t", guard=Guard((FieldTest("n", Op.GT, 1),))),)),
        replace(BASE, pick=EntryPick.READ),
        replace(BASE, pick=KeywordScorer()),
        replace(BASE, pick=LongestWins()),
        replace(BASE, never_routes=("x",)),
        replace(BASE, scales={"risk": ("low", "high")}),
        replace(BASE, limits=Limits(3)),
        replace(BASE, limits=Limits(all_visits=3)),
        replace(BASE, limits=Limits(visits_of={"a": 3})),
        replace(BASE, limits=Limits(iterations=3)),
    ],
    ids=repr,
)
def test_another_wiring_has_another_digest(changed: Declared) -> None:
    assert digest_of(changed) != digest_of(BASE)


@pytest.mark.parametrize(
    "alike",
    [
        replace(BASE, skills=(GraphSkill("b", "B", ("t",), "Do b."), GraphSkill("a"))),
        replace(BASE, listed=False),
        replace(BASE, skills=(), listed=False),
        replace(BASE, suppress={"dead-end": "it ends there"}),
    ],
    ids=repr,
)
def test_what_skills_say_and_what_is_suppressed_is_no_wiring(alike: Declared) -> None:
    assert digest_of(alike) == digest_of(BASE)


def test_the_three_spellings_of_one_graph_have_one_digest() -> None:
    built = SkillGraph.builder().entry("a", match={"keywords": ["x", "y"]}).route("a", "b", on_tool="t").build("off")
    data = {
        "entries": [{"skill": "a", "match": {"keywords": ["x", "y"]}}],
        "routes": [{"from": "a", "to": "b", "on_tool": "t"}],
    }
    assert built.digest == SkillGraph.from_dict(data, check="off").digest == SkillGraph.of(BASE, check="off").digest


def test_the_order_of_keys_and_of_statuses_makes_no_other_digest() -> None:
    guard = {"risk": {"eq": "high"}, "count": {"lt": 5, "gt": 1}}
    turned = {"count": {"gt": 1, "lt": 5}, "risk": {"eq": "high"}}
    one = {"entries": [{"skill": "a", "match": {"guard": guard}}], "routes": [_way(guard, ["failure", "denied"])]}
    other = {"routes": [_way(turned, ["denied", "failure"])], "entries": [{"match": {"guard": turned}, "skill": "a"}]}
    assert digest_of(read_graph(one)) == digest_of(read_graph(other))


def _way(guard: object, statuses: list[str]) -> dict[str, object]:
    return {"from": "a", "to": "b", "on_status": statuses, "guard": guard}


def test_all_keeps_its_members_apart_from_what_follows() -> None:
    one, two = AtIteration(1), HistoryMin(2)
    conditions: list[Condition] = [
        AllOf((AllOf((one,)), two)),
        AllOf((AllOf((one, two)),)),
        AllOf((one, AllOf((two,)))),
    ]
    assert len({digest_of(Declared(entries=(Entry("a", condition),))) for condition in conditions}) == 3


def test_the_branches_of_a_tree_count_in_their_places() -> None:
    one, two = AtIteration(1), AtIteration(2)
    trees: list[TreeNode] = [
        Decide(one, Decide(two, "a", "b"), "c"),
        Decide(one, "a", Decide(two, "b", "c")),
        Decide(one, "c", Decide(two, "a", "b")),
    ]
    assert len({digest_of(Declared(tree=tree)) for tree in trees}) == 3


def test_code_counts_by_its_qualified_name() -> None:
    digests = {digest_of(Declared(entries=(Entry("a", Predicate(call)),))) for call in (yes, no, yes)}
    assert len(digests) == 2


def test_a_scorer_counts_by_its_name_and_policy() -> None:
    scorers = [KeywordScorer(), KeywordScorer(ScorePolicy()), KeywordScorer(ScorePolicy(2.0)), LongestWins()]
    assert len({digest_of(Declared(pick=scorer)) for scorer in scorers}) == 4


@given(graphs)
@tried(16)
def test_a_digest_is_64_hexadecimal_digits_and_stays_the_same(declared: Declared) -> None:
    digest = digest_of(declared)
    assert len(digest) == 64 and set(digest) <= set(string.hexdigits.lower())
    assert digest_of(replace(declared)) == digest


@given(odd_graphs)
@tried(16)
def test_every_graph_has_a_digest_also_one_that_no_data_can_carry(declared: Declared) -> None:
    assert len(digest_of(declared)) == 64


def test_a_tree_and_all_without_end_have_a_digest() -> None:
    tree: TreeNode = "a"
    condition: Condition = AtIteration(1)
    for _ in range(50_000):
        tree, condition = Decide(AtIteration(1), "b", tree), AllOf((condition,))
    assert digest_of(Declared(tree=tree)) != digest_of(Declared(entries=(Entry("a", condition),)))


def test_the_digest_is_a_promise_between_processes() -> None:
    declared = read_graph({"entries": [{"skill": "a", "match": {"keywords": ["x"]}}], "limits": {"visits": 2}})
    assert digest_of(declared) == "906aeabd87a406bcdf459b8b8e81548d90a32472ecd2fbf1b64efafec7a5de5e"
