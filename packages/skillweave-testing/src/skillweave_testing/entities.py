"""The contract of an entity graph as tests: a backend is what passes them."""

import asyncio
from typing import Any, cast

import pytest

from skillweave.entities import (
    MOST_NEAR,
    MOST_NEIGHBOURS,
    MOST_RADIUS_FT,
    AmbiguousEntity,
    Direction,
    Edge,
    Entity,
    EntityGraph,
    Neighbour,
    Point,
)
from skillweave.errors import InvalidValue

HOME = Point(54.1781, 7.8886, "WGS84")
"""The harbour about which most of the graph under test lies."""
ENTITIES = (
    Entity("harbour-1", "Harbour", {"name": "Helgoland", "berths": 12}, ("DE HGL", "Zoë's Hafen"), HOME),
    Entity("ship-1", "Ship", {"name": "Aurora"}, ("IMO 9074729", "Aurora"), Point(54.1794692, 7.8886, "WGS84")),
    Entity("ship-2", "Ship", {"name": "Borealis"}, ("owner-1",), Point(54.1794692, 7.8886, "WGS84")),
    Entity("ship-3", "Ship", {"name": "Aurora"}, ("AURORA!",)),
    Entity("buoy-1", "Buoy", {}, (), Point(54.1808383, 7.8886, "WGS84")),
    Entity("buoy-2", "Buoy", {}, (), Point(54.1780996, 7.897936, "WGS84")),
    Entity("buoy-3", "Buoy", {}, (), Point(54.1808107, 7.8932214, "WGS84")),
    Entity("light-1", "Light", {"range_nm": 28.5, "sectors": None}, (), Point(54.169885, 7.8886, "WGS84")),
    Entity("wreck-1", "Wreck", {}, (), Point(HOME.latitude, HOME.longitude, "ED50")),
    Entity("wreck-2", "Wreck", {}, (), Point(54.1831, 7.8886, "NAD27")),
    Entity("wreck-3", "Wreck", {}, (), Point(55.2, 7.8886, "ED50")),
    Entity("isle-1", "Isle", {}, (), Point(-17, 179.999, "WGS84")),
    Entity("isle-2", "Isle", {}, (), Point(-17, -179.999, "WGS84")),
    Entity("isle-3", "Isle", {}, (), Point(10, 180, "WGS84")),
    Entity("station-1", "Station", {}, (), Point(89.9999, 0, "WGS84")),
    Entity("station-2", "Station", {}, (), Point(89.9999, 180, "WGS84")),
    Entity("owner-1", "Owner", {"name": "Reederei Ö", "ships": ("ship-1", {"id": "ship-3"})}),
    Entity("Z-fleet", "Fleet"),
    Entity("a-fleet", "Fleet"),
    Entity("é-fleet", "Fleet"),
    Entity("\uffee-fleet", "Fleet"),
    Entity("𝔸-fleet", "Fleet"),
)
"""What the graph under test knows."""
EDGES = (
    Edge("ship-1", "BERTHED_AT", "harbour-1", {"since": "2026-01", "berth": None}),
    Edge("ship-2", "BERTHED_AT", "harbour-1"),
    Edge("ship-1", "OWNED_BY", "owner-1", {"share": 0.5}),
    Edge("ship-3", "OWNED_BY", "owner-1"),
    Edge("ship-1", "TOWS", "ship-1"),
    Edge("ship-1", "TOWS", "ship-2"),
    Edge("ship-2", "TOWS", "ship-1"),
    Edge("ship-1", "bought_with", "ship-3"),
    *(Edge("owner-1", "HAS", f"{letter}-fleet") for letter in ("𝔸", "é", "a", "\uffee", "Z")),
)
"""How it is connected."""
HOSTILE_TEXTS = ("'; DROP TABLE entities; --", "%", "_", "{a}", "a\\b", "$1", ":x", "NULL", "Ω≈ç√", "ship-1 ", "\t\n.")
"""Names that a database must take as they are."""
NEVER_HELD = ("ship-1\0", "\0", "\ud800", "x" * 100_000, "", " ")
"""What nothing can be called, and may be asked about all the same."""


