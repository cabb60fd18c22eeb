from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from skillweave.graph import AllOf, AtIteration, HistoryMin, Intent, MoveContext, Predicate, Regex, Route, UserContains
from skillweave.graph.checkup.terms import implies, stands_in
from skillweave.graph.guards import Scales
from skillweave.text.search import MatchMode, compile_automaton, fold
from tests.graph import strategies as some
from tests.graph.checkup.graphs import RISK, fires, guard, id_of, terms_of_route, valid_moments, words
from tests.strategies import texts


def always(one: Route, other: Route) -> bool:
    return implies(terms_of_route(one, RISK), terms_of_route(other, RISK))


def code(_: object) -> bool:
    return True


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ({"on_tool": "x", "on_status": ("success",)}, {"on_tool": "x"}),
        ({"on_tool": "x"}, {"on_tool": Regex("x")}),
        ({"on_tool": "x"}, {"guard": guard(tool_name={"ne": "y"})}),
        ({"on_status": ("success",)}, {"on_status": ("success", "partial")}),
        ({"guard": guard(risk={"gt": "high"})}, {"guard": guard(risk={"gte": "high"})}),
        ({"guard": guard(n={"gt": 2})}, {"guard": guard(n={"gte": 2})}),
        ({"guard": guard(n={"eq": 2})}, {"guard": guard(n={"gt": 1, "ne": 3})}),
        ({"guard": guard(kind={"eq": "x"})}, {"guard": guard(kind={"not_in": ["y"]})}),
        ({"guard": guard(kind={"not_in": ["x", "y"]})}, {"guard": guard(kind={"ne": "y"})}),
        ({"condition": words("x")}, {"condition": words("y", "x")}),
        ({"condition": words("charged twice")}, {"condition": words("Charged")}),
        ({"condition": words("x")}, {"condition": UserContains("X")}),
        ({"condition": UserContains("charged")}, {"condition": UserContains("charge")}),
        ({"condition": AllOf((words("x"), Regex("a", "i")))}, {"condition": Regex("a", "ui")}),
        ({"condition": HistoryMin(3)}, {"condition": HistoryMin(2)}),
        ({"condition": AtIteration(3)}, {"guard": guard(iteration={"gte": 2})}),
        ({"condition": AllOf((Predicate(code), words("x")))}, {"condition": Predicate(code)}),
        ({"condition": Intent("a refund", ("x",))}, {"condition": Intent("a refund")}),
    ],
    ids=id_of,
)
def test_stronger_conditions_imply_weaker_ones_and_not_the_other_way(
    narrow: dict[str, object], wide: dict[str, object]
) -> None:
    assert always(Route("a", "b", **narrow), Route("a", "c", **wide))  # type: ignore[arg-type]
    one_way = narrow == wide or "intent" in str(narrow).lower()
    assert one_way or not always(Route("a", "b", **wide), Route("a", "c", **narrow))  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"guard": guard(n={"gt": 2})}, {"guard": guard(m={"gt": 2})}),
        ({"on_status": ("success",)}, {"on_tool": "x"}),
        ({"condition": UserContains("charge")}, {"condition": words("charge")}),
        ({"condition": words("recharge")}, {"condition": words("charge")}),
        ({"condition": words("x")}, {"condition": Regex("x")}),
        ({"condition": Regex("x")}, {"condition": Regex("x", "i")}),
        ({"condition": Predicate(code)}, {"condition": Predicate(lambda _: True)}),
        ({"on_tool": Regex("x")}, {"on_tool": "x"}),
        ({"guard": guard(tool_name={"in": ["x", "y"]})}, {"on_tool": Regex("x")}),
    ],
    ids=id_of,
)
def test_what_is_not_proved_is_not_claimed(one: dict[str, object], other: dict[str, object]) -> None:
    assert not always(Route("a", "b", **one), Route("a", "c", **other))  # type: ignore[arg-type]


@given(some.routes(st.just("a")), some.routes(st.just("a")), valid_moments, some.scales)
def test_where_a_route_fires_what_it_implies_fires_too(
    one: Route, other: Route, moment: MoveContext, scales: Scales
) -> None:
    wider = replace(one, condition=None, on_status=(), from_="a")
    for found in (replace(other, from_="a"), wider):
        if found.is_deterministic and implies(terms_of_route(one, scales), terms_of_route(found, scales)):
            assert fires(found, moment, scales) or not fires(one, moment, scales)


letters = st.text("ab c退é\u0301_-", max_size=8) | texts
modes = st.sampled_from(MatchMode)


@given(letters, letters, letters, letters, modes, modes)
@example("", "ab", "", "ab c", MatchMode.WORD, MatchMode.WORD)
@example("b", "ab", "", "ab", MatchMode.SUBSTRING, MatchMode.WORD)
def test_a_phrase_that_stands_in_another_is_found_wherever_that_one_is(
    before: str, short: str, after: str, long: str, mode: MatchMode, whole_mode: MatchMode
) -> None:
    short, long = fold(short), fold(long)
    if short and long and stands_in((short, mode), (long, whole_mode)):
        automaton = compile_automaton([(short, mode), (long, whole_mode)])
        found = automaton.search(fold(before) + long + fold(after)).spans
        assert 0 in found or 1 not in found
