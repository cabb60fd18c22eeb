"""A service with keys and two tenants that have the same ids, and what the first of them has is marked."""

import sqlite3
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeAlias

import psycopg
from fastapi import FastAPI
from redis import Redis
from tests.skillweave_server.every import Bodies, target_of
from tests.skillweave_server.wire import JSON, Heard, Wire, bearer

from skillweave import Checkpoint
from skillweave.approvals.case import ApprovalRequest
from skillweave.dialogue import Turn, message_of
from skillweave.entities import Entity
from skillweave.events import Announced
from skillweave.events.event import Event
from skillweave_server.app import create_app
from skillweave_server.opening import open_service
from skillweave_server.options import ServiceOptions
from skillweave_server.service import Service
from skillweave_stores import SqlGraph
from skillweave_stores.access import ApiKey, Scope, new_key
from skillweave_stores.sql.keys import SqlKeys
from skillweave_testing import WordCounter
from tests.skills import make_skill

OURS, THEIRS, NOBODY = "acme", "umbrella", "newcomer"
"""Two tenants that have the same ids, and one that has nothing."""
MARK = "only-for-acme"
"""Stands in all texts that the first tenant keeps, and nowhere else."""
IDS: Mapping[str, str] = {
    "conversation": "the-conversation",
    "turn": "the-turn",
    "key": "harbour-dues",
    "skill": "harbour-dues",
    "skill_id": "harbour-dues",
    "checkpoint": "sign-off",
    "entity": "ship-1",
    "approval": "the-approval",
    "artifact": "notes.txt",
    "version": "0" * 64,
    "graph": "harbour-dues",
}
"""Ids that both tenants have, by the names that they have in paths and bodies."""
OTHER_IDS: Mapping[str, str] = {name: f"ours-{one}" for name, one in IDS.items()}
"""Ids of the first tenant alone."""
OPTIONS = ServiceOptions(
    most_body_bytes=100_000, body_seconds=0.05, requests_per_minute=None, refusals_per_minute=1_000_000
)


Look: TypeAlias = Callable[[str], Mapping[str, Sequence[Any]]]
"""Reads all that a tenant has, past every part of the service: rows by their tables, and values by their keys."""


@dataclass(frozen=True, slots=True)
class Guarded:
    """The service, and keys of each tenant: one for each scope alone."""

    app: FastAPI
    service: Service
    keys: Mapping[tuple[str, Scope], tuple[ApiKey, str]]
    folder: Path
    url: str
    look: Look
    bodies: Bodies

    @property
    def wire(self) -> Wire:
        """A client without a key."""
        return Wire(self.app)

    def key(self, scope: Scope, tenant: str = OURS) -> dict[str, str]:
        """The header with the tenant's key that has this scope alone."""
        return bearer(self.keys[tenant, scope][1])

    async def revoked(self, scope: Scope) -> str:
        """A key of the first tenant that is revoked already."""
        key, spelled = new_key("revoked", [scope], tenant=OURS, now=1.0)
        assert self.service.keys is not None
        await self.service.keys.put(replace(key, revoked_at=2.0))
        return spelled

    async def ask(
        self, endpoint: Any, headers: Mapping[str, str], ids: Mapping[str, str] = IDS, body: bytes | None = None
    ) -> Heard:
        """A whole request to the endpoint."""
        sent = self.bodies.sent(endpoint, ids) if body is None else body
        return await self.wire.ask(endpoint.method, target_of(endpoint, ids), {**JSON, **headers}, sent)

    async def fill(self, ids: Mapping[str, str], tenant: str = OURS, mark: str = MARK) -> None:
        """Have the tenant keep something under each of these ids."""
        skill = make_skill(
            ids["skill"],
            description=f"Harbour dues {mark}",
            keywords=["dues"],
            instructions=f"Ask for the dues, {mark}.",
            checkpoints=[Checkpoint(ids["checkpoint"], before="pay")],
        )
        service, conversation = self.service, ids["conversation"]
        assert service.skills is not None
        await service.skills.for_tenant(tenant).publish(skill, {ids["artifact"]: f"{mark}\n"})
        async with SqlGraph(self.url, tenant=tenant) as graph:
            await graph.put([Entity(ids["entity"], "Ship", {"name": mark})])
        weaver = service.weaver(tenant)
        await weaver.skills.refresh()
        await weaver.weave(Turn(ids["turn"], conversation, message_of("What are the dues?")))
        # Whoever reads the log writes what waits for it.
        await weaver.why(conversation)
        await service.memory.merge(conversation, {"berth": mark}, tenant=tenant)
        told = Event("event-1", "NOTED", conversation, ids["turn"], Announced(ids["skill"], {"text": mark}))
        await service.events.append(conversation, [told], tenant=tenant)
        asked = ApprovalRequest(conversation, ids["skill"], ids["checkpoint"], payload={"text": mark})
        state = await weaver.ledger.state(conversation)
        await service.approvals.open(ids["approval"], asked, "d" * 64, state, tenant=tenant)

    async def silence_keys(self) -> None:
        """Have the store of keys answer nobody any more."""
        assert isinstance(self.service.keys, SqlKeys)
        await self.service.keys.close()

    async def lose_stores(self) -> None:
        """Have no store answer any more."""
        await self.silence_keys()
        await self.service.close()

    async def kept(self, tenant: str = OURS) -> object:
        """All that is kept of a tenant, in databases and in the stream."""
        # Decisions are written a little after the answer; who reads them has those that wait written first.
        await self.service.weaver(tenant).why(IDS["conversation"])
        told = [
            [one.event for one in await self.service.events.read(conversation, tenant=tenant)]
            for conversation in (IDS["conversation"], OTHER_IDS["conversation"])
        ]
        return self.look(tenant), told


