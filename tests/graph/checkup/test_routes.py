from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph import (
    ANY,
    AllOf,
    AtIteration,
    Declared,
    Entry,
    Guarded,
    HistoryMin,
    Predicate,
    Regex,
    Route,
    SkillGraph,
)
from skillweave.graph.checkup import checkup
from tests.graph import strategies as some
from tests.graph.checkup.graphs import RISK, codes, fires, graph, guard, only, problems, valid_moments, words


def of(*routes: Route) -> Declared:
    """The routes in a graph that nothing else is wrong with."""
    return graph(Entry("a"), *routes, scales=RISK)


def test_a_route_from_a_skill_to_itself_is_self_loop() -> None:
    problem = only(of(Route("a", "a", on_tool="x"), Route("a", "b", on_tool="y")), "self-loop")
    assert (problem.from_, problem.to) == ("a", "a")
    assert "self-loop" in codes(of(Route("a", "a")))


def test_a_route_from_any_is_no_self_loop_as_it_never_leads_from_a_skill_to_itself() -> None:
    assert "self-loop" not in codes(of(Route(ANY, "a", on_tool="x")))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"on_tool": "x", "label": "first"}, {"on_tool": "x", "priority": 5}),
        ({}, {"label": "second"}),
        ({"guard": guard(n={"gt": 1, "lt": 5})}, {"guard": guard(n={"lt": 5.0, "gt": 1.0})}),
        ({"guard": guard(n={"eq": 1})}, {"condition": Guarded(guard(n={"in": [1]}))}),
        ({"condition": words("Refund", "charge")}, {"condition": AllOf((words("charge", "refund"),))}),
        ({"on_tool": "x"}, {"guard": guard(tool_name={"eq": "x"})}),
    ],
    ids=str,
)
def test_the_same_ends_and_conditions_twice_are_duplicate_route(
    one: dict[str, object], other: dict[str, object]
) -> None:
    declared = of(Route("a", "b", **one), Route("a", "b", **other))  # type: ignore[arg-type]
    assert [code for code in codes(declared) if code.endswith(("route", "routes"))] == ["duplicate-route"]
    assert "duplicate-route" in codes(of(*(replace(route, from_=ANY) for route in declared.routes)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (Route("a", "b", on_tool="x"), Route("a", "c", on_tool="x")),
        (Route("a", "b", on_tool="x"), Route("c", "b", on_tool="x")),
        (Route("a", "b", on_tool="x"), Route("a", "b", on_tool="y")),
        (Route("a", "b", on_tool="x"), Route("a", "b")),
        (Route("a", "b", on_tool="x"), Route(ANY, "b", on_tool="x")),
        (Route("a", "b", words("x")), Route("a", "b", Regex("x"))),
        (Route("a", "b", Regex("x")), Route("a", "b", Regex("x", "i"))),
    ],
    ids=str,
)
def test_other_ends_or_conditions_are_no_duplicates(one: Route, other: Route) -> None:
    assert "duplicate-route" not in codes(of(one, other))


@pytest.mark.parametrize(
    ("winner", "loser"),
    [
        ({"on_tool": "x"}, {"on_tool": "x", "on_status": ("success",)}),
        ({"on_tool": Regex("^x")}, {"on_tool": "xy", "priority": -1}),
        ({"guard": guard(risk={"gte": "medium"})}, {"guard": guard(risk={"gte": "high"}), "on_tool": "x"}),
        ({"condition": HistoryMin(2)}, {"condition": HistoryMin(5)}),
        ({"condition": words("charge")}, {"condition": AllOf((words("charge back"), AtIteration(1)))}),
    ],
    ids=str,
)
def test_a_route_that_never_wins_is_shadowed_route(winner: dict[str, object], loser: dict[str, object]) -> None:
    first, second = Route("a", "b", **winner), Route("a", "c", **loser)  # type: ignore[arg-type]
    problem = only(of(first, second), "shadowed-route")
    assert (problem.from_, problem.to) == ("a", "c")
    assert "`b`" in problem.message
    assert "shadowed-route" not in codes(of(replace(second, priority=0), first))


