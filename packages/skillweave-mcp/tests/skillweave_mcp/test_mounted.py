"""MCP in `skillweave serve`: behind its keys, each tenant with its own skills and sessions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import pytest
import pytest_asyncio
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from tests.skillweave_mcp.serving_in_tests import entry_at, in_own_task, listed, told
from tests.skillweave_server.running import served_service

from skillweave import Skill
from skillweave.skills import SkillText
from skillweave_server import Entry, Service, open_service
from skillweave_stores import SqlSource
from skillweave_stores.access import Scope, new_key
from skillweave_stores.sql.keys import SqlKeys


@dataclass(frozen=True)
class Kept:
    """The service, its address, and keys by tenant and scope."""

    service: Service
    address: str
    keys: dict[tuple[str, Scope], str]

    @asynccontextmanager
    async def client(self, tenant: str, scope: Scope = Scope.WEAVE, **given: Any) -> AsyncIterator[Client]:
        headers = {"Authorization": f"Bearer {self.keys[tenant, scope]}"}
        async with (
            httpx2.AsyncClient(headers=headers) as http,
            Client(streamable_http_client(f"{self.address}/mcp", http_client=http), cache=None, **given) as one,
        ):
            yield one

    async def post(self, tenant: str, body: dict[str, Any], **headers: str) -> httpx2.Response:
        sent = {
            "Authorization": f"Bearer {self.keys[tenant, Scope.WEAVE]}",
            "Accept": "application/json, text/event-stream",
        }
        async with httpx2.AsyncClient(headers={**sent, **headers}) as http:
            return await http.post(f"{self.address}/mcp", json=body)


@asynccontextmanager
async def kept_in(folder: Path) -> AsyncIterator[Kept]:
    store = folder / "service.db"
    shared = {"id": "shared", "description": "Everybody has it.", "text": {"instructions": "Share."}}
    service = open_service(shared, store=store, entry=Entry.KEYS)
    keys: dict[tuple[str, Scope], str] = {}
    async with SqlSource(f"sqlite:///{store}") as source:
        await source.migrate()
        for tenant in ("acme", "umbrella"):
            secret = Skill(
                f"only-{tenant}", tenant.title(), f"Of {tenant}.", text=SkillText(instructions=f"For {tenant}.")
            )
            await source.for_tenant(tenant).publish(secret, {"notes.txt": f"notes of {tenant}"})
    async with SqlKeys(f"sqlite:///{store}") as kept:
        for tenant in ("acme", "umbrella"):
            for scope in (Scope.WEAVE, Scope.READ):
                key, keys[tenant, scope] = new_key(scope, [scope], tenant=tenant, now=1.0)
                await kept.put(key)
    async with served_service(service) as address:
        yield Kept(service, address, keys)


@pytest_asyncio.fixture
async def kept(tmp_path: Path) -> AsyncIterator[Kept]:
    async with in_own_task(kept_in(tmp_path)) as found:
        yield found


async def test_a_tenant_has_its_own_skills_and_those_of_all(kept: Kept) -> None:
    async with kept.client("acme") as client:
        found = [one["uri"] for one in (await listed(client))["skills"]]
    assert found == ["skill://only-acme/SKILL.md", "skill://shared/SKILL.md"]


async def test_a_file_of_a_published_skill_is_served_with_its_digest(kept: Kept) -> None:
    async with kept.client("acme") as client:
        content = (await client.read_resource("skill://only-acme/notes.txt")).contents[0]
        entry = (await entry_at(client, "skill://only-acme/SKILL.md"))["skill"]
    assert getattr(content, "text", None) == "notes of acme"
    assert [one["size"] for one in entry["resources"] if one["uri"].endswith("notes.txt")] == [13]


async def test_the_uri_of_another_tenants_skill_answers_as_one_of_nobody(kept: Kept) -> None:
    async with kept.client("acme") as client:
        for ask in (
            entry_at(client, "skill://only-umbrella/SKILL.md"),
            client.read_resource("skill://only-umbrella/SKILL.md"),
        ):
            with pytest.raises(MCPError, match=r"no .* is served at"):
                await ask
        assert "there is no skill" in await told(client, "read_skill", name="only-umbrella")


async def test_without_a_key_nobody_is_let_in(kept: Kept) -> None:
    async with httpx2.AsyncClient() as http:
        answer = await http.post(f"{kept.address}/mcp", json={"jsonrpc": "2.0", "id": 1, "method": "skills/list"})
    assert answer.status_code == 401


async def test_a_key_that_may_only_read_is_not_let_in(kept: Kept) -> None:
    async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {kept.keys['acme', Scope.READ]}"}) as http:
        answer = await http.post(f"{kept.address}/mcp", json={})
    assert answer.status_code == 403


BEGIN = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
}


async def test_a_session_is_a_conversation_of_its_tenant(kept: Kept) -> None:
    session = {"Mcp-Session-Id": (await kept.post("acme", BEGIN)).headers["mcp-session-id"]}
    await kept.post("acme", {"jsonrpc": "2.0", "method": "notifications/initialized"}, **session)
    call = {"name": "read_skill", "arguments": {"name": "only-acme"}}
    answer = await kept.post("acme", {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": call}, **session)
    assert "For acme." in answer.text
    conversation = f"mcp-{session['Mcp-Session-Id']}"
    assert [one.decision.skill_id for one in await kept.service.weaver("acme").why(conversation)] == ["only-acme"]
    assert await kept.service.weaver("umbrella").why(conversation) == ()


async def test_a_session_is_of_use_with_the_key_alone_that_began_it(kept: Kept) -> None:
    session = (await kept.post("acme", BEGIN)).headers["mcp-session-id"]
    ping = {"jsonrpc": "2.0", "id": 2, "method": "ping"}
    assert (await kept.post("acme", ping, **{"Mcp-Session-Id": session})).status_code == 200
    assert (await kept.post("umbrella", ping, **{"Mcp-Session-Id": session})).status_code == 404
