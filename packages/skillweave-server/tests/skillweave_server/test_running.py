"""A process that serves: it stops in steps, and clients that are too slow hold nothing up."""

import asyncio
import json
import logging
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.skillweave_server.parts import service_in
from uvicorn import Config, Server

from skillweave_server.app import create_app
from skillweave_server.connections import Bounded, bounded
from skillweave_server.listening import CannotListen, addresses_of, bound_sockets, only_this_machine, start_listening
from skillweave_server.logs import JsonLines
from tests.cli.published import require_published

SKILL = "---\nname: release\ndescription: Cuts a release.\ntriggers: {keywords: [release]}\n---\nTag the commit.\n"
QUIET = ("--no-config",)


@dataclass
class Process:
    """A service in a process of its own, and what it said when it began to listen."""

    running: "subprocess.Popen[str]"
    told: dict[str, Any]

    @property
    def address(self) -> str:
        return str(self.told["addresses"][0])

    def turn(self, number: int) -> dict[str, Any]:
        url = f"{self.address}/api/v1/conversations/c/turns"
        answer = httpx.post(url, json={"id": f"t{number}", "message": "release"}, timeout=30)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found


@contextmanager
def started(folder: Path, *arguments: str) -> Iterator[Process]:
    """`skillweave serve` on a file of the folder, at a port that was free."""
    words = [sys.executable, "-m", "skillweave", *QUIET, "serve", "--port", "0", "--no-cache", "--json", *arguments]
    with (
        (folder / "log").open("a", encoding="utf-8") as log,
        subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=log, text=True) as running,
    ):
        try:
            assert running.stdout is not None
            line = running.stdout.readline()
            assert line, (folder / "log").read_text(encoding="utf-8")
            require_published(words, line)
            yield Process(running, json.loads(line))
        finally:
            running.kill()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A project with one skill."""
    (tmp_path / "skills" / "release").mkdir(parents=True)
    (tmp_path / "skills" / "release" / "SKILL.md").write_text(SKILL, encoding="utf-8")
    return tmp_path


@pytest.mark.soak
def test_what_was_answered_is_there_after_a_stop_and_a_new_start(folder: Path) -> None:
    with started(folder) as first:
        given = first.turn(1)
        assert "Tag the commit." in str(given["messages"])
        first.running.send_signal(signal.SIGTERM)
        assert first.running.wait(30) == 0
    with started(folder) as second:
        assert second.told["is_open"]
        assert second.told["skills"] == 1
        again = second.turn(1)
        kept = httpx.get(f"{second.address}/api/v1/ledger/c", timeout=30).json()
    assert again["messages"] == given["messages"]
    assert [record["key"] for record in kept["records"]] == ["skill:release"]


def test_the_first_key_is_printed_once_and_stands_in_no_log(folder: Path) -> None:
    with started(folder, "--first-key") as first:
        key = first.told["first_key"]
        url = f"{first.address}/api/v1/ledger/c"
        assert httpx.get(url, timeout=30).status_code == 401
        assert httpx.get(url, headers={"Authorization": f"Bearer {key}"}, timeout=30).status_code == 200
        # An answer comes before its line of the log, which a stop waits for and a kill does not.
        first.running.send_signal(signal.SIGTERM)
        assert first.running.wait(30) == 0
    with started(folder, "--first-key") as second:
        assert second.told["first_key"] is None
    log = (folder / "log").read_text(encoding="utf-8")
    assert key not in log
    assert key.split("_")[1] in log


@pytest.mark.soak
def test_it_does_not_listen_beyond_this_machine_without_a_key(folder: Path) -> None:
    words = [sys.executable, "-m", "skillweave", *QUIET, "serve", "--host", "0.0.0.0", "--port", "0"]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert "start with --first-key, or make one: skillweave keys new" in done.stderr
    assert len(done.stderr.splitlines()) == 1


def test_a_stream_ends_and_a_second_signal_ends_the_process_at_once(folder: Path) -> None:
    with started(folder, "--drain", "600") as process:
        url = f"{process.address}/api/v1/conversations/c/stream"
        with httpx.stream("GET", url, timeout=30) as stream:
            lines = stream.iter_lines()
            next(lines)
            process.running.send_signal(signal.SIGTERM)
            for _ in lines:
                pass
        ready = httpx.get(f"{process.address}/readyz", timeout=30)
        assert (ready.status_code, ready.json()["status"]) == (503, "stopping")
        process.running.send_signal(signal.SIGINT)
        assert process.running.wait(30) == 130


@asynccontextmanager
async def served(folder: Path, **bounds: float) -> AsyncIterator[int]:
    """The port of a service in this process, whose connections have these bounds."""
    config = bounded(Config(create_app(service_in(folder)), log_config=None, access_log=False, lifespan="on"))
    config.http_protocol_class = type("Tight", (config.http_protocol_class,), bounds)  # type: ignore[arg-type]
    server = Server(config)
    server.lifespan = config.lifespan_class(config)
    sockets = bound_sockets("127.0.0.1", 0)
    start_listening(sockets)
    await server.startup(sockets)
    try:
        yield sockets[0].getsockname()[1]
    finally:
        await server.shutdown(sockets)


async def test_headers_that_do_not_come_end_the_connection(tmp_path: Path) -> None:
    async with served(tmp_path, header_seconds=0.05) as port:
        for sent in (b"", b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Slow: "):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            assert await reader.read() == b""
            writer.close()


async def test_slow_headers_of_a_second_request_end_the_connection_too(tmp_path: Path) -> None:
    async with served(tmp_path, header_seconds=0.05) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        assert (await reader.readuntil(b"}")).startswith(b"HTTP/1.1 200")
        writer.write(b"GET /heal")
        assert await reader.read() == b""
        writer.close()


async def test_headers_without_end_are_refused(tmp_path: Path) -> None:
    async with served(tmp_path) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX-Long: " + b"x" * 70_000)
        assert (await reader.read()).startswith(b"HTTP/1.1 431")
        writer.close()


async def test_a_large_body_that_comes_together_with_its_headers_is_no_large_header(tmp_path: Path) -> None:
    body = json.dumps({"message": "x" * 70_000}).encode()
    head = b"POST /api/v1/conversations/c/turns HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    async with served(tmp_path) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(head + b"Connection: close\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 200"), answer[:100]


async def test_one_connection_too_many_is_told_to_come_again(tmp_path: Path) -> None:
    async with served(tmp_path, most_connections=1) as port:
        _, held = await asyncio.open_connection("127.0.0.1", port)
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        answer = await reader.read()
        for one in (held, writer):
            one.close()
    assert answer.startswith(b"HTTP/1.1 503")
    assert b"Retry-After: 1" in answer


async def test_a_client_that_reads_nothing_is_dropped() -> None:
    loop = asyncio.get_running_loop()
    dropped = asyncio.Event()

    class Transport(asyncio.Transport):
        def abort(self) -> None:
            dropped.set()

    class Told:
        def pause_writing(self) -> None: ...

    class Slow(Bounded, Told):  # type: ignore[misc]
        unread_seconds = 0.01

    slow = Slow()
    slow.loop, slow.transport = loop, Transport()
    slow.pause_writing()
    async with asyncio.timeout(10):
        await dropped.wait()


def test_a_port_that_is_in_use_is_named_with_the_remedy() -> None:
    (held,) = bound_sockets("127.0.0.1", 0)
    with held:
        start_listening([held])
        port = held.getsockname()[1]
        with pytest.raises(CannotListen, match=f"port {port} of 127.0.0.1 is in use; .* name another with --port"):
            bound_sockets("127.0.0.1", port)


def test_a_host_that_nobody_knows_is_refused() -> None:
    with pytest.raises(CannotListen, match="is not known"):
        bound_sockets("nowhere.invalid", 0)
    with pytest.raises(CannotListen, match="is no port"):
        bound_sockets("127.0.0.1", 70_000)


@pytest.mark.parametrize(("host", "local"), [("127.0.0.1", True), ("localhost", True), ("0.0.0.0", False)])
def test_whether_others_reach_it_is_seen_by_its_addresses(host: str, local: bool) -> None:
    sockets = bound_sockets(host, 0)
    try:
        assert only_this_machine(sockets) is local
        assert len({address.rpartition(":")[2] for address in addresses_of(sockets)}) == 1
    finally:
        for one in sockets:
            one.close()


def test_nothing_in_an_entry_of_the_log_makes_another_line_or_shows_a_password() -> None:
    text = 'from redis://:hunter2@cache\r\n{"forged": true}\u2028 \x1b[31m'
    record = logging.LogRecord("skillweave", logging.WARNING, "", 0, "%s", (text,), None)
    line = JsonLines().format(record)
    assert line.isascii()
    assert line.isprintable()
    assert "hunter2" not in line
    assert json.loads(line)["level"] == "warning"
