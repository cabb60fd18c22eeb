import pytest

from skillweave.graph import (
    ANY,
    AllOf,
    CompiledGraph,
    Decide,
    Declared,
    Entry,
    EntryPick,
    Intent,
    KeywordScorer,
    MoveContext,
    Route,
)
from skillweave.graph.compiled import all_intents, compile_graph, needs_scoring, wired_ids
from tests.graph.moments import said, skills, where

REFUND, ORDER = Intent("a refund"), Intent("an order", ("where is it",))
FLAT = Declared(
    skills("z", "a"),
    (Entry("b", AllOf((said("x"), REFUND))), Entry("a", base=True), Entry("b")),
    (Route("a", "c"), Route(ANY, "d", on_tool="t"), Route("c", "e", ORDER)),
    pick=KeywordScorer(),
)


def _compiled(declared: Declared) -> CompiledGraph:
    return compile_graph(declared, "digest")


def test_wired_are_the_skills_that_entries_routes_and_the_tree_name_in_order() -> None:
    assert tuple(_compiled(FLAT).wired) == ("b", "a", "c", "d", "e")
    assert tuple(wired_ids(Declared(tree=Decide(said("x"), "b", "a"), default="c"))) == ("b", "a", "c")


def test_a_listed_skill_beside_the_wiring_is_not_wired() -> None:
    assert "z" not in _compiled(FLAT).wired


def test_any_is_no_skill() -> None:
    assert ANY not in _compiled(FLAT).wired


def test_base_are_the_entries_that_are_declared_so() -> None:
    assert _compiled(FLAT).base == {"a": tuple(entry for entry in FLAT.entries if entry.base)}


def test_all_intents_are_found_once_each_wherever_they_stand() -> None:
    assert all_intents(FLAT) == (REFUND, ORDER)
    assert all_intents(Declared(tree=Decide(REFUND, Decide(ORDER, "a", "b"), "c"))) == (REFUND, ORDER)


def test_model_edges_are_successors_but_never_asked() -> None:
    compiled = _compiled(FLAT)
    assert tuple(compiled.successors["a"]) == ("c",)
    assert "a" not in compiled.routes_from


def test_routes_are_kept_in_the_order_in_which_they_are_asked() -> None:
    routes = tuple(Route("a", to, on_tool="t", priority=rank) for to, rank in (("b", 0), ("c", 2), ("d", 0), ("e", 2)))
    assert [route.to for route in _compiled(Declared(routes=routes)).routes_from["a"]] == ["c", "e", "b", "d"]


@pytest.mark.parametrize(
    ("route", "deterministic"),
    [
        (Route("a", "b"), False),
        (Route("a", "b", label="go on", priority=9), False),
        (Route("a", "b", said("x")), True),
        (Route("a", "b", guard=where("n", "eq", 1)), True),
        (Route("a", "b", on_tool="t"), True),
        (Route("a", "b", on_status=("success",)), True),
    ],
)
def test_a_route_without_conditions_is_not_deterministic(route: Route, deterministic: bool) -> None:
    assert route.is_deterministic == deterministic


@pytest.mark.parametrize(
    ("current", "needed"), [(None, True), ("zzz", True), ("a", False), ("c", True), ("b", False), ("e", False)]
)
def test_a_scoring_counts_at_the_start_and_where_a_way_onward_has_an_intent(current: str | None, needed: bool) -> None:
    assert needs_scoring(_compiled(FLAT), MoveContext(current=current)) is needed


def test_an_intent_on_a_route_from_any_counts_everywhere() -> None:
    routes = (Route("a", "b"), Route(ANY, "c", ORDER))
    one = _compiled(Declared(entries=(Entry("a"),), routes=routes, pick=KeywordScorer()))
    assert all(needs_scoring(one, MoveContext(current=current)) for current in (None, "a", "b"))


@pytest.mark.parametrize("pick", list(EntryPick))
def test_without_a_scorer_no_scoring_counts_at_the_start(pick: EntryPick) -> None:
    one = _compiled(Declared(entries=(Entry("a"),), pick=pick))
    assert not one.has_scorer
    assert not needs_scoring(one, MoveContext())


def test_a_tree_with_a_scorer_is_scored_in_every_turn() -> None:
    one = _compiled(Declared(tree=Decide(REFUND, "a", "b"), pick=KeywordScorer()))
    assert needs_scoring(one, MoveContext(current="a"))
