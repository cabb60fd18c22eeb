"""What stands at an arrow without a label of its own."""

import pytest
from hypothesis import given

from skillweave.graph import (
    AllOf,
    AtIteration,
    Condition,
    Decide,
    Entry,
    FieldTest,
    Guard,
    Guarded,
    HistoryMin,
    Intent,
    Keywords,
    Op,
    Predicate,
    PredicateContext,
    Regex,
    Route,
    UserContains,
)
from skillweave.graph.drawing.nodes import (
    LONGEST_CAPTION,
    condition_caption,
    decision_caption,
    entry_caption,
    route_caption,
)
from tests.graph.strategies import odd_conditions, odd_routes

RISK = Guard((FieldTest("risk", Op.GTE, "high"),))


def wants_help(_look: PredicateContext) -> object:
    return True


class Judge:
    def __call__(self, _look: PredicateContext) -> object:
        return True


@pytest.mark.parametrize(
    ("condition", "caption"),
    [
        (Keywords(("refund",)), "says “refund”"),
        (Keywords(("a", "b", "c", "d", "e")), "says “a”, “b”, “c”, +2 more"),
        (Regex("^hi", "i"), "/^hi/i"),
        (UserContains("my order"), "contains “my order”"),
        (HistoryMin(3), "≥ 3 messages"),
        (AtIteration(2), "iteration 2"),
        (Intent("a refund", ("give it back",)), "intent: a refund"),
        (Guarded(RISK), "risk ≥ high"),
        (Predicate(wants_help), "wants_help()"),
        (Predicate(lambda _look: True), "code"),
        (Predicate(Judge()), "Judge()"),
        (AllOf((Keywords(("refund",)), AllOf((HistoryMin(2), Guarded(RISK))))), None),
        (AllOf(()), "always"),
        (Guarded(Guard(())), "always"),
    ],
)
def test_every_kind_of_condition_has_a_short_caption(condition: Condition, caption: str | None) -> None:
    assert condition_caption(condition) == (caption or "says “refund” and ≥ 2 messages and risk ≥ high")


def test_a_guard_names_the_field_the_comparison_and_the_value() -> None:
    tests = (FieldTest("status", Op.NOT_IN, ("a", "b", 1, True)), FieldTest("n", Op.NE, None))
    assert condition_caption(Guarded(Guard(tests))) == "status not in [a, b, 1, +1 more] and n ≠ null"


def test_a_route_says_its_tool_its_statuses_its_condition_and_its_guard() -> None:
    route = Route("a", "b", Keywords(("x",)), "lookup", ("success", "partial"), RISK)
    assert route_caption(route) == "on lookup: success or partial when says “x” and risk ≥ high"
    assert route_caption(Route("a", "b", on_tool=Regex("look", "i"))) == "on /look/i"
    assert route_caption(Route("a", "b", on_status=("failure",))) == "status failure"
    assert route_caption(Route("a", "b", guard=RISK)) == "risk ≥ high"


def test_a_route_that_only_the_model_takes_has_no_caption() -> None:
    assert route_caption(Route("a", "b")) == ""


def test_a_priority_is_part_of_the_caption_however_long_that_is() -> None:
    assert route_caption(Route("a", "b", on_tool="x", priority=10)) == "on x (priority 10)"
    long = Route("a", "b", AllOf((Regex("y" * 90), Regex("z" * 90), Regex("q" * 90))), priority=-3)
    assert route_caption(long).endswith("… (priority -3)")
    assert len(route_caption(long)) <= LONGEST_CAPTION


def test_a_label_goes_before_the_derived_caption() -> None:
    assert route_caption(Route("a", "b", on_tool="x", label="claim filed", priority=3)) == "claim filed"
    assert entry_caption(Entry("a", HistoryMin(1), label="later")) == "later"
    assert decision_caption(Decide(HistoryMin(1), "a", "b", "Long talk?")) == "Long talk?"


def test_an_entry_says_its_condition_and_whether_it_is_a_base_one() -> None:
    assert entry_caption(Entry("a")) == ""
    assert entry_caption(Entry("a", Keywords(("x",)))) == "says “x”"
    assert entry_caption(Entry("a", base=True)) == "base"
    assert entry_caption(Entry("a", Keywords(("x",)), base=True)) == "base: says “x”"


def test_a_guard_of_nothing_always_holds_and_says_so() -> None:
    assert route_caption(Route("a", "b", guard=Guard(()))) == "always"
    assert route_caption(Route("a", "b", Guarded(Guard(())))) == "always"


def test_conditions_nested_very_deeply_have_a_caption() -> None:
    condition: Condition = HistoryMin(1)
    for _ in range(20_000):
        condition = AllOf((condition,))
    assert condition_caption(condition) == "≥ 1 messages"


@given(odd_conditions)
def test_any_condition_has_a_caption_of_bounded_length(condition: Condition) -> None:
    assert 0 < len(condition_caption(condition)) <= LONGEST_CAPTION


@given(odd_routes)
def test_any_route_without_a_label_has_a_caption_of_bounded_length(route: Route) -> None:
    if route.label is None:
        assert len(route_caption(route)) <= LONGEST_CAPTION
        assert bool(route_caption(route)) is (route.is_deterministic or route.priority != 0)
