"""A whole service over real parts, reached without a network or over a real socket."""

from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import uvicorn
from fastapi import FastAPI

import skillweave
from skillweave.events.stream import EventStream
from skillweave.service.app import create_app
from skillweave.service.options import ServiceOptions
from skillweave.service.service import Service
from skillweave.stores.event_stream import MemoryEventStream
from skillweave.stores.sql.keys import SqlKeys
from skillweave.stores.sql.working_memory import SqlWorkingMemory
from skillweave.testing import WordCounter

SEAL = b"a seal that only the tests have!"
MOON: Mapping[str, Any] = {
    "id": "moon-watch",
    "description": "Watches the moon.",
    "triggers": {"keywords": ["moon"]},
    "text": {"instructions": "Look up at night."},
    "emits": ["MoonRose"],
    "checkpoints": ["wake_people"],
}
TIDE: Mapping[str, Any] = {
    "id": "tide-table",
    "description": "Reads tide tables.",
    "triggers": {"keywords": ["tide"]},
    "text": {"instructions": "High water comes twice a day."},
}


def whole_service(
    folder: Path, *, events: EventStream | None = None, options: ServiceOptions | None = None, guarded: bool = False
) -> Service:
    """A Service over the files of the folder; with API keys where it is guarded."""
    where, stream = f"sqlite:///{folder / 'service.db'}", events or MemoryEventStream()

    def make_weaver(tenant: str) -> skillweave.Weaver:
        return skillweave.open(
            dict(MOON),
            dict(TIDE),
            ledger=folder / "state.db",
            counter=WordCounter(),
            tenant=tenant,
        )

    return Service(
        make_weaver,
        SqlWorkingMemory(where),
        stream,
        None,
        keys=SqlKeys(where) if guarded else None,
        options=options or ServiceOptions(requests_per_minute=None),
    )


@asynccontextmanager
async def reached(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """The application without a network; an answer comes as a whole, so no stream can be read."""
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service/api/v1") as http,
    ):
        yield http


@asynccontextmanager
async def served(app: FastAPI, *, port: int = 0) -> AsyncIterator[str]:
    """The address of the application on a real socket."""
    config = uvicorn.Config(app, port=port, log_config=None, access_log=False, timeout_graceful_shutdown=2)
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    # Without the loop that looks for the end ten times a second, which each test would wait for.
    await server.startup()
    try:
        (own,) = server.servers
        yield f"http://127.0.0.1:{own.sockets[0].getsockname()[1]}"
    finally:
        await server.shutdown()


@asynccontextmanager
async def served_service(service: Service, change: Callable[[FastAPI], object] = lambda _: None) -> AsyncIterator[str]:
    """The address of the service on a real socket."""
    app = create_app(service)
    change(app)
    async with served(app) as address:
        yield address
