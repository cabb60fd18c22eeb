"""The entity graph in a database of each kind: the contract, and what is particular to a database."""

import asyncio
import itertools
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sqlalchemy.ext.asyncio import AsyncConnection
from tests.skillweave_stores.sql.conftest import ByHand
from tests.skillweave_stores.sql.test_skills_faults import when

from skillweave import StoreUnavailable
from skillweave.entities import AmbiguousEntity, Direction, Edge, Entity, MemoryGraph, NearbyEntities, Point, UnknownEnd
from skillweave.errors import InvalidValue
from skillweave_stores import SqlGraph, SqlSource
from skillweave_stores.sql import entities, entity_reading
from tests.contracts_of_ports.writable_entities import WritableGraphContract
from tests.depth import examples
from tests.proxy import Proxy
from tests.strategies import ids as some_ids
from tests.strategies import json_mappings, names

HOME = Point(54.1781, 7.8886, "WGS84")
any_number_of_data = settings(
    max_examples=examples(10), suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
LONG = "".join(chr(0x20000 + 7 * number) for number in range(200))
"""Two hundred characters of four bytes each."""


@pytest_asyncio.fixture
async def graph(url: str) -> AsyncIterator[SqlGraph]:
    """A new, empty graph."""
    async with SqlGraph(url) as graph:
        yield graph


_TENANTS = itertools.count(1)


class TestSqlGraph(WritableGraphContract):
    @pytest_asyncio.fixture
    async def empty(self, shared_url: str) -> AsyncIterator[SqlGraph]:
        async with SqlGraph(shared_url, tenant=f"tenant-{next(_TENANTS)}") as graph:
            yield graph


async def test_tenants_have_graphs_of_their_own(graph: SqlGraph) -> None:
    acme = graph.for_tenant("acme")
    await graph.put([Entity("a", "Ours", {}, ("one",), HOME), Entity("b", "Ours")], [Edge("a", "TO", "b")])
    await acme.put([Entity("a", "Theirs")])
    found = await graph.entity("a"), await acme.entity("a")
    assert [one.label for one in found if one] == ["Ours", "Theirs"]
    assert (await acme.entity("one"), await acme.neighbours("a")) == (None, ())
    assert (await acme.near(HOME, 10)).found == ()
    with pytest.raises(UnknownEnd):
        await acme.put(edges=[Edge("a", "TO", "b")])
    assert await acme.remove(["a", "b"]) == 1
    assert len([piece async for piece in graph.export()]) == 3


async def test_the_default_tenant_may_be_named(url: str) -> None:
    async with SqlGraph(url) as graph, SqlGraph(url, tenant="default") as named:
        await graph.put([Entity("a", "A")])
        assert await named.entity("a") == Entity("a", "A")


async def test_a_file_that_is_not_there_holds_nothing_and_only_writing_makes_it(tmp_path: Path) -> None:
    path = tmp_path / "new" / "entities.db"
    async with SqlGraph(f"sqlite:///{path}") as graph:
        assert (await graph.entity("a"), await graph.neighbours("a")) == (None, ())
        assert await graph.near(HOME, 10) == NearbyEntities()
        assert [piece async for piece in graph.export()] == []
        assert not path.parent.exists()
        await graph.put([Entity("a", "A")])
        assert path.exists()


async def test_skills_and_entities_live_in_one_database(url: str) -> None:
    async with SqlSource(url) as source, SqlGraph(url) as graph:
        await asyncio.gather(source.publish({"id": "tea", "description": "x"}), graph.put([Entity("a", "A")]))
        assert len((await source.load()).skills) == 1
        assert await graph.entity("a") == Entity("a", "A")


async def test_an_entity_and_its_neighbours_are_one_round_trip_each_and_so_is_what_is_near(postgres_url: str) -> None:
    async with Proxy(postgres_url) as proxy, SqlGraph(proxy.url) as graph:
        await graph.put([Entity("a", "A", {}, ("one",), HOME), Entity("b", "B")], [Edge("a", "TO", "b")])
        trips = []
        for call in (graph.entity("a"), graph.entity("ONE"), graph.neighbours("a", direction=Direction.BOTH)):
            before = proxy.trips
            assert await call
            trips.append(proxy.trips - before)
        before = proxy.trips
        assert len((await graph.near(HOME, 10)).found) == 1
        assert [*trips, proxy.trips - before] == [1, 1, 1, 1]


async def test_of_a_name_that_very_many_have_some_ids_are_told(graph: SqlGraph) -> None:
    await graph.put(Entity(f"n{number:03}", "Stop", aliases=("Main Street",)) for number in range(300))
    with pytest.raises(AmbiguousEntity) as refused:
        await graph.entity("main street")
    assert len(refused.value.ids) == entity_reading.MOST_NAMESAKES


async def test_a_circle_with_more_about_it_than_is_reckoned_is_refused(
    graph: SqlGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    await graph.put(Entity(f"n{number}", "Stop", location=HOME) for number in range(11))
    await graph.put([Entity("m", "Mast", location=HOME)])
    monkeypatch.setattr(entities, "_FEW", 5)
    monkeypatch.setattr(entities, "MOST_COMPARED", 10)
    with pytest.raises(InvalidValue, match=r"near\(radius_ft=5\) has more than 10 .*a smaller radius, or a label"):
        await graph.near(HOME, 5)
    assert [one.entity.id for one in (await graph.near(HOME, 5, "Mast")).found] == ["m"]


async def test_distances_of_many_are_reckoned_as_those_of_few(graph: SqlGraph) -> None:
    await graph.put(Entity(f"n{number:04}", "Stop", location=HOME) for number in range(2 * entities._FEW))
    found = await graph.near(HOME, 5, limit=2)
    assert ([one.entity.id for one in found.found], found.more) == (["n0000", "n0001"], 2 * entities._FEW - 2)


async def test_what_does_not_go_into_an_index_is_refused_and_named(graph: SqlGraph) -> None:
    theirs = graph.for_tenant(LONG)
    with pytest.raises(InvalidValue, match=r"the alias .* of entity .* has texts of 3200 bytes in one key.*shorten"):
        await theirs.put([Entity(LONG, "A", {}, (LONG * 2,))])
    await theirs.put([Entity(LONG, LONG)])
    with pytest.raises(InvalidValue, match=r"edge .* has texts of 3200 bytes in one key"):
        await theirs.put(edges=[Edge(LONG, LONG, LONG)])
    assert [piece async for piece in theirs.export()] == [Entity(LONG, LONG)]


async def test_a_number_that_no_database_reads_back_is_refused(graph: SqlGraph) -> None:
    with pytest.raises(InvalidValue, match=r"entity 'a' cannot be stored: `properties.n` is a number of more than"):
        await graph.put([Entity("a", "A", {"n": 10**5000})])


async def test_what_is_no_iterable_is_refused(graph: SqlGraph) -> None:
    with pytest.raises(InvalidValue, match=r"put\(edges=\.\.\.\) is 7 .*; give an iterable of Edge"):
        await graph.put([Entity("a", "A")], 7)  # type: ignore[arg-type]
    assert await graph.entity("a") is None


async def test_a_graph_of_many_pages_is_read_whole(graph: SqlGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (entities, entity_reading):
        monkeypatch.setattr(module, "PAGE", 3)
    known = [Entity(f"n{number}", "Stop") for number in range(9)]
    edges = [Edge("n0", relation, one.id) for relation in ("A", "B") for one in known]
    await graph.put(known, edges)
    assert [piece async for piece in graph.export()] == [*known, *edges]


@pytest.mark.parametrize("question", ["near", "leaving", "coming", "named"])
async def test_a_question_asks_an_index(graph: SqlGraph, by_hand: ByHand, question: str, url: str) -> None:
    place = ((number, Point(50 + number / 400, 5 + number % 40 / 10, "WGS84")) for number in range(4000))
    await graph.put([Entity(f"n{number}", "Stop", {}, (f"alias {number}",), at) for number, at in place])
    await graph.put(edges=[Edge(f"n{number}", "TO", f"n{number // 2}") for number in range(4000)])
    if "postgres" in url:
        by_hand("ANALYZE")  # which the server does by itself, a minute later
    plans = await _plans(graph, question, "EXPLAIN" if "postgres" in url else "EXPLAIN QUERY PLAN")
    wanted = {
        "near": ("entities_by_place",),
        "leaving": ("entity_edges_key", "sqlite_autoindex_entity_edges_1"),
        "coming": ("entity_edges_coming",),
        "named": ("entity_aliases_key", "sqlite_autoindex_entity_aliases_1"),
    }[question]
    assert any(index in plans for index in wanted), plans
    assert "Seq Scan" not in plans
    assert "SCAN entit" not in plans
    assert "(tenant=?)" not in plans


async def _plans(graph: SqlGraph, question: str, explain: str) -> str:
    """How the database answers the first statement of a question."""
    asked: list[tuple[str, Any]] = []

    def note(_: object, __: object, statement: str, parameters: object, *___: object) -> None:
        asked.append((statement, parameters))

    with when("before_cursor_execute", note):
        if question == "near":
            await graph.near(Point(54, 7, "WGS84"), 5280)
        elif question == "named":
            await graph.entity("alias 7")
        else:
            await graph.neighbours("n7", direction=Direction.OUT if question == "leaving" else Direction.IN)
    statement, parameters = asked[0]

    async def explained(connection: AsyncConnection) -> list[object]:
        return list(await connection.exec_driver_sql(f"{explain} {statement}", parameters))

    return "\n".join(map(str, await graph._database.read(explained)))


class Graphs:
    """One database, in which each example has a tenant of its own."""

    def __init__(self, url: str, runner: asyncio.Runner) -> None:
        self._graph = SqlGraph(url)
        self._runner = runner
        self._numbers = itertools.count()

    def near(self, known: Sequence[Entity], asked: tuple[Point, float, int]) -> tuple[NearbyEntities, NearbyEntities]:
        """What a graph in the database and one in memory answer."""
        return self._runner.run(self._near(known, asked))

    def stored(self, entity: Entity) -> Entity | None:
        """An entity as it comes back."""
        return self._runner.run(self._stored(entity))

    def close(self) -> None:
        """Give back the connections."""
        self._runner.run(self._graph.close())

    async def _near(
        self, known: Sequence[Entity], asked: tuple[Point, float, int]
    ) -> tuple[NearbyEntities, NearbyEntities]:
        graph, (point, radius, limit) = self._graph.for_tenant(f"t{next(self._numbers)}"), asked
        await graph.put(known)
        return await graph.near(point, radius, limit=limit), await MemoryGraph(known).near(point, radius, limit=limit)

    async def _stored(self, entity: Entity) -> Entity | None:
        graph = self._graph.for_tenant(f"t{next(self._numbers)}")
        await graph.put([entity])
        return await graph.entity(entity.id)


@pytest.fixture
def graphs(url: str) -> Iterator[Graphs]:
    with asyncio.Runner() as runner:
        made = Graphs(url, runner)
        yield made
        made.close()


_edges_of_the_map = st.sampled_from((-180.0, 180.0, 179.999, -179.999, 0.0, 12.01, 12.0099999))
points = st.builds(
    Point,
    latitude=st.sampled_from((-90.0, 90.0, 89.9999, 0.0, -0.005, 54.17, 54.18)) | st.floats(54.1, 54.2),
    longitude=_edges_of_the_map | st.floats(12.0, 12.1),
    datum=st.sampled_from(("WGS84", "NAD27")),
)
radii = st.sampled_from((0.0, 1_000_000.0)) | st.floats(0, 60_000)


@pytest.mark.parametrize("few", [entities._FEW, 2])
@given(places=st.lists(points, min_size=1, max_size=20), point=points, radius=radii, limit=st.integers(1, 5))
@any_number_of_data
def test_what_is_near_is_what_a_graph_in_memory_finds(
    graphs: Graphs,
    monkeypatch: pytest.MonkeyPatch,
    few: int,
    places: list[Point],
    point: Point,
    radius: float,
    limit: int,
) -> None:
    monkeypatch.setattr(entities, "_FEW", few)
    known = [Entity(f"n{number}", "Buoy", location=one) for number, one in enumerate(places)]
    found, expected = graphs.near(known, (point, radius, limit))
    assert found == expected


@given(entity_id=some_ids | names, label=names, properties=json_mappings, aliases=st.lists(names, max_size=3))
@any_number_of_data
def test_an_entity_comes_back_equal(
    graphs: Graphs, entity_id: str, label: str, properties: dict[str, object], aliases: list[str]
) -> None:
    try:
        entity = Entity(entity_id, label, properties, tuple(aliases))
    except InvalidValue:
        assume(False)
    assert graphs.stored(entity) == entity


async def test_a_closed_graph_says_so(graph: SqlGraph) -> None:
    await graph.put([Entity("a", "A")])
    await graph.close()
    await graph.close()
    with pytest.raises(StoreUnavailable, match="is closed; open it again"):
        await graph.entity("a")


def test_it_is_shown_without_user_and_password() -> None:
    shown = repr(SqlGraph("postgresql://ann:hush@host/graph", tenant="acme"))
    assert shown == "SqlGraph('PostgreSQL at host:5432/graph', tenant='acme')"


@given(made=st.sets(st.tuples(st.sampled_from("abc"), st.sampled_from("RS"), st.sampled_from("abc"))), data=st.data())
@any_number_of_data
async def test_many_questions_in_one_trip_are_answered_as_one_by_one(
    shared_url: str, made: set[tuple[str, str, str]], data: st.DataObject
) -> None:
    one = st.tuples(st.sampled_from("abcx"), st.sampled_from("RST"), st.sampled_from(Direction))
    asked, limit = data.draw(st.lists(one, max_size=8)), data.draw(st.integers(1, 3))
    async with SqlGraph(shared_url, tenant=f"tenant-{next(_TENANTS)}") as graph:
        await graph.put([Entity(one, "Thing") for one in "abc"], [Edge(*ends) for ends in made])
        assert list(await graph.several(asked, limit)) == [await graph.neighbours(*one, limit) for one in asked]


async def test_a_graph_says_which_names_it_knows(graph: SqlGraph) -> None:
    assert await graph.known(["one"]) in ((), set())
    await graph.put([Entity("a", "Ship", {}, ("One Two",)), Entity("b", "Ship", {}, ("one-two", "Three"))])
    assert set(await graph.known(["onetwo", "three", "four"])) == {"onetwo", "three"}
    assert await graph.for_tenant("acme").known(["three"]) in ((), set())