@pytest.mark.asyncio
class EntityGraphContract:
    """Inherit, and give a fixture `graph`: a graph that knows `ENTITIES` and `EDGES` and nothing else.

    No part of the contract can be opted out of; of distances it needs the extra `geo`.
    """

    @pytest.fixture
    def graph(self) -> EntityGraph:
        """The graph under test."""
        raise NotImplementedError("a subclass gives the graph")

    @pytest.mark.parametrize("known", ENTITIES, ids=lambda known: ascii(known.id))
    async def test_an_entity_is_found_by_its_id_as_it_was_put(self, graph: EntityGraph, known: Entity) -> None:
        assert await graph.entity(known.id) == known

    @pytest.mark.parametrize("spelling", ["DE HGL", "de-hgl", "DEHGL", " d.e/h g l ", "ＤＥ　ＨＧＬ"])
    async def test_an_entity_is_found_by_an_alias_in_any_spelling(self, graph: EntityGraph, spelling: str) -> None:
        assert await graph.entity(spelling) == ENTITIES[0]

    @pytest.mark.parametrize("spelling", ["Zoë's Hafen", "ZOË S HAFEN", "zoe\u0308shafen"])
    async def test_an_alias_is_one_in_each_form_of_unicode(self, graph: EntityGraph, spelling: str) -> None:
        assert await graph.entity(spelling) == ENTITIES[0]

    @pytest.mark.parametrize("ref", ["Zoes Hafen", "IMO", "IMO 90747290", "harbour 1", "HARBOUR-1", "nobody"])
    async def test_what_is_only_like_a_name_is_not_found(self, graph: EntityGraph, ref: str) -> None:
        assert await graph.entity(ref) is None

    @pytest.mark.parametrize("ref", [*NEVER_HELD, *HOSTILE_TEXTS, "---", "☃"], ids=lambda ref: ascii(ref)[:40])
    async def test_what_nothing_is_called_is_not_found(self, graph: EntityGraph, ref: str) -> None:
        assert await graph.entity(ref) is None
        assert await graph.neighbours(ref) == ()

    async def test_an_id_counts_before_an_alias(self, graph: EntityGraph) -> None:
        found = await graph.entity("owner-1")
        assert found is not None
        assert found.label == "Owner"

    @pytest.mark.parametrize("ref", ["Aurora", "a u r o r a"])
    async def test_an_alias_of_several_is_refused_with_their_ids(self, graph: EntityGraph, ref: str) -> None:
        with pytest.raises(AmbiguousEntity) as refused:
            await graph.entity(ref)
        assert refused.value.ids == ("ship-1", "ship-3")

    async def test_a_reference_that_is_no_text_is_refused(self, graph: EntityGraph) -> None:
        with pytest.raises(InvalidValue, match="ref"):
            await graph.entity(cast("str", 7))

    async def test_neighbours_come_by_relation_and_then_by_id_with_their_edges(self, graph: EntityGraph) -> None:
        found = await graph.neighbours("ship-1")
        assert ends_of(found) == [
            ("BERTHED_AT", "harbour-1"),
            ("OWNED_BY", "owner-1"),
            ("TOWS", "ship-1"),
            ("TOWS", "ship-2"),
            ("bought_with", "ship-3"),
        ]
        assert found[0] == Neighbour(EDGES[0], ENTITIES[0])

    async def test_neighbours_are_ordered_by_code_points(self, graph: EntityGraph) -> None:
        found = [one.entity.id for one in await graph.neighbours("owner-1")]
        assert found == ["Z-fleet", "a-fleet", "é-fleet", "\uffee-fleet", "𝔸-fleet"]

    async def test_incoming_edges_lead_to_where_they_come_from(self, graph: EntityGraph) -> None:
        found = await graph.neighbours("harbour-1", direction=Direction.IN)
        assert [(one.edge, one.entity.id) for one in found] == [(EDGES[0], "ship-1"), (EDGES[1], "ship-2")]

    async def test_in_both_directions_a_loop_counts_once_and_outgoing_edges_come_first(
        self, graph: EntityGraph
    ) -> None:
        found = await graph.neighbours("ship-1", "TOWS", Direction.BOTH)
        assert [(one.edge.source, one.edge.target, one.entity.id) for one in found] == [
            ("ship-1", "ship-1", "ship-1"),
            ("ship-1", "ship-2", "ship-2"),
            ("ship-2", "ship-1", "ship-2"),
        ]

    @pytest.mark.parametrize("direction", [Direction.OUT, Direction.IN])
    async def test_a_loop_is_an_edge_in_either_direction(self, graph: EntityGraph, direction: Direction) -> None:
        assert ("TOWS", "ship-1") in ends_of(await graph.neighbours("ship-1", "TOWS", direction))

    @pytest.mark.parametrize(
        "relation", ["OWNED_BY", "TOWS", "owned_by", "", *HOSTILE_TEXTS, *NEVER_HELD], ids=lambda text: ascii(text)[:40]
    )
    async def test_only_edges_of_the_named_relation_count(self, graph: EntityGraph, relation: str) -> None:
        every = await graph.neighbours("ship-1", direction=Direction.BOTH)
        named = await graph.neighbours("ship-1", relation, Direction.BOTH)
        assert named == tuple(one for one in every if one.edge.relation == relation)

    @pytest.mark.parametrize("limit", [1, 2, 5, MOST_NEIGHBOURS])
    async def test_a_limit_leaves_the_last_neighbours_out(self, graph: EntityGraph, limit: int) -> None:
        assert await graph.neighbours("ship-1", limit=limit) == (await graph.neighbours("ship-1"))[:limit]

    async def test_a_direction_may_be_given_as_its_text(self, graph: EntityGraph) -> None:
        found = await graph.neighbours("harbour-1", direction=cast("Direction", "in"))
        assert found == await graph.neighbours("harbour-1", direction=Direction.IN)

    @pytest.mark.parametrize("entity_id", ["light-1", "unknown", "DE HGL"])
    async def test_without_edges_or_under_another_name_there_are_no_neighbours(
        self, graph: EntityGraph, entity_id: str
    ) -> None:
        assert await graph.neighbours(entity_id, direction=Direction.BOTH) == ()

    @pytest.mark.parametrize(
        "arguments",
        [
            {"entity_id": 1},
            {"relation": 1},
            {"direction": "up"},
            {"limit": 0},
            {"limit": MOST_NEIGHBOURS + 1},
            {"limit": True},
            {"limit": 2.0},
        ],
        ids=str,
    )
    async def test_a_question_about_neighbours_that_cannot_be_is_refused(
        self, graph: EntityGraph, arguments: dict[str, Any]
    ) -> None:
        with pytest.raises(InvalidValue, match=next(iter(arguments))):
            await graph.neighbours(**{"entity_id": "ship-1", **arguments})

    async def test_what_lies_near_comes_nearest_first_and_then_by_id(self, graph: EntityGraph) -> None:
        near = await graph.near(HOME, 5000)
        assert [(one.entity.id, round(one.distance_ft, 2)) for one in near.found] == [
            ("harbour-1", 0.0),
            ("ship-1", 500.01),
            ("ship-2", 500.01),
            ("buoy-1", 999.99),
            ("buoy-3", 1399.99),
            ("buoy-2", 2000.0),
            ("light-1", 2999.99),
        ]
        assert near.found[0].entity == ENTITIES[0]
        assert near.more == 0

    async def test_what_lies_in_a_corner_beside_the_circle_is_not_near(self, graph: EntityGraph) -> None:
        assert "buoy-3" not in [one.entity.id for one in (await graph.near(HOME, 1100)).found]

    async def test_the_rim_belongs_to_the_circle(self, graph: EntityGraph) -> None:
        far = next(one.distance_ft for one in (await graph.near(HOME, 5000)).found if one.entity.id == "buoy-2")
        assert (await graph.near(HOME, far)).found[-1].entity.id == "buoy-2"
        assert "buoy-2" not in [one.entity.id for one in (await graph.near(HOME, far - 0.001)).found]

    async def test_a_radius_of_nothing_finds_what_lies_there(self, graph: EntityGraph) -> None:
        near = await graph.near(HOME, 0)
        assert [(one.entity.id, one.distance_ft) for one in near.found] == [("harbour-1", 0.0)]

    @pytest.mark.parametrize("limit", [1, 3, 7, MOST_NEAR])
    async def test_more_counts_what_the_limit_leaves_out(self, graph: EntityGraph, limit: int) -> None:
        every, some = await graph.near(HOME, 5000), await graph.near(HOME, 5000, limit=limit)
        assert some.found == every.found[:limit]
        assert some.more == 7 - len(some.found)

    async def test_only_what_has_the_label_is_near(self, graph: EntityGraph) -> None:
        near = await graph.near(HOME, 5000, "Ship", 1)
        assert [one.entity.id for one in near.found] == ["ship-1"]
        assert (near.more, near.other_datums) == (1, {})

    @pytest.mark.parametrize("label", ["ship", *HOSTILE_TEXTS, *NEVER_HELD], ids=lambda label: ascii(label)[:40])
    async def test_nothing_has_a_label_that_is_not_there(self, graph: EntityGraph, label: str) -> None:
        near = await graph.near(HOME, 5000, label)
        assert (near.found, near.more, near.other_datums) == ((), 0, {})

    @pytest.mark.parametrize("radius_ft", [0, 600, 5000])
    async def test_what_lies_there_in_another_datum_is_counted_and_not_compared(
        self, graph: EntityGraph, radius_ft: float
    ) -> None:
        near = await graph.near(HOME, radius_ft)
        assert near.other_datums == {"ED50": 1, "NAD27": 1}
        assert not [one for one in near.found if one.entity.label == "Wreck"]

    async def test_the_datum_of_the_point_is_the_one_that_is_compared(self, graph: EntityGraph) -> None:
        near = await graph.near(Point(HOME.latitude, HOME.longitude, "ed 50"), 100)
        assert [(one.entity.id, one.distance_ft) for one in near.found] == [("wreck-1", 0.0)]
        assert near.other_datums == {"WGS84": 7, "NAD27": 1}

    async def test_a_label_counts_in_other_datums_too(self, graph: EntityGraph) -> None:
        assert (await graph.near(HOME, 100, "Wreck")).other_datums == {"ED50": 1, "NAD27": 1}

    async def test_a_circle_goes_on_beyond_the_180th_meridian(self, graph: EntityGraph) -> None:
        for here, there in (("isle-1", "isle-2"), ("isle-2", "isle-1")):
            point = place_of(here)
            near = await graph.near(point, 1000)
            assert [(one.entity.id, round(one.distance_ft, 2)) for one in near.found] == [(here, 0.0), (there, 698.73)]

    async def test_the_180th_meridian_is_one_by_either_of_its_names(self, graph: EntityGraph) -> None:
        near = await graph.near(Point(10, -180, "WGS84"), 0)
        assert [(one.entity.id, one.distance_ft) for one in near.found] == [("isle-3", 0.0)]

    async def test_a_circle_goes_on_beyond_a_pole(self, graph: EntityGraph) -> None:
        near = await graph.near(place_of("station-1"), 100)
        assert [(one.entity.id, round(one.distance_ft, 2)) for one in near.found] == [
            ("station-1", 0.0),
            ("station-2", 73.29),
        ]

    async def test_the_largest_circle_is_searched(self, graph: EntityGraph) -> None:
        assert (await graph.near(HOME, MOST_RADIUS_FT)).other_datums == {"ED50": 2, "NAD27": 1}

    @pytest.mark.parametrize(
        ("name", "value"),
        [
            ("point", (54.1, 7.8)),
            ("radius_ft", -1),
            ("radius_ft", MOST_RADIUS_FT + 1),
            ("radius_ft", float("nan")),
            ("radius_ft", float("inf")),
            ("radius_ft", True),
            ("radius_ft", "600"),
            ("label", 1),
            ("limit", 0),
            ("limit", MOST_NEAR + 1),
            ("limit", True),
        ],
        ids=str,
    )
    async def test_a_question_about_places_that_cannot_be_is_refused(
        self, graph: EntityGraph, name: str, value: object
    ) -> None:
        arguments: dict[str, Any] = {"point": HOME, "radius_ft": 600, name: value}
        with pytest.raises(InvalidValue, match=name):
            await graph.near(**arguments)

    async def test_a_datum_that_nobody_knows_is_refused_with_known_ones(self, graph: EntityGraph) -> None:
        with pytest.raises(InvalidValue, match=r"ATLANTIS.*NAD83"):
            await graph.near(Point(1, 1, "Atlantis"), 600)

    async def test_many_questions_at_once_have_the_answers_of_one(self, graph: EntityGraph) -> None:
        asked = [await graph.entity("DE HGL"), await graph.neighbours("ship-1"), await graph.near(HOME, 5000)]
        again = await asyncio.gather(
            *(one for _ in range(16) for one in (graph.entity("DE HGL"), graph.neighbours("ship-1"))),
            *(graph.near(HOME, 5000) for _ in range(16)),
        )
        assert all(answer in asked for answer in again)


def ends_of(found: tuple[Neighbour, ...]) -> list[tuple[str, str]]:
    """The relation and the id of each."""
    return [(one.edge.relation, one.entity.id) for one in found]


def place_of(entity_id: str) -> Point:
    """Where one of `ENTITIES` lies."""
    place = next(one for one in ENTITIES if one.id == entity_id).location
    assert place is not None
    return place
