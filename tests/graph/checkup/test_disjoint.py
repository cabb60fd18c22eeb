from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph import AtIteration, FieldTest, Guard, Intent, MoveContext, Predicate, Regex, Route
from skillweave.graph.checkup.terms import disjoint
from skillweave.graph.guards import Scales
from tests.graph import strategies as some
from tests.graph.checkup.graphs import RISK, fires, guard, id_of, terms_of_route, valid_moments, words


def apart(one: Route, other: Route) -> bool:
    found = [disjoint(terms_of_route(a, RISK), terms_of_route(b, RISK)) for a, b in ((one, other), (other, one))]
    assert found[0] is found[1]
    return found[0]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"on_tool": "x"}, {"on_tool": "y"}),
        ({"on_tool": "x"}, {"guard": guard(tool_name={"in": ["y", "z"]})}),
        ({"on_tool": "x"}, {"on_tool": Regex("^y")}),
        ({"on_status": ("success",)}, {"on_status": ("failure", "denied")}),
        ({"on_status": ("success",)}, {"guard": guard(status={"ne": "success"})}),
        ({"guard": guard(risk={"gte": "high"})}, {"guard": guard(risk={"lt": "high"})}),
        ({"guard": guard(n={"gt": 10})}, {"guard": guard(n={"lte": 10})}),
        ({"guard": guard(n={"eq": 1})}, {"guard": guard(n={"eq": "1"})}),
        ({"guard": guard(n={"eq": 1})}, {"guard": guard(n={"eq": True})}),
        ({"guard": guard(kind={"in": ["a", "b"]})}, {"guard": guard(kind={"not_in": ["a", "b", "c"]})}),
        ({"guard": guard(ok={"eq": True})}, {"guard": guard(ok={"ne": True})}),
        ({"condition": AtIteration(1)}, {"guard": guard(iteration={"gt": 1})}),
        ({"condition": Intent("a refund")}, {"condition": Intent("an order")}),
    ],
    ids=id_of,
)
def test_other_tools_statuses_values_and_intents_are_proved_disjoint(
    one: dict[str, object], other: dict[str, object]
) -> None:
    assert apart(Route("a", "b", **one), Route("a", "c", **other))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"on_tool": "x"}, {"on_tool": "x"}),
        ({"on_tool": "x"}, {"on_status": ("success",)}),
        ({"on_tool": "x"}, {"on_tool": Regex("x|y")}),
        ({"on_tool": Regex("^x")}, {"on_tool": Regex("^y")}),
        ({"on_status": ("success", "failure")}, {"on_status": ("failure", "denied")}),
        ({"guard": guard(risk={"gte": "high"})}, {"guard": guard(risk={"lte": "high"})}),
        ({"guard": guard(n={"gt": 1})}, {"guard": guard(m={"lte": 1})}),
        ({"guard": guard(n={"gte": 1})}, {"guard": guard(n={"lte": 1})}),
        ({"condition": words("x")}, {"condition": words("y")}),
        ({"condition": Predicate(lambda _: True)}, {"condition": Predicate(lambda _: False)}),
        ({"condition": Intent("a refund", ("x",))}, {"condition": Intent("a refund", ("y",))}),
    ],
    ids=id_of,
)
def test_what_can_hold_at_once_or_is_not_data_is_not_disjoint(one: dict[str, object], other: dict[str, object]) -> None:
    assert not apart(Route("a", "b", **one), Route("a", "c", **other))  # type: ignore[arg-type]


@given(some.routes(st.just("a")), some.routes(st.just("a")), valid_moments, some.scales)
def test_what_is_proved_disjoint_never_fires_at_once(
    one: Route, other: Route, moment: MoveContext, scales: Scales
) -> None:
    if disjoint(terms_of_route(one, scales), terms_of_route(other, scales)):
        for results in ((), *((result,) for result in moment.tools)):
            at = replace(moment, tools=results)
            assert not (fires(one, at, scales) and fires(other, at, scales))


@given(st.data())
def test_guards_that_are_proved_disjoint_have_no_value_in_common(data: st.DataObject) -> None:
    field = data.draw(some.fields)
    routes = [
        Route("a", to, guard=guards_of(data.draw(st.lists(some.field_tests(field), min_size=1, max_size=2))))
        for to in ("b", "c")
    ]
    if disjoint(*(terms_of_route(route, some.SCALES) for route in routes)):
        moment = data.draw(valid_moments)
        at = replace(moment, tools=moment.tools[:1])
        assert not all(fires(route, at, some.SCALES) for route in routes)


def guards_of(tests: list[FieldTest]) -> Guard:
    return Guard(tuple(tests))
