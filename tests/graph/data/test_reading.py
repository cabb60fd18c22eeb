import re
from typing import Any

import pytest

from skillweave.errors import InvalidGraph
from skillweave.frontmatter.documents import read_yaml
from skillweave.graph import (
    ANY,
    AllOf,
    AtIteration,
    Decide,
    Declared,
    EmbeddingScorer,
    Entry,
    EntryPick,
    FieldTest,
    GraphSkill,
    Guard,
    Guarded,
    HistoryMin,
    Intent,
    Keywords,
    LexicalScorer,
    Limits,
    Op,
    Predicate,
    Regex,
    Route,
    ScorePolicy,
    UserContains,
)
from skillweave.graph.data.codec import read_graph
from tests.graph.data.broken import BROKEN, deep_all, deep_tree, entry, route


def test_a_skill_is_an_id_or_a_mapping() -> None:
    data = {"skills": ["a", {"id": "b", "description": "B", "tools": ["t"], "body": "Do b.", "owner": {"team": [1]}}]}
    skills = read_graph(data).skills
    assert skills[0] == GraphSkill("a")
    assert skills[1] == GraphSkill("b", "B", ("t",), "Do b.", {"owner": {"team": (1,)}})


def test_allowed_tools_and_instructions_are_other_names_of_tools_and_body() -> None:
    (skill,) = read_graph({"skills": [{"id": "a", "allowed_tools": [], "instructions": "Do a."}]}).skills
    assert (skill.tools, skill.body, skill.extra) == ((), "Do a.", {})


def test_without_skills_the_ids_of_entries_routes_and_tree_are_the_skills() -> None:
    flat = read_graph({"entries": [{"skill": "a"}], "routes": [{"from": ANY, "to": "c"}, {"from": "b", "to": "a"}]})
    assert (flat.listed, [skill.id for skill in flat.skills]) == (False, ["a", "c", "b"])
    tree = read_graph({"tree": {"if": {"iteration": 1}, "then": "x", "else": "y"}, "default": "z"})
    assert (tree.listed, [skill.id for skill in tree.skills]) == (False, ["x", "y", "z"])


def test_an_entry_has_a_condition_under_match_or_when() -> None:
    condition = {"keywords": ["refund"]}
    data = {
        "entries": [
            {"skill": "a", "match": condition, "label": "L", "examples": ["a refund"], "base": True},
            {"skill": "a", "when": condition},
            {"skill": "a", "examples": [], "base": False},
        ]
    }
    assert read_graph(data).entries == (
        Entry("a", Keywords(("refund",)), ("a refund",), "L", base=True),
        Entry("a", Keywords(("refund",))),
        Entry("a"),
    )


def test_a_route_has_any_combination_of_conditions() -> None:
    full = {
        "from": "a",
        "to": "b",
        "when": {"iteration": 2},
        "on_tool": {"regex": "^look", "flags": "i"},
        "on_status": ["success", "partial"],
        "guard": {"risk": {"gte": "high", "ne": "critical"}, "n": {"in": [1, 2]}},
        "label": "L",
        "priority": -3,
    }
    tests = (
        FieldTest("risk", Op.GTE, "high"),
        FieldTest("risk", Op.NE, "critical"),
        FieldTest("n", Op.IN, (1, 2)),
    )
    short = {"from": "*", "to": "b", "on_tool": "lookup_order", "on_status": "success"}
    assert read_graph({"routes": [full, short, {"from": "ANY", "to": "b"}]}).routes == (
        Route("a", "b", AtIteration(2), Regex("^look", "i"), ("success", "partial"), Guard(tests), "L", -3),
        Route(ANY, "b", on_tool="lookup_order", on_status=("success",)),
        Route(ANY, "b"),
    )


