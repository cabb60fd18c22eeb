"""What is common to all moves (spec 3.2): staying, unknown places, limits, trees."""

import json

import pytest

from skillweave.graph import (
    By,
    Condition,
    Decide,
    Declared,
    Entry,
    EntryPick,
    EntryScoring,
    Limits,
    Move,
    MoveContext,
    Predicate,
    Route,
    SkillGraph,
    Why,
)
from skillweave.graph.declared import TreeNode
from tests.graph.moments import answer, graph, pieces, raises, said

LINE = (Route("a", "b", on_tool="t"), Route("b", "c", on_tool="t"), Route("a", "a", on_tool="again"))


def _limited(*entries: Entry, **limits: object) -> SkillGraph:
    return graph(entries or (Entry("a"),), LINE, limits=Limits(**limits))  # type: ignore[arg-type]


def _tree(root: TreeNode, **rest: object) -> SkillGraph:
    return SkillGraph.of(Declared(tree=root, listed=False, **rest), check="off")  # type: ignore[arg-type]


def test_by_is_one_of_entry_scorer_route_pick_stay_none_and_stopped() -> None:
    assert [by.value for by in By] == ["entry", "scorer", "route", "pick", "stay", "none", "stopped"]


# staying


def test_where_nothing_leads_away_the_cursor_stays_sticky() -> None:
    move = graph((Entry("a"), Entry("b", said("x"))), LINE).explain(MoveContext("x", current="a", tools=(answer("u"),)))
    assert (move.to, move.from_, move.by, move.moved) == ("a", "a", By.STAY, False)
    assert move.reason == "nothing leads away from 'a' now"


def test_an_entry_whose_condition_holds_does_not_move_a_cursor_that_is_set() -> None:
    assert graph((Entry("a"), Entry("b", said("x")))).next_skill(MoveContext("x", current="a")) == "a"


def test_the_entry_condition_of_the_current_skill_is_not_judged_again() -> None:
    asked: list[object] = []
    one = graph((Entry("a", Predicate(asked.append)),), LINE)
    assert one.next_skill(MoveContext(current="a")) == "a"
    assert not asked


def test_a_raising_entry_condition_of_the_current_skill_changes_nothing() -> None:
    one = graph((Entry("a", Predicate(raises)),), LINE)
    move = one.explain(MoveContext(current="a", picks=("a",)))
    assert (move.to, move.by, move.evidence) == ("a", By.STAY, ())


def test_a_scoring_does_not_move_a_cursor_that_is_set() -> None:
    one = graph((Entry("a"), Entry("b")), LINE, pick=EntryPick.READ)
    assert one.next_skill(MoveContext(current="a"), EntryScoring("s", "b")) == "a"


# unknown places


def test_an_unknown_current_skill_is_a_typed_rejection_and_the_graph_starts_again() -> None:
    move = graph((Entry("a"),), LINE).explain(MoveContext(current="zzz"))
    assert (move.to, move.from_, move.by) == ("a", None, By.ENTRY)
    assert [(loser.to, loser.by, loser.why) for loser in move.losers] == [("zzz", By.STAY, Why.UNKNOWN)]


def test_an_unknown_current_skill_is_never_kept_even_where_nothing_begins() -> None:
    move = graph((Entry("a", said("x")),)).explain(MoveContext(current="zzz"))
    assert (move.to, move.by) == (None, By.NONE)


def test_an_unknown_current_skill_is_told_so_that_any_store_can_keep_it() -> None:
    (loser,) = graph((Entry("a"),)).explain(MoveContext(current="\ud800\x00" * 1_000)).losers
    assert (loser.to + loser.reason).isprintable()
    assert len(loser.to) <= 600


def test_routes_out_of_an_unknown_current_skill_do_not_fire() -> None:
    one = graph((Entry("a", said("x")),), (Route("*", "b", on_tool="t"),))
    assert one.next_skill(MoveContext(current="zzz", tools=(answer(),))) is None


# limits


@pytest.mark.parametrize(("iteration", "by"), [(1, By.ROUTE), (3, By.ROUTE), (4, By.STOPPED), (100, By.STOPPED)])
def test_an_iteration_limit_stops_after_so_many_iterations(iteration: int, by: By) -> None:
    context = MoveContext(iteration=iteration, current="a", tools=(answer(),))
    assert _limited(iterations=3).explain(context).by is by


def test_a_stop_keeps_the_current_skill_and_gives_a_reason() -> None:
    move = _limited(iterations=3).explain(MoveContext(iteration=4, current="a", tools=(answer(),), picks=("b",)))
    assert (move.to, move.from_, move.by, move.moved) == ("a", "a", By.STOPPED, False)
    assert move.reason == "the limit of 3 iterations is reached"


def test_an_iteration_limit_stops_a_cold_start_too() -> None:
    move = _limited(iterations=3).explain(MoveContext(iteration=4))
    assert (move.to, move.by) == (None, By.STOPPED)