def test_routes_with_the_same_conditions_to_different_skills_are_ambiguous_and_the_later_one_is_shadowed() -> None:
    declared = of(Route("a", "b", on_tool="x"), Route("a", "c", on_tool="x"))
    assert only(declared, "ambiguous-routes").to == only(declared, "shadowed-route").to == "c"
    by_priority = of(Route("a", "b", on_tool="x", priority=1), Route("a", "c", on_tool="x"))
    assert "shadowed-route" in codes(by_priority)
    assert "ambiguous-routes" not in codes(by_priority)


def test_priority_goes_before_the_order_of_declaration() -> None:
    narrow = Route("a", "c", on_tool="x", on_status=("success",))
    wide = Route("a", "b", on_tool="x", priority=1)
    assert only(of(narrow, wide), "shadowed-route").to == "c"
    assert "shadowed-route" not in codes(of(wide, replace(narrow, priority=2)))


def test_a_second_way_to_the_same_skill_that_changes_nothing_is_shadowed_route() -> None:
    declared = of(Route("a", "b", on_tool="x"), Route("a", "b", on_tool="x", on_status=("success",)))
    assert "changes nothing" in only(declared, "shadowed-route").message


def test_routes_of_other_skills_and_from_any_shadow_nothing() -> None:
    narrow = Route("a", "c", on_tool="x", on_status=("success",))
    assert "shadowed-route" not in codes(of(Route("b", "d", on_tool="x"), narrow))
    assert "shadowed-route" not in codes(of(Route(ANY, "d", on_tool="x", priority=9), narrow))


def test_routes_from_any_are_shadowed_only_by_those_to_the_same_skill() -> None:
    narrow = Route(ANY, "c", on_tool="x", on_status=("success",))
    assert "shadowed-route" not in codes(of(Route(ANY, "b", on_tool="x"), narrow))
    assert "shadowed-route" in codes(of(Route(ANY, "c", on_tool="x"), narrow))


def test_two_unprioritised_routes_that_can_really_fire_together_are_ambiguous_routes() -> None:
    problem = only(of(Route("a", "b", on_tool="x"), Route("a", "c", on_status=("success",))), "ambiguous-routes")
    assert (problem.from_, problem.to) == ("a", "c")
    assert "`b`" in problem.message
    assert "`c`" in problem.message


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"on_tool": "x"}, {"on_tool": "y"}),
        ({"on_status": ("success",)}, {"on_status": ("failure",)}),
        ({"guard": guard(risk={"gte": "high"})}, {"guard": guard(risk={"lt": "high"})}),
        ({"on_tool": "x", "guard": guard(n={"gt": 1})}, {"on_tool": "x", "guard": guard(n={"lte": 1})}),
        ({"on_tool": "x"}, {"on_tool": "x", "on_status": ("success",), "priority": 1}),
        ({"on_tool": "x"}, {}),
        ({"on_tool": "x"}, {"guard": guard(n={"gt": 2, "lt": 2})}),
    ],
    ids=["tools", "statuses", "scale", "numbers", "priority", "model edge", "never fires"],
)
def test_routes_with_disjoint_tools_statuses_or_guards_or_with_priorities_are_not_ambiguous(
    one: dict[str, object], other: dict[str, object]
) -> None:
    declared = of(Route("a", "b", **one), Route("a", "c", **other))  # type: ignore[arg-type]
    assert "ambiguous-routes" not in codes(declared)


def test_routes_to_the_same_skill_are_not_ambiguous() -> None:
    declared = of(Route("a", "b", on_tool="x"), Route("a", "b", on_status=("success",)))
    assert "ambiguous-routes" not in codes(declared)


def test_equal_priorities_of_any_height_are_ambiguous() -> None:
    declared = of(
        Route("a", "b", on_tool="x", priority=7),
        Route("a", "d", on_tool="q", priority=8),
        Route("a", "c", on_status=("success",), priority=7),
    )
    assert only(declared, "ambiguous-routes").to == "c"


