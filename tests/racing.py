"""Processes of their own that start at once, as replicas do: forked from one that has imported what they need."""

import os
from collections.abc import Callable
from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from typing import Any

PROCESSES = 16 if os.environ.get("SKILLWEAVE_SOAK") else 4
"""Four race for the same rows already; `make soak` lets sixteen do so."""
SECONDS = 300
"""How long all of them together may take."""
context = get_context("forkserver")
# Imports are most of what a process costs that does little else.
context.set_forkserver_preload(
    [
        "skillweave.cli",
        "skillweave.cli.entry",
        "skillweave_stores.seed",
        "skillweave_testing.fakes",
        "skillweave.weaver",
        "skillweave_stores.redis.store",
        "skillweave_stores.sql.approvals",
        "skillweave_stores.sql.conversations",
        "skillweave_stores.sql.entities",
        "skillweave_stores.sql.skills",
        "skillweave.stores.sqlite",
        "aiosqlite",
        "alembic.command",
        "psycopg",
        "sqlalchemy.dialects.postgresql",
        "sqlalchemy.dialects.sqlite",
    ]
)


def race(work: Callable[..., Any], *arguments: object, processes: int = PROCESSES) -> list[Any]:
    """What each of so many processes answers that do the same work at the same moment, each with its number last.

    A process that fails answers with the words of its error.
    """
    barrier = context.Barrier(processes)
    answers = context.SimpleQueue()
    started = [
        context.Process(target=_run, args=(work, (*arguments, number), barrier, answers)) for number in range(processes)
    ]
    for process in started:
        process.start()
    found = [answers.get() for _ in started]
    for process in started:
        process.join(SECONDS)
    return found


def _run(work: Callable[..., Any], arguments: tuple[object, ...], barrier: Barrier, answers: Any) -> None:
    barrier.wait()
    try:
        answers.put(work(*arguments))
    except Exception as error:  # noqa: BLE001 - shown by the test
        answers.put(f"{type(error).__name__}: {error}")