def test_visits_of_a_skill_are_limited() -> None:
    one = _limited(visits=2)
    found = [one.explain(MoveContext(current="a", tools=(answer(),), visits={"b": been})).by for been in (0, 1, 2, 3)]
    assert found == [By.ROUTE, By.ROUTE, By.STOPPED, By.STOPPED]


def test_a_visit_limit_names_the_skill_and_keeps_it_as_a_loser() -> None:
    move = _limited(visits=2).explain(MoveContext(current="a", tools=(answer(),), visits={"b": 2}))
    assert (move.to, move.reason) == ("a", "the limit of 2 visits of 'b' is reached")
    assert [(loser.to, loser.by, loser.why) for loser in move.losers] == [("b", By.ROUTE, Why.LIMIT)]


def test_a_single_skill_may_have_a_limit_of_its_own() -> None:
    one = _limited(visits=5, visits_of={"b": 1})
    assert one.explain(MoveContext(current="a", tools=(answer(),), visits={"b": 1})).by is By.STOPPED
    assert one.explain(MoveContext(current="b", tools=(answer(),), visits={"c": 4})).by is By.ROUTE


def test_visits_of_a_run_are_limited_altogether() -> None:
    one = _limited(all_visits=3)
    found = [
        one.explain(MoveContext(current="a", tools=(answer(),), visits=visits)).by
        for visits in ({"a": 1, "b": 1}, {"a": 2, "b": 1}, {"x": 3})
    ]
    assert found == [By.ROUTE, By.STOPPED, By.STOPPED]


def test_the_limit_of_a_run_gives_its_reason() -> None:
    move = _limited(all_visits=3).explain(MoveContext(current="a", tools=(answer(),), visits={"a": 3}))
    assert move.reason == "the limit of 3 visits is reached"


@pytest.mark.parametrize(
    ("context", "by"),
    [
        (MoveContext(), By.ENTRY),
        (MoveContext(current="a", tools=(answer("again"),)), By.ROUTE),
        (MoveContext(current="b", picks=("a",)), By.PICK),
    ],
)
def test_entries_self_loops_and_picks_are_visits_like_any_other(context: MoveContext, by: By) -> None:
    visited = MoveContext(tools=context.tools, current=context.current, picks=context.picks, visits={"a": 1})
    assert _limited(visits=2).explain(visited).by is by
    assert _limited(visits=1).explain(visited).by is By.STOPPED


def test_staying_is_no_visit_and_never_stops() -> None:
    move = _limited(visits=1, all_visits=1).explain(MoveContext(current="a", visits={"a": 9}))
    assert move.by is By.STAY


def test_a_graph_without_limits_never_stops() -> None:
    context = MoveContext(iteration=10**9, current="a", tools=(answer(),), visits={"b": 10**9})
    assert graph((Entry("a"),), LINE).explain(context).by is By.ROUTE


# trees


@pytest.mark.parametrize(("current", "by"), [(None, By.NONE), ("a", By.STAY), ("elsewhere", By.STAY)])
def test_next_skill_of_a_tree_returns_the_current_skill_unchanged(current: str | None, by: By) -> None:
    one = _tree(Decide(said("x"), "a", "b"))
    context = MoveContext("x", current=current, tools=(answer(),), picks=("b",))
    assert one.next_skill(context) == current
    assert one.explain(context).by is by


def test_the_move_in_a_tree_tells_its_leaf_and_what_the_conditions_found() -> None:
    move = _tree(Decide(said("x"), Decide(said("y"), "a", "b"), "c")).explain(MoveContext("x"))
    assert pieces(move.evidence) == [("leaf", "b"), ("keyword", "x")]
    assert move.reason == "the tree leads to 'b'"


def test_a_condition_of_a_tree_that_raises_is_told() -> None:
    move = _tree(Decide(Predicate(raises), "a", "b"), default="c").explain(MoveContext())
    assert pieces(move.evidence) == [("leaf", "c"), ("raised", "raises: ValueError")]


def test_an_iteration_limit_stops_in_a_tree_too_and_the_leaf_is_told() -> None:
    one = _tree(Decide(said("x"), "a", "b"), limits=Limits(iterations=2))
    move = one.explain(MoveContext("x", iteration=3, current="a"))
    assert (move.to, move.by, pieces(move.evidence)[0]) == ("a", By.STOPPED, ("leaf", "a"))
    assert move.reason == "the limit of 2 iterations is reached; the tree leads to 'a'"
    assert one.explain(MoveContext("x", iteration=2, current="a")).by is By.STAY


# what may be kept


def _everything(condition: Condition) -> SkillGraph:
    routes = (Route("a", "b", condition), Route("a", "c", condition, on_tool="t"))
    return graph((Entry("a", condition), Entry("b")), routes, limits=Limits(visits=1))


@pytest.mark.parametrize("context", [MoveContext("x"), MoveContext("x", current="a", tools=(answer(),), picks=("q",))])
@pytest.mark.parametrize("condition", [said("x"), said("never"), Predicate(raises)])
def test_every_move_is_plain_json_and_back(condition: Condition, context: MoveContext) -> None:
    move = _everything(condition).explain(context)
    assert Move.from_dict(json.loads(json.dumps(move.to_dict()))) == move
