"""What stands between a client and its model costs: a wrapped client and the gateway, beside calling it directly.

All of it in one run against one upstream, a process of its own that answers at once. Gateways of others that only pass
are measured beside them where they are installed (`exchange_others.py`). The small library is the folder of examples,
the large one that of `SKILLWEAVE_SKILLS_SAMPLE`, or skills that are made.
"""

import asyncio
import contextlib
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from exchange_others import Hop, hop, others, processor_seconds
from made import made_skills, write_skill_folders
from results import Effort, Figure, Row, Target
from scale import EXAMPLES, SAMPLE
from service import _started

import skillweave

HERE = Path(__file__).parent
AT_ONCE = (1, 16)
LARGE = 841
DIRECT, WRAPPED, GATEWAY = "direct", "wrap", "gateway"
BODY = {
    "model": "m",
    "tools": [{"type": "function", "function": {"name": "search", "parameters": {"type": "object", "properties": {}}}}],
}
MOST_MS = {WRAPPED: 1.0, GATEWAY: 2.0}
"""Milliseconds of processor time that a request may cost without a turn."""


@dataclass(frozen=True, slots=True)
class Way:
    """A way to the model; `process` is the one that it costs, 0 for this one."""

    client: httpx.AsyncClient
    url: str
    process: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class Times:
    """Of each request the seconds to the first byte, and to the last; of all the seconds of processor time."""

    first: list[float] = field(default_factory=list)
    last: list[float] = field(default_factory=list)
    processor: float = 0.0


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """Each way to the model in turns, at once and streamed, with a small and a large library."""
    seconds = 2.0 if effort is Effort.QUICK else 10.0
    with _upstream() as port, others(port) as passing:
        for size, library in ((22, _examples), (LARGE, _large)):
            with library() as folder, _gateway(folder, port) as gateway:
                async with _ways(folder, port, {GATEWAY: gateway, **passing}) as ways:
                    async for row in _compared(ways, f"{size} skills", seconds):
                        yield row
                    if size != LARGE:
                        for row in await _without_turns(ways, seconds):
                            yield row


@contextlib.asynccontextmanager
async def _ways(folder: str, upstream: int, hops: Mapping[str, Hop]) -> AsyncIterator[dict[str, Way]]:
    direct, weaver = f"http://127.0.0.1:{upstream}/v1", skillweave.open(folder)
    async with (
        httpx.AsyncClient(timeout=60) as plain,
        skillweave.http_client(weaver, client=httpx.AsyncClient(timeout=60)) as wrapped,
    ):
        named = {name: Way(plain, one.url, one.process, one.headers) for name, one in hops.items()}
        yield {DIRECT: Way(plain, direct), WRAPPED: Way(wrapped, direct), **named}
    await weaver.close()


async def _compared(ways: Mapping[str, Way], library: str, seconds: float) -> AsyncIterator[Row]:
    for at_once in AT_ONCE:
        for streamed in (False, True):
            answering = {name: way for name, way in ways.items() if await _answers_well(name, way, streamed=streamed)}
            found = await _in_turns(answering, at_once, seconds, streamed=streamed)
            case = f"{library}, {at_once} at once, {'streamed' if streamed else 'whole'}"
            what = "first byte" if streamed else "reply"
            for name in (one for one in found if one != DIRECT):
                for share in (50, 99):
                    ours, theirs = _figure(found[name], share, streamed), _figure(found[DIRECT], share, streamed)
                    yield Row(f"time to the {what} through {name}, p{share}", case, ours, DIRECT, theirs)
                yield Row("processor time of a request", f"{case}, {name}", _processor(found, ways, name))


async def _answers_well(name: str, way: Way, *, streamed: bool) -> bool:
    body = {**BODY, "messages": [{"role": "user", "content": "Hello"}], "stream": streamed}
    headers = {"authorization": "Bearer none", **way.headers}
    answer = await way.client.post(f"{way.url}/chat/completions", json=body, headers=headers)
    if answer.status_code != 200:
        print(f"  left out: {name} answers {answer.status_code} {answer.text[:100]}", file=sys.stderr)
    return answer.status_code == 200


async def _without_turns(ways: Mapping[str, Way], seconds: float) -> list[Row]:
    """Requests beside a chat, which the exchange judges and gives nothing: what it costs by itself."""
    found = await _in_turns(ways, 1, seconds, streamed=False, beside=True)
    rows = []
    for name, most in MOST_MS.items():
        used = _processor(found, ways, name)
        target = Target(f"at most {most:g} ms", used.median * 1000 <= most)
        rows.append(Row("processor time of a request", f"without a turn, {name}", used, target=target))
    return rows