@pytest.mark.parametrize(
    ("data", "condition"),
    [
        ({"keywords": ["refund", "charged twice"]}, Keywords(("refund", "charged twice"))),
        ({"regex": "^x"}, Regex("^x")),
        ({"regex": "^x", "flags": "im"}, Regex("^x", "im")),
        ({"user_contains": "fund"}, UserContains("fund")),
        ({"history_min": 2}, HistoryMin(2)),
        ({"history_min": 2.0}, HistoryMin(2)),
        ({"iteration": 3}, AtIteration(3)),
        ({"all": [{"iteration": 3}, {"all": [{"history_min": 0}]}]}, AllOf((AtIteration(3), AllOf((HistoryMin(0),))))),
        ({"intent": "a refund"}, Intent("a refund")),
        ({"intent": "a refund", "examples": ["money back"]}, Intent("a refund", ("money back",))),
        ({"guard": {"ok": {"eq": None}}}, Guarded(Guard((FieldTest("ok", Op.EQ, None),)))),
    ],
    ids=lambda value: "-".join(value) if isinstance(value, dict) else "",
)
def test_a_condition_is_read_alike_in_entries_routes_and_trees(data: dict[str, Any], condition: object) -> None:
    assert read_graph(entry(match=data)).entries[0].condition == condition
    assert read_graph(route(when=data)).routes[0].condition == condition
    assert read_graph({"tree": {"if": data, "then": "a", "else": "b"}}).tree == Decide(condition, "a", "b")  # type: ignore[arg-type]


def test_a_tree_is_an_id_or_decisions_with_a_default_beside_it_or_at_its_root() -> None:
    tree = {"if": {"iteration": 1}, "label": "first?", "then": "a", "else": deep_tree(1)}
    expected = Decide(AtIteration(1), "a", Decide(AtIteration(1), "b", "a"), "first?")
    assert read_graph({"tree": "a"}).tree == "a"
    beside, at_root = read_graph({"tree": tree, "default": "b"}), read_graph({"tree": {**tree, "default": "b"}})
    assert (beside.tree, beside.default) == (at_root.tree, at_root.default) == (expected, "b")


def test_pick_names_how_the_entry_is_chosen() -> None:
    assert read_graph({}).pick is EntryPick.DECLARATION
    assert read_graph({"pick": "read"}).pick is EntryPick.READ
    assert read_graph({"pick": {"by": "read"}}).pick is EntryPick.READ
    assert read_graph({"pick": "lexical"}).pick == LexicalScorer()
    chosen = {"by": "lexical", "temperature": 0.5, "min_score": None, "margin": 0.1}
    assert read_graph({"pick": chosen}).pick == LexicalScorer(ScorePolicy(0.5, None, 0.1))


def test_what_is_not_said_about_a_scorer_stays_as_the_scorer_has_it() -> None:
    pick = read_graph({"pick": {"by": "lexical", "margin": 0.1}}).pick
    assert pick == LexicalScorer(ScorePolicy(min_score=LexicalScorer().policy.min_score, margin=0.1))


def test_embedding_judges_with_the_embedder_that_the_reader_was_given() -> None:
    embedder: Any = object()
    pick = read_graph({"pick": "embedding"}, embedder=embedder).pick
    assert isinstance(pick, EmbeddingScorer)
    assert pick.embedder is embedder


@pytest.mark.parametrize(
    ("data", "limits"),
    [
        ({}, Limits()),
        ({"visits": 3, "iterations": 9}, Limits(3, iterations=9)),
        ({"visits": {"per_skill": 3}}, Limits(3)),
        ({"visits": {"per_run": 7}}, Limits(all_visits=7)),
        ({"visits": {"per_skill": {"a": 2}, "per_run": 7}}, Limits(None, {"a": 2}, 7)),
        ({"visits": {"per_skill": {"a": 2, "*": 5}}}, Limits(5, {"a": 2})),
    ],
)
def test_limits_are_of_each_skill_of_named_skills_and_of_the_run(data: dict[str, Any], limits: Limits) -> None:
    assert read_graph({"limits": data}).limits == limits


