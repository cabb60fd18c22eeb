"""The skill graph over HTTP."""

from collections.abc import AsyncIterator
from xml.etree import ElementTree as ET

import pytest
import pytest_asyncio
from httpx import AsyncClient
from tests.skillweave_server.harbour import asked, harbour_service

from skillweave.graph import Checkup, GraphShown, Next

BOOKED = {"tool": "book_berth", "content": "done", "status": "success"}


async def digest_of(client: AsyncClient) -> str:
    """The id of the graph in use."""
    return str((await client.get("/graphs")).json()["items"][0]["id"])


async def test_the_graph_in_use_is_listed_by_its_digest(client: AsyncClient) -> None:
    page = (await client.get("/graphs")).json()
    assert [(one["skills"], one["edges"]) for one in page["items"]] == [(2, 2)]
    assert page["next"] is None


async def test_a_graph_is_found_by_its_digest_and_as_the_current_one(client: AsyncClient) -> None:
    by_digest = await client.get(f"/graphs/{await digest_of(client)}")
    current = await client.get("/graphs/current")
    assert by_digest.json() == current.json()
    assert [one.id for one in GraphShown.from_dict(current.json()).skills] == ["berth-planning", "pilotage"]


async def test_skills_of_a_graph_have_the_descriptions_of_the_loaded_ones(client: AsyncClient) -> None:
    assert (await client.get("/graphs/current")).json()["skills"][1]["description"] == "Brings a ship in."


async def test_another_digest_is_a_problem_that_names_the_one_in_use(client: AsyncClient) -> None:
    answer = await client.get(f"/graphs/{'0' * 64}")
    assert (answer.status_code, answer.json()["type"]) == (404, "urn:skillweave:problem:graph-not-found")
    assert await digest_of(client) in answer.json()["detail"]


async def test_the_checkup_knows_the_loaded_skills(client: AsyncClient) -> None:
    report = Checkup.from_dict((await client.get("/graphs/current/checkup")).json())
    assert report.ok


async def test_the_checkup_warns_of_tools_that_nobody_has(client: AsyncClient) -> None:
    known = (await client.get("/graphs/current/checkup", params={"known_tools": ["book_berth", "x"]})).json()
    unknown = (await client.get("/graphs/current/checkup", params={"known_tools": ["x"]})).json()
    assert "unknown-tool" not in {one["code"] for one in known["problems"]}
    assert "unknown-tool" in {one["code"] for one in unknown["problems"]}


async def test_a_graph_is_drawn_as_mermaid(client: AsyncClient) -> None:
    answer = await client.get("/graphs/current/mermaid")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    assert answer.text.startswith("flowchart") or "flowchart" in answer.text
    assert "Pilotage" in answer.text or "pilotage" in answer.text


async def test_a_graph_is_drawn_as_a_picture_that_may_load_nothing(client: AsyncClient) -> None:
    answer = await client.get("/graphs/current/svg")
    assert answer.headers["content-type"] == "image/svg+xml"
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert ET.fromstring(answer.text).tag.endswith("svg")


@pytest.mark.parametrize("form", ["mermaid", "svg"])
async def test_a_run_is_drawn_on_top(client: AsyncClient, form: str) -> None:
    plain = await client.get(f"/graphs/current/{form}")
    run = {"visited": ["berth-planning"], "current": "pilotage"}
    assert (await client.get(f"/graphs/current/{form}", params=run)).text != plain.text


@pytest.mark.parametrize("run", [{"visited": ["nowhere"]}, {"current": "nowhere"}], ids=["visited", "current"])
async def test_a_skill_that_the_graph_does_not_have_cannot_be_marked(
    client: AsyncClient, run: dict[str, list[str]]
) -> None:
    answer = await client.get("/graphs/current/svg", params=run)
    assert answer.status_code == 422
    assert "nowhere" in answer.json()["detail"]


async def test_the_next_skill_is_answered_with_what_decided_it(client: AsyncClient) -> None:
    begun = Next.from_dict((await client.post("/graphs/current/next", json={"user": "a berth"})).json())
    assert (begun.to, begun.by.value) == ("berth-planning", "entry")
    moment = {"current": "berth-planning", "tools": [BOOKED], "iteration": 2}
    moved = (await client.post("/graphs/current/next", json=moment)).json()
    assert (moved["from"], moved["to"], moved["by"]) == ("berth-planning", "pilotage", "route")


async def test_a_script_is_played_move_by_move(client: AsyncClient) -> None:
    steps = ["a berth, please", {"tool": "book_berth", "expect": "pilotage"}]
    played = (await client.post("/graphs/current/simulate", json={"steps": steps})).json()
    assert played["ok"] is True
    assert [(one["to"], one["held"]) for one in played["moves"]] == [("berth-planning", None), ("pilotage", True)]


async def test_a_step_that_leads_elsewhere_is_told(client: AsyncClient) -> None:
    steps = [{"user": "a berth", "expect": "pilotage"}]
    assert (await client.post("/graphs/current/simulate", json={"steps": steps})).json()["ok"] is False


@pytest.mark.parametrize("steps", [[{"users": "x"}], ["x"] * 1_001], ids=["unknown-key", "too-many"])
async def test_a_script_that_cannot_be_read_is_refused(client: AsyncClient, steps: list[object]) -> None:
    assert (await client.post("/graphs/current/simulate", json={"steps": steps})).status_code == 422


@pytest_asyncio.fixture
async def bare(sqlite_url: str) -> AsyncIterator[AsyncClient]:
    """A client of a service without a pack."""
    async with asked(harbour_service(sqlite_url, None)) as client:
        yield client


async def test_without_a_graph_nothing_is_listed_and_none_is_current(bare: AsyncClient) -> None:
    assert (await bare.get("/graphs")).json() == {"items": [], "next": None}
    answer = await bare.get("/graphs/current/svg")
    assert answer.status_code == 404
    assert "start the service with a pack" in answer.json()["detail"]
