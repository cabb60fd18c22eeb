"""Routes (spec 3.2, point 2)."""

import pytest

from skillweave import Evidence, ToolResult
from skillweave.graph import (
    ANY,
    AllOf,
    AtIteration,
    By,
    ClosedGuard,
    Condition,
    Entry,
    Move,
    MoveContext,
    Predicate,
    PredicateContext,
    Regex,
    Route,
    SkillGraph,
    Why,
)
from skillweave.graph.declared import STATUSES
from tests.graph.moments import RISK, answer, graph, guarded, messages, pieces, raises, said, where


def _from_a(*routes: Route) -> SkillGraph:
    return graph((Entry("a"),), routes, scales=RISK)


def _moved(in_graph: SkillGraph, *tools: ToolResult, current: str = "a", **moment: object) -> Move:
    return in_graph.explain(MoveContext(current=current, tools=tools, **moment))  # type: ignore[arg-type]


def _to(route: Route, *tools: ToolResult, **moment: object) -> str | None:
    return _moved(_from_a(route), *tools, current="a", **moment).to


# what a route waits for


@pytest.mark.parametrize(("tool", "to"), [("lookup", "b"), ("lookup_order", "a"), ("Lookup", "a"), ("look", "a")])
def test_a_tools_name_is_exact(tool: str, to: str) -> None:
    assert _to(Route("a", "b", on_tool="lookup"), answer(tool)) == to


@pytest.mark.parametrize(("tool", "to"), [("lookup", "b"), ("x_look", "b"), ("LOOK", "a"), ("", "a")])
def test_an_expression_is_searched_in_the_tools_name(tool: str, to: str) -> None:
    assert _to(Route("a", "b", on_tool=Regex("look")), answer(tool)) == to


def test_an_expression_with_the_flag_i_finds_a_tool_in_any_letter_case() -> None:
    assert _to(Route("a", "b", on_tool=Regex("look", "i")), answer("LOOKUP")) == "b"


def test_the_same_moment_gives_the_same_move_again_and_again_with_an_expression() -> None:
    one = _from_a(Route("a", "b", on_tool=Regex("look")))
    assert {_moved(one, answer("look")).to for _ in range(4)} == {"b"}


@pytest.mark.parametrize("status", ["success", "failure", "denied", "invalid", "partial", "pending", "absent"])
def test_each_status_can_be_waited_for(status: str) -> None:
    assert _to(Route("a", "b", on_status=(status,)), answer(status=status)) == "b"
    others = tuple(one for one in STATUSES if one != status)
    assert _to(Route("a", "b", on_status=others), answer(status=status)) == "a"


def test_one_of_several_statuses_is_enough() -> None:
    assert _to(Route("a", "b", on_status=("denied", "failure")), answer(status="failure")) == "b"


def test_a_route_with_a_guard_fires_only_when_the_guard_holds() -> None:
    route = Route("a", "b", guard=where("risk", "gte", "high"))
    found = [_to(route, answer(content=f'{{"risk": "{risk}"}}')) for risk in ("low", "high", "critical", "severe")]
    assert found == ["a", "b", "b", "a"]


@pytest.mark.parametrize(
    ("condition", "moment"),
    [
        (said("refund"), {"user": "a refund"}),
        (Regex("ref"), {"user": "a refund"}),
        (AtIteration(3), {"iteration": 3}),
        (Predicate(lambda look: look.context.history), {"history": messages(1)}),
        (guarded("current_skill_id", "eq", "a"), {}),
    ],
)
def test_a_route_may_have_any_condition(condition: Condition, moment: dict[str, object]) -> None:
    assert _to(Route("a", "b", condition), answer(), **moment) == "b"
    assert _to(Route("a", "b", condition), **moment) == "b"


