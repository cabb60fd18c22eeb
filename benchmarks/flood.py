"""A flood of one tenant on 1,000 connections, and how long a neighbour's verdicts take meanwhile.

    .venv/bin/python benchmarks/flood.py                       # on SQLite, for a minute
    .venv/bin/python benchmarks/flood.py --on postgresql       # a server of its own is started; or redis
    .venv/bin/python benchmarks/flood.py --seconds 10 --connections 200

The flood asks for verdicts as fast as it is answered, from a process of its own, and comes again where it is
disconnected. The neighbour asks ten times a second about a tool that its conversation forbids. Printed are what the
flood was answered, what the neighbour was, and its latencies in ms, also without a flood before.
"""

import argparse
import asyncio
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import httpx

from skillweave_stores.access import Scope, new_key
from skillweave_stores.sql.database import Database
from skillweave_stores.sql.keys import SqlKeys
from skillweave_testing.servers import HOST, PostgresServer, RedisServer, free_port

BODY = json.dumps({"conversation": "c", "tool": "write"}).encode()
EVERY_SECONDS = 0.1
SKILL = """---
name: careful
description: Writes nothing.
triggers: { keywords: [careful] }
x-skillweave:
  tools: { forbidden: [write] }
---
Read only.
"""


async def flood(port: int, key: str, connections: int, seconds: float) -> Counter[str]:
    """Returns how often each status was the answer."""
    head = f"POST /api/v1/authorize HTTP/1.1\r\nHost: {HOST}\r\nAuthorization: Bearer {key}\r\n"
    request = f"{head}Content-Type: application/json\r\nContent-Length: {len(BODY)}\r\n\r\n".encode() + BODY
    counts: Counter[str] = Counter()
    end = time.monotonic() + seconds

    async def one() -> None:
        while time.monotonic() < end:
            with contextlib.suppress(OSError, asyncio.IncompleteReadError):
                reader, writer = await asyncio.open_connection(HOST, port)
                try:
                    while time.monotonic() < end:
                        writer.write(request)
                        answer = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower()
                        counts[answer.split(" ", 2)[1]] += 1
                        length = int(answer.partition("content-length: ")[2].partition("\r\n")[0] or 0)
                        await reader.readexactly(length)
                        if "connection: close" in answer:
                            break
                finally:
                    writer.close()

    await asyncio.gather(*(one() for _ in range(connections)), return_exceptions=True)
    return counts


async def ask(url: str, key: str, seconds: float) -> tuple[Counter[str], list[float]]:
    """Returns the neighbour's rulings, and how long each took."""
    rulings: Counter[str] = Counter()
    took: list[float] = []
    async with httpx.AsyncClient(timeout=30, headers={"Authorization": f"Bearer {key}"}) as http:
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            begun = time.perf_counter()
            answer = (await http.post(f"{url}/authorize", json=json.loads(BODY))).json()
            took.append((time.perf_counter() - begun) * 1000)
            rulings[f"{answer.get('ruling')} {answer.get('code') or answer.get('type')}"] += 1
            await asyncio.sleep(EVERY_SECONDS)
    return rulings, sorted(took)


@contextlib.contextmanager
def stores(kind: str, folder: Path) -> Iterator[list[str]]:
    """The words for `serve`, the first of them the URL of the database."""
    with contextlib.ExitStack() as stack:
        if kind == "sqlite":
            yield [str(folder / "service.db")]
            return
        database = stack.enter_context(PostgresServer()).url()
        yield [database, *(("--redis", stack.enter_context(RedisServer()).url()) if kind == "redis" else ())]


async def measured(kind: str, connections: int, seconds: float) -> None:
    """Print the figures of one backend."""
    with tempfile.TemporaryDirectory() as name, stores(kind, Path(name)) as words:
        folder = Path(name)
        (folder / "skills" / "careful").mkdir(parents=True)
        (folder / "skills" / "careful" / "SKILL.md").write_text(SKILL, "utf-8")
        database = Database(words[0] if "://" in words[0] else f"sqlite:///{words[0]}")
        spelled = {}
        for tenant in ("flooding", "quiet"):
            kept, spelled[tenant] = new_key(tenant, [Scope.WEAVE], tenant=tenant, now=time.time())
            await SqlKeys(database).put(kept)
        await database.close()
        port = free_port()
        url = f"http://{HOST}:{port}/api/v1"
        serve = [sys.executable, "-m", "skillweave", "--no-config", "serve", "--port", str(port), "--rate", "off"]
        words = [*serve, "--skills", str(folder / "skills"), "--store", *words]
        quiet = asyncio.subprocess.DEVNULL
        process = await asyncio.create_subprocess_exec(*words, cwd=folder, stdout=quiet, stderr=quiet)
        try:
            async with httpx.AsyncClient(headers={"Authorization": f"Bearer {spelled['quiet']}"}) as http:
                for _ in range(600):
                    with contextlib.suppress(httpx.TransportError):
                        if (await http.get(f"http://{HOST}:{port}/readyz")).status_code == 200:
                            break
                    await asyncio.sleep(0.1)
                turn = {"id": "1", "message": "be careful"}
                (await http.post(f"{url}/conversations/c/turns", json=turn, timeout=30)).raise_for_status()
            show(kind, "no flood", *(await ask(url, spelled["quiet"], min(5.0, seconds))))
            own = [sys.executable, __file__, "--flood", str(port), spelled["flooding"]]
            told = await asyncio.create_subprocess_exec(
                *own, "--connections", str(connections), "--seconds", str(seconds), stdout=subprocess.PIPE
            )
            rulings, took = await ask(url, spelled["quiet"], seconds)
            out, _ = await told.communicate()
            show(kind, f"flood {out.decode().strip()}", rulings, took)
        finally:
            process.terminate()
            await process.wait()


def show(kind: str, what: str, rulings: Counter[str], took: list[float]) -> None:
    """Print one line of figures."""
    middle, late = took[len(took) // 2], took[min(len(took) - 1, int(len(took) * 0.99))]
    print(
        f"{kind}: p50 {middle:.0f} ms, p99 {late:.0f} ms, most {took[-1]:.0f} ms; {dict(rulings)}; {what}", flush=True
    )


def main() -> None:
    """Read the words of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--on", choices=("sqlite", "postgresql", "redis"), default="sqlite")
    parser.add_argument("--connections", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--flood", nargs=2, metavar=("PORT", "KEY"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.flood:
        port, key = given.flood
        print(dict(asyncio.run(flood(int(port), key, given.connections, given.seconds))))
    else:
        asyncio.run(measured(given.on, given.connections, given.seconds))


if __name__ == "__main__":
    main()
