"""Degrees become feet in one named datum; two datums are never mixed."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from pyproj import Geod, Transformer
from tests.skillweave_texas_rrc.ground import square, vertical
from tests.skillweave_texas_rrc.sample import ask

from skillweave.packs import ToolRefused
from skillweave_texas_rrc.plane import Datum, Degrees, Plane, Zone

CORNER = {"lat": 31.86, "lon": -101.95}
"""A corner of the sample's lease, in Midland County."""


async def project(datum: str | None, **more: Any) -> Any:
    named = {} if datum is None else {"datum": datum}
    return await ask("project_point", {"point": CORNER, **named, **more})


async def test_a_point_of_nad83_is_projected_onto_epsg_2277() -> None:
    found = await project("NAD83")
    (point,) = found["points"]
    x, y = Transformer.from_crs(4269, 2277, always_xy=True).transform(-101.95, 31.86)
    assert (point["x_ft"], point["y_ft"]) == (round(x, 2), round(y, 2))
    assert found["projection"] == {"zone": "central", "datum": "NAD83", "epsg": 2277}


async def test_a_point_of_nad27_is_projected_onto_epsg_32039() -> None:
    found = await project("NAD27")
    (point,) = found["points"]
    x, y = Transformer.from_crs(4267, 32039, always_xy=True).transform(-101.95, 31.86)
    assert (point["x_ft"], point["y_ft"]) == (round(x, 2), round(y, 2))
    assert found["projection"]["epsg"] == 32039


def test_degrees_of_nad27_that_are_read_as_nad83_lie_about_145_ft_from_their_place() -> None:
    lon, lat = Transformer.from_crs(4267, 4269, always_xy=True).transform(CORNER["lon"], CORNER["lat"])
    _, _, metres = Geod(ellps="GRS80").inv(CORNER["lon"], CORNER["lat"], lon, lat)
    assert metres / 0.3048 == pytest.approx(145, abs=5)


async def test_a_point_without_a_named_datum_is_refused_with_what_mixing_would_do() -> None:
    with pytest.raises(ToolRefused) as raised:
        await project(None)
    assert raised.value.place == "arguments#/point"
    assert "the datum of its points is not named" in raised.value.why
    assert "about 145 ft" in raised.value.why
    assert "`NAD83` or `NAD27`" in raised.value.fix


async def test_wells_of_two_datums_are_refused_with_both_places_and_the_way_out() -> None:
    wells = [vertical(0, 0), vertical(500, 500, datum="NAD27")]
    with pytest.raises(ToolRefused) as raised:
        await ask("offset_distances", {"well": vertical(900, 0), "offset_wells": wells, "datum": "NAD83"})
    assert "NAD83 (arguments#/well) and NAD27 (arguments#/offset_wells/1) are mixed" in raised.value.why
    assert "145 ft" in raised.value.why
    assert "with a grid (NADCON) first, or give all points in NAD27" in raised.value.fix


async def test_a_lease_of_another_datum_than_its_well_is_refused() -> None:
    lease = {"boundary": square(0, 0, 5280), "datum": "NAD27"}
    with pytest.raises(ToolRefused, match="are mixed"):
        await ask("well_spacing", {"well": vertical(900, 900, datum="NAD83"), "lease": lease, "offset_wells": []})


async def test_all_in_nad27_is_answered() -> None:
    arguments = {"well": vertical(0, 0), "offset_wells": [vertical(500, 0)], "datum": "nad 27"}
    found = await ask("offset_distances", arguments)
    assert found["projection"]["epsg"] == 32039
    assert found["offset_wells"][0]["distance_ft"] == pytest.approx(500, abs=0.1)


@pytest.mark.parametrize("datum", ["WGS84", "NAD83(2011)", "Clarke 1866", "yes"])
async def test_a_datum_that_is_not_projected_is_refused(datum: str) -> None:
    with pytest.raises(ToolRefused, match="is not a datum that is projected here; convert the points to NAD83 first"):
        await project(datum)


@pytest.mark.parametrize("datum", ["NAD83", "nad83", "NAD 83", "NAD-1983"])
async def test_a_datum_may_be_spelt_in_several_ways(datum: str) -> None:
    assert (await project(datum))["projection"]["datum"] == "NAD83"


async def test_a_point_outside_the_zone_is_refused_with_the_zone_that_has_it() -> None:
    with pytest.raises(ToolRefused, match=r"33.5, -101.9 does not lie in .*`central`; give `zone: north_central`"):
        await project("NAD83", point={"lat": 33.5, "lon": -101.9})


async def test_a_longitude_without_its_sign_is_told_from_a_point_elsewhere() -> None:
    with pytest.raises(ToolRefused, match=r"negative numbers, such as -101.95"):
        await project("NAD83", point={"lat": 31.86, "lon": 101.95})


async def test_latitude_and_longitude_the_wrong_way_round_are_refused() -> None:
    with pytest.raises(ToolRefused, match="check latitude and longitude"):
        await project("NAD83", point={"lat": -78, "lon": -31.86})


@pytest.mark.parametrize(("zone", "nad83", "nad27"), [("north", 2275, 32037), ("south", 2279, 32041)])
def test_the_zones_have_their_planes_of_the_epsg_registry(zone: str, nad83: int, nad27: int) -> None:
    assert Plane(Zone(zone), Datum.NAD83).epsg == nad83
    assert Plane(Zone(zone), Datum.NAD27).epsg == nad27


def test_several_points_are_projected_like_each_alone() -> None:
    plane = Plane(Zone.CENTRAL, Datum.NAD83)
    points = [Degrees(31.86, -101.95, "a"), Degrees(31.9, -101.9, "b")]
    assert plane.project(points) == (*plane.project(points[:1]), *plane.project(points[1:]))


async def test_one_thing_is_projected_at_a_time() -> None:
    with pytest.raises(ToolRefused, match="give either `point` or `well`"):
        await project("NAD83", well=vertical(0, 0))
    with pytest.raises(ToolRefused, match="give either `point` or `well`"):
        await ask("project_point", {"datum": "NAD83"})


async def test_a_well_without_points_is_refused() -> None:
    with pytest.raises(ToolRefused, match="arguments#/well: the well has no point"):
        await ask("project_point", {"well": {"name": "Bare 1"}, "datum": "NAD83"})


def test_threads_project_at_the_same_time_and_get_the_same_feet() -> None:
    plane = Plane(Zone.CENTRAL, Datum.NAD83)
    points = [Degrees(31.86 + step / 1000, -101.95, "here") for step in range(50)]
    alone = plane.project(points)
    with ThreadPoolExecutor(8) as pool:
        assert set(pool.map(lambda _: plane.project(points), range(64))) == {alone}