@pytest.mark.parametrize(
    ("result", "user", "to"),
    [
        (ToolResult("t", '{"n": 1}', "partial"), "go", "b"),
        (ToolResult("u", '{"n": 1}', "partial"), "go", "a"),
        (ToolResult("t", '{"n": 2}', "partial"), "go", "a"),
        (ToolResult("t", '{"n": 1}', "success"), "go", "a"),
        (ToolResult("t", '{"n": 1}', "partial"), "stop", "a"),
    ],
)
def test_conditions_of_one_route_are_anded(result: ToolResult, user: str, to: str) -> None:
    route = Route("a", "b", said("go"), "t", ("partial",), where("n", "eq", 1))
    assert _to(route, result, user=user) == to


def test_a_route_without_conditions_is_a_model_edge_that_only_the_model_may_take() -> None:
    assert _to(Route("a", "b"), answer(), user="b") == "a"
    assert _moved(_from_a(Route("a", "b")), picks=("b",)).by is By.PICK


def test_code_in_a_route_sees_the_result_that_is_judged() -> None:
    seen: list[PredicateContext] = []
    tools = (answer("t"), answer("u"))
    _to(Route("a", "b", Predicate(seen.append)), *tools)
    assert [look.result for look in seen] == list(tools)


# which route wins


def test_routes_are_asked_by_priority_then_in_the_order_of_declaration() -> None:
    routes = [Route("a", to, on_tool="t", priority=rank) for to, rank in (("b", 0), ("c", 5), ("d", 5), ("e", -1))]
    order = []
    while routes:
        fired = _moved(_from_a(*routes), answer()).to
        order.append(fired)
        routes = [route for route in routes if route.to != fired]
    assert order == ["c", "d", "b", "e"]


def test_routes_of_the_skill_go_before_those_from_any_whatever_their_priority() -> None:
    one = _from_a(Route(ANY, "c", on_tool="t", priority=100), Route("a", "b", on_tool="t", priority=-100))
    assert _moved(one, answer()).to == "b"


def test_a_route_from_any_fires_from_every_other_skill() -> None:
    one = graph((Entry("a"), Entry("b")), (Route(ANY, "help", on_status=("denied",)), Route("b", "c")))
    assert [_moved(one, answer(status="denied"), current=skill).to for skill in "abc"] == ["help"] * 3


def test_routes_from_any_are_asked_by_priority_then_in_the_order_of_declaration() -> None:
    one = _from_a(Route(ANY, "b", on_tool="t"), Route(ANY, "c", on_tool="t", priority=1))
    assert _moved(one, answer()).to == "c"


def test_a_route_from_any_never_leads_from_a_skill_to_itself() -> None:
    one = _from_a(Route(ANY, "b", on_tool="t"))
    assert _moved(one, answer(), current="b").by is By.STAY


def test_an_any_route_to_the_current_skill_lets_the_next_one_fire() -> None:
    one = _from_a(Route(ANY, "a", on_tool="t", priority=1), Route(ANY, "b", on_tool="t"))
    assert _moved(one, answer()).to == "b"


def test_routes_out_of_another_skill_do_not_fire() -> None:
    assert _moved(_from_a(Route("b", "c", on_tool="t")), answer()).by is By.STAY


def test_a_self_loop_that_fires_is_a_move_to_itself() -> None:
    move = _moved(_from_a(Route("a", "a", on_tool="t")), answer())
    assert (move.to, move.from_, move.by, move.moved) == ("a", "a", By.ROUTE, True)


def test_a_self_loop_may_win_over_a_route_elsewhere() -> None:
    move = _moved(_from_a(Route("a", "a", on_tool="t"), Route("a", "b", on_tool="t")), answer())
    assert (move.to, move.by) == ("a", By.ROUTE)


# several results


def test_results_are_judged_in_the_order_of_the_calls() -> None:
    one = _from_a(Route("a", "b", on_tool="t"), Route("a", "c", on_tool="u"))
    assert _moved(one, answer("t"), answer("u")).to == "b"
    assert _moved(one, answer("u"), answer("t")).to == "c"


def test_the_order_of_the_calls_goes_before_priority() -> None:
    one = _from_a(Route("a", "b", on_tool="t"), Route("a", "c", on_tool="u", priority=9))
    assert _moved(one, answer("t"), answer("u")).to == "b"


