"""Laws of distances on the plane, and of the tests made with them."""

from math import hypot
from typing import TypeAlias

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pyproj import Geod, Proj

from skillweave_texas_rrc.limits import limits_of
from skillweave_texas_rrc.paths import between, to_lines, to_tract
from skillweave_texas_rrc.plane import XY, Datum, Degrees, Plane, Zone

FOOT = 1200 / 3937
"""A US survey foot in metres."""
FEET = st.integers(-20_000_000, 20_000_000).map(lambda thousandths: thousandths / 1000)
"""Thousandths of a foot; what is nearer together cannot be told apart at the coordinates of the plane."""
POINTS = st.tuples(FEET, FEET)
PATHS = st.lists(POINTS, min_size=1, max_size=4).map(tuple)
Corners: TypeAlias = tuple[XY, ...]


@st.composite
def tracts(draw: st.DrawFn) -> Corners:
    """A tract with four corners, turned like the blocks of surveys: a parallelogram."""
    x, y = draw(POINTS)
    a, b = draw(st.tuples(st.floats(100, 10_000), st.floats(-3000, 3000)))
    c, d = draw(st.tuples(st.floats(-3000, 3000), st.floats(100, 10_000)))
    assume(abs(a * d - b * c) > 10_000)
    return (x, y), (x + a, y + b), (x + a + c, y + b + d), (x + c, y + d)


def near(feet: float) -> object:
    return pytest.approx(feet, abs=1e-5)


def moved(path: Corners, by: XY) -> Corners:
    return tuple((x + by[0], y + by[1]) for x, y in path)


@given(PATHS, PATHS)
def test_a_distance_is_the_same_in_both_directions(one: Corners, other: Corners) -> None:
    assert between(one, other) == near(between(other, one))


@given(POINTS, POINTS)
def test_the_distance_of_two_vertical_wells_is_that_of_their_points(one: XY, other: XY) -> None:
    assert between([one], [other]) == near(hypot(one[0] - other[0], one[1] - other[1]))


@given(PATHS, PATHS)
def test_no_two_points_of_two_paths_are_nearer_than_the_paths(one: Corners, other: Corners) -> None:
    assert all(between([a], [b]) >= between(one, other) - 1e-6 for a in one for b in other)


@given(PATHS, PATHS, tracts(), POINTS)
def test_moving_everything_changes_no_distance(one: Corners, other: Corners, tract: Corners, by: XY) -> None:
    assert between(moved(one, by), moved(other, by)) == near(between(one, other))
    assert to_lines(moved(one, by), moved(tract, by)) == near(to_lines(one, tract))
    assert to_tract(moved(one, by), moved(tract, by)) == near(to_tract(one, tract))


@given(PATHS, tracts(), st.integers(0, 3))
def test_the_first_corner_and_the_way_round_make_no_difference(path: Corners, tract: Corners, first: int) -> None:
    turned = (*tract[first:], *tract[:first])
    for same in (turned, turned[::-1], (*tract, tract[0])):
        assert to_lines(path, same) == near(to_lines(path, tract))
        assert to_tract(path, same) == near(to_tract(path, tract))


@given(PATHS)
def test_the_direction_in_which_a_well_is_drilled_makes_no_difference(path: Corners) -> None:
    tract = ((0.0, 0.0), (5280.0, 0.0), (5280.0, 5280.0), (0.0, 5280.0))
    assert to_lines(path[::-1], tract) == near(to_lines(path, tract))


@given(PATHS, tracts())
def test_a_path_with_a_point_outside_is_negative_and_one_inside_is_not(path: Corners, tract: Corners) -> None:
    is_out = any(to_tract([point], tract) > 0 for point in path)
    assert (to_lines(path, tract) < 0) is is_out


@given(tracts(), st.floats(0, 1), st.floats(0, 1))
def test_a_point_inside_is_as_far_from_the_lines_as_from_the_nearest_of_them(
    tract: Corners, u: float, v: float
) -> None:
    (x, y), (right_x, right_y), _, (up_x, up_y) = tract
    point = (x + u * (right_x - x) + v * (up_x - x), y + u * (right_y - y) + v * (up_y - y))
    sides = [between([point], side) for side in zip(tract, (*tract[1:], tract[0]), strict=True)]
    assert abs(to_lines([point], tract)) == near(min(sides))


@given(st.floats(-100, 5000), st.floats(0, 5000), st.floats(0, 5000))
def test_what_passes_a_limit_passes_every_lower_one(distance: float, one: float, other: float) -> None:
    low, high = sorted((one, other))
    rules = [{"lease_line_ft": feet, "loaded_from": "order"} for feet in (low, high)]
    under_low, under_high = (limits_of(rule).lease_line.passes(distance) for rule in rules)
    assert under_low or not under_high


@given(st.floats(0, 5000), st.floats(0, 5000), st.floats(0, 5000))
def test_what_is_farther_passes_what_is_nearer_passes(limit: float, one: float, other: float) -> None:
    near_ft, far_ft = sorted((one, other))
    line = limits_of({"lease_line_ft": limit, "loaded_from": "order"}).lease_line
    assert line.passes(far_ft) or not line.passes(near_ft)


STEPS = st.tuples(st.floats(-0.02, 0.02), st.floats(-0.02, 0.02))
"""Degrees from one point to another: up to about two miles."""
DATUMS = st.sampled_from([(Datum.NAD83, "GRS80"), (Datum.NAD27, "clrk66")])


def grid_and_geodesic(here: XY, step: XY, datum: Datum, ellipsoid: str) -> tuple[float, float]:
    there = (here[0] + step[0], here[1] + step[1])
    one, other = Plane(Zone.CENTRAL, datum).project([Degrees(*here, "here"), Degrees(*there, "there")])
    _, _, metres = Geod(ellps=ellipsoid).inv(here[1], here[0], there[1], there[0])
    return between([one], [other]), metres / FOOT


@given(DATUMS, st.tuples(st.floats(29.9, 32.2), st.floats(-103, -97)), STEPS)
def test_grid_feet_are_geodesic_feet_times_the_scale_of_the_projection_within_3_parts_in_a_million(
    datum: tuple[Datum, str], here: XY, step: XY
) -> None:
    grid, geodesic = grid_and_geodesic(here, step, *datum)
    middle = (here[1] + step[1] / 2, here[0] + step[0] / 2)
    scale = Proj(Plane(Zone.CENTRAL, datum[0]).epsg).get_factors(*middle).meridional_scale
    assert grid == pytest.approx(geodesic * scale, rel=3e-6, abs=1e-5)


@given(st.tuples(st.floats(31.875, 31.89), st.floats(-102.2, -101.7)), st.floats(-0.02, 0.02))
def test_near_the_standard_parallel_grid_feet_are_geodesic_feet_within_3_parts_in_a_million(
    here: XY, east: float
) -> None:
    grid, geodesic = grid_and_geodesic(here, (0.0, east), Datum.NAD83, "GRS80")
    assert grid == pytest.approx(geodesic, rel=3e-6, abs=1e-5)


@given(DATUMS, st.tuples(st.floats(29.9, 32.2), st.floats(-103, -97)), STEPS)
def test_grid_feet_differ_from_geodesic_ones_by_less_than_the_figure_that_answers_tell(
    datum: tuple[Datum, str], here: XY, step: XY
) -> None:
    grid, geodesic = grid_and_geodesic(here, step, *datum)
    assert grid == pytest.approx(geodesic, rel=130e-6, abs=1e-5)
