"""Boxes that an index is asked for, and distances along the ground."""

import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyproj import CRS, Geod

from skillweave.entities import Point
from skillweave.errors import InvalidValue
from skillweave.knowledge import geodesy
from skillweave.knowledge.entity import FOOT, MOST_RADIUS_FT
from skillweave.knowledge.geodesy import LEAST_RADIUS_FT, Box, box_around, distances_ft, ellipsoid_of

latitudes = st.floats(-90, 90) | st.sampled_from([-90.0, -89.9999, 0.0, 89.99999, 90.0])
longitudes = st.floats(-180, 180) | st.sampled_from([-180.0, -179.9999, 0.0, 179.99999, 180.0])
points = st.builds(Point, latitudes, longitudes, st.sampled_from(["NAD27", "NAD83", "WGS84", "Tokyo", "OSGB36"]))
WITHOUT_PYPROJ = """
import sys, asyncio
sys.modules["pyproj"] = None
import skillweave.entities, skillweave.errors
graph = skillweave.entities.MemoryGraph([skillweave.entities.Entity("a", "Ship")])
assert asyncio.run(graph.entity("a"))
try:
    asyncio.run(graph.near(skillweave.entities.Point(1, 1, "NAD83"), 600))
except skillweave.errors.MissingExtra as error:
    print(error)
"""


def holds(box: Box, latitude: float, longitude: float) -> bool:
    return box.south <= latitude <= box.north and any(west <= longitude <= east for west, east in box.longitudes)


@given(points, st.floats(0, MOST_RADIUS_FT), st.floats(0, 360), st.floats(0, 1))
def test_a_box_holds_every_place_of_its_circle(point: Point, radius_ft: float, bearing: float, part: float) -> None:
    ellipsoid = ellipsoid_of(point.datum)
    east, north, _ = ellipsoid.fwd(point.longitude, point.latitude, bearing, radius_ft * part * FOOT)
    assert holds(box_around(point, radius_ft), north, east)


@given(points, st.floats(0, MOST_RADIUS_FT))
def test_a_box_is_made_of_places_that_there_are(point: Point, radius_ft: float) -> None:
    box = box_around(point, radius_ft)
    assert -90 <= box.south <= box.north <= 90
    assert all(-180 <= west <= east <= 180 for west, east in box.longitudes)
    assert holds(box, point.latitude, point.longitude)


@given(
    st.floats(-80, 80),
    st.floats(-170, 170),
    st.sampled_from(["NAD27", "WGS84"]),
    st.floats(1000, 100_000),
    st.sampled_from([0, 90, 180, 270]),
)
def test_a_box_is_little_larger_than_its_circle(
    latitude: float, longitude: float, datum: str, radius_ft: float, bearing: float
) -> None:
    ellipsoid = ellipsoid_of(datum)
    box = box_around(Point(latitude, longitude, datum), radius_ft)
    east, north, _ = ellipsoid.fwd(longitude, latitude, bearing, radius_ft * 1.05 * FOOT)
    assert not holds(box, north, east)


@pytest.mark.parametrize(
    ("longitude", "ranges"), [(180, 2), (-180, 2), (179.999, 2), (-179.999, 2), (179, 1), (0, 1), (-179, 1)]
)
def test_a_box_across_the_180th_meridian_has_two_ranges(longitude: float, ranges: int) -> None:
    assert len(box_around(Point(10, longitude, "WGS84"), 1000).longitudes) == ranges


@pytest.mark.parametrize("latitude", [90, -90, 89.999, -89.999])
def test_a_box_about_a_pole_has_all_longitudes(latitude: float) -> None:
    box = box_around(Point(latitude, 17, "WGS84"), 1000)
    assert box.longitudes == ((-180, 180),)
    assert abs(latitude) / latitude * 90 in (box.south, box.north)


def test_the_globe_of_the_boxes_lies_inside_every_ellipsoid() -> None:
    for code in geodesy._known_datums().values():
        ellipsoid = CRS.from_authority("EPSG", code).get_geod()
        assert ellipsoid is not None
        # The least radius of curvature is that of a meridian at the equator, b squared over a.
        assert ellipsoid.b**2 / ellipsoid.a > LEAST_RADIUS_FT * FOOT