def test_a_later_result_that_would_go_elsewhere_is_kept_in_losers() -> None:
    one = _from_a(Route("a", "b", on_tool="t"), Route("a", "c", on_tool="u"))
    (loser,) = _moved(one, answer("t"), answer("u")).losers
    assert (loser.to, loser.by, loser.why) == ("c", By.ROUTE, Why.LATER)
    assert loser.reason == "an earlier result already led to 'b'"


def test_a_later_result_that_goes_to_the_same_skill_is_no_loser() -> None:
    one = _from_a(Route("a", "b", on_tool="t"), Route("a", "b", on_tool="u"))
    assert _moved(one, answer("t"), answer("u")).losers == ()


def test_a_result_that_leads_nowhere_leaves_the_next_one_its_turn() -> None:
    one = _from_a(Route("a", "b", on_tool="u"))
    assert _moved(one, answer("t"), answer("u"), answer("t")).to == "b"


def test_many_later_results_that_go_to_one_skill_are_one_loser() -> None:
    one = _from_a(Route("a", "b", on_tool="t"), Route("a", "c", on_tool="u"))
    assert len(_moved(one, answer("t"), *(answer("u"),) * 50).losers) == 1


def test_ten_thousand_results_are_judged_and_told_within_bounds() -> None:
    routes = [Route("a", f"b{number}", on_tool=f"t{number}") for number in range(50)]
    move = _moved(_from_a(*routes), *(answer(f"t{number % 50}") for number in range(10_000)))
    assert (move.to, len(move.losers)) == ("b0", 20)


# no results


def test_without_results_routes_without_tool_and_status_are_judged_once() -> None:
    asked: list[PredicateContext] = []
    one = _from_a(Route("a", "b", Predicate(asked.append)), Route("a", "c", guard=where("iteration", "gte", 2)))
    assert _moved(one, iteration=2).to == "c"
    assert [look.result for look in asked] == [None]


@pytest.mark.parametrize(
    "route",
    [
        Route("a", "b", on_tool="t"),
        Route("a", "b", on_tool=Regex("x*")),
        Route("a", "b", on_status=STATUSES),
        Route("a", "b", said("go"), on_tool="t"),
        Route("a", "b", guard=where("tool_name", "ne", "x")),
    ],
)
def test_without_results_a_route_that_waits_for_one_does_not_fire(route: Route) -> None:
    assert _to(route, user="go") == "a"


def test_with_results_a_route_without_tool_and_status_is_judged_for_each() -> None:
    asked: list[PredicateContext] = []
    _to(Route("a", "b", Predicate(asked.append)), answer("t"), answer("u"))
    assert len(asked) == 2


# what is told


def test_a_route_that_fires_tells_tool_status_condition_and_guard_as_they_were_declared() -> None:
    route = Route("a", "b", said("Go"), Regex("look.p"), ("partial", "success"), where("risk", "gte", "high"))
    move = _moved(_from_a(route), ToolResult("lookup", '{"risk": "critical"}', "partial"), user="so go on")
    assert pieces(move.evidence) == [
        ("tool", "look.p"),
        ("status", "partial"),
        ("keyword", "Go"),
        ("guard", "risk ≥ high"),
    ]
    assert (move.by, move.reason) == (By.ROUTE, "the route from 'a' to 'b' fires")


def test_a_tools_name_is_evidence_as_it_was_declared() -> None:
    assert _moved(_from_a(Route("a", "b", on_tool="t")), answer()).evidence == (Evidence("tool", "t"),)


def test_the_label_of_a_route_stands_in_the_reason() -> None:
    move = _moved(_from_a(Route(ANY, "b", on_tool="t", label="found it")), answer())
    assert move.reason == "the route from any skill to 'b' (found it) fires"


def test_a_guard_that_keeps_a_route_from_firing_is_told_without_what_was_found() -> None:
    move = _moved(_from_a(Route("a", "b", guard=where("risk", "gte", "high"))), answer(content='{"risk": "4711"}'))
    assert (move.by, move.guards_closed) == (
        By.STAY,
        (ClosedGuard("a", "b", "risk ≥ high", "risk ≥ high: it does not hold"),),
    )


