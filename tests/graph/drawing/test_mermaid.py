"""Mermaid text: what is declared is what is drawn, and the real Mermaid reads it whatever ids and labels hold."""

import re
from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph import ANY, Declared, Edge, EdgeKind, Node, NodeKind, Overlay
from skillweave.graph.drawing.mermaid import to_mermaid
from skillweave.graph.drawing.nodes import edges_of, nodes_of
from skillweave.graph.drawing.picture import LONGEST_LABEL, picture_of
from skillweave.graph.drawing.svg import to_svg
from skillweave.graph.wording import visible
from tests.depth import tried
from tests.graph.drawing.drawn_svg import read_svg
from tests.graph.drawing.real_mermaid import Mermaid, Refused
from tests.graph.drawing.shapes import NASTY, drawings, nasty, overlays
from tests.graph.strategies import graphs, odd_graphs


def skills(*names: str) -> tuple[Node, ...]:
    return tuple(Node(name, NodeKind.SKILL, name) for name in names)


def test_the_text_of_mermaid_is_a_flowchart_td_with_a_start() -> None:
    nodes = (*skills("triage", "refund"), Node("d0", NodeKind.PREDICATE, "large?"))
    edges = (
        Edge(None, "triage", EdgeKind.ENTRY),
        Edge("triage", "refund", EdgeKind.TOOL, "on find_charge"),
        Edge("refund", "triage", EdgeKind.MODEL),
        Edge(ANY, "d0", EdgeKind.GUARD, "risk ≥ high"),
    )
    assert to_mermaid(nodes, edges) == "\n".join(
        [
            "flowchart TD",
            '  start(["▶ start"])',
            '  any(["any skill"])',
            '  s-triage["triage"]',
            '  s-refund["refund"]',
            '  if-d0{"large?"}',
            "  start --> s-triage",
            '  s-triage -->|"on find_charge"| s-refund',
            "  s-refund -.-> s-triage",
            '  any -->|"risk ≥ high"| if-d0',
        ]
    )


def test_the_start_is_drawn_without_an_entry_and_any_skill_only_where_a_route_leaves_it() -> None:
    assert to_mermaid(skills("a"), ()) == 'flowchart TD\n  start(["▶ start"])\n  s-a["a"]'


def test_ids_that_differ_in_punctuation_only_keep_names_of_their_own() -> None:
    text = to_mermaid(skills("a-b", "a_b", "a b", "a-b-2", "日本", "é", "start", "any"), ())
    names = [line.split("[")[0].split("(")[0].strip() for line in text.splitlines()[1:]]
    assert names == ["start", "s-a-b", "s-a-b-2", "s-a-b-3", "s-a-b-2-2", "s", "s-2", "s-start", "s-any"]


def test_an_edge_to_an_id_without_a_node_is_drawn_to_a_box_of_its_own(mermaid: Mermaid) -> None:
    read = mermaid.read(to_mermaid(skills("a"), [Edge("a", "gone", EdgeKind.TOOL, "on x")]))
    assert [(edge["start"], edge["end"]) for edge in read["edges"]] == [("s-a", "s-gone")]


def test_a_run_on_top_marks_visited_current_reachable_and_the_rest(mermaid: Mermaid) -> None:
    overlay = Overlay(visited=("a", "b"), current="b", reachable=("a", "c"))
    nodes = (*skills("a", "b", "c", "d"), Node("d0", NodeKind.PREDICATE, "?"))
    read = mermaid.read(to_mermaid(nodes, (), overlay))
    assert {node["id"]: sorted(node["classes"]) for node in read["nodes"]} == {
        "start": [],
        "s-a": ["reachable", "visited"],
        "s-b": ["current", "visited"],
        "s-c": ["reachable"],
        "s-d": ["apart"],
        "if-d0": [],
    }


def test_what_a_run_leaves_out_is_pale_but_its_text_can_be_read() -> None:
    style = next(line for line in to_mermaid(skills("a"), (), Overlay()).splitlines() if "classDef apart" in line)
    assert re.search(r"[ ,]opacity", style) is None  # Mermaid would make the text transparent, and twice over
    assert "stroke-opacity" in style


def test_a_dotted_arrow_is_a_way_that_only_the_model_takes(mermaid: Mermaid) -> None:
    edges = [Edge("a", "b", kind, "x") for kind in EdgeKind]
    read = mermaid.read(to_mermaid(skills("a", "b"), edges))
    assert [edge["stroke"] for edge in read["edges"]] == [
        "dotted" if kind is EdgeKind.MODEL else "normal" for kind in EdgeKind
    ]


@pytest.mark.parametrize(
    ("label", "escaped"),
    [
        ("1. first", "1#46; first"),
        ("- item", "#45; item"),
        ("_em_ and snake_case", "#95;em#95; and snake_case"),
        ("a|b", "a#124;b"),
        ("www.example.com", "www#46;example#46;com"),
        ("`md` **b**", "#96;md#96; #42;#42;b#42;#42;"),
        ("wait-for-it, (or “not”) ≥ 3 …", "wait-for-it, (or “not”) ≥ 3 …"),
        ("退款 Größe", "退款 Größe"),
    ],
)
def test_what_other_versions_read_as_markdown_is_escaped_and_the_rest_stays_readable(label: str, escaped: str) -> None:
    assert f'["{escaped}"]' in to_mermaid([Node("k", NodeKind.SKILL, label)], ())


