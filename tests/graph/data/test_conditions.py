"""What Python may hand to the reader beside data: conditions and guards as values."""

import pytest
from hypothesis import given

from skillweave.errors import InvalidGraph
from skillweave.graph import (
    AllOf,
    AtIteration,
    Condition,
    FieldTest,
    Guard,
    Guarded,
    Keywords,
    Op,
    Predicate,
    Regex,
    UserContains,
)
from skillweave.graph.conditions import read_condition, write_condition
from skillweave.graph.data.parts import read_on_status, read_on_tool
from skillweave.graph.guards import read_guard, write_guard
from tests.graph.strategies import guards, scored_conditions


def always(_look: object) -> bool:
    return True


@given(scored_conditions)
def test_a_condition_that_is_written_reads_back_and_one_that_is_read_is_itself(condition: Condition) -> None:
    assert read_condition(write_condition(condition), "here") == condition
    assert read_condition(condition, "here") == condition


@given(guards)
def test_a_guard_that_is_written_reads_back_and_one_that_is_read_is_itself(guard: Guard) -> None:
    assert read_guard(write_guard(guard), "here") == guard
    assert read_guard(guard, "here") == guard


def test_code_among_the_members_of_all_is_kept_as_it_is() -> None:
    condition = AllOf((Keywords(("x",)), AllOf((Predicate(always),))))
    assert read_condition(condition, "here") == condition


@pytest.mark.parametrize(
    ("condition", "place"),
    [
        (Keywords(()), r"here\.keywords"),
        (Regex("("), r"here\.regex"),
        (Regex("x", "q"), r"here\.flags"),
        (UserContains(""), r"here\.user_contains"),
        (AtIteration(0), r"here\.iteration"),
        (AllOf((AtIteration(1), Guarded(Guard(())))), r"here\.all\[1\]\.guard"),
    ],
)
def test_a_condition_as_a_value_is_checked_like_data(condition: Condition, place: str) -> None:
    with pytest.raises(InvalidGraph, match=f"^{place}: "):
        read_condition(condition, "here")


@pytest.mark.parametrize("value", [None, "refund", 3, ["refund"], always, object()])
def test_anything_else_is_no_condition(value: object) -> None:
    with pytest.raises(InvalidGraph, match=r"^here: it is .*, and a mapping is expected"):
        read_condition(value, "here")  # type: ignore[arg-type]


def test_all_as_a_value_is_bounded_without_overflowing_the_stack() -> None:
    condition: Condition = AtIteration(1)
    for _ in range(50_000):
        condition = AllOf((condition,))
    with pytest.raises(InvalidGraph, match=r"^here: `all` is nested deeper than 32 levels"):
        read_condition(condition, "here")
    with pytest.raises(InvalidGraph, match=r"^here: `all` is nested deeper than 32 levels"):
        write_condition(condition, "here")


def test_a_guard_that_compares_twice_alike_cannot_be_spelled() -> None:
    twice = Guard((FieldTest("n", Op.GT, 1), FieldTest("n", Op.GT, 2)))
    with pytest.raises(InvalidGraph, match="here: the guard compares 'n' with 'gt' twice"):
        read_guard(twice, "here")


def test_the_order_of_fields_and_operators_is_kept() -> None:
    guard = Guard((FieldTest("b", Op.LT, 9), FieldTest("b", Op.GT, 1), FieldTest("a", Op.EQ, "x")))
    data = write_guard(guard)
    assert list(data) == ["b", "a"]
    assert read_guard(data, "here") == guard


def test_writing_code_says_where_it_stands_and_what_to_do() -> None:
    with pytest.raises(
        InvalidGraph, match=r"^here\.all\[0\]: the condition is code \(always\), which data cannot carry; "
    ):
        write_condition(AllOf((Predicate(always),)), "here")


def test_a_tool_is_a_name_an_expression_or_its_data() -> None:
    assert read_on_tool("lookup", "here") == "lookup"
    assert read_on_tool(Regex("^look", "i"), "here") == read_on_tool({"regex": "^look", "flags": "i"}, "here")
    with pytest.raises(InvalidGraph, match=r"^here\.regex: the expression '\('"):
        read_on_tool(Regex("("), "here")


def test_statuses_are_one_or_several() -> None:
    assert read_on_status("success", "here") == ("success",)
    assert read_on_status(("success", "failure"), "here") == ("success", "failure")
    assert read_on_status({"denied"}, "here") == ("denied",)
    with pytest.raises(InvalidGraph, match=r"^here: the list is empty"):
        read_on_status((), "here")


def test_whether_there_is_such_a_status_is_the_checkups_to_say() -> None:
    assert read_on_status("sucess", "here") == ("sucess",)
