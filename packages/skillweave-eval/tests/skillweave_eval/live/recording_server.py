"""A real HTTP server that answers as a model's would, in both wire formats, and records what it was asked."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Lock, Thread
from typing import Any

JUDGED = re.compile(r"^(\d+)\. (.*)$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Request:
    path: str
    headers: Mapping[str, str]
    body: Mapping[str, Any]

    @property
    def system(self) -> str:
        if "system" in self.body:
            return str(self.body["system"])
        return "".join(one["content"] for one in self.body["messages"] if one["role"] == "system")

    @property
    def text(self) -> str:
        return str(self.body["messages"][-1]["content"])

    @property
    def judges(self) -> bool:
        return self.system.startswith("You judge")


@dataclass(slots=True)
class Model:
    """What the server answers: `answer` to a prompt, `judge` to each expectation; `failures` come first."""

    answer: Callable[[Request], str] = lambda request: "With care." if request.system else "No idea."
    judge: Callable[[Request, str], bool] = lambda request, _: "With care." in request.text
    failures: list[tuple[int, Mapping[str, str]]] = field(default_factory=list)
    body: Mapping[str, Any] | None = None
    """What is sent in place of an answer."""
    requests: list[Request] = field(default_factory=list)
    lock: Lock = field(default_factory=Lock)

    @property
    def answered(self) -> list[Request]:
        return [request for request in self.requests if not request.judges]

    def reply(self, request: Request) -> str:
        if not request.judges:
            return self.answer(request)
        expectations = request.text.rpartition("Expectations:\n")[2]
        verdicts = [
            {"number": int(number), "met": self.judge(request, text), "why": "it says so"}
            for number, text in JUDGED.findall(expectations)
        ]
        return f"Here you are:\n```json\n{json.dumps({'verdicts': verdicts})}\n```"


@contextmanager
def serving(model: Model) -> Iterator[str]:
    """The address of the server, until the block ends."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            headers = {name.lower(): value for name, value in self.headers.items()}
            request = Request(self.path, headers, body)
            with model.lock:
                model.requests.append(request)
                failure = model.failures.pop(0) if model.failures else None
            if failure is not None:
                self._send(failure[0], {"error": {"message": "not now, sk-secretsecretsecret"}}, failure[1])
                return
            if model.body is not None:
                self._send(200, model.body, {})
                return
            said = model.reply(request)
            anthropic = self.path.endswith("/messages")
            self._send(200, _anthropic(said) if anthropic else _openai(said), {})

        def _send(self, status: int, data: object, headers: Mapping[str, str]) -> None:
            raw = json.dumps(data).encode()
            self.send_response(status)
            for name, value in {"content-type": "application/json", **headers}.items():
                self.send_header(name, value)
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, args=(0.01,), daemon=True)  # it ends that soon
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.shutdown()
            thread.join()


def _openai(said: str) -> dict[str, object]:
    usage = {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 40}}
    choice = {"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
    return {"choices": [choice], "usage": usage}


def _anthropic(said: str) -> dict[str, object]:
    usage = {"input_tokens": 60, "cache_read_input_tokens": 40, "output_tokens": 10}
    return {"content": [{"type": "text", "text": said}], "stop_reason": "end_turn", "usage": usage}
