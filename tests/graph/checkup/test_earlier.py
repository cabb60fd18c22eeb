from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph import AllOf, Route, UserContains
from skillweave.graph.checkup.pairs import Budget, first_implied, first_together
from skillweave.graph.checkup.terms import Terms, implies
from tests.graph import strategies as some
from tests.graph.checkup.graphs import guard, terms_of_route

EASY = st.builds(
    lambda members: Route("a", "b", AllOf(tuple(members))), st.lists(some.keywords | some.guarded, max_size=2)
)
"""Routes with little to ask for, so that many of them imply others."""
WHOLES = st.lists(
    EASY
    | some.routes(st.just("a"))
    | st.builds(Route, st.just("a"), st.just("b"), st.builds(UserContains, some.labels.filter(bool))),
    max_size=6,
)


def wholes_of(routes: Sequence[Route]) -> list[Terms | None]:
    found = [terms_of_route(route, some.SCALES) for route in routes]
    return [None if terms.never is not None else terms for terms in found]


@given(WHOLES)
def test_the_index_finds_the_first_implied_that_comparing_all_pairs_finds(routes: list[Route]) -> None:
    wholes = wholes_of(routes)
    naive = [
        next(
            (
                before
                for before in range(place)
                if (one := wholes[place]) and (other := wholes[before]) and implies(one, other)
            ),
            None,
        )
        for place in range(len(wholes))
    ]
    assert list(first_implied(wholes, Budget())) == naive


def test_thousands_that_differ_in_one_exact_value_are_compared_with_almost_nothing() -> None:
    routes = [Route("a", "b", on_tool="x", guard=guard(kind={"eq": f"k{number}"})) for number in range(2_000)]
    budget = Budget(left=2_000)
    wholes = wholes_of(routes)
    assert set(first_implied(wholes, budget)) == {None}
    of_tools = [Route("a", "b", on_tool=f"x{number}") for number in range(500)]
    assert set(first_together(wholes_of(of_tools), budget, lambda _, __: True)) == {None}
    assert not budget.is_spent


def test_the_first_earlier_one_that_may_hold_too_and_concerns_it_is_found() -> None:
    routes = [Route("a", "b", on_tool=tool) for tool in ("x", "y", "x", "x")]
    assert list(first_together(wholes_of(routes), Budget(), lambda _, __: True)) == [None, None, 0, 0]
    assert list(first_together(wholes_of(routes), Budget(), lambda one, _: one > 0)) == [None, None, None, 2]


def test_a_spent_budget_ends_the_comparing_and_says_so() -> None:
    routes = [Route("a", "b", guard=guard(n={"eq": number})) for number in range(20)]
    budget = Budget(left=5)
    assert list(first_together(wholes_of(routes), budget, lambda _, __: True)) == [None] * 20
    assert budget.is_spent
