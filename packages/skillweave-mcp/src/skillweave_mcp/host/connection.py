"""One server to ask, for as long as a question takes: bounded in time and in bytes, and never sent elsewhere."""

import asyncio
import base64
import os
import shlex
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.stdio import get_default_environment
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ConfigDict

from skillweave.errors import InvalidValue
from skillweave.values import without_secrets
from skillweave_mcp.entries import EXTENSION
from skillweave_mcp.server import UriParams

ANSWER_SECONDS = 15.0
"""How long one answer may take."""
LIST_SECONDS = 60.0
"""How long all pages together may take."""
START_SECONDS = 30.0
"""How long a command may take beside that: it is started for each question, so that none is left behind."""
MOST_ANSWER_BYTES = 24 * 1024 * 1024
"""The largest answer that is read: a file of 16 MiB in base64."""
MOST_PAGES = 1_000
MOST_SKILLS = 20_000
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


class Unanswered(Exception):
    """A server that did not answer as it has to; the text says how, without its words."""


class _Answer(types.Result):
    """Any result, with what stands in it."""

    model_config = ConfigDict(extra="allow")

    @property
    def given(self) -> dict[str, Any]:
        return self.model_extra or {}


class _List(types.Request[types.PaginatedRequestParams, str]):
    method: str = "skills/list"


class _Get(types.Request[UriParams, str]):
    method: str = "skills/get"


