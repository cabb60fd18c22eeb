"""A service as `open_service` makes it, on one SQLite file, reached without a network."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from fastapi import FastAPI

from skillweave_server.app import create_app
from skillweave_server.opening import Entry, open_service
from skillweave_server.service import Service
from skillweave_testing import WordCounter

RELEASE: Mapping[str, Any] = {
    "id": "release",
    "description": "Cuts a release.",
    "triggers": {"keywords": ["release"]},
    "text": {"instructions": "Run the tests, then tag the commit."},
}
MOORING: Mapping[str, Any] = {
    "id": "mooring",
    "description": "Moors ships at the dock.",
    "triggers": {"keywords": ["dock"]},
    "text": {"instructions": "Take the bow line first."},
}


def service_in(folder: Path, skills: Sequence[Mapping[str, Any]] = (RELEASE, MOORING), **given: Any) -> Service:
    """A service with these skills on a file of the folder; open to everybody unless it is said otherwise."""
    known = {"store": folder / "service.db", "counter": WordCounter(), "entry": Entry.OPEN, **given}
    return open_service(*map(dict, skills), **known)


@asynccontextmanager
async def reached(app: FastAPI, base_url: str = "http://127.0.0.1") -> AsyncIterator[httpx.AsyncClient]:
    """The application without a network, started and in the end stopped; no streams can be read in this way."""
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=base_url) as http,
    ):
        yield http


@asynccontextmanager
async def reached_in(folder: Path, **given: Any) -> AsyncIterator[httpx.AsyncClient]:
    """A service on a file of the folder, without a network."""
    async with reached(create_app(service_in(folder, **given))) as http:
        yield http
