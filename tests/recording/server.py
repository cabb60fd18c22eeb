"""A provider on this machine: a scripted model behind real HTTP, that keeps each request and refuses what none takes.

with RecordingServer(Script("All right.")) as server:
    OpenAI(base_url=server.openai, api_key="none").chat.completions.create(...)
server.requests[0].body
"""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from skillweave_testing.hosts import Script
from tests.recording.anthropic_messages import AnthropicMessages
from tests.recording.chat_completions import ChatCompletions
from tests.recording.gemini import Gemini
from tests.recording.responses import Responses
from tests.recording.rules import Interface, Refused
from tests.recording.streaming import EVENTS

KEY = "none"
"""The key with which clients come; any will do."""


@dataclass(frozen=True)
class Recorded:
    """One request, byte for byte, and the status of its answer; `refusal` is what the provider said against it."""

    path: str
    body: bytes
    status: int
    headers: Mapping[str, str]
    refusal: str = ""

    @property
    def data(self) -> dict[str, Any]:
        """The body, read."""
        read: dict[str, Any] = json.loads(self.body)
        return read


class _Server(uvicorn.Server):
    async def main_loop(self) -> None:
        # As uvicorn's own, which looks ten times a second only: each test would end a tenth of a second later.
        while not self.should_exit:  # noqa: ASYNC110 - set from another thread
            await asyncio.sleep(0.005)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        # As uvicorn's own, which waits a tenth of a second for clients that keep their connections open.
        for server in self.servers:
            server.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        await asyncio.sleep(0)


class RecordingServer:
    """Three providers' interfaces over one script; `thinks` makes the model of `responses` think before it speaks.

    `openai` and `anthropic` are what their clients take as `base_url`; Google's takes that of `anthropic`. `failures`
    are statuses with headers that the next requests are answered with, `answer` a body in place of every reply.
    `altered` may change each reply; a stream ends after `breaks_after` events.
    """

    def __init__(self, script: Script, *, thinks: bool = False) -> None:
        self.script = script
        self.requests: list[Recorded] = []
        self.failures: list[tuple[int, Mapping[str, str]]] = []
        self.answer: Mapping[str, Any] | None = None
        self.altered: Callable[[dict[str, Any]], dict[str, Any]] = dict
        self.breaks_after: int | None = None
        interfaces: Sequence[Interface] = (ChatCompletions(), Responses(thinks=thinks), AnthropicMessages(), Gemini())
        app = Starlette(routes=[Route(one.path, self._endpoint(one), methods=["POST"]) for one in interfaces])
        # Bound here, so that clients may come before the thread has begun: they wait in the queue of the socket.
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._server = _Server(uvicorn.Config(app, log_level="error", lifespan="off", ws="none"))
        self._thread = threading.Thread(target=self._server.run, kwargs={"sockets": [self._socket]}, daemon=True)

    def __enter__(self) -> "RecordingServer":
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.should_exit = True
        self._server.force_exit = True  # clients of frameworks keep their connections open
        self._thread.join()
        self._socket.close()

    @property
    def anthropic(self) -> str:
        """The base address for Anthropic's client."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    @property
    def openai(self) -> str:
        """The base address for OpenAI's client."""
        return f"{self.anthropic}/v1"

    @property
    def refusals(self) -> list[str]:
        """What was refused, in the provider's words."""
        return [one.refusal for one in self.requests if one.refusal]

    def _endpoint(self, interface: Interface) -> Any:
        async def answer(request: Request) -> Response:
            body, headers = await request.body(), dict(request.headers)
            if self.failures:
                status, more = self.failures.pop(0)
                self.requests.append(Recorded(interface.path, body, status, headers))
                return JSONResponse({"error": {"message": "not now, sk-secretsecretsecret"}}, status, more)
            try:
                data = json.loads(body)
                streamed = bool(data.get("stream"))
                if streamed and interface.path not in EVENTS:
                    raise Refused("this server answers at once; leave stream out")
                interface.check(data)
            except Refused as refused:
                self.requests.append(Recorded(interface.path, body, refused.status, headers, refused.message))
                return JSONResponse(interface.error(refused), refused.status)
            self.requests.append(Recorded(interface.path, body, 200, headers))
            if self.answer is not None:
                return JSONResponse(self.answer)
            says = await asyncio.to_thread(self.script.reply, interface.sent(data))  # it may take its time
            reply = self.altered(interface.reply(data, says))
            if not streamed:
                return JSONResponse(reply)
            events = list(EVENTS[interface.path](data, reply))[: self.breaks_after]
            return StreamingResponse(iter(events), media_type="text/event-stream")

        return answer
