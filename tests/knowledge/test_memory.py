"""The entity graph in memory: the contract, laws against the simplest thing that could work, and threads."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skillweave.entities import Edge, Entity, MemoryGraph, Point, UnknownEnd
from skillweave.errors import InvalidValue
from skillweave.knowledge.entity import FOOT, Piece
from skillweave.knowledge.geodesy import ellipsoid_of
from tests.contracts_of_ports.writable_entities import WritableGraphContract

latitudes = st.sampled_from([-90.0, -89.99, 0.0, 0.001, 0.002, 89.999, 90.0]) | st.floats(-90, 90)
longitudes = st.sampled_from([-180.0, -179.999, 0.0, 0.001, 0.002, 179.999, 180.0]) | st.floats(-180, 180)
points = st.builds(Point, latitudes, longitudes, st.sampled_from(["WGS84", "NAD27"]))
ids = st.sampled_from("abcd")
edges = st.builds(Edge, ids, st.sampled_from(["R", "S"]), ids)
changes = st.one_of(
    st.tuples(st.just("put"), st.lists(st.builds(Entity, ids, ids), max_size=3), st.lists(edges, max_size=3)),
    st.tuples(st.just("remove"), st.lists(ids, max_size=2), st.just([])),
)


class TestMemoryGraph(WritableGraphContract):
    @pytest.fixture
    def empty(self) -> MemoryGraph:
        return MemoryGraph()


async def everything(graph: MemoryGraph) -> list[Piece]:
    return [piece async for piece in graph.export()]


@given(st.lists(points, max_size=12), points, st.sampled_from([0.0, 400.0, 5_000.0, 1_000_000.0]))
def test_what_is_near_is_what_measuring_each_distance_finds(
    places: list[Point], point: Point, radius_ft: float
) -> None:
    graph = MemoryGraph(Entity(f"{number:02}", "Place", location=place) for number, place in enumerate(places))
    near = asyncio.run(graph.near(point, radius_ft))
    measured = []
    for number, place in enumerate(places):
        _, _, metres = ellipsoid_of(point.datum).inv(point.longitude, point.latitude, place.longitude, place.latitude)
        feet = round(metres / FOOT, 6)
        if place.datum == point.datum and feet <= radius_ft:
            measured.append((feet, f"{number:02}"))
    assert [(one.distance_ft, one.entity.id) for one in near.found] == sorted(measured)
    assert sum(near.other_datums.values()) <= sum(place.datum != point.datum for place in places)


@given(st.lists(changes, max_size=12))
def test_after_any_changes_it_holds_what_two_dictionaries_would(
    steps: list[tuple[str, list[Entity] | list[str], list[Edge]]],
) -> None:
    graph, entities, ties = MemoryGraph(), dict[str, Entity](), dict[tuple[str, str, str], Edge]()

    async def play() -> None:
        for verb, things, edges in steps:
            if verb == "remove":
                assert await graph.remove(map(str, things)) == len(entities.keys() & {*things})
                for one in things:
                    entities.pop(str(one), None)
                for ends in [ends for ends in ties if {ends[0], ends[2]} - entities.keys()]:
                    del ties[ends]
                continue
            new = {one.id: one for one in things if isinstance(one, Entity)}
            missing = {end for edge in edges for end in (edge.source, edge.target)} - entities.keys() - new.keys()
            if missing:
                with pytest.raises(UnknownEnd):
                    await graph.put(new.values(), edges)
            else:
                await graph.put(new.values(), edges)
                entities.update(new)
                ties.update({(edge.source, edge.relation, edge.target): edge for edge in edges})
        assert await everything(graph) == [
            *(entities[one] for one in sorted(entities)),
            *(ties[ends] for ends in sorted(ties)),
        ]
        for one in "abcd":
            found = [(each.edge.relation, each.entity.id) for each in await graph.neighbours(one)]
            assert found == sorted((relation, target) for source, relation, target in ties if source == one)

    asyncio.run(play())


async def test_it_begins_with_what_it_is_given() -> None:
    graph = MemoryGraph([Entity("a", "Ship")], [Edge("a", "TOWS", "a")])
    assert await everything(graph) == [Entity("a", "Ship"), Edge("a", "TOWS", "a")]


def test_what_it_is_given_is_checked() -> None:
    with pytest.raises(UnknownEnd):
        MemoryGraph([], [Edge("a", "TOWS", "a")])
    with pytest.raises(InvalidValue, match="entities"):
        MemoryGraph(["a"])  # type: ignore[list-item]


def test_threads_may_write_and_read_it_at_once() -> None:
    graph = MemoryGraph([Entity("hub", "Hub")])

    def work(number: int) -> None:
        async def both() -> None:
            await graph.put([Entity(f"n{number}", "Stop", location=Point(1, 1, "WGS84"))])
            await graph.put(edges=[Edge("hub", "TO", f"n{number}")])
            await graph.near(Point(1, 1, "WGS84"), 10)
            await graph.neighbours("hub")

        asyncio.run(both())

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(200)))
    near = asyncio.run(graph.near(Point(1, 1, "WGS84"), 0, limit=1000))
    assert (len(near.found), len(asyncio.run(graph.neighbours("hub", limit=1000)))) == (200, 200)
