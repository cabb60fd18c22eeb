"""SVG pictures: well-formed whatever ids and labels hold, nothing on top of anything else, nothing from elsewhere."""

import re
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph import ANY, Edge, EdgeKind, Node, NodeKind, Overlay
from skillweave.graph.drawing.figures import width_of
from skillweave.graph.drawing.picture import LONGEST_LABEL
from skillweave.graph.drawing.svg import DARK, LIGHT, to_svg
from skillweave.graph.wording import visible
from tests.depth import tried
from tests.graph.drawing.drawn_svg import Drawn, read_svg
from tests.graph.drawing.shapes import NASTY, drawings, overlays

Drawing = tuple[tuple[Node, ...], tuple[Edge, ...]]
ROUNDED = 0.11
"""Lengths are written to a tenth of a pixel."""


def skills(*names: str) -> tuple[Node, ...]:
    return tuple(Node(name, NodeKind.SKILL, name) for name in names)


def test_a_picture_says_what_it_is_and_how_large() -> None:
    root = read_svg(to_svg(skills("a", "b"), [Edge("a", "b", EdgeKind.MODEL)])).root
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root[0].text == root.get("aria-label") == "Skill graph: 2 skills, 1 edge"
    assert root.get("role") == "img"
    assert root.get("viewBox") == f"0 0 {root.get('width')} {root.get('height')}"


def test_a_picture_looks_right_on_light_and_on_dark_ground_and_keeps_its_style_to_itself() -> None:
    style = read_svg(to_svg(skills("a"), ())).root[1].text or ""
    assert "@media (prefers-color-scheme: dark)" in style
    rules = [line for line in style.splitlines() if "{" in line and not line.startswith("@")]
    selectors = [one for rule in rules for part in re.findall(r"([^{}]+)\{", rule) for one in part.split(",")]
    assert all(one.strip().startswith(".skillweave-graph ") for one in selectors)


def test_every_kind_of_edge_has_its_class_and_a_way_of_the_model_alone_is_dotted() -> None:
    text = to_svg(skills("a", "b"), [Edge("a", "b", kind, kind.value) for kind in EdgeKind])
    assert [sorted(arrow.classes) for arrow in read_svg(text).arrows] == [sorted(["edge", kind]) for kind in EdgeKind]
    assert ".model .line { stroke-dasharray" in text


def test_a_key_explains_the_dotted_line_and_the_marks_that_the_picture_shows() -> None:
    edges = [Edge("a", "b", EdgeKind.MODEL)]
    dotted = {"model": "only the model goes this way"}
    assert read_svg(to_svg(skills("a", "b"), edges)).key == dotted
    assert read_svg(to_svg(skills("a", "b"), [Edge("a", "b", EdgeKind.TOOL)])).key == {}
    run = Overlay(visited=("a",), current="a", reachable=("b",))
    marks = {"visited": "visited", "current": "current skill", "reachable": "can be reached"}
    assert read_svg(to_svg(skills("a", "b"), edges, run)).key == marks | dotted
    assert read_svg(to_svg(skills("a"), (), Overlay(current="a"))).key == {"current": "current skill"}


@pytest.mark.parametrize("ground", ["light", "dark"])
@pytest.mark.parametrize(
    ("text", "behind"),
    [
        *(("text", behind) for behind in ("ground", "box", "decision", "visited")),
        *((name, "ground") for name in ("line", "tool", "status", "guard", "model")),
        *(("start-text", "start"), ("current-text", "current")),
    ],
)
def test_text_has_the_contrast_that_wcag_asks_for(ground: str, text: str, behind: str) -> None:
    colours = {"light": LIGHT, "dark": DARK}[ground]
    one, other = sorted((luminance(colours[text]), luminance(colours[behind])))
    assert (other + 0.05) / (one + 0.05) >= 4.5


