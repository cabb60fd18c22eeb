"""The service beside an empty endpoint of its framework: turns in a second, and how long one takes, under load."""

import asyncio
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from results import Effort, Figure, Row, Target

sys.path.insert(0, str(Path(__file__).parent.parent))

from skillweave_stores.approvals.key import read_or_make_key
from skillweave_testing.servers import PostgresServer, RedisServer, free_port

HERE = Path(__file__).parent
SKILLS = HERE.parent / "examples" / "skills"
CONNECTIONS = (1, 10, 50)
LEAST_SHARE = 0.5
"""Of the empty endpoint's rate, what the specification asks of a turn at 50 connections."""
START_SECONDS = 60.0
TURNS = (
    "Say bonjour to Alice",
    "And now to her sister",
    "What is 2+2?",
    "How do I greet somebody in Japanese?",
    "Thank you",
    "Write it as the first line of a letter",
    "Who won?",
    "Say hola to Bob",
    "What time is it in Lima?",
    "Good night",
)
"""One conversation: a skill is given in its first turn, and is there already in the others."""
EMPTY = "an empty endpoint"


@dataclass(frozen=True, slots=True)
class Load:
    """What a round of load measured: turns in a second, and the time of one in seconds."""

    rate: float
    p50: float
    p99: float


async def measure(effort: Effort) -> AsyncIterator[Row]:
    """Embedded, and on PostgreSQL with Redis, each beside the empty endpoint, at growing numbers of connections."""
    seconds, rounds = (1.0, 1) if effort is Effort.QUICK else (4.0, 5)
    with contextlib.ExitStack() as running, tempfile.TemporaryDirectory() as folder:
        postgres, redis = running.enter_context(PostgresServer()), running.enter_context(RedisServer())
        stores = {
            "embedded": ["--store", str(Path(folder, "service.db"))],
            "PostgreSQL and Redis": ["--store", postgres.url(), "--redis", redis.url(), *_key_file(folder)],
        }
        ports = {name: running.enter_context(_serving(words)) for name, words in stores.items()}
        ports[EMPTY] = running.enter_context(_empty())
        sizes = _sizes(ports["embedded"])
        plans = {name: _plan(None if name == EMPTY else name, sizes) for name in ports}
        for connections in CONNECTIONS:
            found: dict[str, list[Load]] = {name: [] for name in ports}
            for turn in range(rounds + 1):
                # In turns, another one first each time, so that a slow moment of the machine meets all of them.
                order = [*ports][turn % len(ports) :] + [*ports][: turn % len(ports)]
                for name in order:
                    one = await asyncio.to_thread(_loaded, ports[name], connections, seconds, plans[name])
                    if turn:  # the first round warms up
                        found[name].append(Load(one["rate"], one["p50"], one["p99"]))
            for name in stores:
                for row in _rows(name, connections, found[name], found[EMPTY]):
                    yield row


def _rows(name: str, connections: int, ours: Sequence[Load], empty: Sequence[Load]) -> Iterator[Row]:
    case = f"{connections} connection{'' if connections == 1 else 's'}, {name}"
    rate, their_rate = _figure([one.rate for one in ours], "a second"), _figure([one.rate for one in empty], "a second")
    share = rate.median / their_rate.median
    target = Target(f"{LEAST_SHARE:g} of its rate", share >= LEAST_SHARE) if connections == max(CONNECTIONS) else None
    yield Row("turns of the service", case, rate, EMPTY, their_rate, target)
    for job, kept in (("p50", "p50"), ("p99", "p99")):
        times, theirs = _figure([getattr(one, kept) for one in ours]), _figure([getattr(one, kept) for one in empty])
        yield Row(f"time of one turn, {job}", case, times, EMPTY, theirs)


def _figure(values: Sequence[float], unit: str = "s") -> Figure:
    return Figure(statistics.median(values), min(values), max(values), unit)


def _plan(name: str | None, sizes: Sequence[int]) -> list[tuple[str, str]]:
    """The requests of one conversation; those of the empty endpoint have the same bodies, both ways."""
    bodies = [json.dumps({"message": said}) for said in TURNS]
    if name is None:
        return [(f"/empty/{size}", body) for size, body in zip(sizes, bodies, strict=True)]
    return [("/api/v1/conversations/load-{n}/turns", body) for body in bodies]


def _loaded(port: int, connections: int, seconds: float, requests: Sequence[tuple[str, str]]) -> Mapping[str, float]:
    plan = {"port": port, "connections": connections, "seconds": seconds, "requests": requests}
    command = [sys.executable, str(HERE / "http_load.py")]
    done = subprocess.run(command, input=json.dumps(plan), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"the load at {connections} connections failed: {done.stderr[-500:]}")
    told: Mapping[str, float] = json.loads(done.stdout)
    return told


def _sizes(port: int) -> list[int]:
    """Bytes of the answers to one conversation."""
    found = []
    for said in TURNS:
        request = urllib.request.Request(
            f"http://127.0.0.1:{port}/api/v1/conversations/sizes/turns",
            json.dumps({"message": said}).encode(),
            {"Content-Type": "application/json"},
        )
        with urllib.request.urlopen(request) as answer:
            found.append(len(answer.read()))
    return found


def _key_file(folder: str) -> list[str]:
    key = Path(folder, "approval.key")
    read_or_make_key(key)
    return ["--approval-key-file", str(key)]


@contextlib.contextmanager
def _serving(words: Sequence[str]) -> Iterator[int]:
    command = [str(Path(sys.executable).parent / "skillweave"), "--no-config", "serve", "--skills", str(SKILLS), *words]
    with _started(lambda port: [*command, "--port", str(port)], "/healthz") as port:
        yield port


@contextlib.contextmanager
def _empty() -> Iterator[int]:
    with _started(lambda port: [sys.executable, str(HERE / "empty_app.py"), str(port)], "/") as port:
        yield port


@contextlib.contextmanager
def _started(command: Callable[[int], list[str]], path: str) -> Iterator[int]:
    port = free_port()
    with tempfile.TemporaryFile("w+") as said:
        process = subprocess.Popen(command(port), stdout=said, stderr=said)
        try:
            end = time.monotonic() + START_SECONDS
            while not _answers(port, path):
                if process.poll() is not None or time.monotonic() > end:
                    said.seek(0)
                    raise SystemExit(f"{command(port)[0]} does not start: {said.read()[-1000:]}")
                time.sleep(0.05)
            yield port
        finally:
            process.terminate()
            process.wait(30)


def _answers(port: int, path: str) -> bool:
    try:
        urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=1).close()
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
    return True
