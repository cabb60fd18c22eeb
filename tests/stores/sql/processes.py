"""What the processes of the race tests run: each is one replica that starts, fills a database or is killed in it."""

import asyncio
from collections import Counter
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from typing import Any

from skillweave import Entry, SqlSource

PROCESSES = 16
SKILLS = 60
_context = get_context("forkserver")
_context.set_forkserver_preload(["skillweave.stores.sql.skills", "psycopg", "alembic.command"])


def entries(count: int = SKILLS) -> list[Entry]:
    """A pack of skills with artifacts."""
    return [
        Entry({"id": f"s{n:04}", "description": f"Skill {n}"}, {"a.md": f"a{n}", "b.md": "b"}) for n in range(count)
    ]


def race(url: str) -> list[Any]:
    """What each of sixteen processes answers that fill the same database at the same moment."""
    barrier = _context.Barrier(PROCESSES)
    answers = _context.SimpleQueue()
    started = [_context.Process(target=_fill, args=(url, barrier, answers)) for _ in range(PROCESSES)]
    for process in started:
        process.start()
    found = [answers.get() for _ in started]
    for process in started:
        process.join()
    return found


def _fill(url: str, barrier: Barrier, answers: Any) -> None:
    async def filled() -> dict[str, int]:
        async with SqlSource(url) as source:
            pack = entries()
            changes: Counter[str] = Counter()
            for begin in range(0, SKILLS, 20):
                changes.update(one.change.value for one in await source.upsert(pack[begin : begin + 20]))
            return dict(changes)

    barrier.wait()
    try:
        answers.put(asyncio.run(filled()))
    except Exception as error:  # noqa: BLE001 - shown by the test
        answers.put(f"{type(error).__name__}: {error}")