def test_never_routes_scales_and_suppressed_codes_are_read() -> None:
    data = {
        "never_routes": ["not a refund"],
        "scales": {"risk": ["low", "high"]},
        "suppress": {"dead-end": "it ends there"},
    }
    declared = read_graph(data)
    assert declared.never_routes == ("not a refund",)
    assert declared.scales == {"risk": ("low", "high")}
    assert declared.suppress == {"dead-end": "it ends there"}


def test_lists_and_mappings_of_the_whole_graph_may_be_empty() -> None:
    empty = {key: [] for key in ("entries", "routes", "never_routes")} | {"scales": {}, "limits": {}, "suppress": {}}
    assert read_graph({**empty, "skills": []}) == Declared()


@pytest.mark.parametrize("name", BROKEN)
def test_a_wrong_shape_is_refused_with_its_place_the_rule_and_the_fix(name: str) -> None:
    broken = BROKEN[name]
    with pytest.raises(InvalidGraph) as raised:
        read_graph(broken.data)
    assert re.match(broken.error, str(raised.value))
    assert re.search(r"[;:,] \w", str(raised.value))


def test_all_mistakes_are_told_together() -> None:
    data: dict[str, Any] = {
        "entires": [],
        "routes": [{"to": "b"}, {"from": "a", "to": "b"}, {"from": "a"}],
        "pick": "x",
    }
    with pytest.raises(InvalidGraph) as raised:
        read_graph(data)
    title, *mistakes = str(raised.value).splitlines()
    assert title == "the graph has 4 mistakes:"
    assert [mistake.split(":")[0] for mistake in mistakes] == ["- the graph", "- routes[0]", "- routes[2]", "- pick"]


def test_ten_mistakes_are_enough() -> None:
    with pytest.raises(InvalidGraph, match="at least 10 mistakes") as raised:
        read_graph({"entries": [{}] * 5_000, "routes": [{}] * 20_000})
    assert len(str(raised.value).splitlines()) == 11


def test_the_place_of_the_graph_stands_before_every_place_in_it() -> None:
    with pytest.raises(InvalidGraph, match=r"^packs\.yaml: graph\.routes\[0\]: the route has no `to`"):
        read_graph({"routes": [{"from": "a"}]}, place="packs.yaml: graph")


@pytest.mark.parametrize("data", [None, [], "graph", 3])
def test_a_graph_that_is_no_mapping_is_refused(data: Any) -> None:
    with pytest.raises(InvalidGraph, match=r"the graph: it is .*, and a mapping is expected"):
        read_graph(data)


@pytest.mark.parametrize("condition", [lambda look: True, Predicate(lambda look: True), Keywords(("x",))])
def test_in_data_conditions_are_data(condition: object) -> None:
    with pytest.raises(InvalidGraph, match=r"entries\[0\]\.when: it is .*, and a mapping is expected"):
        read_graph(entry(when=condition))
    with pytest.raises(InvalidGraph, match=r"entries\[0\]\.when\.all\[0\]: it is .*, and a mapping is expected"):
        read_graph(entry(when={"all": [condition]}))


@pytest.mark.parametrize("number", [float("nan"), float("inf"), 10**400])
def test_a_number_that_json_cannot_carry_is_refused(number: float) -> None:
    with pytest.raises(InvalidGraph, match=r"routes\[0\]\.guard\.n\.eq: it is (the number|a huge number)"):
        read_graph(route(guard={"n": {"eq": number}}))


def test_a_key_that_is_no_text_is_refused() -> None:
    with pytest.raises(InvalidGraph, match=r"routes\[0\]\.guard\.n: a key in it is the number 1, and text"):
        read_graph(route(guard={"n": {1: 2}}))


def test_a_place_with_an_odd_key_is_still_one_line_that_can_be_found() -> None:
    with pytest.raises(InvalidGraph, match=r"^routes\[0\]\.guard\['a\.b\\nc'\]: the field is compared with nothing"):
        read_graph(route(guard={"a.b\nc": {}}))


