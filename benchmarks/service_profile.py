"""Where the time of a turn of the service goes: CPU by part, of turns that are handed to the application directly.

Embedded, 22 example skills, ten turns a conversation, as in `service.py`. Prints a Markdown table.
"""

import asyncio
import cProfile
import json
import pstats
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, TypeAlias

from service import SKILLS, TURNS

from skillweave_server import Entry, create_app, open_service

PARTS: Sequence[tuple[str, Sequence[str]]] = (
    ("waiting for SQLite's threads", ("method 'poll'", "select.epoll", "_queue.SimpleQueue", "method 'recv'")),
    ("the event loop", ("/asyncio/", "_contextvars", "/selectors.py", "/threading.py", "/concurrent/")),
    ("SQLAlchemy and aiosqlite, for working memory", ("/sqlalchemy/", "/aiosqlite/", "greenlet", "/stores/sql/")),
    ("FastAPI and Starlette", ("/fastapi/", "/starlette/", "/pydantic", "contextlib.py")),
    ("our part of the service", ("skillweave/service/", "skillweave/api/")),
    ("metrics and traces", ("/prometheus_client/", "/opentelemetry/", "skillweave/telemetry/", "skillweave/events/")),
    ("the turn: select, admit, disclose, policy", ("skillweave/",)),
    ("JSON", ("/json/",)),
)
CONVERSATIONS = 60
App: TypeAlias = Callable[..., Awaitable[None]]


async def _ask(app: App, path: str, body: bytes) -> None:
    told: list[Any] = []

    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    async def send(message: dict[str, object]) -> None:
        told.append(message)

    headers = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http"}
    place = {"path": path, "raw_path": path.encode(), "query_string": b"", "headers": headers}
    await app({**scope, **place, "client": ("127.0.0.1", 1), "server": ("127.0.0.1", 80)}, receive, send)
    if told[0]["status"] != 200:
        raise SystemExit(f"the service answered {told[0]['status']}")


async def _conversations(app: App, name: str, count: int) -> None:
    for number in range(count):
        for said in TURNS:
            body = json.dumps({"message": said}).encode()
            await _ask(app, f"/api/v1/conversations/{name}-{number}/turns", body)


async def measured() -> tuple[float, pstats.Stats]:
    """Milliseconds of CPU of a turn without the profiler, and the profile."""
    with tempfile.TemporaryDirectory() as folder:
        service = open_service(SKILLS, store=Path(folder, "service.db"), entry=Entry.OPEN)
        app = create_app(service)
        async with app.router.lifespan_context(app):
            await _conversations(app, "warm", 10)
            begun = time.process_time()
            await _conversations(app, "timed", CONVERSATIONS)
            taken = time.process_time() - begun
            profile = cProfile.Profile()
            profile.enable()
            await _conversations(app, "profiled", CONVERSATIONS)
            profile.disable()
    return taken / CONVERSATIONS / len(TURNS) * 1000, pstats.Stats(profile)


def shares(stats: pstats.Stats) -> Counter[str]:
    """The share of each part; a function counts for the first part that its place fits."""
    found: Counter[str] = Counter()
    for (file, _, name), (_, _, own, _, _) in stats.stats.items():  # type: ignore[attr-defined]
        place = f"{file} {name}"
        part = next((part for part, words in PARTS if any(word in place for word in words)), "everything else")
        found[part] += own
    total = sum(found.values())
    return Counter({part: own / total for part, own in found.items()})


def main() -> None:
    """Print the table."""
    milliseconds, stats = asyncio.run(measured())
    print(f"one turn: {milliseconds:.2f} ms of CPU\n\n| part | share |\n|---|---:|")
    for part, share in shares(stats).most_common():
        print(f"| {part} | {share:.0%} |")


if __name__ == "__main__":
    main()
