"""The contract of an entity graph that can be filled, as tests: a backend is what passes them."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from typing import Any, cast

import pytest
import pytest_asyncio

from skillweave.entities import (
    LONGEST_ALIAS,
    LONGEST_NAME,
    MOST_NEAR,
    MOST_NEIGHBOURS,
    MOST_RADIUS_FT,
    Direction,
    Edge,
    Entity,
    Neighbour,
    Piece,
    Point,
    UnknownEnd,
    WritableGraph,
)
from skillweave.errors import InvalidValue
from skillweave.values import FrozenDict, thaw
from skillweave_testing.entities import (
    EDGES,
    ENTITIES,
    HOME,
    HOSTILE_TEXTS,
    NEVER_HELD,
    EntityGraphContract,
    ends_of,
    place_of,
)

PROPERTIES: Mapping[str, Any] = FrozenDict(
    {
        "z": 1,
        "whole": 10**40,
        "negative": -1,
        "number": 1.0,
        "tiny": 5e-324,
        "huge": 1e22,
        "third": 0.1 + 0.2,
        "yes": True,
        "no": False,
        "nothing": None,
        "text": "Größe\n\t\"'\\ \u2028 🚢 {}",
        "looks like a number": "007",
        "empty": "",
        "list": (1, "1", None, (), FrozenDict({"b": 1, "a": None})),
        "object": FrozenDict({"10": 1, "9": 2, "": {}}),
        "$ne": 1,
        "long": "lang " * 40_000,
        "a": 2,
    }
)
"""JSON of every kind, the keys in an order that is not that of the alphabet."""


@pytest.mark.asyncio
class WritableGraphContract(EntityGraphContract):
    """Inherit, and give a fixture `empty`: a new, empty graph that can be filled. The other contract is part of it."""

    @pytest.fixture
    def empty(self) -> WritableGraph:
        """The graph under test, before anything is in it."""
        raise NotImplementedError("a subclass gives the graph")

    @pytest_asyncio.fixture
    async def graph(self, empty: WritableGraph) -> WritableGraph:  # type: ignore[override] # a fixture all the same
        """The graph under test, filled."""
        await empty.put(ENTITIES, EDGES)
        return empty

    async def test_a_new_graph_knows_nothing(self, empty: WritableGraph) -> None:
        assert await _all(empty) == []
        assert (await empty.entity("ship-1"), await empty.neighbours("ship-1")) == (None, ())
        near = await empty.near(HOME, MOST_RADIUS_FT)
        assert (near.found, near.more, near.other_datums) == ((), 0, {})

    async def test_properties_of_every_kind_come_back_as_they_were(self, empty: WritableGraph) -> None:
        await empty.put([Entity("a", "A", PROPERTIES)], [Edge("a", "R", "a", PROPERTIES)])
        found = await empty.entity("a")
        (neighbour,) = await empty.neighbours("a")
        assert found is not None
        for kept in (found.properties, neighbour.edge.properties, neighbour.entity.properties):
            # As text, since 1 equals 1.0 and True, and to dicts order does not matter.
            assert json.dumps(thaw(kept)) == json.dumps(thaw(PROPERTIES))

    async def test_aliases_come_back_in_their_order_and_spelling(self, empty: WritableGraph) -> None:
        known = Entity("a", "A", aliases=("b-1", "a 2", "B1", "b 1"))
        await empty.put([known])
        assert await empty.entity("B.1") == known

    @pytest.mark.parametrize("text", HOSTILE_TEXTS)
    async def test_any_text_is_kept_apart_from_all_others(self, empty: WritableGraph, text: str) -> None:
        await empty.put(
            [Entity(one, one, {one: one}, (one + "x",)) for one in HOSTILE_TEXTS],
            [Edge(one, one, one) for one in HOSTILE_TEXTS],
        )
        known = Entity(text, text, {text: text}, (text + "x",))
        assert await empty.entity(text) == known
        assert await empty.neighbours(text, text) == (Neighbour(Edge(text, text, text), known),)

    async def test_the_longest_names_are_kept(self, empty: WritableGraph) -> None:
        # Letters that differ, of four bytes each: what repeats is packed, and then short.
        longest = "".join(chr(0x20000 + 7 * number) for number in range(LONGEST_ALIAS))
        first, second = longest[:LONGEST_NAME], longest[-LONGEST_NAME:]
        known = [Entity(first, first, {}, (longest,)), Entity(second, second, {}, ())]
        await empty.put(known, [Edge(first, second, second)])
        assert await empty.entity(longest) == known[0]
        assert await empty.neighbours(first, second) == (Neighbour(Edge(first, second, second), known[1]),)

    async def test_an_entity_that_is_put_again_is_replaced_and_keeps_its_edges(self, graph: WritableGraph) -> None:
        known = Entity("ship-1", "Tug", {"new": 1}, ("Tug 1",))
        await graph.put([known])
        assert await graph.entity("ship-1") == await graph.entity("tug-1") == known
        assert await graph.entity("IMO 9074729") is None
        assert (await graph.entity("Aurora")) == ENTITIES[3]
        assert "ship-1" not in [one.entity.id for one in (await graph.near(HOME, 5000)).found]
        assert len(await graph.neighbours("ship-1")) == 5

    async def test_an_entity_that_moves_is_near_where_it_is(self, graph: WritableGraph) -> None:
        await graph.near(HOME, 5000)
        await graph.put([Entity("ship-1", "Ship", location=Point(-17, 179.999, "WGS84"))])
        assert "ship-1" not in [one.entity.id for one in (await graph.near(HOME, 5000)).found]
        assert "ship-1" in [one.entity.id for one in (await graph.near(place_of("isle-1"), 0)).found]

    async def test_an_edge_that_is_put_again_is_replaced(self, graph: WritableGraph) -> None:
        edge = Edge("ship-1", "OWNED_BY", "owner-1", {"share": 0.75})
        await graph.put(edges=[edge])
        assert [one.edge for one in await graph.neighbours("ship-1", "OWNED_BY")] == [edge]

    async def test_of_two_with_one_name_in_one_put_the_last_counts(self, empty: WritableGraph) -> None:
        first, last = Entity("a", "A", aliases=("one",)), Entity("a", "B", aliases=("two",))
        await empty.put([first, last], [Edge("a", "R", "a", {"n": 1}), Edge("a", "R", "a", {"n": 2})])
        assert await _all(empty) == [last, Edge("a", "R", "a", {"n": 2})]
        assert await empty.entity("one") is None

    async def test_an_edge_to_what_is_not_there_is_refused_with_all_that_came_with_it(
        self, graph: WritableGraph
    ) -> None:
        before = await _all(graph)
        with pytest.raises(UnknownEnd) as refused:
            await graph.put(
                [Entity("ship-1", "Changed"), Entity("new", "Ship")],
                [Edge("new", "TOWS", "ship-1"), Edge("new", "TOWS", "ghost"), Edge("spook", "TOWS", "ghost")],
            )
        assert set(refused.value.missing) == {"ghost", "spook"}
        assert await _all(graph) == before

    async def test_what_is_no_entity_and_no_edge_is_refused_with_all_that_came_with_it(
        self, empty: WritableGraph
    ) -> None:
        with pytest.raises(InvalidValue, match="entities"):
            await empty.put([Entity("a", "A"), cast("Entity", {"id": "b"})])
        with pytest.raises(InvalidValue, match="edges"):
            await empty.put([Entity("a", "A")], [cast("Edge", Entity("b", "B"))])
        assert await _all(empty) == []

    async def test_what_fails_while_it_is_read_leaves_nothing(self, empty: WritableGraph) -> None:
        def failing() -> Iterator[Entity]:
            yield Entity("a", "A")
            raise RuntimeError("the file ended")

        with pytest.raises(RuntimeError, match="the file ended"):
            await empty.put(failing())
        assert await _all(empty) == []

    async def test_thousands_are_put_at_once_from_any_iterable(self, empty: WritableGraph) -> None:
        await empty.put(
            (Entity(f"n{number:04}", "Stop", {"n": number}, (f"Stop {number}",), HOME) for number in range(5000)),
            (Edge("n0000", "TO", f"n{number:04}") for number in range(5000)),
        )
        near = await empty.near(HOME, 0, limit=MOST_NEAR)
        assert ([one.entity.id for one in near.found], near.more) == ([f"n{number:04}" for number in range(1000)], 4000)
        assert len(await empty.neighbours("n0000", limit=MOST_NEIGHBOURS)) == 1000
        assert await empty.entity("stop-4999") == Entity("n4999", "Stop", {"n": 4999}, ("Stop 4999",), HOME)
        assert len(await _all(empty)) == 10_000
        assert await empty.remove(f"n{number:04}" for number in range(5000)) == 5000

    async def test_putting_nothing_changes_nothing(self, graph: WritableGraph) -> None:
        before = await _all(graph)
        await graph.put()
        assert await graph.remove([]) == 0
        assert await _all(graph) == before

    async def test_what_is_removed_is_gone_with_its_edges(self, graph: WritableGraph) -> None:
        assert await graph.remove(["ship-1"]) == 1
        assert (await graph.entity("ship-1"), await graph.entity("IMO 9074729")) == (None, None)
        assert await graph.neighbours("ship-1", direction=Direction.BOTH) == ()
        assert ends_of(await graph.neighbours("harbour-1", direction=Direction.IN)) == [("BERTHED_AT", "ship-2")]
        assert "ship-1" not in [one.entity.id for one in (await graph.near(HOME, 5000)).found]
        assert not [one for one in await _all(graph) if isinstance(one, Edge) and "ship-1" in (one.source, one.target)]

    async def test_an_alias_is_of_one_again_when_the_other_is_gone(self, graph: WritableGraph) -> None:
        await graph.remove(["ship-1"])
        assert await graph.entity("aurora") == ENTITIES[3]

    async def test_only_what_was_there_is_counted_as_removed_and_once(self, graph: WritableGraph) -> None:
        assert await graph.remove(["ship-1", "nobody", "ship-1", "ship-2", "Aurora", *NEVER_HELD]) == 2
        assert await graph.remove(["ship-1"]) == 0

    async def test_a_text_in_place_of_a_list_of_ids_is_refused(self, graph: WritableGraph) -> None:
        with pytest.raises(InvalidValue, match="entity_ids"):
            await graph.remove("ship-1")

    async def test_what_was_removed_is_no_end_of_an_edge_until_it_is_put_again(self, graph: WritableGraph) -> None:
        await graph.remove(["owner-1"])
        with pytest.raises(UnknownEnd):
            await graph.put(edges=[EDGES[2]])
        await graph.put([Entity("owner-1", "Owner")], [EDGES[2]])
        assert ends_of(await graph.neighbours("owner-1", direction=Direction.BOTH)) == [("OWNED_BY", "ship-1")]

    async def test_all_of_it_is_read_in_order(self, graph: WritableGraph) -> None:
        assert await _all(graph) == [
            *sorted(ENTITIES, key=lambda one: one.id),
            *sorted(EDGES, key=lambda one: (one.source, one.relation, one.target)),
        ]

    async def test_what_was_read_can_be_put_back(self, graph: WritableGraph) -> None:
        before = await _all(graph)
        entities = [one for one in before if isinstance(one, Entity)]
        assert await graph.remove(one.id for one in entities) == len(ENTITIES)
        assert await _all(graph) == []
        await graph.put(entities, [one for one in before if isinstance(one, Edge)])
        assert await _all(graph) == before

    async def test_writing_goes_on_while_all_is_read(self, graph: WritableGraph) -> None:
        seen: list[Piece] = []
        async for piece in graph.export():
            if not seen:
                await asyncio.wait_for(graph.put([Entity("zz", "New")], [Edge("zz", "NEAR", "ship-1")]), 30)
            seen.append(piece)
        assert [one for one in seen if "zz" not in (getattr(one, "id", ""), getattr(one, "source", ""))] == [
            *sorted(ENTITIES, key=lambda one: one.id),
            *sorted(EDGES, key=lambda one: (one.source, one.relation, one.target)),
        ]

    async def test_a_reader_may_stop_at_the_first_piece(self, graph: WritableGraph) -> None:
        for _ in range(20):
            async for piece in (pieces := graph.export()):
                assert piece == min(ENTITIES, key=lambda one: one.id)
                break
            await cast("Any", pieces).aclose()
        await graph.put([Entity("zz", "New")])

    async def test_simultaneous_puts_of_different_entities_are_all_kept(self, empty: WritableGraph) -> None:
        await empty.put([Entity("hub", "Hub")])
        await asyncio.gather(
            *(empty.put([Entity(f"n{n:02}", "Stop")], [Edge("hub", "TO", f"n{n:02}")]) for n in range(24))
        )
        assert [one.entity.id for one in await empty.neighbours("hub")] == [f"n{n:02}" for n in range(24)]

    async def test_of_simultaneous_puts_of_one_entity_one_is_kept_whole(self, empty: WritableGraph) -> None:
        written = [
            Entity("a", "A", {"n": number}, (f"name {number}",), Point(number, number, "WGS84")) for number in range(16)
        ]
        await asyncio.gather(*(empty.put([one]) for one in written))
        (kept,) = await _all(empty)
        assert kept in written
        assert isinstance(kept, Entity)
        assert kept.location is not None
        assert [await empty.entity(one.aliases[0]) for one in written].count(None) == 15
        assert [one.entity for one in (await empty.near(kept.location, 0)).found] == [kept]

    async def test_simultaneous_puts_in_opposite_order_all_come_to_an_end(self, empty: WritableGraph) -> None:
        known = [Entity(f"n{number}", "Stop", aliases=(f"Stop {number}",)) for number in range(20)]
        edges = [Edge(one.id, "TO", "n0") for one in known]
        await asyncio.gather(*(empty.put(known[::step], edges[::step]) for step in (1, -1) * 8))
        assert await _all(empty) == [
            *sorted(known, key=lambda one: one.id),
            *sorted(edges, key=lambda one: one.source),
        ]

    async def test_an_edge_never_outlives_its_end(self, graph: WritableGraph) -> None:
        put, _ = await asyncio.gather(
            graph.put(edges=[Edge("ship-2", "OWNED_BY", "owner-1")]),
            graph.remove(["owner-1"]),
            return_exceptions=True,
        )
        assert put is None or isinstance(put, UnknownEnd)
        assert not [one for one in await _all(graph) if isinstance(one, Edge) and "owner-1" in (one.source, one.target)]


async def _all(graph: WritableGraph) -> list[Piece]:
    return [piece async for piece in graph.export()]
