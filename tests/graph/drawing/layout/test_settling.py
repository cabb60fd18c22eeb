"""Positions as close to the wanted ones as order and distances allow."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.graph.drawing import settled

lengths = st.integers(min_value=-500, max_value=500).map(float)


def test_what_has_room_stands_where_it_wants_to() -> None:
    assert settled([10, 50, 90], [1, 1, 1], [0, 20, 20]) == [10, 50, 90]


def test_neighbours_that_want_the_same_place_stand_around_it() -> None:
    assert settled([50, 50], [1, 1], [0, 20]) == [40, 60]


def test_the_heavier_one_moves_less() -> None:
    assert settled([50, 50], [3, 1], [0, 20]) == [45, 65]


def test_bounds_are_kept() -> None:
    assert settled([-5, 500], [1, 1], [0, 10], 0, 100) == [0, 100]
    assert settled([200, 200], [1, 1], [0, 10], 0, 100) == [90, 100]


@given(st.lists(st.tuples(lengths, st.sampled_from((0.01, 1.0, 8.0)), st.sampled_from((0.0, 12.0, 40.0))), max_size=12))
def test_distances_are_kept_and_no_small_step_of_any_block_brings_it_closer(
    items: list[tuple[float, float, float]],
) -> None:
    wanted, weights, gaps = ([*column] for column in zip(*items, strict=True)) if items else ([], [], [])
    gaps = [0.0, *gaps[1:]] if gaps else []
    found = settled(wanted, weights, gaps)
    assert all(right - left >= gap - 1e-6 for (left, right), gap in zip(pairwise(found), gaps[1:], strict=True))
    for step in (-0.1, 0.1):
        for first in range(len(found)):
            for last in range(first + 1, len(found) + 1):
                moved = [x + step if first <= place < last else x for place, x in enumerate(found)]
                if all(
                    right - left >= gap - 1e-9 for (left, right), gap in zip(pairwise(moved), gaps[1:], strict=True)
                ):
                    assert cost(moved, wanted, weights) >= cost(found, wanted, weights) - 1e-6


def cost(places: list[float], wanted: list[float], weights: list[float]) -> float:
    return sum(weight * (x - want) ** 2 for x, weight, want in zip(places, weights, wanted, strict=True))


def test_nothing_settles_to_nothing() -> None:
    assert settled([], [], []) == []
    assert settled([7.5], [2.0], [0.0]) == pytest.approx([7.5])