def test_a_closed_guard_is_told_whatever_the_move_becomes() -> None:
    one = _from_a(Route("a", "b", guard=where("n", "eq", 1)), Route("a", "c", on_tool="t"))
    move = _moved(one, answer())
    assert (move.to, [closed.to for closed in move.guards_closed]) == ("c", ["b"])


def test_of_several_results_the_first_for_which_a_guard_is_closed_is_told() -> None:
    route = Route("a", "b", guard=where("n", "eq", 1))
    (closed,) = _moved(_from_a(route), answer(content='{"n": "x"}'), answer(content='{"n": 2}')).guards_closed
    assert closed.reason == "n = 1: it is text"


@pytest.mark.parametrize(
    "route",
    [
        Route("a", "b", on_tool="other", guard=where("n", "eq", 1)),
        Route("a", "b", on_status=("denied",), guard=where("n", "eq", 1)),
        Route("a", "b", said("never"), guard=where("n", "eq", 1)),
    ],
)
def test_a_guard_is_judged_only_where_everything_else_of_its_route_holds(route: Route) -> None:
    assert _moved(_from_a(route), answer()).guards_closed == ()


def test_two_routes_with_one_guard_are_both_told() -> None:
    same = where("n", "eq", 1)
    move = _moved(_from_a(Route("a", "b", guard=same), Route("a", "c", guard=same)), answer())
    assert [closed.to for closed in move.guards_closed] == ["b", "c"]


def test_no_more_than_twenty_closed_guards_are_told() -> None:
    routes = (Route("a", f"b{number}", guard=where("n", "eq", number)) for number in range(30))
    assert len(_moved(_from_a(*routes), answer()).guards_closed) == 20


# conditions that raise


def test_a_route_whose_condition_raises_does_not_fire_and_the_next_one_may() -> None:
    move = _moved(_from_a(Route("a", "b", Predicate(raises)), Route("a", "c", on_tool="t")), answer())
    assert (move.to, move.by) == ("c", By.ROUTE)
    assert ("raised", "route from 'a' to 'b': raises: ValueError") in pieces(move.evidence)


def test_a_condition_that_raises_never_empties_what_is_engaged() -> None:
    one = graph((Entry("a", Predicate(raises)),), (Route("a", "b", Predicate(raises)),))
    move = _moved(one, answer())
    assert (move.to, move.by) == ("a", By.STAY)


def test_a_condition_that_raises_for_one_result_may_hold_for_the_next() -> None:
    condition = Predicate(lambda look: 1 / len(look.result.content) if look.result else None)
    move = _moved(_from_a(Route("a", "b", condition)), answer(content=""), answer(content="x"))
    assert (move.to, [kind for kind, _ in pieces(move.evidence)]) == ("b", ["predicate", "raised"])


def test_a_condition_that_raises_for_many_results_is_told_once() -> None:
    move = _moved(_from_a(Route("a", "b", Predicate(raises))), *(answer(),) * 50)
    assert len(move.evidence) == 1


def test_no_more_than_twenty_failures_are_told() -> None:
    routes = (Route("a", f"b{number}", Predicate(raises)) for number in range(30))
    assert len(_moved(_from_a(*routes), answer()).evidence) == 20


def test_a_part_of_all_that_raises_is_told_with_its_route() -> None:
    move = _moved(_from_a(Route("a", "b", AllOf((Predicate(raises),)))), answer())
    assert pieces(move.evidence) == [("raised", "route from 'a' to 'b': raises: ValueError")]


# odd names


@pytest.mark.parametrize("name", ["\ud800", "", "\x00", "ключ", "a" * 100_000])
def test_no_name_of_a_tool_and_no_status_makes_a_route_raise(name: str) -> None:
    one = _from_a(Route("a", "b", on_tool=Regex("^never$")), Route("a", "c", on_tool="x", on_status=("y",)))
    assert _moved(one, ToolResult(name, name, name)).by is By.STAY
