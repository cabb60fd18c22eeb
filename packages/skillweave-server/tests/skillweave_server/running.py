"""A service on a real socket, as streams need one: what has no socket is answered as a whole."""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import uvicorn
from tests.skillweave_server.parts import service_in

from skillweave.events.event import EventStream
from skillweave_server.app import create_app
from skillweave_server.service import Service

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


def whole_service(folder: Path, *, events: EventStream | None = None, **given: Any) -> Service:
    """A Service over the files of the folder, open to everybody; `events` takes the place of its event stream."""
    service = service_in(folder, (MOON, TIDE), **given)
    return service if events is None else replace(service, events=events)


@asynccontextmanager
async def served_service(service: Service, *, port: int = 0) -> AsyncIterator[str]:
    """The address of the service on a real socket of this machine."""
    config = uvicorn.Config(create_app(service), port=port, log_config=None, timeout_graceful_shutdown=2)
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    # Without the loop that looks for the end ten times a second, which each test would wait for.
    await server.startup()
    try:
        (own,) = server.servers
        yield f"http://127.0.0.1:{own.sockets[0].getsockname()[1]}"
    finally:
        service.leaving.set()
        await server.shutdown()
