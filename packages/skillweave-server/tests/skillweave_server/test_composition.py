"""Composition over HTTP: skills together, rulings on tool calls, sub-agents, and skillweave's own tools."""

from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
from httpx import AsyncClient
from tests.skillweave_server.harbour import asked, harbour_service

from skillweave import Injection, Ruling, ToolAnswer, ToolPolicy
from skillweave.limits import ToolLimits
from skillweave.tools import SpawnPlan, SpawnRejected
from skillweave_testing import Recorder

SPAWN = {"request": {"task": "Watch the dock.", "skills": ["dock-watch"]}}


@pytest.fixture
def heard() -> Recorder:
    """What observers of the service's Weavers are told."""
    return Recorder()


@pytest_asyncio.fixture
async def client(sqlite_url: str, pack: Path, heard: Recorder) -> AsyncIterator[AsyncClient]:
    """A client of a service whose events are heard."""
    async with asked(harbour_service(sqlite_url, pack, observers=[heard])) as client:
        yield client


async def weave(client: AsyncClient, message: str = "$dock-watch", conversation: str = "c1", **more: Any) -> Any:
    """One turn; the skill that the message names is given."""
    answer = await client.post(f"/conversations/{conversation}/turns", json={"message": message, **more})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_skills_are_merged_and_a_forbidden_tool_stays_forbidden(client: AsyncClient) -> None:
    answer = await client.post("/compose", json={"skills": ["pilotage", "crane-work"]})
    assert answer.json()["allowed_tools"] == ["call_pilot"]
    assert answer.json()["forbidden_tools"] == ["move_crane"]


async def test_a_composition_can_be_the_intersection(client: AsyncClient) -> None:
    answer = await client.post("/compose", json={"skills": ["pilotage", "crane-work"], "mode": "intersection"})
    assert answer.json()["allowed_tools"] == []


async def test_an_unknown_skill_cannot_be_composed(client: AsyncClient) -> None:
    assert (await client.post("/compose", json={"skills": ["pilotge"]})).status_code == 404


async def test_an_invalid_set_is_an_answer_with_every_error(client: AsyncClient) -> None:
    answer = await client.post("/validate", json={"skills": ["crane-work", "unknown"]})
    assert answer.status_code == 200
    assert answer.json()["valid"] is False
    assert [one["skill"] for one in answer.json()["errors"]] == ["crane-work", "unknown"]


async def test_a_valid_set_may_want_tools_that_the_host_has_not(client: AsyncClient) -> None:
    answer = await client.post("/validate", json={"skills": ["pilotage"], "host_tools": ["move_crane"]})
    assert answer.json()["valid"] is True
    assert "call_pilot" in answer.json()["warnings"][0]


@pytest.mark.parametrize("path", ["/compose", "/validate"])
async def test_too_many_skills_are_refused(client: AsyncClient, path: str) -> None:
    assert (await client.post(path, json={"skills": ["pilotage"] * 1_001})).status_code == 422


async def test_a_call_is_ruled_by_the_skills_of_the_conversation(client: AsyncClient) -> None:
    await weave(client)
    allowed = await client.post("/authorize", json={"conversation": "c1", "tool": "look_out", "arguments": {}})
    denied = await client.post("/authorize", json={"conversation": "c1", "tool": "move_crane", "arguments": {}})
    assert allowed.json()["ruling"] == "allow"
    assert (denied.json()["ruling"], denied.json()["code"], denied.json()["rule"]) == ("deny", "TOOL_FORBIDDEN", "V004")


async def test_a_call_in_a_conversation_without_skills_is_allowed(client: AsyncClient) -> None:
    answer = await client.post("/authorize", json={"conversation": "new", "tool": "move_crane"})
    assert answer.json()["ruling"] == "allow"


async def test_a_call_is_ruled_by_the_hosts_tools_and_limits_too(client: AsyncClient) -> None:
    call = {"conversation": "c1", "tool": "look_out", "arguments": {}}
    assert (await client.post("/authorize", json={**call, "tools": ["move_crane"]})).json()["ruling"] == "deny"
    limits = {"allowed": [], "forbidden": [], "asks": {}, "argument_names": {}, "own_asks": {}, "closed_skills": []}
    assert (await client.post("/authorize", json={**call, "limits": limits})).json()["ruling"] == "deny"


