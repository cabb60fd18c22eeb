"""A service with the skills of an office, made of real parts over SQLite files or another database."""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx
from tests.skillweave_server.parts import reached

import skillweave
from skillweave.approvals.book import ApprovalBook
from skillweave.events.event import EventStream, StreamObserver
from skillweave.stores.event_stream import MemoryEventStream
from skillweave_server.app import create_app
from skillweave_server.service import Service
from skillweave_stores.sql.approvals import SqlApprovals
from skillweave_stores.sql.working_memory import SqlWorkingMemory
from skillweave_testing import WordCounter

SEAL = b"a seal that only the tests have!"
PAY: Mapping[str, Any] = {
    "id": "pay-bill",
    "description": "Pays bills that were checked.",
    "triggers": {"keywords": ["bill"]},
    "text": {"instructions": "Check the bill, then pay it."},
    "checkpoints": [{"name": "release", "before": "pay", "reviewer": "accountant", "asks": "May this be paid?"}],
}
LETTER: Mapping[str, Any] = {
    "id": "write-letter",
    "description": "Writes letters to customers.",
    "triggers": {"keywords": ["letter"]},
    "text": {"instructions": "Be brief."},
    "checkpoints": ["sign_off"],
}
"""A skill whose checkpoint is about all of it."""
CALL: Mapping[str, Any] = {"id": "call-1", "tool": "pay", "arguments": {"amount": 90}}


@dataclass
class Office:
    """One replica behind its API."""

    service: Service
    http: httpx.AsyncClient

    async def turn(self, message: str, conversation: str = "c", **fields: object) -> dict[str, Any]:
        """A turn."""
        return await self.post(f"conversations/{conversation}/turns", {"message": message, **fields})

    async def get(self, path: str, **query: object) -> Any:
        """What is answered at the path."""
        answer = await self.http.get(f"/api/v1/{path}", params={key: str(value) for key, value in query.items()})
        assert answer.status_code == 200, answer.text
        return answer.json()

    async def post(self, path: str, body: object = None, status: int = 200, **headers: str) -> dict[str, Any]:
        """What is answered to the body."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        answer = await self.http.post(f"/api/v1/{path}", json=body, headers=named)
        assert answer.status_code == status, answer.text
        return dict(answer.json())


def service_of(
    folder: Path,
    *,
    database: str = "",
    skills: tuple[Mapping[str, Any], ...] = (PAY, LETTER),
    book: Callable[[ApprovalBook], ApprovalBook] = lambda kept: kept,
    events: EventStream | None = None,
    clock: Callable[[], float] | None = None,
) -> Service:
    """A Service over the files of the folder; working memory and approvals are in the database, where one is named.

    `book` puts something around the book of approvals, whose clock may be set.
    """
    where = database or _database_in(folder)

    def make_weaver(tenant: str) -> skillweave.Weaver:
        return skillweave.open(
            *map(dict, skills),
            ledger=folder / "state.db",
            counter=WordCounter(),
            observers=[StreamObserver(stream, tenant=tenant)],
            tenant=tenant,
        )

    kept, stream = SqlApprovals(where, key=SEAL, clock=clock), events or MemoryEventStream()
    return Service(make_weaver, SqlWorkingMemory(where), stream, book(kept))


def _database_in(folder: Path) -> str:
    """The URL of the folder's database; a new one is a copy, as making its tables takes longer than most tests."""
    file = folder / "service.db"
    if not file.exists():
        file.write_bytes(_new_database())
    return f"sqlite:///{file}"


@cache
def _new_database() -> bytes:
    async def make(file: Path) -> None:
        async with SqlApprovals(f"sqlite:///{file}", key=SEAL) as book:
            await book.migrate()

    with TemporaryDirectory() as folder, ThreadPoolExecutor() as thread:
        # In a thread, as a test's loop runs here.
        thread.submit(asyncio.run, make(Path(folder) / "new.db")).result()
        return (Path(folder) / "new.db").read_bytes()


@asynccontextmanager
async def opened(service: Service) -> AsyncIterator[Office]:
    """The service behind its API, without a network."""
    async with reached(create_app(service), "http://office") as http:
        yield Office(service, http)