@tried(33)
@given(drawings(), st.data())
def test_node_ids_are_unique_for_any_skill_id_and_mermaid_keeps_every_edge_apart(
    mermaid: Mermaid, drawing: tuple[tuple[Node, ...], tuple[Edge, ...]], data: st.DataObject
) -> None:
    nodes, edges = drawing
    overlay = data.draw(st.none() | overlays(nodes))
    text = to_mermaid(nodes, edges, overlay)
    text.encode("utf-8")
    read = mermaid.read(text)
    picture = picture_of(nodes, edges, overlay)
    assert read["type"] == "flowchart-v2"
    assert len(read["nodes"]) == len(picture.ends) == len({node["id"] for node in read["nodes"]})
    position = {node["id"]: place for place, node in enumerate(read["nodes"])}
    assert [(position[edge["start"]], position[edge["end"]]) for edge in read["edges"]] == [
        (arrow.source, arrow.target) for arrow in picture.arrows
    ]


@given(graphs | odd_graphs)
def test_any_graph_is_drawn_whole_in_mermaid_and_as_a_picture(mermaid: Mermaid, declared: Declared) -> None:
    nodes, edges = nodes_of(declared), edges_of(declared)
    assert len({node.id for node in nodes}) == len(nodes)
    read = mermaid.read(to_mermaid(nodes, edges))
    assert len(read["edges"]) == len(edges)
    assert len(read["nodes"]) >= len(nodes) + 1
    picture = to_svg(nodes, edges)
    assert picture == to_svg(nodes, edges)
    assert len(read_svg(picture).arrows) == len(edges)


@given(graphs)
@tried(16)
def test_what_is_declared_is_what_is_drawn(declared: Declared) -> None:
    nodes, edges = nodes_of(declared), edges_of(declared)
    assert {node.id for node in nodes if node.kind is NodeKind.SKILL} == {skill.id for skill in declared.skills}
    if declared.tree is None:
        entries = [(None, entry.skill) for entry in declared.entries]
        routes = [(one.from_, one.to) for one in declared.routes]
        assert [(edge.from_, edge.to) for edge in edges] == [*entries, *routes]
    for node in nodes:
        if node.kind is NodeKind.PREDICATE:
            assert [edge.label for edge in edges if edge.from_ == node.id] == ["yes", "no"]
            assert sum(edge.to == node.id for edge in edges) == 1


@tried(15)
@given(st.lists(nasty, min_size=1, max_size=20))
def test_labels_are_escaped_so_that_mermaid_shows_each_as_it_stands(mermaid: Mermaid, labels: list[str]) -> None:
    assert_shown(mermaid, labels)


@pytest.mark.parametrize("first", range(0, len(NASTY), 30))
def test_mermaid_shows_words_that_mean_something_to_it_as_they_stand(mermaid: Mermaid, first: int) -> None:
    assert_shown(mermaid, NASTY[first : first + 30])


def assert_shown(mermaid: Mermaid, labels: Sequence[str]) -> None:
    nodes = [Node(f"k{number}", NodeKind.SKILL, label) for number, label in enumerate(labels)]
    edges = [Edge("k0", node.id, EdgeKind.TOOL, node.label) for node in nodes]
    drawn = mermaid.draw(to_mermaid(nodes, edges))
    expected = [visible(label, LONGEST_LABEL) for label in labels]
    assert [unbroken(drawn["nodes"][f"s-k{number}"]) for number in range(len(labels))] == list(map(unbroken, expected))
    shown = [unbroken(line) for label, line in zip(labels, expected, strict=True) if label]
    assert list(map(unbroken, drawn["edges"])) == shown
    assert set(drawn["elements"]) <= {"div", "foreignObject", "p", "rect", "span", "g", "path", "text", "tspan"}


def unbroken(label: str) -> str:
    """The label without the invisible character that keeps Mermaid's own escapes from being read."""
    return label.replace("\u2060", "")


def test_a_text_that_mermaid_cannot_read_is_noticed(mermaid: Mermaid) -> None:
    with pytest.raises(Refused):
        mermaid.read('flowchart TD\n  a["x"y"]')


def test_names_of_two_arrows_cannot_be_confused(mermaid: Mermaid) -> None:
    nodes = skills("a", "a_s-b", "b", "s-b_c", "c")
    text = to_mermaid(nodes, [Edge("a", "s-b_c", EdgeKind.TOOL, "one"), Edge("a_s-b", "c", EdgeKind.TOOL, "two")])
    assert "_" not in "".join(line.split("[")[0] for line in text.splitlines() if "-->" not in line)
    assert mermaid.draw(text)["edges"] == ["one", "two"]
