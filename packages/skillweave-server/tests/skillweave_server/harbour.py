"""A service on a database of its own, with the skills and the graph of a harbour, asked without a network."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from httpx import AsyncClient
from tests.skillweave_server.parts import reached

from skillweave_server.app import create_app
from skillweave_server.opening import Entry, open_service
from skillweave_server.service import Service
from skillweave_testing import WordCounter
from tests.cli.harbour import PACK

API = "http://service/api/v1"
GRAPH = """
  - {id: pilotage, name: Pilotage, description: Brings a ship in., domain_tags: [crew], emits: [pilot.aboard],
     tools: {allowed: [call_pilot], forbidden: [move_crane]}, text: {details: Call the pilot.}}
  - {id: crane-work, name: Crane Work, description: Loads a ship., status: draft,
     relations: [{kind: requires, skill: pilotage, reason: nothing is loaded at sea}],
     tools: {allowed: [move_crane]}, text: {details: Move the crane.}}
  - {id: dock-watch, name: Dock Watch, description: Watches the dock.,
     tools: {allowed: [look_out], forbidden: [move_crane]}, text: {details: Look out.}}
agents:
  - {id: harbour-master, name: Harbour Master, skills: [berth-planning, pilotage]}
  - {id: crane-driver, skills: [crane-work]}
graph:
  entries:
    - {skill: berth-planning, match: {keywords: [berth]}}
  routes:
    - {from: berth-planning, to: pilotage, on_tool: book_berth}
"""
"""More of the pack: tools, a relation, agents, and where a conversation goes."""


def write_pack(folder: Path) -> Path:
    """The pack of the harbour in that folder."""
    before, context = PACK.split("\ncontext:\n")
    path = folder / "harbour.yaml"
    path.write_text(f"{before}{GRAPH}context:\n{context}", encoding="utf-8")
    return path


def harbour_service(url: str, pack: Path | None, **given: Any) -> Service:
    """A service over the pack and what is in the database, open to everybody."""
    skills = () if pack is None else (str(pack),)
    return open_service(*skills, store=url, counter=WordCounter(), entry=Entry.OPEN, **given)


@asynccontextmanager
async def asked(service: Service) -> AsyncIterator[AsyncClient]:
    """A client of the service, which runs while the block does."""
    async with reached(create_app(service), API) as client:
        yield client