@asynccontextmanager
async def guarded_service(folder: Path, options: ServiceOptions = OPTIONS) -> AsyncIterator[Guarded]:
    """The service over a SQLite file, filled for both tenants."""
    store = folder / "service.db"
    made = open_service(store=store, counter=WordCounter(), options=options)
    async with _guarded(made, folder, f"sqlite:///{store}", lambda tenant: _rows(store, tenant)) as found:
        yield found


@asynccontextmanager
async def guarded_service_on(folder: Path, postgres: str, redis: str) -> AsyncIterator[Guarded]:
    """The same on an empty PostgreSQL database and a Redis."""
    key = folder / "approvals.key"
    key.touch(mode=0o600)
    key.write_text("abcdef0123456789" * 4)
    made = open_service(store=postgres, redis=redis, counter=WordCounter(), options=OPTIONS, approval_key_file=key)
    async with _guarded(made, folder, postgres, lambda tenant: _held(postgres, redis, tenant)) as found:
        yield found


@asynccontextmanager
async def _guarded(made: Service, folder: Path, url: str, look: Look) -> AsyncIterator[Guarded]:
    # With connections of its own, so that it can be silent alone.
    service = replace(made, keys=SqlKeys(url))
    app = create_app(service)
    async with app.router.lifespan_context(app):
        keys = {
            (tenant, scope): new_key(scope, [scope], tenant=tenant, now=1.0)
            for tenant in (OURS, THEIRS, NOBODY)
            for scope in Scope
        }
        assert service.keys is not None
        for key, _ in keys.values():
            await service.keys.put(key)
        document = (await Wire(app).ask("GET", "/api/v1/openapi.json")).json()
        guarded = Guarded(app, service, keys, folder, url, look, Bodies(document))
        await guarded.fill(IDS)
        await guarded.fill(IDS, THEIRS, "for-others")
        yield guarded


def _rows(path: Path, tenant: str) -> Mapping[str, Sequence[Any]]:
    """The rows of that tenant in a SQLite file, by their tables."""
    found: dict[str, Sequence[Any]] = {}
    with closing(sqlite3.connect(path)) as connection:
        tables = [name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in sorted(tables):
            columns = [row[1] for row in connection.execute(f"PRAGMA table_info({table})")]
            if "tenant" in columns:
                chosen = connection.execute(f"SELECT * FROM {table} WHERE tenant = ?", (tenant,))
                found[table] = sorted(map(repr, chosen))
    return found


def _held(postgres: str, redis: str, tenant: str) -> Mapping[str, Sequence[Any]]:
    """The rows of that tenant in PostgreSQL by their tables, and what a Redis has under its name, by the keys."""
    found: dict[str, Sequence[Any]] = {}
    having = (
        "SELECT table_name FROM information_schema.columns WHERE table_schema = 'public' AND column_name = 'tenant'"
    )
    with psycopg.connect(postgres) as connection:
        for (table,) in connection.execute(having).fetchall():
            chosen = connection.execute(f'SELECT * FROM "{table}" WHERE tenant = %s', (tenant,))
            found[table] = sorted(map(repr, chosen))
    with Redis.from_url(redis) as client:
        for key in sorted(client.scan_iter(f"*:{tenant}:*")):
            found[key.decode()] = [client.dump(key)]
    return found
