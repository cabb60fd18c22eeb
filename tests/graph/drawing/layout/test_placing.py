"""A whole layout: nothing on top of anything else, arrows from border to border."""

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph.drawing import HEAD, Box, Layout, Point, Room, Tie, layout_of
from skillweave.graph.drawing import rows as rows_module
from tests.depth import tried

widths = st.sampled_from((66.0, 120.0, 190.0))
heights = st.sampled_from((38.0, 66.0))
labels = st.just(Room(0, 0, 0)) | st.builds(Room.around, st.sampled_from((30.0, 158.0)), st.sampled_from((16.0, 44.0)))


def rectangle(width: float, height: float, beside: float = 0.0) -> Box:
    return Box(Room(width / 2, width / 2 + beside, height), height, width / 2 - 10, width / 2 - 10)


def diamond(width: float, height: float) -> Box:
    return Box(Room.around(width, height), height, 0.0, width / 4, height / width)


boxes = st.builds(rectangle, widths, heights, st.sampled_from((0.0, 0.0, 90.0))) | st.builds(diamond, widths, heights)


@st.composite
def problems(draw: st.DrawFn) -> tuple[list[Box], list[Tie]]:
    given_boxes = draw(st.lists(boxes, min_size=1, max_size=12))
    ends = st.integers(0, len(given_boxes) - 1)
    pairs = draw(st.lists(st.tuples(ends, ends).filter(lambda pair: pair[0] != pair[1]), max_size=24))
    return given_boxes, [Tie(source, target, draw(labels)) for source, target in pairs]


@given(problems())
def test_no_box_or_label_meets_another_one(problem: tuple[list[Box], list[Tie]]) -> None:
    rectangles = list(solid(*problem, layout_of(*problem, 1)).values())
    for place, one in enumerate(rectangles):
        for other in rectangles[:place]:
            assert not overlap(one, other)


@given(problems())
def test_an_arrow_begins_and_ends_upright_at_the_borders_of_its_boxes(problem: tuple[list[Box], list[Tie]]) -> None:
    given_boxes, ties = problem
    layout = layout_of(given_boxes, ties, 1)
    for tie, way in zip(ties, layout.ways, strict=True):
        for box, point, next_point in (
            (tie.source, way.points[0], way.points[1]),
            (tie.target, way.points[-1], way.points[-2]),
        ):
            x, y = layout.middles[box]
            aside = abs(point[0] - x)
            assert aside <= given_boxes[box].room.left - 9 or aside <= given_boxes[box].below + 1e-9
            far = given_boxes[box].height / 2 - given_boxes[box].slope * aside
            assert abs(point[1] - y) == pytest.approx(far)
            assert point[0] == next_point[0]
            assert abs(point[1] - next_point[1]) >= HEAD - 1e-9


@given(problems())
def test_no_arrow_meets_a_box_or_a_label_that_is_not_its_own(problem: tuple[list[Box], list[Tie]]) -> None:
    given_boxes, ties = problem
    layout = layout_of(given_boxes, ties, 1)
    rectangles = solid(given_boxes, ties, layout)
    for number, (tie, way) in enumerate(zip(ties, layout.ways, strict=True)):
        own = {("box", tie.source), ("box", tie.target), ("label", number)}
        foreign = [rectangle for name, rectangle in rectangles.items() if name not in own]
        for x, y in along(way.points):
            assert not any(left < x < right and top < y < bottom for left, top, right, bottom in foreign)


@given(problems())
def test_arrows_on_one_side_of_a_box_do_not_cross_beside_it(problem: tuple[list[Box], list[Tie]]) -> None:
    given_boxes, ties = problem
    layout = layout_of(given_boxes, ties, 1)
    sides: dict[tuple[int, bool], list[tuple[float, float]]] = {}
    for tie, way in zip(ties, layout.ways, strict=True):
        for box, points in ((tie.source, way.points), (tie.target, way.points[::-1])):
            below = points[1][1] > layout.middles[box][1]
            sides.setdefault((box, below), []).append((points[2][0], points[0][0]))
    for arrows in sides.values():
        ports = [port for _, port in sorted(arrows)]
        assert ports == sorted(ports)


