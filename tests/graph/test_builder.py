"""The fluent spelling of a graph (spec 3.1)."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, cast

import pytest

from skillweave import Skill, ToolRules
from skillweave.errors import GraphRefused, InvalidGraph
from skillweave.graph import (
    ANY,
    AllOf,
    AtIteration,
    Check,
    Condition,
    Decide,
    Declared,
    EmbeddingScorer,
    Entry,
    EntryPick,
    FieldTest,
    GraphBuilder,
    GraphSkill,
    Guard,
    Guarded,
    HistoryMin,
    Intent,
    Keywords,
    KeywordScorer,
    Level,
    Limits,
    MoveContext,
    Op,
    Predicate,
    PredicateContext,
    Regex,
    Route,
    ScoreCandidate,
    ScoredGraph,
    ScorePolicy,
    SkillGraph,
    UserContains,
    decide,
)
from skillweave.graph.declared import STATUSES
from skillweave.skills import SkillText
from skillweave_testing import FakeEmbedder

REFUND = Skill("refund", "Refund", "Gives money back", text=SkillText(instructions="PredicateContext."))
OTHER = Skill("refund", "Refund", "Something else")


def _new() -> GraphBuilder:
    return SkillGraph.builder()


def _built(builder: GraphBuilder) -> Declared:
    return builder.build("off").declared


def _true(_: PredicateContext) -> object:
    return True


# the table of 3.1


@pytest.mark.parametrize(
    ("method", "parameters"),
    [
        ("entry", {"skill": ..., "when": None, "match": None, "examples": (), "label": None, "base": False}),
        (
            "route",
            {
                "from_": ...,
                "to": ...,
                "when": None,
                "on_tool": None,
                "on_status": None,
                "guard": None,
                "label": None,
                "priority": 0,
            },
        ),
        ("tree", {"root": ..., "default": None}),
        ("entry_by", {"scorer": ...}),
        ("entry_by_relevance", {"embedder": ...}),
        ("entry_by_read", {}),
        ("never_routes", {"phrases": ...}),
        ("build", {"check": "throw", "known_tools": None}),
    ],
)
def test_each_method_has_the_parameters_and_defaults_of_the_contract(
    method: str, parameters: dict[str, object]
) -> None:
    signature = inspect.signature(getattr(GraphBuilder, method)).parameters
    found = {
        name: ... if parameter.default is inspect.Parameter.empty else parameter.default
        for name, parameter in signature.items()
        if name != "self"
    }
    assert found == parameters


def test_decide_has_the_parameters_and_defaults_of_the_contract() -> None:
    signature = inspect.signature(decide).parameters
    assert list(signature) == ["condition", "then", "otherwise", "label"]
    assert signature["label"].default is None


def test_the_example_of_the_contract_is_built() -> None:
    graph = (
        _new()
        .scales(risk=["low", "medium", "high", "critical"])
        .entry("triage", match={"keywords": ["refund", "charge"]}, examples=["I was charged a charge"])
        .route("triage", "refund", on_tool="lookup_order", on_status="success")
        .route("triage", "escalate", guard={"risk": {"gte": "high"}}, priority=10)
        .entry_by_relevance(FakeEmbedder())
        .build(known_tools=["lookup_order"])
    )
    assert isinstance(graph, ScoredGraph)
    assert graph.reachable_skills("triage") == ("refund", "escalate")


def test_the_example_of_the_contract_without_its_scale_is_refused_with_what_is_missing() -> None:
    builder = (
        _new()
        .entry("triage", match={"keywords": ["refund", "charge"]}, examples=["I was charged twice"])
        .route("triage", "refund", on_tool="lookup_order", on_status="success")
        .route("triage", "escalate", guard={"risk": {"gte": "high"}}, priority=10)
        .entry_by_relevance(FakeEmbedder())
    )
    with pytest.raises(GraphRefused) as refused:
        builder.build()
    errors = [one.code for one in refused.value.problems if one.level is Level.ERROR]  # type: ignore[attr-defined]
    assert errors == ["untyped-comparison", "example-misses-own-rule"]


@pytest.mark.parametrize(
    "call",
    [
        lambda builder: builder.skills("a"),
        lambda builder: builder.entry("a"),
        lambda builder: builder.route("a", "b"),
        lambda builder: builder.tree("a"),
        lambda builder: builder.entry_by(KeywordScorer()),
        lambda builder: builder.entry_by_relevance(FakeEmbedder()),
        lambda builder: builder.entry_by_read(),
        lambda builder: builder.never_routes(["x"]),
        lambda builder: builder.scales(risk=["low"]),
        lambda builder: builder.limits(visits=1),
        lambda builder: builder.suppress("dead-end", "it is the last one"),
    ],
)
def test_every_method_returns_the_builder(call: Callable[[GraphBuilder], GraphBuilder]) -> None:
    builder = _new()
    assert call(builder) is builder


# entries


def test_an_entry_with_neither_when_nor_match_is_unconditional() -> None:
    assert _built(_new().entry("a")).entries == (Entry("a"),)


def test_an_entry_keeps_its_examples_its_label_and_whether_it_is_base() -> None:
    built = _built(_new().entry("a", match={"keywords": ["x"]}, examples=["an x"], label="first", base=True))
    assert built.entries == (Entry("a", Keywords(("x",)), ("an x",), "first", base=True),)


CONDITIONS: Sequence[tuple[Mapping[str, object], Condition]] = [
    ({"keywords": ["x", "y z"]}, Keywords(("x", "y z"))),
    ({"regex": "^x", "flags": "i"}, Regex("^x", "i")),
    ({"regex": "^x"}, Regex("^x")),
    ({"user_contains": "x"}, UserContains("x")),
    ({"history_min": 3}, HistoryMin(3)),
    ({"iteration": 2}, AtIteration(2)),
    ({"all": [{"keywords": ["x"]}, {"iteration": 1}]}, AllOf((Keywords(("x",)), AtIteration(1)))),
    ({"intent": "a refund", "examples": ["money back"]}, Intent("a refund", ("money back",))),
    ({"intent": "a refund"}, Intent("a refund")),
    ({"guard": {"n": {"gt": 1}}}, Guarded(Guard((FieldTest("n", Op.GT, 1),)))),
]


@pytest.mark.parametrize(("data", "condition"), CONDITIONS)
def test_a_condition_is_the_same_everywhere(data: Mapping[str, object], condition: Condition) -> None:
    assert _built(_new().entry("a", match=data)).entries[0].condition == condition
    assert _built(_new().entry("a", when=data)).entries[0].condition == condition
    assert _built(_new().route("a", "b", when=data)).routes[0].condition == condition
    assert _built(_new().tree(decide(data, "a", "b"))).tree == Decide(condition, "a", "b")


@pytest.mark.parametrize(("data", "condition"), CONDITIONS)
def test_a_condition_may_be_given_as_a_value(data: Mapping[str, object], condition: Condition) -> None:
    assert _built(_new().entry("a", match=condition)).entries == _built(_new().entry("a", match=data)).entries


@pytest.mark.parametrize("op", list(Op))
def test_a_guard_has_each_operator(op: Op) -> None:
    value: object = [1, 2] if op in (Op.IN, Op.NOT_IN) else 1
    wanted = (1, 2) if op in (Op.IN, Op.NOT_IN) else 1
    built = _built(_new().route("a", "b", guard={"n": {op.value: value}}))
    assert built.routes[0].guard == Guard((FieldTest("n", op, wanted),))


def test_code_is_an_escape_hatch_as_when() -> None:
    predicate = Predicate(_true)
    assert _built(_new().entry("a", when=_true)).entries[0].condition == predicate
    assert _built(_new().route("a", "b", when=_true)).routes[0].condition == predicate
    assert _built(_new().tree(decide(_true, "a", "b"))).tree == Decide(predicate, "a", "b")


@pytest.mark.parametrize("code", [_true, Predicate(_true), AllOf((AtIteration(1), Predicate(_true)))])
def test_code_is_no_match(code: Any) -> None:
    with pytest.raises(InvalidGraph, match=r"entries\[0\]\.match: it is code.*give code as `when`"):
        _new().entry("a", match=code)


def test_a_graph_that_has_code_cannot_be_written_as_data() -> None:
    with pytest.raises(InvalidGraph, match=r"entries\[0\]\.match: the condition is code \(_true\)"):
        _new().entry("a", when=_true).build("off").to_dict()


def test_when_and_match_exclude_each_other() -> None:
    with pytest.raises(InvalidGraph, match=r"entries\[1\]: it has both `when` and `match`"):
        _new().entry("a").entry("b", when={"iteration": 1}, match={"iteration": 1})


# routes


def test_a_route_without_conditions_is_a_model_edge() -> None:
    (route,) = _built(_new().route("a", "b")).routes
    assert route == Route("a", "b")
    assert not route.is_deterministic


def test_a_route_keeps_everything_that_is_said_of_it() -> None:
    built = _built(
        _new().route(
            "a",
            "b",
            when={"keywords": ["x"]},
            on_tool={"regex": "^look"},
            on_status=["failure", "denied"],
            guard={"n": {"gt": 1}},
            label="lost",
            priority=-3,
        )
    )
    guard = Guard((FieldTest("n", Op.GT, 1),))
    assert built.routes == (
        Route("a", "b", Keywords(("x",)), Regex("^look"), ("failure", "denied"), guard, "lost", -3),
    )


@pytest.mark.parametrize("status", STATUSES)
def test_a_route_may_wait_for_each_status(status: str) -> None:
    assert _built(_new().route("a", "b", on_status=status)).routes[0].on_status == (status,)


@pytest.mark.parametrize("any_skill", [ANY, "*", "ANY"])
def test_a_route_may_come_from_any_skill(any_skill: str) -> None:
    built = _built(_new().route(any_skill, "b", on_tool="t"))
    assert (built.routes[0].from_, [skill.id for skill in built.skills]) == (ANY, ["b"])


# trees


def test_a_tree_is_made_of_decisions_and_skills() -> None:
    built = _built(
        _new().tree(decide({"iteration": 1}, "a", decide({"iteration": 2}, "b", "a", label="second?")), default="c")
    )
    assert built.tree == Decide(AtIteration(1), "a", Decide(AtIteration(2), "b", "a", "second?"))
    assert (built.default, [skill.id for skill in built.skills]) == ("c", ["a", "b", "c"])


def test_a_skill_alone_is_a_tree() -> None:
    assert _built(_new().tree("a")).tree == "a"


def test_a_skill_may_stand_at_several_leaves_once_by_its_id_and_once_as_it_is() -> None:
    for tree in (decide({"iteration": 1}, "refund", REFUND), decide({"iteration": 1}, REFUND, "refund")):
        (skill,) = _built(_new().tree(tree)).skills
        assert skill.description == "Gives money back"


@pytest.mark.parametrize(
    "builder",
    [
        _new().tree("a").entry("b"),
        _new().tree("a").route("b", "c"),
        _new().tree("a").never_routes(["x"]),
        _new().tree("a").entry_by_read(),
    ],
)
def test_a_tree_stands_alone(builder: GraphBuilder) -> None:
    with pytest.raises(InvalidGraph, match="has a tree and"):
        builder.build("off")


def test_a_second_tree_is_refused() -> None:
    with pytest.raises(InvalidGraph, match="has a tree already"):
        _new().tree("a").tree("b")


# how the entry is chosen


def test_entries_are_chosen_in_the_order_of_declaration_unless_something_else_is_said() -> None:
    assert _built(_new().entry("a")).pick is EntryPick.DECLARATION


def test_the_model_may_choose_by_reading() -> None:
    graph = _new().entry("a").entry_by_read().build()
    assert graph.declared.pick is EntryPick.READ
    assert not isinstance(graph, ScoredGraph)


def test_a_scorer_may_choose_and_makes_a_graph_that_scores() -> None:
    scorer = KeywordScorer()
    graph = _new().entry("a").entry_by(scorer).build()
    assert graph.declared.pick is scorer
    assert isinstance(graph, ScoredGraph)


def test_embeddings_may_choose() -> None:
    assert isinstance(_built(_new().entry("a").entry_by_relevance(FakeEmbedder())).pick, EmbeddingScorer)


def test_two_ways_to_choose_are_refused() -> None:
    for pick in (GraphBuilder.entry_by_read, partial(GraphBuilder.entry_by, scorer=KeywordScorer())):
        with pytest.raises(InvalidGraph, match="two things choose the entry"):
            pick(_new().entry_by(KeywordScorer()))


@pytest.mark.parametrize("odd", [None, "keyword", KeywordScorer, object()])
def test_what_is_no_scorer_is_refused(odd: Any) -> None:
    with pytest.raises(InvalidGraph, match="is not a scorer"):
        _new().entry_by(odd)


def test_a_scorer_of_the_hosts_own_is_taken() -> None:
    class Longest:
        name = "longest"
        policy = ScorePolicy()

        async def score(self, message: str, candidates: Sequence[ScoreCandidate]) -> Mapping[str, float]:
            return {candidate.id: float(len(candidate.id)) for candidate in candidates}

    assert isinstance(_new().entry("a").entry_by(Longest()).build(), ScoredGraph)


# phrases, scales, limits, suppressed codes


def test_never_routes_add_up() -> None:
    assert _built(_new().never_routes(["x", "y"]).never_routes(iter("z"))).never_routes == ("x", "y", "z")


def test_scales_add_up_and_a_later_one_of_a_field_counts() -> None:
    built = _built(_new().scales(risk=["low", "high"], size=("s", "m")).scales(risk=["no", "yes"]))
    assert built.scales == {"risk": ("no", "yes"), "size": ("s", "m")}


def test_limits_are_of_each_skill_of_single_skills_of_a_run_and_of_iterations() -> None:
    assert _built(_new().limits(3, 20, 10)).limits == Limits(3, {}, 20, 10)
    assert _built(_new().limits({"a": 1, "*": 4})).limits == Limits(4, {"a": 1})


def test_limits_add_up_and_the_last_one_counts() -> None:
    built = _built(_new().limits(visits=3).limits(iterations=9).limits(visits={"a": 1}).limits(visits=2))
    assert built.limits == Limits(2, {"a": 1}, None, 9)


def test_no_limits_are_no_limits() -> None:
    assert _built(_new().limits()).limits == Limits()


def test_suppressed_codes_keep_their_reason() -> None:
    built = _built(_new().suppress("dead-end", "it is the last one").suppress("self-loop", "it asks again"))
    assert built.suppress == {"dead-end": "it is the last one", "self-loop": "it asks again"}


# skills


def test_skills_are_known_by_id_or_as_they_are_in_the_order_of_their_first_mention() -> None:
    built = _built(_new().skills("z").route("a", REFUND).entry("z").entry(GraphSkill("b", "B")))
    assert built.skills == (
        GraphSkill("z"),
        GraphSkill("a"),
        GraphSkill("refund", "Gives money back", None, "PredicateContext."),
        GraphSkill("b", "B"),
    )


def test_what_is_known_of_a_skill_stays_when_it_is_named_by_its_id_later() -> None:
    built = _built(_new().entry(REFUND).route("refund", "b"))
    assert built.skills[0].description == "Gives money back"


def test_a_skill_may_be_given_any_number_of_times() -> None:
    assert len(_built(_new().entry(REFUND).skills(REFUND).route(REFUND, REFUND)).skills) == 1


def test_two_different_skills_with_one_id_are_refused() -> None:
    with pytest.raises(InvalidGraph, match=r"routes\[0\]\.to: two different skills have the id 'refund'"):
        _new().entry(REFUND).route("a", OTHER)


def test_skills_that_are_named_apart_from_the_wiring_are_there_for_the_checkup() -> None:
    report = _new().skills("z").entry("a").build().checkup()
    assert [problem.skill for problem in report.problems if problem.code == "unreachable-skill"] == ["z"]


def test_a_builder_may_go_on_after_it_built_a_graph() -> None:
    builder = _new().entry("a")
    first = builder.build("off")
    builder.entry("b")
    assert (len(first.declared.entries), len(_built(builder).entries)) == (1, 2)


# mistakes


@pytest.mark.parametrize(
    ("call", "place"),
    [
        (lambda builder: builder.entry(""), r"entries\[0\]\.skill: the text is empty"),
        (lambda builder: builder.entry(3), r"entries\[0\]\.skill: it is the number 3"),
        (lambda builder: builder.entry("*"), r"entries\[0\]\.skill: '\*' stands for any skill"),
        (lambda builder: builder.entry("a\n"), r"entries\[0\]\.skill: the id .* unprintable"),
        (lambda builder: builder.entry(GraphSkill("*")), r"entries\[0\]\.skill: '\*' stands for any skill"),
        (lambda builder: builder.entry("a", label=3), r"entries\[0\]\.label: it is the number 3"),
        (lambda builder: builder.entry("a", base="yes"), r"entries\[0\]\.base: .* true or false is expected"),
        (lambda builder: builder.entry("a", examples="x"), r"entries\[0\]\.examples: .* a list is expected"),
        (lambda builder: builder.entry("a", examples=[" "]), r"entries\[0\]\.examples\[0\]: the text is empty"),
        (lambda builder: builder.entry("a", match={"keyword": ["x"]}), r"entries\[0\]\.match: .* 'keywords'"),
        (lambda builder: builder.entry("a", when="x"), r"entries\[0\]\.when: it is the text 'x'"),
        (lambda builder: builder.entry("a", match={"regex": "("}), r"entries\[0\]\.match\.regex: "),
        (lambda builder: builder.route("a", "*"), r"routes\[0\]\.to: '\*' stands for any skill"),
        (lambda builder: builder.route("a", "ANY"), r"routes\[0\]\.to: 'ANY' stands for any skill"),
        (lambda builder: builder.route(None, "a"), r"routes\[0\]\.from: it is empty"),
        (lambda builder: builder.route("a", "b", when={}), r"routes\[0\]\.when: the condition is empty"),
        (lambda builder: builder.route("a", "b", on_tool=3), r"routes\[0\]\.on_tool: it is the number 3"),
        (lambda builder: builder.route("a", "b", on_tool={"regex": "("}), r"routes\[0\]\.on_tool\.regex: "),
        (lambda builder: builder.route("a", "b", on_status=[]), r"routes\[0\]\.on_status: the list is empty"),
        (lambda builder: builder.route("a", "b", guard={"n": {"=": 1}}), r"\[0\]\.guard\.n: '=' is not an operator"),
        (lambda builder: builder.route("a", "b", priority="high"), r"routes\[0\]\.priority: it is the text 'high'"),
        (lambda builder: builder.route("a", "b", priority=True), r"routes\[0\]\.priority: it is true"),
        (lambda builder: builder.tree(3), r"tree: it is the number 3"),
        (lambda builder: builder.tree("a", default=""), r"default: the text is empty"),
        (
            lambda builder: builder.tree(decide({"iteration": 1}, "a", cast("str", 3))),
            r"decide\.otherwise: it is the number 3",
        ),
        (lambda builder: builder.tree(decide({}, "a", "b")), r"decide\.condition: the condition is empty"),
        (lambda builder: builder.tree(decide({"iteration": 1}, "a", "b", "")), r"decide\.label: the text is empty"),
        (lambda builder: builder.never_routes("thanks"), "never_routes: .* a list is expected"),
        (lambda builder: builder.never_routes([""]), r"never_routes\[0\]: the text is empty"),
        (lambda builder: builder.scales(risk="low"), r"scales\.risk: .* a list is expected"),
        (lambda builder: builder.scales(risk=["low", "low"]), r"scales\.risk: the word 'low' appears twice"),
        (lambda builder: builder.limits(visits="3"), r"limits\.visits\.per_skill: it is the text '3'"),
        (lambda builder: builder.limits(visits=True), r"limits\.visits\.per_skill: it is true"),
        (lambda builder: builder.limits(visits=0), r"limits\.visits\.per_skill: it is the number 0"),
        (lambda builder: builder.limits(all_visits=-1), r"limits\.visits\.per_run: it is the number -1"),
        (lambda builder: builder.limits(iterations=1.5), r"limits\.iterations: it is the number 1.5"),
        (lambda builder: builder.suppress("dead-end", ""), r"suppress\.dead-end: the text is empty"),
    ],
)
def test_a_mistake_is_told_at_once_with_its_place(call: Callable[[Any], object], place: str) -> None:
    with pytest.raises(InvalidGraph, match=place):
        call(_new())


# building


def test_error_level_problems_raise_with_the_whole_report() -> None:
    builder = _new().skills("z").entry("a").route("a", "b", on_status="sucess")
    with pytest.raises(GraphRefused) as refused:
        builder.build()
    assert [problem.code for problem in refused.value.problems] == ["unknown-status"]  # type: ignore[attr-defined]
    assert "[unknown-status]" in str(refused.value)
    assert "[unreachable-skill]" in str(refused.value)


def test_problems_below_the_error_level_raise_nothing() -> None:
    graph = _new().skills("z").entry("a").build("throw")
    assert [problem.code for problem in graph.checkup().problems] == ["unreachable-skill"]


@pytest.mark.parametrize("check", ["warn", Check.WARN])
def test_with_warn_problems_are_logged_and_nothing_raises(check: Check | str, caplog: pytest.LogCaptureFixture) -> None:
    _new().route("a", "b").build(check)
    assert "[no-entry]" in caplog.text


@pytest.mark.parametrize("check", ["off", Check.OFF])
def test_with_off_nothing_is_checked(check: Check | str, caplog: pytest.LogCaptureFixture) -> None:
    _new().route("a", "b").build(check)
    assert not caplog.text


@pytest.mark.parametrize("odd", ["of", "", None, 0, True])
def test_another_check_is_refused_with_those_that_there_are(odd: Any) -> None:
    with pytest.raises(InvalidGraph, match="give one of throw, warn, off"):
        _new().entry("a").build(odd)


def test_known_tools_are_known_beside_those_of_the_skills() -> None:
    def builder() -> GraphBuilder:
        skill = Skill("a", "A", "Does it", tools=ToolRules(allowed=("own",)))
        return _new().entry(skill).route("a", "b", on_tool="own").route("a", "c", on_tool="hosts")

    builder().build(known_tools=["hosts"])
    with pytest.raises(GraphRefused, match="unknown-tool"):
        builder().build(known_tools=[])


@pytest.mark.parametrize(
    "tests",
    [
        {"risk": {"gte": "severe"}},
        {"size": {"gt": "small"}},
        {"ok": {"lt": True}},
        {"ok": {"gte": None}},
        {"risk": {"in": ["low", 3]}},
        {"risk": {"eq": 3}},
    ],
)
def test_a_comparison_of_anything_but_one_type_or_a_declared_scale_is_a_build_error(
    tests: Mapping[str, object],
) -> None:
    for builder in (_new().entry("a").route("a", "b", guard=tests), _new().entry("a", when={"guard": tests})):
        with pytest.raises(GraphRefused, match="untyped-comparison"):
            builder.scales(risk=["low", "high"]).build()


def test_an_intent_without_a_scorer_is_a_build_error() -> None:
    builder = _new().entry("a", match={"intent": "a refund", "examples": ["money back"]})
    with pytest.raises(GraphRefused, match="intent-without-scorer"):
        builder.build()
    assert builder.entry_by(KeywordScorer()).build().declared.entries


# three spellings, one compiler


def test_the_three_spellings_are_one_graph() -> None:
    fluent = (
        _new()
        .entry("a", match={"keywords": ["x"]}, label="first")
        .route("a", "b", on_tool="t", on_status="success", priority=2)
        .route(ANY, "c", guard={"n": {"gt": 1}})
        .limits(visits=3)
        .build("off")
    )
    data = SkillGraph.from_dict(
        {
            "entries": [{"skill": "a", "match": {"keywords": ["x"]}, "label": "first"}],
            "routes": [
                {"from": "a", "to": "b", "on_tool": "t", "on_status": "success", "priority": 2},
                {"from": "ANY", "to": "c", "guard": {"n": {"gt": 1}}},
            ],
            "limits": {"visits": 3},
        },
        check="off",
    )
    values = SkillGraph.of(
        Declared(
            tuple(map(GraphSkill, "abc")),
            (Entry("a", Keywords(("x",)), label="first"),),
            (
                Route("a", "b", on_tool="t", on_status=("success",), priority=2),
                Route(ANY, "c", guard=Guard((FieldTest("n", Op.GT, 1),))),
            ),
            limits=Limits(3),
            listed=False,
        ),
        check="off",
    )
    assert fluent.declared == data.declared == values.declared
    assert fluent.digest == data.digest == values.digest
    context = MoveContext("x")
    assert fluent.explain(context) == data.explain(context) == values.explain(context)
