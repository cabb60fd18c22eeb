"""A whole layout: nothing on top of anything else, arrows from border to border."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph import ANY, Edge, EdgeKind, Node, NodeKind
from skillweave.graph.drawing.layout import HEAD, Layout, Point, layout_of
from skillweave.graph.drawing.picture import Picture, picture_of
from tests.depth import tried

Rectangle = tuple[float, float, float, float]
labels = st.sampled_from(("", "on x", "on lookup_order: success when the risk is at least high"))


@st.composite
def pictures(draw: st.DrawFn) -> Picture:
    names = [f"skill-{number}" * (1 + number % 3) for number in range(draw(st.integers(1, 11)))]
    nodes = [Node(name, draw(st.sampled_from(NodeKind)), name) for name in names]
    ends = st.sampled_from(names)
    edges = st.builds(Edge, st.none() | st.just(ANY) | ends, ends, st.just(EdgeKind.TOOL), labels)
    return picture_of(nodes, draw(st.lists(edges, max_size=24)), None)


def drawn(*edges: tuple[str | None, str, str]) -> Layout:
    names = dict.fromkeys(end for from_, to, _ in edges for end in (from_, to) if end is not None)
    nodes = [Node(name, NodeKind.SKILL, name) for name in names]
    return layout_of(picture_of(nodes, [Edge(one, two, EdgeKind.TOOL, label) for one, two, label in edges], None))


@given(pictures())
def test_no_box_or_label_meets_another_one(picture: Picture) -> None:
    rectangles = list(solid(layout_of(picture)).values())
    for place, one in enumerate(rectangles):
        assert not any(overlap(one, other) for other in rectangles[:place])


@given(pictures())
def test_an_arrow_begins_and_ends_upright_at_the_borders_of_its_boxes(picture: Picture) -> None:
    layout = layout_of(picture)
    for wire in layout.wires:
        for box, point, next_point in (
            (wire.arrow.source, wire.points[0], wire.points[1]),
            (wire.arrow.target, wire.points[-1], wire.points[-2]),
        ):
            (x, y), figure = layout.middles[box], layout.figures[box]
            assert abs(point[0] - x) <= figure.reach + 1e-6
            assert abs(point[1] - y) == pytest.approx(figure.border(point[0] - x))
            assert point[0] == next_point[0]
            assert abs(point[1] - next_point[1]) >= HEAD - 1e-6


@given(pictures())
def test_no_arrow_meets_a_box_or_a_label_that_is_not_its_own(picture: Picture) -> None:
    layout = layout_of(picture)
    rectangles = solid(layout)
    for number, wire in enumerate(layout.wires):
        own = {("box", wire.arrow.source), ("box", wire.arrow.target), ("label", number)}
        foreign = [rectangle for name, rectangle in rectangles.items() if name not in own]
        for x, y in along(wire.points):
            assert not any(left < x < right and top < y < bottom for left, top, right, bottom in foreign)


@given(pictures())
@tried(16)
def test_the_drawing_begins_in_the_upper_left_corner_and_is_as_large_as_it_says(picture: Picture) -> None:
    layout = layout_of(picture)
    rectangles = solid(layout).values()
    points = [point for wire in layout.wires for point in wire.points]
    assert min(left for left, *_ in rectangles) >= -1e-6
    assert max(right for _, _, right, _ in rectangles) <= layout.width + 1e-6
    assert max(bottom for *_, bottom in rectangles) <= layout.height + 1e-6
    assert all(-1e-6 <= x <= layout.width + 1e-6 and 0 <= y <= layout.height for x, y in points)
    assert layout == layout_of(picture)


def test_an_arrow_leads_straight_from_box_to_box_where_nothing_stands_in_the_way() -> None:
    layout = drawn((None, "a", "x"), ("a", "b", ""))
    assert all(len({round(x, 6) for x, _ in wire.points}) == 1 for wire in layout.wires)


def test_a_box_stands_over_the_middle_of_what_it_leads_to() -> None:
    layout = drawn(("s", "a", ""), ("s", "b", ""), ("s", "c", ""))
    boxes = {figure.end.id: x for figure, (x, _) in zip(layout.figures, layout.middles, strict=True)}
    assert boxes["s"] == pytest.approx(boxes["b"], abs=0.5)


def test_a_long_arrow_is_straight_beside_what_it_passes() -> None:
    chain = [(one, two, "on x") for one, two in zip("abcdef", "bcdefg", strict=True)]
    columns = [x for x, _ in drawn(*chain, ("a", "g", "on y")).wires[6].points]
    assert len({round(x, 6) for x in columns[2:-2]}) == 1


def test_two_arrows_between_the_same_boxes_have_ways_and_labels_of_their_own() -> None:
    layout = drawn(("a", "b", "x"), ("a", "b", "y"), ("b", "a", "z"))
    assert len({wire.label for wire in layout.wires}) == 3
    assert layout.wires[2].points[0][1] > layout.wires[2].points[-1][1]


def test_an_arrow_past_very_many_boxes_still_has_its_label() -> None:
    names = [f"s{number}" for number in range(40)]
    layout = drawn(*((one, two, "") for one, two in pairwise(names)), ("s0", "s39", "on x"))
    assert layout.wires[-1].label is not None
    assert len(layout.wires[-1].points) == 6


def solid(layout: Layout) -> dict[tuple[str, int], Rectangle]:
    rectangles = {
        ("box", number): (x - box.width / 2, y - box.height / 2, x + box.width / 2 + box.beside, y + box.height / 2)
        for number, (box, (x, y)) in enumerate(zip(layout.figures, layout.middles, strict=True))
    }
    for number, wire in enumerate(layout.wires):
        if wire.label is not None:
            (x, y), width, height = wire.label, wire.caption.width, wire.caption.height
            rectangles["label", number] = x - width / 2, y - height / 2, x + width / 2, y + height / 2
    return rectangles


def overlap(one: Rectangle, other: Rectangle) -> bool:
    apart = one[2] <= other[0] + 1e-6 or other[2] <= one[0] + 1e-6
    return not (apart or one[3] <= other[1] + 1e-6 or other[3] <= one[1] + 1e-6)


def along(points: tuple[Point, ...]) -> Iterator[Point]:
    """Points along the way as it is drawn: straight pieces, and curves that leave and arrive upright."""
    for number in range(len(points) - 1):
        (x0, y0), (x1, y1) = points[number : number + 2]
        half = (y0 + y1) / 2
        for step in range(11):
            t, u = step / 10, 1 - step / 10
            if number % 2 == 0:
                yield x0 * u + x1 * t, y0 * u + y1 * t
            else:
                x = x0 * (u**3 + 3 * u * u * t) + x1 * (t**3 + 3 * u * t * t)
                yield x, y0 * u**3 + half * (3 * u * u * t + 3 * u * t * t) + y1 * t**3