def test_code_proves_nothing_disjoint() -> None:
    declared = of(Route("a", "b", Predicate(lambda _: True)), Route("a", "c", Predicate(lambda _: False)))
    assert "ambiguous-routes" in codes(declared)


def test_routes_from_any_are_compared_among_themselves_only() -> None:
    routes = Route(ANY, "b", on_tool="x"), Route(ANY, "c", on_status=("success",))
    assert only(of(*routes), "ambiguous-routes").from_ == ANY
    assert "ambiguous-routes" not in codes(of(routes[0], Route("a", "c", on_status=("success",))))


def test_two_routes_from_any_are_never_asked_together_in_a_graph_of_their_two_targets() -> None:
    declared = graph(Entry("b"), Route(ANY, "b", on_tool="x"), Route(ANY, "c", on_status=("success",)))
    assert "ambiguous-routes" not in codes(declared)


def test_each_ambiguous_route_is_one_finding_with_the_first_that_it_clashes_with() -> None:
    declared = of(*(Route("a", to, words(to)) for to in "bcde"))
    found = problems(declared, "ambiguous-routes")
    assert [problem.to for problem in found] == ["c", "d", "e"]
    assert all("`b`" in problem.message for problem in found)


def test_the_findings_of_a_skill_stand_in_the_order_of_its_routes() -> None:
    declared = of(
        Route("a", "b", on_tool="x"),
        Route("a", "b", on_tool="x"),
        Route("a", "a", on_tool="y"),
        Route("a", "c", on_tool="x", on_status=("success",)),
        Route("a", "d", on_status=("success",)),
    )
    found = [code for code in codes(declared) if code not in ("dead-end", "model-edge-only")]
    assert found == ["duplicate-route", "self-loop", "shadowed-route", "ambiguous-routes", "ambiguous-routes"]


@st.composite
def crowded(draw: st.DrawFn) -> Declared:
    """Routes among which some are copies of others that ask for less, all labelled by their positions."""
    routes = draw(st.lists(some.routes(some.plain_ids, some.simple_conditions), min_size=1, max_size=3))
    for route in list(routes):
        less = {"guard": None, "condition": None, "on_tool": None, "on_status": ()}
        dropped = draw(st.sets(st.sampled_from(sorted(less)), max_size=2))
        to, priority = draw(some.plain_ids), draw(st.integers(-1, 1))
        routes.append(replace(route, to=to, priority=priority, **{name: less[name] for name in dropped}))
    mixed = draw(st.permutations(routes))
    labelled = [replace(route, label=f"r{number}") for number, route in enumerate(mixed)]
    return graph(Entry("a"), *labelled, scales=draw(some.scales))


@given(crowded(), st.data())
def test_taking_out_what_is_called_shadowed_or_duplicate_changes_no_move(
    declared: Declared, data: st.DataObject
) -> None:
    idle_codes = ("shadowed-route", "duplicate-route")
    told = " ".join(one.message for one in checkup(declared).problems if one.code in idle_codes)
    slim = replace(declared, routes=tuple(route for route in declared.routes if f"(`{route.label}`)" not in told))
    before, after = (SkillGraph.of(one, check="off") for one in (declared, slim))
    moment = data.draw(valid_moments)
    for current in after.compiled.wired:
        at = replace(moment, current=current)
        moved, moves = before.explain(at), after.explain(at)
        assert (moved.to, moved.by) == (moves.to, moves.by)


@given(crowded(), st.data())
def test_routes_that_fire_for_the_same_result_are_never_overlooked(declared: Declared, data: st.DataObject) -> None:
    all_codes = ("ambiguous-routes", "duplicate-route")
    told = {one.from_ for one in checkup(declared).problems if one.code in all_codes}
    moment = data.draw(valid_moments)
    at = replace(moment, tools=moment.tools[:1])
    firing = [route for route in declared.routes if route.from_ != ANY and fires(route, at, declared.scales)]
    for one in firing:
        for other in firing:
            if (one.from_, one.priority) == (other.from_, other.priority) and one.to != other.to:
                assert one.from_ in told