@pytest.mark.parametrize("depth", [33, 5_000, 100_000])
def test_all_that_is_nested_without_end_does_not_overflow_the_stack(depth: int) -> None:
    with pytest.raises(InvalidGraph, match="nested deeper than 32 levels"):
        read_graph(entry(match=deep_all(depth)))


@pytest.mark.parametrize("depth", [201, 5_000, 100_000])
def test_a_tree_without_end_does_not_overflow_the_stack(depth: int) -> None:
    with pytest.raises(InvalidGraph, match="more than 200 decisions"):
        read_graph({"tree": deep_tree(depth)})


def test_the_deepest_tree_and_the_deepest_all_are_read() -> None:
    assert isinstance(read_graph({"tree": deep_tree(200)}).tree, Decide)
    assert isinstance(read_graph(entry(match=deep_all(32))).entries[0].condition, AllOf)


def test_a_tree_that_shares_its_branches_is_counted_as_often_as_it_is_walked() -> None:
    tree: Any = "a"
    for _ in range(60):
        tree = {"if": {"iteration": 1}, "then": tree, "else": tree}
    with pytest.raises(InvalidGraph, match="more than 20,000 decisions"):
        read_graph({"tree": tree})


def test_all_that_shares_its_members_is_counted_as_often_as_it_is_judged() -> None:
    condition: Any = {"iteration": 1}
    for _ in range(30):
        condition = {"all": [condition, condition, condition]}
    with pytest.raises(InvalidGraph, match="more than 1,000 conditions"):
        read_graph(entry(match=condition))


def test_data_that_a_skill_carries_unread_is_bounded() -> None:
    deep: Any = "x"
    for _ in range(100_000):
        deep = [deep]
    with pytest.raises(InvalidGraph, match=r"skills\[0\]\.notes: it holds data nested deeper than 64"):
        read_graph({"skills": [{"id": "a", "notes": deep}]})


@pytest.mark.parametrize(
    ("key", "items", "most"),
    [("skills", 10_001, "10,000"), ("entries", 10_001, "10,000"), ("routes", 50_001, "50,000")],
)
def test_a_graph_of_too_many_parts_is_refused_before_they_are_read(key: str, items: int, most: str) -> None:
    with pytest.raises(InvalidGraph, match=f"^{key}: it has {items:,} items, and {most} are allowed"):
        read_graph({key: [None] * items})


def test_unquoted_yaml_is_typed_where_another_type_than_text_is_expected() -> None:
    text = """
skills: [404, {id: no, description: 1.0, tools: [off]}]
entries:
  - {skill: 404, match: {keywords: [1.50, yes]}, base: true}
routes:
  - {from: 404, to: no, priority: 7, guard: {n: {gt: 3}, ok: {eq: false}, code: {eq: "3"}, left: {eq: null}}}
limits: {visits: {per_skill: {no: 2}}}
pick: {by: lexical, margin: .5, min_score: ~}
"""
    data = read_yaml(text, path="graph.yaml").data
    assert data is not None
    declared = read_graph(data)
    assert declared.skills == (GraphSkill("404"), GraphSkill("no", "1.0", ("off",)))
    assert declared.entries == (Entry("404", Keywords(("1.50", "yes")), base=True),)
    assert declared.routes[0].priority == 7
    guard = declared.routes[0].guard
    assert guard is not None
    assert [test.value for test in guard.tests] == [3, False, "3", None]
    assert declared.limits == Limits(visits_of={"no": 2})
    assert declared.pick == LexicalScorer(ScorePolicy(1.0, None, 0.5))


@pytest.mark.parametrize(
    "text",
    ["entries:", "entries:\n  - {skill: a, match: }", "entries:\n  - {skill: }", "pick:", "limits: {visits: }"],
)
def test_a_yaml_key_with_nothing_after_it_is_refused_and_never_read_as_absent(text: str) -> None:
    data = read_yaml(text, path="graph.yaml").data
    assert data is not None
    with pytest.raises(InvalidGraph, match="it is empty"):
        read_graph(data)
