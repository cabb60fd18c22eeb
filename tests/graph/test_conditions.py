from functools import partial

import pytest

from skillweave.graph import AllOf, AtIteration, Condition, HistoryMin, Keywords, Predicate, PredicateContext
from skillweave.graph.conditions import leaves_of

A, B, C = Keywords(("a",)), HistoryMin(2), AtIteration(3)


class Callable:
    """A condition with a name of its own trouble."""

    def __getattr__(self, name: str) -> object:
        raise ValueError(name)

    def __call__(self, look: PredicateContext) -> object:
        return True

    def method(self, look: PredicateContext) -> object:
        return True


def _function(look: PredicateContext) -> object:
    return True


@pytest.mark.parametrize("condition", [A, B, C])
def test_a_condition_that_is_no_all_is_its_own_only_part(condition: Condition) -> None:
    assert list(leaves_of(condition)) == [condition]


def test_no_condition_has_no_parts() -> None:
    assert list(leaves_of(None)) == []


def test_parts_of_all_come_in_the_order_of_declaration_however_they_are_nested() -> None:
    assert list(leaves_of(AllOf((A, AllOf((AllOf((B,)), C)), A)))) == [A, B, C, A]


def test_all_nested_a_hundred_thousand_levels_deep_is_taken_apart_without_recursion() -> None:
    condition: Condition = A
    for _ in range(100_000):
        condition = AllOf((condition,))
    assert list(leaves_of(condition)) == [A]


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (_function, "_function"),
        (Callable().method, "Callable.method"),
        (Callable(), "Callable"),
        (partial(_function), "partial"),
        (len, "len"),
        (dict, "dict"),
    ],
    ids=lambda value: value if isinstance(value, str) else type(value).__name__,
)
def test_code_is_called_by_its_qualified_name_and_an_object_by_its_class(call: object, name: str) -> None:
    assert Predicate(call).name == name  # type: ignore[arg-type]
