"""The boxes and diamonds of a graph."""

from dataclasses import fields

from skillweave.graph import ANY, Decide, Declared, Entry, GraphSkill, HistoryMin, Keywords, Node, NodeKind, Route
from skillweave.graph.declared import TreeNode
from skillweave.graph.drawing.nodes import edges_of, nodes_of

SAYS = Keywords(("x",))


def skills(*names: str) -> tuple[GraphSkill, ...]:
    return tuple(map(GraphSkill, names))


def drawn(declared: Declared) -> list[tuple[str, str, str]]:
    return [(node.id, node.kind.value, node.label) for node in nodes_of(declared)]


def test_a_flat_graph_has_a_box_for_each_skill_in_the_order_of_declaration() -> None:
    declared = Declared(skills("b", "a", "c"), entries=(Entry("c"),), routes=(Route("c", "a"),))
    assert drawn(declared) == [("b", "skill", "b"), ("a", "skill", "a"), ("c", "skill", "c")]


def test_a_tree_has_diamonds_and_leaves_once_each_depth_first() -> None:
    tree = Decide(SAYS, Decide(HistoryMin(2), "a", "b", "long?"), Decide(SAYS, "c", "a"))
    assert drawn(Declared(skills("c", "b", "a"), tree=tree)) == [
        ("d0", "predicate", "says “x”"),
        ("d1", "predicate", "long?"),
        ("a", "skill", "a"),
        ("b", "skill", "b"),
        ("d2", "predicate", "says “x”"),
        ("c", "skill", "c"),
    ]


def test_the_default_leaf_and_skills_that_are_no_leaf_come_last() -> None:
    assert [node.id for node in nodes_of(Declared(skills("z", "a"), tree="a", default="b"))] == ["a", "b", "z"]


def test_the_id_of_a_decision_is_no_skill_of_the_graph() -> None:
    tree = Decide(SAYS, "d0", Decide(SAYS, "d2", "d3"))
    declared = Declared(skills("d0", "d4"), tree=tree)
    decisions = [node.id for node in nodes_of(declared) if node.kind is NodeKind.PREDICATE]
    assert decisions == ["d1", "d5"]


def test_skills_that_are_not_listed_are_the_ones_that_entries_and_routes_name() -> None:
    routes = (Route("b", "c"), Route(ANY, "d"))
    assert [node.id for node in nodes_of(Declared(entries=(Entry("a"),), routes=routes, listed=False))] == list("abcd")
    assert nodes_of(Declared(skills("a"), routes=routes)) == nodes_of(Declared(skills("a")))


def test_a_decision_that_is_one_object_in_several_places_is_drawn_once() -> None:
    tree: TreeNode = "leaf"
    for _ in range(100):
        tree = Decide(SAYS, tree, tree)
    declared = Declared(skills("leaf"), tree=tree)
    assert len(nodes_of(declared)) == 101
    assert len(edges_of(declared)) == 201


def test_a_very_deep_tree_is_drawn() -> None:
    tree: TreeNode = "leaf"
    for _ in range(5_000):
        tree = Decide(SAYS, "other", tree)
    assert len(nodes_of(Declared(tree=tree, listed=False))) == 5_002


def test_a_node_has_an_id_a_label_and_a_kind_of_skill_or_predicate() -> None:
    assert [one.name for one in fields(Node)] == ["id", "kind", "label"]
    assert [kind.value for kind in NodeKind] == ["skill", "predicate"]