async def test_a_denied_call_is_told_without_its_arguments(client: AsyncClient, heard: Recorder) -> None:
    await weave(client)
    call = {"conversation": "c1", "tool": "move_crane", "arguments": {"to": "secret"}, "call_id": "x1"}
    await client.post("/authorize", json=call)
    told = [event for event in heard.events if event.event_type == "tool.blocked"]
    assert len(told) == 1
    assert "secret" not in str(told[0].to_dict())


async def test_a_spawn_is_answered_with_its_plan(client: AsyncClient) -> None:
    answer = await client.post("/spawn", json={**SPAWN, "parent": "c1"}, headers={"Idempotency-Key": "s1"})
    plan = SpawnPlan.from_dict(answer.json())
    assert (plan.conversation, plan.skills, plan.tools) == ("c1/s1", ("dock-watch",), ("look_out",))


async def test_the_same_spawn_again_has_the_same_plan(client: AsyncClient) -> None:
    one, two = [await client.post("/spawn", json=SPAWN, headers={"Idempotency-Key": "s1"}) for _ in range(2)]
    assert one.json() == two.json()


async def test_a_spawn_without_an_id_gets_a_new_one_each_time(client: AsyncClient) -> None:
    one, two = [(await client.post("/spawn", json=SPAWN)).json()["conversation"] for _ in range(2)]
    assert one != two


async def test_a_spawn_with_two_ids_is_refused(client: AsyncClient) -> None:
    answer = await client.post("/spawn", json={**SPAWN, "spawn_id": "a"}, headers={"Idempotency-Key": "b"})
    assert (answer.status_code, answer.json()["type"]) == (422, "urn:skillweave:problem:invalid-spawn")


async def test_a_spawn_gets_no_more_than_its_parent(client: AsyncClient) -> None:
    await weave(client)
    request = {"task": "Load.", "skills": []}
    plan = (await client.post("/spawn", json={"request": request, "parent": "c1"})).json()
    assert plan["tools"] == []
    assert "move_crane" in plan["policy"]["forbidden_tools"]


async def test_a_sub_agent_that_spawns_names_its_plan_or_its_conversation(client: AsyncClient) -> None:
    plan = (await client.post("/spawn", json={**SPAWN, "parent": "c1", "spawn_id": "s1"})).json()
    below = (await client.post("/spawn", json={**SPAWN, "plan": plan, "spawn_id": "s2"})).json()
    by_id = (await client.post("/spawn", json={**SPAWN, "parent": "c1/s1", "spawn_id": "s2"})).json()
    assert below["conversation"] == by_id["conversation"] == "c1/s1/s2"
    assert below["tools"] == by_id["tools"] == ["look_out"]
    assert (await client.post("/spawn", json={**SPAWN, "parent": "c1/unknown"})).status_code == 422


@pytest.mark.parametrize("sent", [{}, {"limits": ToolLimits().to_dict()}], ids=["nothing", "wide"])
async def test_a_sub_agent_is_held_to_its_plan_whatever_limits_its_client_sends(
    client: AsyncClient, sent: Mapping[str, object]
) -> None:
    await weave(client)
    await client.post("/spawn", json={"request": {"task": "Load."}, "parent": "c1", "spawn_id": "s1"})
    woven = Injection.from_dict(await weave(client, "Begin.", "c1%2Fs1", **sent))
    assert woven.tools.authorize("move_crane").ruling is Ruling.DENY
    call = {"conversation": "c1/s1", "tool": "move_crane", "arguments": {}, **sent}
    assert (await client.post("/authorize", json=call)).json()["ruling"] == "deny"


