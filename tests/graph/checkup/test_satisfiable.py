from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph import (
    ANY,
    AllOf,
    AtIteration,
    Decide,
    Declared,
    Entry,
    FieldTest,
    GraphSkill,
    Guard,
    Guarded,
    HistoryMin,
    Intent,
    Op,
    Regex,
    Route,
)
from skillweave.graph.declared import STATUSES
from tests.graph import strategies as some
from tests.graph.checkup.graphs import RISK, codes, fires, graph, guard, only, valid_moments


def routed(**fields: object) -> Declared:
    return graph(Entry("a"), Route("a", "b", **fields), Entry("c"), scales=RISK)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fields",
    [
        {"guard": guard(n={"eq": 1, "ne": 1})},
        {"guard": guard(n={"eq": 1, "in": [2, 3]})},
        {"guard": guard(n={"eq": 1, "gt": 1})},
        {"guard": guard(n={"in": [1, 2], "not_in": [1, 2, 3]})},
        {"guard": guard(n={"gt": 2, "lt": 2})},
        {"guard": guard(n={"gte": 2, "lt": 2})},
        {"guard": guard(n={"gte": 2, "lte": 2, "ne": 2.0})},
        {"guard": guard(n={"gt": 1}, risk={"gt": "critical"})},
        {"guard": guard(risk={"gte": "high", "lte": "low"})},
        {"guard": guard(risk={"lt": "low"})},
        {"guard": guard(kind={"eq": "x", "ne": "x"})},
        {"guard": guard(kind={"eq": "1"}, n={"eq": 1}), "condition": Guarded(guard(kind={"eq": 1}))},
        {"guard": guard(ok={"eq": True, "ne": True})},
        {"guard": guard(ok={"not_in": [True, False]})},
        {"guard": guard(gone={"ne": None})},
        {"guard": guard(status={"not_in": list(STATUSES)})},
        {"guard": guard(status={"eq": "denied"}), "on_status": ("success", "failure")},
        {"guard": guard(tool_name={"eq": "x"}), "on_tool": "y"},
        {"guard": guard(iteration={"lte": 0})},
        {"guard": guard(iteration={"eq": 2}), "condition": AtIteration(3)},
        {"guard": guard(current_skill_id={"eq": "c"})},
        {"condition": AllOf((AtIteration(1), AllOf((HistoryMin(2), AtIteration(2)))))},
        {"condition": AllOf((Guarded(guard(n={"eq": 1})), Guarded(guard(n={"eq": 2}))))},
        {"condition": AllOf((Intent("a refund"), Intent("an order")))},
    ],
    ids=str,
)
def test_conditions_that_exclude_each_other_are_guard_unsatisfiable(fields: dict[str, object]) -> None:
    problem = only(routed(**fields), "guard-unsatisfiable")
    assert (problem.from_, problem.to) == ("a", "b")
    assert problem.message.startswith("The route from `a` to `b` never fires: ")


@pytest.mark.parametrize(
    "fields",
    [
        {"guard": guard(n={"gte": 2, "lte": 2})},
        {"guard": guard(n={"gt": 1, "lt": 2})},
        {"guard": guard(n={"ne": 1, "not_in": [2, 3]})},
        {"guard": guard(n={"eq": 1}, m={"eq": 2})},
        {"guard": guard(risk={"gte": "high", "lte": "high"})},
        {"guard": guard(risk={"lte": "low"})},
        {"guard": guard(kind={"ne": "x", "not_in": ["y"]})},
        {"guard": guard(ok={"ne": True})},
        {"guard": guard(status={"ne": "success"}), "on_status": ("success", "failure")},
        {"guard": guard(status={"not_in": list(STATUSES[1:])})},
        {"guard": guard(tool_name={"in": ["x", "y"]}), "on_tool": Regex("^y")},
        {"guard": guard(iteration={"gt": 1, "lt": 3})},
        {"guard": guard(current_skill_id={"eq": "a"})},
        {"condition": AllOf((Regex("a"), Regex("b"), HistoryMin(3), HistoryMin(5)))},
    ],
    ids=str,
)
def test_conditions_that_some_value_meets_are_satisfiable(fields: dict[str, object]) -> None:
    assert "guard-unsatisfiable" not in codes(routed(**fields))


def test_the_message_names_both_comparisons_and_only_those_of_that_field() -> None:
    problem = only(routed(guard=guard(n={"gt": 2, "lt": 2}, m={"eq": 1})), "guard-unsatisfiable")
    assert problem.message == "The route from `a` to `b` never fires: `n > 2` and `n < 2` exclude each other."


def test_of_many_comparisons_that_exclude_each_other_a_few_are_told() -> None:
    tests = tuple(FieldTest("n", Op.EQ, number) for number in range(1_000))
    message = only(routed(guard=Guard(tests)), "guard-unsatisfiable").message
    assert "`n = 3` and 996 more exclude each other" in message


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (guard(iteration={"lt": 1}), "`iteration < 1` is never true here"),
        (guard(current_skill_id={"ne": "a"}), "`current_skill_id ≠ a` is never true here"),
        (guard(risk={"gt": "critical"}), "`risk > critical` is never true here"),
    ],
)
def test_a_single_impossible_comparison_is_explained(found: Guard, why: str) -> None:
    assert why in only(routed(guard=found), "guard-unsatisfiable").message


def test_what_another_code_calls_wrong_is_told_once() -> None:
    assert "guard-unsatisfiable" not in codes(routed(guard=guard(status={"eq": "sucess"})))


def test_at_a_route_from_any_the_current_skill_is_any_but_its_target() -> None:
    def from_any(found: Guard) -> list[str]:
        return codes(graph(Entry("a"), Route(ANY, "b", guard=found)))

    assert "guard-unsatisfiable" in from_any(guard(current_skill_id={"eq": "b"}))
    assert "guard-unsatisfiable" not in from_any(guard(current_skill_id={"eq": "a"}))


def test_entries_and_decisions_are_looked_at_too() -> None:
    never = Guarded(guard(n={"gt": 2, "lt": 2}))
    assert only(graph(Entry("a", never)), "guard-unsatisfiable").skill == "a"
    tree = Declared(skills=(GraphSkill("a"),), tree=Decide(never, "a", "a"))
    assert only(tree, "guard-unsatisfiable").message.startswith("A decision of the tree never holds: ")


def test_conditions_nested_deeper_than_the_stack_are_judged() -> None:
    condition: AllOf | AtIteration = AtIteration(1)
    for _ in range(5_000):
        condition = AllOf((condition, AtIteration(1)))
    assert "guard-unsatisfiable" not in codes(routed(condition=condition))
    assert "guard-unsatisfiable" in codes(routed(condition=AllOf((condition, AtIteration(2)))))


@given(st.data())
def test_a_route_that_is_called_unsatisfiable_never_fires(data: st.DataObject) -> None:
    field = data.draw(some.fields)
    tests = data.draw(st.lists(some.field_tests(field), min_size=1, max_size=3))
    route = replace(data.draw(some.routes(some.plain_ids)), guard=Guard(tuple(tests)))
    scales = data.draw(some.scales)
    if "guard-unsatisfiable" in codes(graph(Entry("a"), route, scales=scales)):
        assert not fires(route, data.draw(valid_moments), scales)