@dataclass(frozen=True, slots=True)
class Server:
    """Where a server is: `url` over HTTP, else the `command` that starts it."""

    url: str | None = None
    command: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The address for people, without a password."""
        return without_secrets(self.url) if self.url is not None else " ".join(self.command)

    async def entries(self) -> list[object]:
        """Returns every entry of every page. Raises Unanswered."""
        found: list[object] = []
        cursor, seen = None, set[str]()
        async with _asked(self, LIST_SECONDS) as client:
            while True:
                params = types.PaginatedRequestParams(cursor=cursor)
                answer = (await client.session.send_request(_List(params=params), _Answer)).given
                skills, cursor = answer.get("skills"), answer.get("nextCursor")
                if not isinstance(skills, list):
                    raise Unanswered("its skills/list has no list of skills")
                found += skills
                if cursor is None:
                    return found
                if not isinstance(cursor, str) or cursor in seen:
                    raise Unanswered("its pages lead back to an earlier one")
                seen.add(cursor)
                if len(seen) >= MOST_PAGES or len(found) > MOST_SKILLS:
                    raise Unanswered(f"it lists over {MOST_PAGES:,} pages or {MOST_SKILLS:,} skills; no more are read")

    async def entry(self, uri: str) -> object:
        """Returns the entry of one skill, as it is now. Raises Unanswered."""
        async with _asked(self, ANSWER_SECONDS) as client:
            answer = await client.session.send_request(_Get(params=UriParams(uri=uri)), _Answer)
            return answer.given.get("skill")

    async def read(self, uri: str) -> bytes:
        """Returns the bytes of one resource. Raises Unanswered."""
        async with _asked(self, ANSWER_SECONDS) as client:
            contents = (await client.read_resource(uri)).contents
            if len(contents) != 1 or str(contents[0].uri) != uri:
                raise Unanswered("it answered with another resource than was asked for")
            content = contents[0]
            if isinstance(content, types.TextResourceContents):
                return content.text.encode("utf-8", "surrogatepass")
            return base64.b64decode(content.blob, validate=True)


def server_of(scheme: str, rest: str) -> Server:
    """Returns the server of an address `mcp+https://...`, `mcp+http://` on this machine, or `mcp+stdio:command`.

    Raises InvalidValue.
    """
    if scheme == "mcp+stdio":
        try:
            command = tuple(shlex.split(rest))
        except ValueError as error:
            raise InvalidValue(f"mcp+stdio:{rest[:80]} is no command ({error}); quote it as in a shell") from None
        if not command:
            raise InvalidValue("mcp+stdio: names no command; write mcp+stdio:COMMAND ARGUMENTS")
        return Server(command=command)
    url = httpx2.URL(f"{scheme.removeprefix('mcp+')}://{rest}")
    if not url.host or (url.scheme == "http" and url.host not in _LOOPBACK):
        raise InvalidValue(
            f"{scheme}://{url.host} is no server; give mcp+https://HOST/mcp, or mcp+http on this machine"
        )
    return Server(str(url))


@asynccontextmanager
async def _asked(server: Server, seconds: float) -> AsyncIterator[Client]:
    """A client of the server while the block runs; whatever goes wrong is Unanswered."""
    try:
        async with (
            asyncio.timeout(seconds + _patience(server)),
            _transport(server) as transport,
            Client(transport, read_timeout_seconds=_patience(server), cache=None) as client,
        ):
            if EXTENSION not in (client.server_capabilities.extensions or {}):
                raise Unanswered("it does not serve skills: it does not declare the extension")
            yield client
    except (Unanswered, asyncio.CancelledError):
        raise
    except BaseExceptionGroup as group:
        raise Unanswered(_reason(_first(group))) from None
    except Exception as error:
        # A stranger's server and the code that reads it: anything may go wrong, and none of it is ours to pass on.
        raise Unanswered(_reason(error)) from error


def _patience(server: Server) -> float:
    """Seconds for one answer; the first one of a command includes its start."""
    return ANSWER_SECONDS + (START_SECONDS if server.command else 0.0)


def _first(group: BaseExceptionGroup[BaseException]) -> BaseException:
    inner: BaseException = group
    while isinstance(inner, BaseExceptionGroup):
        inner = inner.exceptions[0]
    if isinstance(inner, asyncio.CancelledError | KeyboardInterrupt | SystemExit):
        raise inner
    return inner


def _reason(error: BaseException) -> str:
    if isinstance(error, Unanswered):
        return str(error)
    if isinstance(error, TimeoutError):
        return "it took too long"
    if isinstance(error, MCPError):
        return f"it answered with error {error.code}"
    return f"it cannot be talked to ({type(error).__name__})"


@asynccontextmanager
async def _transport(server: Server) -> AsyncIterator[Any]:
    if server.url is None:
        yield _stdio(server.command)
        return
    timeout = httpx2.Timeout(ANSWER_SECONDS)
    bounded = _Bounded(httpx2.AsyncHTTPTransport())
    async with httpx2.AsyncClient(transport=bounded, timeout=timeout, follow_redirects=False) as http:
        yield streamable_http_client(server.url, http_client=http, max_sse_event_size=MOST_ANSWER_BYTES)


class _Bounded(httpx2.AsyncBaseTransport):
    """A transport that reads so much of an answer and no more."""

    def __init__(self, inner: httpx2.AsyncHTTPTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        """Answers as the one inside, whose stream ends in an error where it is too long."""
        response = await self._inner.handle_async_request(request)
        response.stream = _Counted(response.stream)
        return response

    async def aclose(self) -> None:
        """Gives back the connections."""
        await self._inner.aclose()


class _Counted(httpx2.AsyncByteStream):
    def __init__(self, inner: Any) -> None:  # noqa: ANN401 - a stream of either kind, which the client reads alike
        self._inner = inner

    async def __aiter__(self) -> AsyncIterator[bytes]:
        read = 0
        async for piece in self._inner:
            read += len(piece)
            if read > MOST_ANSWER_BYTES:
                raise Unanswered(f"its answer has over {MOST_ANSWER_BYTES >> 20} MiB; no more is read")
            yield piece

    async def aclose(self) -> None:
        await self._inner.aclose()


@asynccontextmanager
async def _stdio(command: Sequence[str]) -> AsyncIterator[tuple[Any, Any]]:
    """A process and its lines: the SDK's own transport would keep a line of any length in memory."""
    process = await asyncio.create_subprocess_exec(
        *command,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        env=get_default_environment() | {"PATH": os.environ.get("PATH", "")},
        limit=MOST_ANSWER_BYTES,
    )
    assert process.stdin is not None and process.stdout is not None  # noqa: S101, PT018 - as asked for above
    incoming, outgoing = process.stdout, process.stdin
    to_us, from_server = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    to_server, from_us = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with to_us:
            try:
                while line := await incoming.readline():
                    await to_us.send(_message(line))
            except ValueError:
                await to_us.send(Unanswered(f"a line of it has over {MOST_ANSWER_BYTES >> 20} MiB; no more is read"))

    async def write() -> None:
        async for message in from_us:
            outgoing.write(message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
            await outgoing.drain()

    tasks = [asyncio.create_task(read()), asyncio.create_task(write())]
    try:
        yield from_server, to_server
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        for stream in (to_us, from_server, to_server, from_us):
            stream.close()
        if process.returncode is None:
            process.kill()
        await process.wait()


def _message(line: bytes) -> SessionMessage | Exception:
    try:
        return SessionMessage(types.jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError as error:
        return error