async def test_a_plan_that_a_client_widened_gives_what_it_spawns_no_more(client: AsyncClient) -> None:
    await weave(client)
    plan = (await client.post("/spawn", json={"request": {"task": "Load."}, "parent": "c1", "spawn_id": "s1"})).json()
    forged = {**plan, "policy": ToolPolicy().to_dict()}
    below = (await client.post("/spawn", json={"request": {"task": "More."}, "plan": forged})).json()
    assert "move_crane" in below["policy"]["forbidden_tools"]


async def test_a_spawn_that_is_rejected_says_every_error_and_what_to_ask_for(client: AsyncClient) -> None:
    request = {"task": "Load.", "skills": ["crane-work", "unknown"]}
    answer = await client.post("/spawn", json={"request": request})
    problem = answer.json()
    assert (answer.status_code, problem["type"]) == (409, "urn:skillweave:problem:spawn-rejected")
    assert {one["skill"] for one in problem["findings"]} == {"crane-work", "unknown"}
    assert all(one["fix"] for one in problem["findings"])
    rejected = SpawnRejected.from_dict(problem["rejected"])
    assert rejected.message == problem["detail"]
    assert rejected.request.skills == ("crane-work", "unknown")


async def test_subscribers_are_told_that_a_sub_agent_was_started(client: AsyncClient, heard: Recorder) -> None:
    plan = (await client.post("/spawn", json={**SPAWN, "parent": "c1", "spawn_id": "s1"})).json()
    assert (await client.post("/spawn/started", json=plan)).status_code == 204
    told = [event.event_type for event in heard.events]
    assert told == ["spawn.requested", "spawn.validated", "spawn.started"]


async def test_the_tools_of_skillweave_are_listed_with_their_parameters(client: AsyncClient) -> None:
    tools = (await client.get("/tools")).json()
    assert [one["name"] for one in tools] == ["read_skill", "list_skills", "read_artifact", "search_skills"]
    assert tools[0]["parameters"]["required"] == ["skill_id"]


async def test_a_skill_that_the_model_reads_is_given_and_recorded(client: AsyncClient) -> None:
    call = {"name": "read_skill", "arguments": {"skill_id": "greeting"}}
    answer = ToolAnswer.from_dict((await client.post("/conversations/c1/tools", json=call)).json())
    assert "Say ahoy." in answer.text
    ledger = (await client.get("/ledger/c1")).json()
    assert [record["key"] for record in ledger["records"]] == ["skill:greeting"]


async def test_a_call_with_the_same_id_again_gets_the_same_answer(client: AsyncClient) -> None:
    call = {"name": "read_skill", "arguments": {"skill_id": "greeting"}}
    one, two = [
        (await client.post("/conversations/c1/tools", json=call, headers={"Idempotency-Key": "k"})).json()["text"]
        for _ in range(2)
    ]
    other = (await client.post("/conversations/c1/tools", json={**call, "call_id": "x"})).json()["text"]
    assert one == two != other


@pytest.mark.parametrize(
    ("name", "arguments"), [("read_skill", {}), ("read_skill", None), ("fly", {}), ("read_skill", {"skill_id": 7})]
)
async def test_a_call_that_cannot_be_made_is_answered_for_the_model(
    client: AsyncClient, name: str, arguments: Any
) -> None:
    answer = await client.post("/conversations/c1/tools", json={"name": name, "arguments": arguments})
    assert (answer.status_code, answer.json()["failed"]) == (200, True)


async def test_tools_are_called_in_a_sub_agents_conversation(client: AsyncClient) -> None:
    call = {"name": "read_skill", "arguments": {"skill_id": "greeting"}}
    assert (await client.post("/conversations/c1%2Fs1/tools", json=call)).status_code == 200
    assert (await client.get("/ledger/c1%2Fs1")).json()["records"]


async def test_a_call_with_an_endless_id_is_refused(client: AsyncClient) -> None:
    call = {"name": "list_skills", "arguments": {}, "call_id": "x" * 10_000}
    assert (await client.post("/conversations/c1/tools", json=call)).status_code == 422


async def test_a_mistake_in_a_request_names_its_place(client: AsyncClient) -> None:
    answer = await client.post("/spawn", json={"request": {"task": 7}})
    assert answer.status_code == 422
    assert "task" in answer.json()["detail"]
