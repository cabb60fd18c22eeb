"""The arrows of a graph."""

from dataclasses import fields

import pytest

from skillweave.graph import (
    ANY,
    Decide,
    Declared,
    Edge,
    EdgeKind,
    Entry,
    FieldTest,
    Guard,
    Guarded,
    HistoryMin,
    Keywords,
    Op,
    Predicate,
    Route,
)
from skillweave.graph.drawing.nodes import edges_of, kind_of

RISK = Guard((FieldTest("risk", Op.GTE, "high"),))
SAYS = Keywords(("x",))


def test_entries_come_first_then_routes_in_the_order_of_declaration() -> None:
    entries = (Entry("b", SAYS), Entry("a"))
    routes = (Route("a", "b", on_tool="t"), Route(ANY, "a", guard=RISK), Route("b", "b"))
    assert edges_of(Declared(entries=entries, routes=routes)) == (
        Edge(None, "b", EdgeKind.ENTRY, "says “x”"),
        Edge(None, "a", EdgeKind.ENTRY),
        Edge("a", "b", EdgeKind.TOOL, "on t"),
        Edge(ANY, "a", EdgeKind.GUARD, "risk ≥ high"),
        Edge("b", "b", EdgeKind.MODEL),
    )


@pytest.mark.parametrize(
    ("route", "kind"),
    [
        (Route("a", "b"), EdgeKind.MODEL),
        (Route("a", "b", on_tool="t"), EdgeKind.TOOL),
        (Route("a", "b", on_status=("success",)), EdgeKind.STATUS),
        (Route("a", "b", on_tool="t", on_status=("success",), guard=RISK), EdgeKind.STATUS),
        (Route("a", "b", SAYS, "t", guard=RISK), EdgeKind.TOOL),
        (Route("a", "b", guard=RISK), EdgeKind.GUARD),
        (Route("a", "b", SAYS, guard=RISK), EdgeKind.GUARD),
        (Route("a", "b", Guarded(RISK)), EdgeKind.GUARD),
        (Route("a", "b", SAYS), EdgeKind.PREDICATE),
        (Route("a", "b", Predicate(bool)), EdgeKind.PREDICATE),
        (Route("a", "b", priority=3, label="x"), EdgeKind.MODEL),
    ],
)
def test_the_kind_of_an_edge_is_what_it_fires_on_and_a_status_goes_first(route: Route, kind: EdgeKind) -> None:
    assert kind_of(route) is kind


def test_the_edges_of_a_tree_say_yes_and_no_and_the_root_has_one_from_the_start() -> None:
    tree = Decide(SAYS, Decide(HistoryMin(2), "a", "b"), "a")
    assert edges_of(Declared(tree=tree, listed=False)) == (
        Edge(None, "d0", EdgeKind.PREDICATE),
        Edge("d0", "d1", EdgeKind.PREDICATE, "yes"),
        Edge("d1", "a", EdgeKind.PREDICATE, "yes"),
        Edge("d1", "b", EdgeKind.PREDICATE, "no"),
        Edge("d0", "a", EdgeKind.PREDICATE, "no"),
    )


def test_the_default_leaf_of_a_tree_is_led_to_from_the_start() -> None:
    way = Edge(None, "c", EdgeKind.PREDICATE, "default: a condition raises")
    assert edges_of(Declared(tree=Decide(SAYS, "a", "b"), default="c"))[-1] == way


def test_an_edge_has_its_ends_a_label_and_a_kind_of_entry_predicate_tool_status_guard_or_model() -> None:
    assert [one.name for one in fields(Edge)] == ["from_", "to", "kind", "label"]
    assert [kind.value for kind in EdgeKind] == ["entry", "predicate", "tool", "status", "guard", "model"]
