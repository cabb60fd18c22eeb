"""Rows of the entity graph that people wrote or changed with SQL: they are found, or told with their place."""

from collections.abc import AsyncIterator

import psycopg
import pytest
import pytest_asyncio
from sqlalchemy.exc import IntegrityError
from tests.skillweave_stores.sql.conftest import ByHand

from skillweave import StoreUnavailable
from skillweave.entities import Edge, Entity, Neighbour, Point
from skillweave_stores import SqlGraph

HOME = Point(54.1781, 7.8886, "WGS84")
PLACED = (
    "INSERT INTO entities (id, label, datum, latitude, longitude, band) VALUES ('a', 'Buoy', :d, :lat, :lon, :band)"
)


@pytest_asyncio.fixture(autouse=True)
async def graph(url: str) -> AsyncIterator[SqlGraph]:
    """A new, empty graph, whose tables are there."""
    async with SqlGraph(url) as graph:
        await graph.migrate()
        yield graph


async def test_a_row_with_id_and_label_alone_is_an_entity(graph: SqlGraph, by_hand: ByHand) -> None:
    by_hand("INSERT INTO entities (id, label) VALUES ('a', 'Buoy'), ('b', 'Buoy')")
    by_hand("INSERT INTO entity_edges (source, relation, target) VALUES ('a', 'TO', 'b')")
    assert await graph.entity("a") == Entity("a", "Buoy")
    assert await graph.neighbours("a") == (Neighbour(Edge("a", "TO", "b"), Entity("b", "Buoy")),)


async def test_a_row_with_a_place_is_near_it(graph: SqlGraph, by_hand: ByHand) -> None:
    by_hand(PLACED, d="WGS84", lat=54.1781, lon=7.8886, band=5417)
    assert [one.entity.id for one in (await graph.near(HOME, 1)).found] == ["a"]


@pytest.mark.parametrize(
    ("datum", "latitude", "longitude", "band"),
    [
        ("WGS84", 54.1781, 7.8886, 54),
        ("WGS84", 54.1781, 7.8886, None),
        ("WGS84", -0.001, 7.8886, 0),
        (None, 54.1781, 7.8886, 5417),
        ("WGS84", None, 7.8886, None),
        ("WGS84", 54.1781, 187.8886, 5417),
        ("WGS84", 95.5, 7.8886, 9550),
    ],
)
async def test_a_place_that_would_not_be_found_is_refused_by_the_database(
    graph: SqlGraph, by_hand: ByHand, datum: str | None, latitude: float | None, longitude: float, band: int | None
) -> None:
    with pytest.raises(IntegrityError, match="entities_located"):
        by_hand(PLACED, d=datum, lat=latitude, lon=longitude, band=band)
    assert await graph.entity("a") is None


async def test_an_alias_that_is_added_finds_the_entity(graph: SqlGraph, by_hand: ByHand) -> None:
    await graph.put([Entity("a", "Buoy")])
    by_hand("INSERT INTO entity_aliases (alias_key, entity_id) VALUES ('buoy7', 'a')")
    assert await graph.entity("Buoy 7") == Entity("a", "Buoy")


async def test_an_edge_to_nowhere_is_refused_by_postgresql(postgres_url: str) -> None:
    async with SqlGraph(postgres_url) as graph:
        await graph.put([Entity("a", "Buoy")])
    with (
        psycopg.connect(postgres_url) as connection,
        pytest.raises(psycopg.errors.ForeignKeyViolation, match="entity_edges_to"),
    ):
        connection.execute("INSERT INTO entity_edges (source, relation, target) VALUES ('a', 'TO', 'ghost')")


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
async def test_an_edge_that_was_left_without_its_end_is_no_neighbour(graph: SqlGraph, by_hand: ByHand) -> None:
    await graph.put([Entity("a", "Buoy"), Entity("b", "Buoy")], [Edge("a", "TO", "b")])
    by_hand("DELETE FROM entities WHERE id = 'b'")  # without what watches over it, which a file has turned off
    assert await graph.neighbours("a") == ()


DAMAGE = {
    "properties": ("properties = '[]'", r"\[\] is no JSON object"),
    "aliases": ("aliases = '{}'", r"\{\} is no JSON list"),
    "an alias": ("aliases = '[7]'", r"aliases\[0\]"),
    "label": ("label = ' '", "label"),
}
DAMAGE_OF_A_FILE = {
    "no json": ("properties = '{'", "Expecting property name"),
    "bytes": ("properties = x'ff00'", "row 'a'"),
    "deep": (f"properties = '{'[' * 100_000}'", "row 'a'"),
}


@pytest.mark.parametrize("damage", DAMAGE)
async def test_a_damaged_entity_is_told_with_its_place(graph: SqlGraph, by_hand: ByHand, damage: str) -> None:
    await _damaged(graph, by_hand, *DAMAGE[damage])


@pytest.mark.parametrize("database_kind", ["sqlite"], indirect=True)
@pytest.mark.parametrize("damage", DAMAGE_OF_A_FILE)
async def test_a_file_takes_any_damage_which_is_told(graph: SqlGraph, by_hand: ByHand, damage: str) -> None:
    await _damaged(graph, by_hand, *DAMAGE_OF_A_FILE[damage])


async def _damaged(graph: SqlGraph, by_hand: ByHand, change: str, message: str) -> None:
    sound = Entity("a", "Buoy", {}, (), HOME)
    await graph.put([sound, Entity("b", "Buoy", location=HOME)], [Edge("a", "TO", "b"), Edge("b", "TO", "a")])
    by_hand(f"UPDATE entities SET {change} WHERE id = 'a'")
    for question in (graph.entity("a"), graph.neighbours("b"), _all(graph)):
        with pytest.raises(StoreUnavailable, match=message) as refused:
            await question
        assert "the row 'a' in the table entities of" in str(refused.value)
        assert "put it again" in str(refused.value)
    assert (await graph.entity("b")) is not None
    await graph.put([sound])
    assert await graph.entity("a") == sound


async def test_a_damaged_edge_is_told_with_its_place(graph: SqlGraph, by_hand: ByHand) -> None:
    await graph.put([Entity("a", "Buoy")], [Edge("a", "TO", "a")])
    by_hand("UPDATE entity_edges SET properties = '7'")
    with pytest.raises(StoreUnavailable, match=r"'a' 'TO' 'a' in the table entity_edges of .*7 is no JSON object"):
        await graph.neighbours("a")


async def _all(graph: SqlGraph) -> list[object]:
    return [piece async for piece in graph.export()]