async def _in_turns(
    ways: Mapping[str, Way], at_once: int, seconds: float, *, streamed: bool, beside: bool = False
) -> dict[str, list[Times]]:
    """By way, the times of three rounds; in turns, so that a slow moment of the machine meets all of them."""
    found: dict[str, list[Times]] = {name: [] for name in ways}
    for turn in range(4):
        for name in [*ways][turn % len(ways) :] + [*ways][: turn % len(ways)]:
            times = await _loaded(ways[name], at_once, seconds / 3, streamed=streamed, beside=beside)
            if turn:  # the first round warms up
                found[name].append(times)
    return found


def _figure(rounds: Sequence[Times], share: int, streamed: bool) -> Figure:  # noqa: FBT001
    values = [_percentile(times.first if streamed else times.last, share) for times in rounds]
    return Figure(statistics.median(values), min(values), max(values))


def _processor(found: Mapping[str, Sequence[Times]], ways: Mapping[str, Way], name: str) -> Figure:
    """The processor time of a request; of a way in this process without that of the client itself."""
    each = [times.processor / len(times.last) for times in found[name]]
    own = statistics.median(times.processor / len(times.last) for times in found[DIRECT])
    values = each if ways[name].process else [one - own for one in each]
    return Figure(statistics.median(values), min(values), max(values))


def _percentile(values: Sequence[float], share: int) -> float:
    return sorted(values)[min(len(values) - 1, len(values) * share // 100)]


async def _loaded(way: Way, at_once: int, seconds: float, *, streamed: bool, beside: bool) -> Times:
    times, more = Times(), {"max_tokens": 1} if beside else {}
    headers = {"authorization": "Bearer none", **way.headers}
    if beside:
        headers["X-Skillweave-Conversation"] = "beside"
    begun_at, end = processor_seconds(way.process), time.perf_counter() + seconds

    async def one(number: int) -> None:
        while time.perf_counter() < end or not times.last:
            said = [{"role": "user", "content": f"Please {number} review the quarterly budget, {len(times.last)}"}]
            body = {**BODY, **more, "messages": said, "stream": streamed}
            begun = time.perf_counter()
            async with way.client.stream("POST", f"{way.url}/chat/completions", json=body, headers=headers) as answer:
                pieces = answer.aiter_bytes()
                await anext(pieces)
                times.first.append(time.perf_counter() - begun)
                async for _ in pieces:
                    pass
            times.last.append(time.perf_counter() - begun)
            assert answer.status_code == 200, f"{way.url}: {answer.status_code}"

    await asyncio.gather(*(one(number) for number in range(at_once)))
    times.processor = processor_seconds(way.process) - begun_at
    return times


@contextlib.contextmanager
def _examples() -> Iterator[str]:
    yield str(EXAMPLES)


@contextlib.contextmanager
def _large() -> Iterator[str]:
    if sample := os.environ.get(SAMPLE):
        yield sample
        return
    with tempfile.TemporaryDirectory() as folder:
        write_skill_folders(Path(folder), made_skills(LARGE, body_bytes=2_000))
        yield folder


@contextlib.contextmanager
def _upstream() -> Iterator[int]:
    with _started(lambda port: [sys.executable, str(HERE / "exchange_upstream.py"), str(port)], "/") as port:
        yield port


@contextlib.contextmanager
def _gateway(folder: str, upstream: int) -> Iterator[Hop]:
    with tempfile.TemporaryDirectory() as store:
        command = [str(Path(sys.executable).parent / "skillweave"), "--no-config", "gateway", "--skills", folder]
        command += ["--upstream", f"http://127.0.0.1:{upstream}", "--no-access-log", "--store", f"{store}/s.db"]
        with hop(lambda port: [*command, "--port", str(port)], "/healthz", "/gateway/default/v1") as made:
            yield made


async def _main() -> None:
    async for row in measure(Effort.QUICK):
        target = f"{row.target.says}: {row.target.met}" if row.target else f"{row.rival} {row.theirs or ''}"
        print(f"{row.job:45} {row.case:45} {row.ours!s:32} {target}", flush=True)


if __name__ == "__main__":
    subprocess.run(["uptime"], check=False)
    asyncio.run(_main())
