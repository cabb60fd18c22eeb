from math import inf, nan

import pytest

from skillweave.graph import AllOf, Decide, Declared, Entry, FieldTest, GraphSkill, Guard, Guarded, Op, Route
from tests.graph.checkup.graphs import RISK, codes, graph, guard, only


def compared(found: Guard) -> Declared:
    return graph(Entry("a"), Route("a", "b", guard=found), scales=RISK)


@pytest.mark.parametrize(
    ("found", "why"),
    [
        (guard(size={"gte": "m"}), "no order without a scale for `size`"),
        (guard(risk={"gte": "hgih"}), "`hgih` is not on the scale of `risk`"),
        (guard(risk={"eq": "hgih"}), "`hgih` is not on the scale of `risk`"),
        (guard(risk={"in": ["low", "hgih"]}), "`hgih` is not on the scale of `risk`"),
        (guard(risk={"eq": 3}), "a number is not on the scale of `risk`"),
        (guard(ok={"gt": True}), "a boolean has no order"),
        (guard(ok={"lte": None}), "null has no order"),
        (guard(n={"in": [1, "1"]}), "its list mixes a number and text"),
        (guard(n={"not_in": [1, True]}), "its list mixes a number and a boolean"),
        (guard(n={"gt": nan}), "not a finite number"),
        (guard(n={"eq": inf}), "not a finite number"),
        (guard(iteration={"eq": "3"}), "`iteration` is always a number"),
        (guard(tool_name={"ne": None}), "`tool_name` is always text"),
        (guard(status={"in": [1]}), "`status` is always text"),
        (Guard((FieldTest("n", Op.IN, 1),)), "`in` takes a list"),
        (Guard((FieldTest("n", Op.EQ, (1,)),)), "`eq` takes one value"),
    ],
)
def test_what_has_no_order_or_no_common_type_is_untyped_comparison(found: Guard, why: str) -> None:
    problem = only(compared(found), "untyped-comparison")
    assert why in problem.message
    assert (problem.from_, problem.to) == ("a", "b")


@pytest.mark.parametrize(
    "found",
    [
        guard(risk={"gte": "high"}),
        guard(risk={"in": ["low", "high"]}),
        guard(size={"eq": "m", "in": ["s", "m"]}),
        guard(n={"gt": 1, "lte": 2.5}),
        guard(n={"in": [1, 2.5]}),
        guard(ok={"eq": True}),
        guard(ok={"ne": None}),
        guard(iteration={"gte": 3}),
        guard(status={"in": ["success", "partial"]}),
        guard(n={"gt": 10**400}),
    ],
)
def test_values_of_one_type_words_on_their_scale_and_numbers_in_order_are_typed(found: Guard) -> None:
    assert "untyped-comparison" not in codes(compared(found))


def test_untyped_comparisons_are_found_in_entries_routes_and_trees() -> None:
    bad = Guarded(guard(size={"gte": "m"}))
    assert only(graph(Entry("a", AllOf((bad,)))), "untyped-comparison").skill == "a"
    assert only(graph(Entry("a"), Route("a", "b", bad)), "untyped-comparison").to == "b"
    tree = Declared(skills=(GraphSkill("a"),), tree=Decide(bad, "a", "a", "is it large?"))
    assert "the decision `is it large?`" in only(tree, "untyped-comparison").message.lower()


def test_an_untyped_comparison_is_not_called_unsatisfiable_too() -> None:
    assert "guard-unsatisfiable" not in codes(compared(guard(size={"gte": "m"}, iteration={"eq": "3"})))


def test_a_number_too_long_to_be_written_does_not_break_the_message() -> None:
    problem = only(compared(guard(iteration={"eq": 1}, risk={"eq": 10**5000})), "untyped-comparison")
    assert "a very long number" in problem.message
