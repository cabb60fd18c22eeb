import json
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph import FieldTest, Guard, Op
from skillweave.graph.guards import LISTED, MISSING, ORDERED, Scalar, holds, json_text, type_name

SCALES = {"risk": ("low", "medium", "high", "critical")}
NUMBERS = (-1, 0, 1, 1.0, 2.5, 10**400)
OF_TYPES: dict[str, tuple[object, ...]] = {
    "number": NUMBERS,
    "boolean": (True, False),
    "text": ("", "1", "true", "null", "high"),
    "null": (None,),
    "list": ([], [1], ["high"], [None]),
    "object": ({}, {"high": 1}),
    "missing": (MISSING,),
    "not finite": (float("nan"), float("inf"), float("-inf")),
}
COMPARABLE = ("number", "boolean", "text", "null")
"""The types that a guard can name."""


def _holds(op: Op | str, wanted: Scalar | tuple[Scalar, ...], found: object, field: str = "risk") -> bool:
    return holds(FieldTest(field, Op(op), wanted), found, SCALES)


@pytest.mark.parametrize("op", sorted(Op))
@pytest.mark.parametrize(
    ("wanted_type", "found_type"), [pair for pair in product(COMPARABLE, OF_TYPES) if pair[0] != pair[1]]
)
def test_different_types_never_compare_as_true(op: Op, wanted_type: str, found_type: str) -> None:
    for wanted, found in product(OF_TYPES[wanted_type], OF_TYPES[found_type]):
        assert not _holds(op, (wanted,) if op in LISTED else wanted, found)  # type: ignore[arg-type]


@pytest.mark.parametrize("op", sorted(Op))
@pytest.mark.parametrize("odd", OF_TYPES["not finite"])
def test_numbers_that_are_not_finite_never_compare_as_true(op: Op, odd: float) -> None:
    for found in (*NUMBERS, odd):
        assert not _holds(op, (odd,) if op in LISTED else odd, found)
        assert not _holds(op, (found,) if op in LISTED else found, odd)


@pytest.mark.parametrize("number", [0, 1, 0.0, 1.0])
@pytest.mark.parametrize("op", sorted(Op))
def test_booleans_are_not_numbers(op: Op, number: float) -> None:
    for boolean in (True, False):
        assert not _holds(op, (number,) if op in LISTED else number, boolean)
        assert not _holds(op, (boolean,) if op in LISTED else boolean, number)


@pytest.mark.parametrize("found", [None, [], True, "5", {}, MISSING])
def test_what_is_no_number_is_not_at_least_zero(found: object) -> None:
    assert not _holds("gte", 0, found, "n")


@pytest.mark.parametrize(
    ("op", "below", "same", "above"),
    [
        ("eq", False, True, False),
        ("ne", True, False, True),
        ("gt", False, False, True),
        ("gte", False, True, True),
        ("lt", True, False, False),
        ("lte", True, True, False),
        ("in", False, True, False),
        ("not_in", True, False, True),
    ],
)
def test_each_operator_compares_numbers(op: str, below: bool, same: bool, above: bool) -> None:
    wanted = (5,) if op in LISTED else 5
    found = [_holds(op, wanted, number, "n") for number in (4.5, 5.0, 10**400)]
    assert found == [below, same, above]


@pytest.mark.parametrize(
    ("op", "found"),
    [
        ("gt", ["critical"]),
        ("gte", ["high", "critical"]),
        ("lt", ["low", "medium"]),
        ("lte", ["low", "medium", "high"]),
        ("eq", ["high"]),
        ("ne", ["low", "medium", "critical", "severe"]),
        ("in", ["high"]),
        ("not_in", ["low", "medium", "critical", "severe"]),
    ],
)
def test_words_are_ordered_by_the_declared_scale_of_their_field(op: str, found: list[str]) -> None:
    wanted = ("high",) if op in LISTED else "high"
    assert [word for word in (*SCALES["risk"], "severe") if _holds(op, wanted, word)] == found


@pytest.mark.parametrize("op", sorted(ORDERED))
@pytest.mark.parametrize(
    ("wanted", "found"), [("high", "severe"), ("severe", "high"), ("severe", "severe"), ("HIGH", "high")]
)
def test_a_word_that_is_not_on_the_scale_has_no_order(op: Op, wanted: str, found: str) -> None:
    assert not _holds(op, wanted, found)


@pytest.mark.parametrize("op", sorted(ORDERED))
def test_words_have_no_order_on_another_fields_scale(op: Op) -> None:
    for wanted, found in product(SCALES["risk"], repeat=2):
        assert not _holds(op, wanted, found, "size")


