"""What stands between a client and its model costs: a wrapped client and the gateway, beside calling it directly.

All of it in one run against one upstream, a process of its own that answers at once; other gateways that only pass are
measured beside them where their addresses are given: `python exchange.py litellm=http://127.0.0.1:4000/v1 ...`.
"""

import asyncio
import contextlib
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

import httpx
from made import made_skills, write_skill_folders
from results import Effort, Figure, Row
from service import _started

import skillweave

HERE = Path(__file__).parent
LIBRARIES = (22, 841)
AT_ONCE = (1, 16)
DIRECT, WRAPPED, GATEWAY = "direct", "wrap", "gateway"
BODY = {
    "model": "m",
    "tools": [{"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}],
}
Times: TypeAlias = tuple[list[float], list[float]]
"""Of each request the seconds to the first byte, and to the last."""


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """Each way to the model in turns, at once and streamed, with small and large libraries."""
    seconds = 2.0 if effort is Effort.QUICK else 10.0
    others = dict(one.split("=", 1) for one in sys.argv[1:] if "=http" in one)
    with _upstream() as port:
        direct = f"http://127.0.0.1:{port}/v1"
        for size in LIBRARIES:
            with _library(size) as folder, _gateway(folder, port) as gateway:
                weaver = skillweave.open(folder)
                wrapped = skillweave.http_client(weaver, client=httpx.AsyncClient())
                plain = httpx.AsyncClient()
                ways = {
                    DIRECT: (plain, direct),
                    WRAPPED: (wrapped, direct),
                    GATEWAY: (plain, f"http://127.0.0.1:{gateway}/gateway/default/v1"),
                    **{name: (plain, url) for name, url in others.items()},
                }
                async for row in _compared(ways, size, seconds):
                    yield row
                for one in (plain, wrapped):
                    await one.aclose()
                await weaver.close()


async def _compared(ways: dict[str, tuple[httpx.AsyncClient, str]], size: int, seconds: float) -> AsyncIterator[Row]:
    for at_once in AT_ONCE:
        for streamed in (False, True):
            found: dict[str, list[Times]] = {name: [] for name in ways}
            for turn in range(4):
                # In turns, so that a slow moment of the machine meets all of them; the first round warms up.
                for name in [*ways][turn % len(ways) :] + [*ways][: turn % len(ways)]:
                    times = await _loaded(*ways[name], at_once, seconds / 3, streamed=streamed)
                    if turn:
                        found[name].append(times)
            case = f"{size} skills, {at_once} at once, {'streamed' if streamed else 'whole'}"
            for name in (WRAPPED, GATEWAY, *(one for one in ways if one not in (DIRECT, WRAPPED, GATEWAY))):
                for share in (50, 99):
                    ours, theirs = _figure(found[name], share, streamed), _figure(found[DIRECT], share, streamed)
                    what = "first byte" if streamed else "reply"
                    yield Row(f"time to the {what} through {name}, p{share}", case, ours, DIRECT, theirs)


def _figure(rounds: Sequence[Times], share: int, streamed: bool) -> Figure:  # noqa: FBT001
    values = [_percentile(times[0] if streamed else times[1], share) for times in rounds]
    return Figure(statistics.median(values), min(values), max(values))


def _percentile(values: Sequence[float], share: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * share // 100)]


async def _loaded(client: httpx.AsyncClient, url: str, at_once: int, seconds: float, *, streamed: bool) -> Times:
    first: list[float] = []
    last: list[float] = []
    end = time.perf_counter() + seconds

    async def one(number: int) -> None:
        while time.perf_counter() < end:
            said = [{"role": "user", "content": f"Please {number} review the quarterly budget, {len(last)}"}]
            begun = time.perf_counter()
            async with client.stream(
                "POST", f"{url}/chat/completions", json={**BODY, "messages": said, "stream": streamed}
            ) as answer:
                pieces = answer.aiter_bytes()
                await anext(pieces)
                first.append(time.perf_counter() - begun)
                async for _ in pieces:
                    pass
            last.append(time.perf_counter() - begun)
            assert answer.status_code == 200

    await asyncio.gather(*(one(number) for number in range(at_once)))
    return first, last


@contextlib.contextmanager
def _library(size: int) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        write_skill_folders(Path(folder), made_skills(size, body_bytes=2_000))
        yield folder


@contextlib.contextmanager
def _upstream() -> Iterator[int]:
    with _started(lambda port: [sys.executable, str(HERE / "exchange_upstream.py"), str(port)], "/") as port:
        yield port


@contextlib.contextmanager
def _gateway(folder: str, upstream: int) -> Iterator[int]:
    with tempfile.TemporaryDirectory() as store:
        command = [str(Path(sys.executable).parent / "skillweave"), "--no-config", "gateway", "--skills", folder]
        command += ["--upstream", f"http://127.0.0.1:{upstream}", "--no-access-log", "--store", f"{store}/s.db"]
        with _started(lambda port: [*command, "--port", str(port)], "/healthz") as port:
            yield port


async def _main() -> None:
    async for row in measure(Effort.QUICK):
        print(f"{row.job:45} {row.case:35} {row.ours!s:32} direct {row.theirs!s}")


if __name__ == "__main__":
    subprocess.run(["uptime"], check=False)
    asyncio.run(_main())