@given(problems())
@tried(16)
def test_the_drawing_begins_in_the_upper_left_corner_and_is_as_large_as_it_says(
    problem: tuple[list[Box], list[Tie]],
) -> None:
    layout = layout_of(*problem, 1)
    rectangles = solid(*problem, layout).values()
    points = [point for way in layout.ways for point in way.points]
    assert min(left for left, *_ in rectangles) >= -1e-6
    assert max(right for _, _, right, _ in rectangles) <= layout.width + 1e-6
    assert max(bottom for *_, bottom in rectangles) <= layout.height + 1e-6
    assert all(-1e-6 <= x <= layout.width + 1e-6 and 0 <= y <= layout.height for x, y in points)
    assert layout == layout_of(*problem, 1)


def test_an_arrow_leads_straight_from_box_to_box_where_nothing_stands_in_the_way() -> None:
    layout = layout_of([rectangle(80, 40)] * 3, [Tie(0, 1, Room.around(40, 16)), Tie(1, 2, Room(0, 0, 0))], 1)
    assert all(len({x for x, _ in way.points}) == 1 for way in layout.ways)


def test_a_box_stands_over_the_middle_of_what_it_leads_to() -> None:
    layout = layout_of([rectangle(80, 40)] * 4, [Tie(0, box, Room(0, 0, 0)) for box in (1, 2, 3)], 1)
    assert layout.middles[0][0] == pytest.approx(layout.middles[2][0])


def test_a_long_arrow_is_straight_beside_what_it_passes() -> None:
    chain = [Tie(box, box + 1, Room.around(60, 16)) for box in range(6)]
    layout = layout_of([rectangle(80, 40)] * 7, [*chain, Tie(0, 6, Room.around(60, 16))], 1)
    columns = [x for x, _ in layout.ways[6].points]
    assert len({round(x, 6) for x in columns[2:-2]}) == 1


def test_two_arrows_between_the_same_boxes_have_ways_and_labels_of_their_own() -> None:
    label = Room.around(60, 16)
    layout = layout_of([rectangle(80, 40)] * 2, [Tie(0, 1, label), Tie(0, 1, label), Tie(1, 0, label)], 1)
    places = [way.label for way in layout.ways]
    assert len(set(places)) == 3
    assert layout.ways[2].points[0][1] > layout.ways[2].points[-1][1]


def test_of_very_many_long_arrows_only_the_labels_are_placed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rows_module, "MOST_BENDS", 4)
    given_boxes = [rectangle(80, 40)] * 4
    ties = [Tie(0, 1, Room(0, 0, 0)), Tie(1, 2, Room(0, 0, 0)), Tie(2, 3, Room(0, 0, 0))]
    layout = layout_of(given_boxes, [*ties, Tie(0, 3, Room.around(40, 16))], 1)
    assert layout.ways[3].label is not None
    assert len(layout.ways[3].points) == 6
    rectangles = list(solid(given_boxes, [*ties, Tie(0, 3, Room.around(40, 16))], layout).values())
    assert not any(overlap(one, other) for place, one in enumerate(rectangles) for other in rectangles[:place])


Rectangle = tuple[float, float, float, float]


def solid(given_boxes: list[Box], ties: list[Tie], layout: Layout) -> dict[tuple[str, int], Rectangle]:
    rectangles = {
        ("box", number): around(middle, box.room)
        for number, (box, middle) in enumerate(zip(given_boxes, layout.middles, strict=True))
    }
    for number, (tie, way) in enumerate(zip(ties, layout.ways, strict=True)):
        if way.label is not None:
            rectangles["label", number] = around(way.label, tie.label)
    return rectangles


def around(middle: Point, room: Room) -> Rectangle:
    x, y = middle
    return x - room.left, y - room.height / 2, x + room.right, y + room.height / 2


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
