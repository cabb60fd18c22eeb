"""Entities over HTTP: put, found, connected, near, and told to a skill."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
import pytest_asyncio
from httpx import AsyncClient
from tests.skillweave_server.harbour import asked, harbour_service

import skillweave
from skillweave.entities import Edge, Entity, Point

BERTH = Entity("berth-7", "Berth", {"name": "Berth 7", "depth_m": 11.5}, ("Seven",), Point(53.5413, 9.9668, "WGS84"))
SHIP = Entity("ship/aurora #1", "Ship", {"name": "Aurora", "imo": "IMO 9321483", "draught_m": 9.8}, ("IMO 9321483",))
TWIN = Entity("ship-b", "Ship", {}, ("Twin",))
OTHER = Entity("ship-c", "Ship", {}, ("Twin",), Point(53.55, 9.98, "WGS84"))
BOOKED = Edge(SHIP.id, "BOOKED_AT", BERTH.id, {"day": "2026-03-02"})


def body(*pieces: Entity | Edge) -> dict[str, Any]:
    """What to put."""
    entities = [one.to_dict() for one in pieces if isinstance(one, Entity)]
    return {"entities": entities, "edges": [one.to_dict() for one in pieces if isinstance(one, Edge)]}


@pytest_asyncio.fixture
async def filled(client: AsyncClient) -> AsyncClient:
    """The service with a few entities."""
    answer = await client.put("/entities", json=body(BERTH, SHIP, TWIN, OTHER, BOOKED))
    assert answer.status_code == 204, answer.text
    return client


def path(ref: str) -> str:
    """A name as it stands in a path."""
    return quote(ref, safe="")


@pytest.mark.parametrize("ref", [SHIP.id, "IMO 9321483", "imo-9321483"], ids=["id", "alias", "spelling"])
async def test_an_entity_is_found_by_its_id_and_by_other_names(filled: AsyncClient, ref: str) -> None:
    answer = await filled.get(f"/entities/{path(ref)}")
    assert Entity.from_dict(answer.json()) == SHIP


async def test_an_unknown_entity_is_a_problem(filled: AsyncClient) -> None:
    answer = await filled.get("/entities/nobody")
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:skillweave:problem:entity-not-found")


async def test_a_name_that_several_have_is_a_problem_with_their_ids(filled: AsyncClient) -> None:
    answer = await filled.get("/entities/twin")
    assert (answer.status_code, answer.json()["choices"]) == (409, ["ship-b", "ship-c"])


async def test_neighbours_are_answered_with_their_edges(filled: AsyncClient) -> None:
    found = (await filled.get(f"/entities/{path(SHIP.id)}/neighbours")).json()
    assert [(one["edge"]["relation"], one["entity"]["id"]) for one in found["items"]] == [("BOOKED_AT", "berth-7")]
    assert found["more"] is False


@pytest.mark.parametrize(
    ("asked_for", "count"), [({"direction": "out"}, 0), ({"direction": "in"}, 1), ({"relation": "OWNS"}, 0)], ids=str
)
async def test_neighbours_are_those_of_the_direction_and_relation(
    filled: AsyncClient, asked_for: dict[str, str], count: int
) -> None:
    found = (await filled.get("/entities/seven/neighbours", params=asked_for)).json()
    assert len(found["items"]) == count


async def test_a_limit_says_that_there_are_more_neighbours(filled: AsyncClient) -> None:
    await filled.put("/entities", json=body(Edge(TWIN.id, "BOOKED_AT", BERTH.id)))
    found = (await filled.get("/entities/berth-7/neighbours", params={"limit": 1})).json()
    assert (len(found["items"]), found["more"]) == (1, True)


async def test_what_lies_near_is_answered_nearest_first_in_feet(filled: AsyncClient) -> None:
    place = {"latitude": 53.5413, "longitude": 9.9668, "datum": "WGS84", "radius_ft": 20_000}
    found = (await filled.get("/entities:near", params=place)).json()["found"]
    assert [one["entity"]["id"] for one in found] == ["berth-7", "ship-c"]
    assert found[0]["distance_ft"] == 0
    some = (await filled.get("/entities:near", params={**place, "label": "Ship", "limit": 1})).json()["found"]
    assert [one["entity"]["id"] for one in some] == ["ship-c"]


@pytest.mark.parametrize(
    "wrong", [{"latitude": 91}, {"datum": "Flat Earth"}, {"radius_ft": -1}, {"limit": 0}, {"latitude": "nan"}], ids=str
)
async def test_a_place_that_there_is_not_is_refused(filled: AsyncClient, wrong: dict[str, Any]) -> None:
    place = {"latitude": 53.5413, "longitude": 9.9668, "datum": "WGS84", **wrong}
    assert (await filled.get("/entities:near", params=place)).status_code == 422


async def test_what_a_skill_is_told_is_answered_line_by_line_with_its_sources(filled: AsyncClient) -> None:
    answer = await filled.get(f"/context/assemble/{path('IMO 9321483')}", params={"tags": ["mooring"]})
    told = answer.json()
    assert told["entity"] == SHIP.id
    assert [section["name"] for section in told["sections"]] == ["ship", "bookings"]
    assert told["sections"][1]["lines"][1]["entities"] == ["berth-7", SHIP.id]
    assert told["tokens"] > 0


@pytest.mark.parametrize("tags", [["crew", "cargo"], "crew,cargo"])
async def test_tags_that_the_pack_does_not_know_are_named(filled: AsyncClient, tags: str | list[str]) -> None:
    told = (await filled.get("/context/assemble/seven", params={"tags": tags})).json()
    assert (told["tags"], told["unknown_tags"]) == (["crew", "cargo"], ["cargo"])


async def test_context_of_an_unknown_entity_or_for_no_tag_is_refused(filled: AsyncClient) -> None:
    assert (await filled.get("/context/assemble/nobody", params={"tags": "crew"})).status_code == 404
    assert (await filled.get("/context/assemble/seven")).status_code == 422


async def test_an_edge_to_an_entity_that_is_not_there_stores_nothing(client: AsyncClient) -> None:
    answer = await client.put("/entities", json=body(BERTH, Edge(BERTH.id, "NEAR", "nowhere")))
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:skillweave:problem:unknown-end")
    assert (await client.get("/entities/berth-7")).status_code == 404


async def test_too_many_entities_are_refused(client: AsyncClient) -> None:
    answer = await client.put("/entities", json={"entities": [{"id": "a", "label": "b"}] * 5_001})
    assert answer.status_code == 422
    assert "5,000" in answer.json()["detail"]


async def test_an_entity_is_removed_by_its_id_with_its_edges(filled: AsyncClient) -> None:
    assert (await filled.delete("/entities/seven")).status_code == 404
    assert (await filled.delete("/entities/berth-7")).status_code == 204
    assert (await filled.get("/entities/berth-7")).status_code == 404
    assert (await filled.get(f"/entities/{path(SHIP.id)}/neighbours")).json()["items"] == []


@pytest_asyncio.fixture
async def bare(sqlite_url: str, pack: Path) -> AsyncIterator[AsyncClient]:
    """A client of a service that knows nothing of entities."""
    service = harbour_service(sqlite_url, pack)
    service.make_weaver = lambda _: skillweave.open(str(pack))
    async with asked(service) as client:
        yield client


@pytest.mark.parametrize(
    "asked_for",
    [
        "/entities/berth-7",
        "/entities/berth-7/neighbours",
        "/entities:near?latitude=1&longitude=1&datum=WGS84",
        "/context/assemble/berth-7?tags=crew",
    ],
)
async def test_a_service_without_entities_says_how_to_have_some(bare: AsyncClient, asked_for: str) -> None:
    answer = await bare.get(asked_for)
    assert answer.status_code == 404
    assert "entities" in answer.json()["detail"]


async def test_a_service_without_a_graph_that_can_be_written_refuses_entities(bare: AsyncClient) -> None:
    assert (await bare.put("/entities", json=body(BERTH))).status_code == 409
    assert (await bare.delete("/entities/berth-7")).status_code == 409


class TestOnPostgresql:
    """What depends on the database, on PostgreSQL."""

    async def test_entities_are_put_found_and_removed(self, postgres_url: str, pack: Path) -> None:
        async with asked(harbour_service(postgres_url, pack)) as client:
            assert (await client.put("/entities", json=body(BERTH, SHIP, BOOKED))).status_code == 204
            assert (await client.get(f"/entities/{path(SHIP.id)}/neighbours")).json()["items"]
            told = await client.get("/context/assemble/seven", params={"tags": "mooring"})
            assert told.json()["entity"] == "berth-7"
            assert (await client.delete("/entities/berth-7")).status_code == 204
