"""The row of each box."""

from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph.drawing.layout import ranks_of


def ranks(boxes: int, *ties: tuple[int, int], top: int = 1) -> list[int]:
    return ranks_of(boxes, ties, top)


def test_a_box_stands_below_all_that_leads_to_it() -> None:
    assert ranks(4, (0, 1), (0, 2), (1, 2), (2, 3)) == [0, 1, 2, 3]


def test_the_tie_that_closes_a_cycle_leads_upwards() -> None:
    assert ranks(4, (0, 1), (1, 2), (2, 3), (3, 1)) == [0, 1, 2, 3]


def test_a_box_that_nothing_leads_to_stands_close_to_what_it_leads_to() -> None:
    assert ranks(5, (0, 2), (2, 3), (3, 4), (1, 4), top=2) == [0, 2, 1, 2, 3]


def test_only_the_first_boxes_stand_at_the_top() -> None:
    assert ranks(4, (0, 1), (2, 3), top=1) == [0, 1, 1, 2]


def test_what_no_tie_joins_stands_under_everything() -> None:
    assert ranks(4, (0, 1), (1, 3)) == [0, 1, 3, 2]


def test_a_row_that_would_get_too_wide_becomes_several_whose_boxes_take_turns() -> None:
    found = ranks(21, *((0, box) for box in range(1, 21)))
    assert found[1:7] == [1, 2, 3, 1, 2, 3]
    assert max(found.count(rank) for rank in set(found)) <= 7


@given(
    st.integers(min_value=1, max_value=30).flatmap(
        lambda boxes: st.tuples(
            st.just(boxes),
            st.lists(st.tuples(*[st.integers(0, boxes - 1)] * 2).filter(lambda tie: tie[0] != tie[1]), max_size=60),
        )
    )
)
def test_the_ends_of_a_tie_never_share_a_row_and_a_graph_without_cycles_leads_down(
    drawing: tuple[int, list[tuple[int, int]]],
) -> None:
    boxes, ties = drawing
    found = ranks(boxes, *ties)
    assert all(found[source] != found[target] for source, target in ties)
    assert set(found) | {0} == set(range(max(found) + 1))
    downwards = [(min(tie), max(tie)) for tie in ties]
    assert all(row < other for row, other in _rows(ranks(boxes, *downwards), downwards))


def _rows(found: list[int], ties: list[tuple[int, int]]) -> list[tuple[int, int]]:
    return [(found[source], found[target]) for source, target in ties]


def test_thousands_of_boxes_in_one_long_chain_have_ranks() -> None:
    count = 5_000
    assert ranks(count, *((box, box + 1) for box in range(count - 1))) == list(range(count))