def luminance(colour: str) -> float:
    parts = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    red, green, blue = (one / 12.92 if one <= 0.04045 else ((one + 0.055) / 1.055) ** 2.4 for one in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def test_the_text_of_what_a_run_leaves_out_is_grey_but_never_transparent() -> None:
    style = read_svg(to_svg(skills("a"), (), Overlay())).root[1].text or ""
    transparent = [rule.split("{")[0] for rule in style.splitlines() if "opacity" in rule]
    assert transparent == [", ".join(f".skillweave-graph .apart .{part}" for part in ("shape", "line", "head")) + " "]
    assert f".edge.apart text {{ fill: {LIGHT['line']}; }}" in style


def test_the_title_of_an_edge_says_from_where_to_where_and_why() -> None:
    edges = [Edge(ANY, "b", EdgeKind.GUARD, "risk ≥ high"), Edge(None, "a", EdgeKind.ENTRY)]
    assert [arrow.title for arrow in read_svg(to_svg(skills("a", "b"), edges)).arrows] == [
        "any skill → b: risk ≥ high",
        "start → a",
    ]


def test_a_run_on_top_marks_visited_current_reachable_and_fades_the_rest() -> None:
    overlay = Overlay(visited=("a", "b"), current="b", reachable=("c",))
    edges = [Edge("a", "b", EdgeKind.TOOL), Edge("b", "d", EdgeKind.TOOL), Edge(ANY, "c", EdgeKind.TOOL)]
    drawn = read_svg(to_svg(skills("a", "b", "c", "d"), edges, overlay))
    marks = {"visited", "current", "reachable", "apart"}
    assert {box.title: sorted(box.classes & marks) for box in drawn.boxes} == {
        "start": [],
        "any skill": [],
        "a": ["visited"],
        "b": ["current", "visited"],
        "c": ["reachable"],
        "d": ["apart"],
    }
    assert ["apart" in arrow.classes for arrow in drawn.arrows] == [False, True, False]


def test_without_a_run_nothing_is_marked() -> None:
    drawn = read_svg(to_svg(skills("a"), ()))
    assert [sorted(box.classes) for box in drawn.boxes] == [["node", "start"], ["node", "skill"]]


def test_the_head_of_an_arrow_points_the_way_that_it_goes() -> None:
    edges = [Edge(None, "a", EdgeKind.ENTRY), Edge("a", "b", EdgeKind.TOOL), Edge("b", "a", EdgeKind.TOOL)]
    drawn = read_svg(to_svg(skills("a", "b"), edges))
    assert [arrow.tip[1] > arrow.start[1] for arrow in drawn.arrows] == [True, True, False]
    assert all((arrow.tip[1] - arrow.base[1]) * (arrow.tip[1] - arrow.start[1]) > 0 for arrow in drawn.arrows)


def test_a_loop_leaves_and_meets_the_right_border_of_its_box() -> None:
    drawn = read_svg(to_svg(skills("a"), [Edge("a", "a", EdgeKind.TOOL, f"on {n}") for n in "xyz"]))
    box = drawn.boxes[1]
    assert [(arrow.start[0], arrow.tip[0]) for arrow in drawn.arrows] == [(box.right, box.right)] * 3
    heights = [y for arrow in drawn.arrows for y in (arrow.start[1], arrow.tip[1])]
    assert heights == sorted(heights)
    assert box.top <= heights[0] and heights[-1] <= box.bottom


def test_skills_that_no_arrow_joins_stand_under_the_rest_in_lines() -> None:
    names = [f"skill-{number}" for number in range(10)]
    boxes = read_svg(to_svg(skills(*names), [Edge(None, names[0], EdgeKind.ENTRY)])).boxes
    assert min(box.top for box in boxes[2:]) > boxes[1].bottom
    assert len({box.top for box in boxes[2:]}) > 1


def test_a_graph_of_nothing_is_a_start_alone() -> None:
    assert [box.title for box in read_svg(to_svg((), ())).boxes] == ["start"]


def boxes_and_labels_stand_apart(drawn: Drawn) -> None:
    solid = [(box.left, box.top, box.right, box.bottom) for box in drawn.boxes]
    solid += [arrow.label for arrow in drawn.arrows if arrow.label]
    for one, other in combinations(solid, 2):
        apart = one[2] <= other[0] + ROUNDED or other[2] <= one[0] + ROUNDED
        assert apart or one[3] <= other[1] + ROUNDED or other[3] <= one[1] + ROUNDED


def everything_lies_inside_the_picture(drawn: Drawn) -> None:
    width, height = float(drawn.root.attrib["width"]) - 40, float(drawn.root.attrib["height"]) - 40
    places = [(box.left, box.top, box.right, box.bottom) for box in drawn.boxes]
    places += [arrow.label for arrow in drawn.arrows if arrow.label]
    assert all(left >= -ROUNDED and top >= -ROUNDED for left, top, _, _ in places)
    assert all(right <= width + ROUNDED and bottom <= height + ROUNDED for _, _, right, bottom in places)


def arrows_begin_and_end_at_the_borders_of_their_boxes(drawn: Drawn) -> None:
    places = {box.title: box for box in drawn.boxes}
    straight = [arrow for arrow in drawn.arrows if arrow.title.count(" → ") == 1]
    for arrow in straight:
        source, target = arrow.title.split(" → ")
        target = target if target in places else target.split(": ")[0]
        if source == target or source not in places or target not in places or len(places) < len(drawn.boxes):
            continue
        assert places[source].border_distance(arrow.start) <= 2 * ROUNDED
        assert places[target].border_distance(arrow.tip) <= 2 * ROUNDED


def text_is_broken_and_cut_to_fit_into_its_box(drawn: Drawn) -> None:
    for box in drawn.boxes:
        width = max(width_of(line, 13) for line in box.lines)
        height = 17 * len(box.lines)
        if "decision" in box.classes:
            assert width / (box.right - box.left) + height / (box.bottom - box.top) <= 1 + 0.01
        else:
            assert width <= box.right - box.left - 20
            assert height <= box.bottom - box.top


@given(drawings(), st.data())
@tried(33)
def test_any_drawing_is_well_formed_and_clear_and_has_each_node_and_edge_once(
    drawing: Drawing, data: st.DataObject
) -> None:
    nodes, edges = drawing
    text = to_svg(nodes, edges, data.draw(st.none() | overlays(nodes)))
    text.encode("utf-8")
    drawn = read_svg(text)
    titles = [visible(node.label, LONGEST_LABEL) for node in nodes]
    own = [box.title for box in drawn.boxes if not box.classes & {"start", "any", "unknown"}]
    assert own == titles
    assert len(drawn.arrows) == len(edges)
    assert all(box.lines for box in drawn.boxes)
    boxes_and_labels_stand_apart(drawn)
    everything_lies_inside_the_picture(drawn)
    arrows_begin_and_end_at_the_borders_of_their_boxes(drawn)
    text_is_broken_and_cut_to_fit_into_its_box(drawn)


@pytest.mark.parametrize("label", NASTY)
def test_a_picture_needs_no_network_as_it_has_no_script_and_nothing_from_elsewhere(label: str) -> None:
    nodes = (Node("k", NodeKind.SKILL, label), Node("d", NodeKind.PREDICATE, label))
    root = read_svg(to_svg(nodes, [Edge("k", "d", EdgeKind.TOOL, label), Edge("k", "k", EdgeKind.TOOL, label)])).root
    for element in root.iter():
        assert element.tag.rpartition("}")[2] in {"svg", "title", "style", "rect", "g", "path", "text"}
        assert set(element.attrib) <= {
            *("class", "d", "x", "y", "width", "height", "rx", "transform"),
            *("version", "viewBox", "role", "aria-label"),
        }
    style = root[1].text or ""
    assert "url(" not in style and "@import" not in style


@pytest.mark.parametrize(("count", "edges"), [(200, 300), (60, 1_500), (600, 1_200)])
def test_large_and_dense_graphs_are_drawn(count: int, edges: int) -> None:
    names = [f"skill-{number}" for number in range(count)]
    ways = [(number * 7919 % count, number * 104_729 % (count - 1)) for number in range(edges)]
    wires = [Edge(names[one], names[other], EdgeKind.TOOL, "on x") for one, other in ways]
    drawn = read_svg(to_svg(skills(*names), wires))
    assert (len(drawn.boxes), len(drawn.arrows)) == (count + 1, edges)


def test_many_arrows_between_the_same_two_boxes_are_all_drawn_apart() -> None:
    drawn = read_svg(to_svg(skills("a", "b"), [Edge("a", "b", EdgeKind.TOOL, f"on t{n}") for n in range(12)]))
    assert len({arrow.start for arrow in drawn.arrows}) == 12
    assert len({arrow.label for arrow in drawn.arrows}) == 12


def test_pictures_in_one_page_share_no_id() -> None:
    assert " id=" not in to_svg(skills("a", "b"), [Edge("a", "b", EdgeKind.MODEL, "x")])
