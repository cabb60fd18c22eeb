"""What the processes of the race tests run: each is one replica that starts, fills a database or is killed in it."""

import asyncio
from collections import Counter
from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

from skillweave import State
from skillweave.entities import Edge, Entity
from skillweave.registry import Entry
from skillweave_stores import SqlGraph, SqlSource
from skillweave_stores.sql.approvals import SqlApprovals
from skillweave_stores.sql.database import Database
from tests import racing
from tests.contracts_of_ports.approvals import DIGEST, PLAIN, YES

FEW = 4
"""Processes of a race in which each step waits for the one before anyway."""
SKILLS = 60
STOPS = 100

Fill: TypeAlias = Callable[[str, int], Coroutine[Any, Any, Any]]
"""What one process does, by the URL of the database and the process's number."""


def entries(count: int = SKILLS) -> list[Entry]:
    """A pack of skills with artifacts."""
    return [
        Entry({"id": f"s{n:04}", "description": f"Skill {n}"}, {"a.md": f"a{n}", "b.md": "b"}) for n in range(count)
    ]


def race(url: str) -> list[Any]:
    """What each of the processes answers that fill the same database with skills at the same moment."""
    return racing.race(_run, url, _filled)


def race_with_entities(url: str) -> list[Any]:
    """As `race`, with entities of which all put the same ones in another order, and one of its own."""
    return racing.race(_run, url, _filled_with_entities)


def race_with_approvals(url: str) -> list[Any]:
    """As `race` in four processes, with one question that all ask and answer, and one of each process."""
    return racing.race(_run, url, _filled_with_approvals, processes=FEW)


def _run(url: str, fill: Fill, one: int) -> Any:
    return asyncio.run(fill(url, one))


async def _filled(url: str, _: int) -> dict[str, int]:
    async with SqlSource(url) as source:
        pack = entries()
        changes: Counter[str] = Counter()
        for begin in range(0, SKILLS, 20):
            changes.update(one.change.value for one in await source.upsert(pack[begin : begin + 20]))
        return dict(changes)


async def _filled_with_approvals(url: str, one: int) -> str:
    async with SqlApprovals(Database(url, timeout=60), bytes(range(32))) as book:
        for name in ("of all", f"own{one:02}"):
            await book.open(name, PLAIN, DIGEST, State())
            await book.decide(name, YES)
        return f"{one:02}"


async def _filled_with_entities(url: str, one: int) -> str:
    known = [Entity(f"n{number:03}", "Stop", {"by": one}, (f"Stop {number}",)) for number in range(STOPS)]
    edges = [Edge("n000", "TO", stop.id, {"by": one}) for stop in known]
    order = 1 if one % 2 else -1
    async with SqlGraph(url, timeout=60) as graph:
        await graph.put([*known[::order], Entity(f"own{one:02}", "Depot")], edges[::order])
        await graph.remove([f"own{one:02}"] if one % 2 else [])
    return "done"