def test_a_quarter_of_a_meridian_is_as_long_as_the_textbooks_say() -> None:
    (feet,) = distances_ft(Point(0, 0, "WGS84"), [90], [0])
    assert feet * FOOT == pytest.approx(10_001_965.7293, abs=0.0005)


def test_two_stations_of_a_survey_are_as_far_apart_as_vincenty_published() -> None:
    # Flinders Peak and Buninyon on the ellipsoid GRS 80.
    flinders = Point(-(37 + 57 / 60 + 3.7203 / 3600), 144 + 25 / 60 + 29.5244 / 3600, "GDA2020")
    (feet,) = distances_ft(flinders, [-(37 + 39 / 60 + 10.1561 / 3600)], [143 + 55 / 60 + 35.3839 / 3600])
    assert feet * FOOT == pytest.approx(54_972.271, abs=0.001)


@pytest.mark.parametrize(
    ("datum", "radius"), [("NAD27", 6_378_206.4), ("NAD83", 6_378_137.0), ("Tokyo", 6_377_397.155)]
)
def test_a_degree_of_the_equator_is_that_of_the_ellipsoid_of_the_datum(datum: str, radius: float) -> None:
    (feet,) = distances_ft(Point(0, 10, datum), [0], [11])
    assert feet * FOOT == pytest.approx(radius * np.pi / 180, abs=0.001)


def test_distances_go_the_short_way_across_the_180th_meridian_and_the_pole() -> None:
    (across,) = distances_ft(Point(0, 179.5, "WGS84"), [0], [-179.5])
    (over,) = distances_ft(Point(89.5, 0, "WGS84"), [89.5], [180])
    assert across * FOOT == pytest.approx(111_319.491, abs=0.001)
    assert over * FOOT == pytest.approx(111_693.9, abs=0.5)


@given(points)
def test_a_place_is_no_distance_from_itself(point: Point) -> None:
    assert distances_ft(point, [point.latitude], [point.longitude]).tolist() == [0.0]


@given(points, st.lists(st.tuples(latitudes, longitudes), max_size=5))
def test_many_distances_are_those_of_one_after_the_other(point: Point, places: list[tuple[float, float]]) -> None:
    ellipsoid = Geod(ellps={"NAD27": "clrk66", "TOKYO": "bessel", "OSGB36": "airy"}.get(point.datum, "WGS84"))
    one_by_one = [
        ellipsoid.inv(point.longitude, point.latitude, longitude, latitude)[2] / FOOT for latitude, longitude in places
    ]
    found = distances_ft(point, [latitude for latitude, _ in places], [longitude for _, longitude in places])
    # GRS 80 and WGS 84 differ by a tenth of a millimetre in the polar axis.
    assert found.tolist() == pytest.approx(one_by_one, abs=0.001)


@pytest.mark.parametrize("datum", ["NAD83", "nad 83", "NAD-83", "WGS84", "WGS 84", "Pulkovo 1942", "NAD83(2011)"])
def test_a_datum_is_known_in_any_spelling(datum: str) -> None:
    assert ellipsoid_of(datum).a > 6_000_000


@pytest.mark.parametrize("datum", ["Atlantis", "EPSG:4269", "+proj=longlat", "GRS80", "Moon 2015", "{}"])
def test_what_is_no_name_of_a_datum_is_refused_with_names_that_are(datum: str) -> None:
    with pytest.raises(InvalidValue, match=r"is not known.*NAD27, NAD83 or WGS84"):
        ellipsoid_of(datum)


def test_a_misspelt_datum_is_refused_with_the_likely_one() -> None:
    with pytest.raises(InvalidValue, match=r"did you mean .*NAD83"):
        ellipsoid_of("NAD 38")


def test_only_distances_need_the_package_and_without_it_its_extra_is_named() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT_PYPROJ], capture_output=True, text=True, check=False)
    assert done.stdout.strip().endswith(
        "needs the package pyproj, which is not installed: pip install 'skillweave[geo]'"
    )


def test_importing_skillweave_does_not_import_the_package() -> None:
    script = "import sys, skillweave.cli; from skillweave.entities import MemoryGraph; MemoryGraph([])"
    script += "; print('pyproj' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