@pytest.mark.parametrize("op", sorted(ORDERED))
@pytest.mark.parametrize(("wanted", "found"), [(True, True), (False, True), (True, False), (None, None)])
def test_booleans_and_null_have_no_order(op: Op, wanted: Scalar, found: object) -> None:
    assert not _holds(op, wanted, found)


@pytest.mark.parametrize("value", [True, False, None, "high", "", 0, 2.5])
def test_a_value_equals_itself_and_differs_from_another_of_its_type(value: Scalar) -> None:
    assert _holds("eq", value, value)
    assert not _holds("ne", value, value)
    assert _holds("in", (value,), value)
    assert not _holds("not_in", (value,), value)


@pytest.mark.parametrize(("wanted", "found"), [(True, False), ("a", "A"), ("a", "a "), (0, 0.5)])
def test_text_is_equal_letter_by_letter_and_other_values_differ(wanted: Scalar, found: object) -> None:
    assert not _holds("eq", wanted, found)
    assert _holds("ne", wanted, found)


def test_a_list_compares_with_those_of_its_values_that_have_the_type() -> None:
    assert _holds("in", (1, "high"), "high")
    assert _holds("not_in", (1, "high"), "low")
    assert not _holds("in", (1, "high"), True)
    assert not _holds("not_in", (1, "high"), None)


@pytest.mark.parametrize("found", ["a", 1, None, MISSING])
def test_an_empty_list_never_compares_as_true(found: object) -> None:
    assert not _holds("in", (), found)
    assert not _holds("not_in", (), found)


@pytest.mark.parametrize("op", sorted(set(Op) - LISTED))
def test_a_list_with_another_operator_never_compares_as_true(op: Op) -> None:
    for found in (1, 2, "high"):
        assert not _holds(op, (1, "high"), found)


@pytest.mark.parametrize("op", sorted(LISTED))
def test_a_single_value_with_an_operator_for_lists_never_compares_as_true(op: Op) -> None:
    for found in (4, 5, 6):
        assert not _holds(op, 5, found)


@given(
    st.sampled_from(Op),
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
    st.recursive(
        st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=3)),
        lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
        max_leaves=4,
    ),
)
def test_no_value_of_json_makes_a_comparison_raise(op: Op, wanted: Scalar, found: object) -> None:
    assert _holds(op, (wanted,) if op in LISTED else wanted, found) in (True, False)


@given(st.integers() | st.floats(allow_nan=False, allow_infinity=False), st.integers() | st.floats(allow_nan=False))
def test_numbers_are_ordered_as_python_orders_them(wanted: float, found: float) -> None:
    if found in (float("inf"), float("-inf")):
        return
    assert [_holds(op, wanted, found) for op in ("gt", "gte", "lt", "lte", "eq", "ne")] == [
        found > wanted,
        found >= wanted,
        found < wanted,
        found <= wanted,
        found == wanted,
        found != wanted,
    ]


@pytest.mark.parametrize(
    ("test", "text"),
    [
        (FieldTest("risk", Op.GTE, "high"), "risk ≥ high"),
        (FieldTest("n", Op.NE, 2.5), "n ≠ 2.5"),
        (FieldTest("ok", Op.EQ, True), "ok = true"),
        (FieldTest("ok", Op.EQ, None), "ok = null"),
        (FieldTest("status", Op.NOT_IN, ("denied", 1, False)), "status not in [denied, 1, false]"),
    ],
)
def test_a_comparison_is_told_with_a_sign_and_values_as_json_writes_them(test: FieldTest, text: str) -> None:
    assert str(test) == text


def test_comparisons_of_one_guard_are_told_with_and_in_order() -> None:
    guard = Guard((FieldTest("risk", Op.GT, "low"), FieldTest("n", Op.LTE, 3)))
    assert str(guard) == "risk > low and n ≤ 3"


@pytest.mark.parametrize(
    ("value", "name"),
    [
        (True, "a boolean"),
        (None, "null"),
        (1, "a number"),
        (1.5, "a number"),
        ("x", "text"),
        ({}, "an object"),
        ([], "a list"),
        (MISSING, "missing"),
    ],
)
def test_types_have_the_names_that_json_gives_them(value: object, name: str) -> None:
    assert type_name(value) == name


@given(st.none() | st.booleans() | st.integers(-9, 9))
def test_simple_values_are_shown_as_json_writes_them(value: Scalar) -> None:
    assert json_text(value) == json.dumps(value)
