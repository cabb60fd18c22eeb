from math import inf, nan

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph import FieldTest, Op
from skillweave.graph.checkup.values import Values, compared
from skillweave.graph.guards import MISSING, Scalar, holds, type_name
from tests.graph import strategies as some
from tests.graph.checkup.graphs import RISK

FOUND = st.one_of(
    some.scalars, st.integers(-3, 12), st.floats(), st.just(MISSING), st.just([1]), st.just({"a": 1}), some.texts
)
ONE_TEST = some.fields.flatmap(some.field_tests)
OF_ONE_FIELD = some.fields.flatmap(
    lambda field: st.tuples(some.field_tests(field), some.field_tests(field), some.values_of(field) | FOUND)
)
"""Two comparisons of one field and what is found there."""


def has(values: Values, found: object) -> bool:
    return isinstance(found, str | int | float | None) and values.has((type_name(found), found))


def set_of(test: FieldTest) -> Values:
    values = compared(test, some.SCALES)
    assert values is not None
    return values


@given(ONE_TEST, FOUND)
def test_a_comparison_has_exactly_the_values_for_which_it_holds(test: FieldTest, found: object) -> None:
    assert has(set_of(test), found) is holds(test, found, some.SCALES)


@given(OF_ONE_FIELD)
def test_the_meeting_of_two_sets_has_what_is_in_both(drawn: tuple[FieldTest, FieldTest, object]) -> None:
    one, other, found = drawn
    first, second = set_of(one), set_of(other)
    met = first.meet(second)
    assert has(met, found) is (has(first, found) and has(second, found))
    assert first.overlaps(second) is not met.is_empty


@given(OF_ONE_FIELD)
def test_what_is_within_a_set_has_nothing_else(drawn: tuple[FieldTest, FieldTest, object]) -> None:
    one, other, found = drawn
    first, second = set_of(one), set_of(other)
    if first.within(second):
        assert has(second, found) or not has(first, found)
    assert first.meet(second).within(first)


@pytest.mark.parametrize(
    ("narrow", "wide"),
    [
        ((Op.EQ, "x"), (Op.NE, "y")),
        ((Op.NE, 5), (Op.NOT_IN, (5, 5.0))),
        ((Op.GT, 5), (Op.NE, 5)),
        ((Op.GT, 1), (Op.GTE, 1)),
        ((Op.IN, (1, 2)), (Op.LT, 3)),
        ((Op.EQ, True), (Op.NE, False)),
    ],
    ids=str,
)
def test_a_narrower_comparison_is_within_a_wider_one(narrow: tuple[Op, Scalar], wide: tuple[Op, Scalar]) -> None:
    assert set_of(FieldTest("n", *narrow)).within(set_of(FieldTest("n", *wide)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ((Op.EQ, "x"), (Op.NE, "x")),
        ((Op.NE, "x"), (Op.EQ, "x")),
        ((Op.NE, "x"), (Op.NE, "y")),
        ((Op.GT, 1), (Op.NE, 5)),
        ((Op.GTE, 1), (Op.GT, 1)),
        ((Op.NE, 5), (Op.EQ, 5)),
        ((Op.EQ, 1), (Op.EQ, "1")),
        ((Op.EQ, 1), (Op.EQ, True)),
        ((Op.EQ, None), (Op.EQ, False)),
    ],
    ids=str,
)
def test_what_has_something_else_is_not_within(one: tuple[Op, Scalar], other: tuple[Op, Scalar]) -> None:
    assert not set_of(FieldTest("n", *one)).within(set_of(FieldTest("n", *other)))


def test_a_hole_at_a_bound_leaves_what_is_next_to_it() -> None:
    above = set_of(FieldTest("n", Op.GTE, 2)).meet(set_of(FieldTest("n", Op.NE, 2)))
    below = set_of(FieldTest("n", Op.LTE, 2)).meet(set_of(FieldTest("n", Op.NE, 2)))
    assert has(above, 2.5)
    assert not has(above, 2)
    assert has(below, 1.5)
    assert not has(below, 2)


@pytest.mark.parametrize(
    ("op", "value", "inside", "outside"),
    [
        (Op.GT, inf, [], [1, inf]),
        (Op.GTE, inf, [], [1, inf]),
        (Op.LT, inf, [], [1, -1e308, inf, -inf]),
        (Op.GT, -inf, [], [1, -inf]),
        (Op.LT, nan, [], [0, nan]),
        (Op.EQ, nan, [], [0, nan]),
        (Op.NE, nan, [], [0, nan]),
        (Op.GT, 10**400, [10**400 + 1], [10**400, 1.0]),
    ],
)
def test_nothing_compares_with_numbers_without_end(
    op: Op, value: Scalar, inside: list[float], outside: list[float]
) -> None:
    values = set_of(FieldTest("n", op, value))
    assert all(has(values, one) for one in inside)
    assert not any(has(values, one) for one in outside)


def test_a_comparison_of_a_shape_that_is_none_has_no_set() -> None:
    assert compared(FieldTest("n", Op.IN, 1), RISK) is None
    assert compared(FieldTest("n", Op.EQ, (1,)), RISK) is None
