"""The door inside the process: a transport around a client's own HTTP client, of `httpx` or `httpx2`."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from functools import lru_cache, partial
from importlib import import_module
from operator import methodcaller
from typing import Any

from skillweave.exchange.flow import BlockingFlow, Flow
from skillweave.exchange.identify import OURS
from skillweave.exchange.paths import Begun, begin
from skillweave.exchange.run import problem
from skillweave.exchange.steps import Answer, Asked, Parts, Pass, Refused, Start

FAMILIES = ("httpx2", "httpx")
CONVERSATION: ContextVar[str] = ContextVar("skillweave_conversation", default="")
"""What the process itself says about the conversation of the calls that it makes."""
_NOT_FORWARDED = frozenset({"content-length", "transfer-encoding", "host"})
_OF_BODY = frozenset({"content-length", "content-encoding", "transfer-encoding"})
_NOT_SERVED = ("/batches",)


def family_of(client: object) -> str | None:
    """The package that an HTTP client is of, None for what is no client of either."""
    for base in type(client).__mro__:
        package = base.__module__.partition(".")[0]
        if package in FAMILIES and base.__name__ in ("Client", "AsyncClient"):
            return package
    return None


def is_async(client: object) -> bool:
    """Whether an HTTP client is one that is awaited."""
    return any(base.__name__ == "AsyncClient" for base in type(client).__mro__)


def around(client: Any, parts: Parts) -> Any:  # noqa: ANN401 - of either package
    """A client of the same package whose requests to a model go through an exchange, and then through `client`."""
    package = family_of(client)
    assert package is not None  # noqa: S101 - the caller asked
    transport = _of(package, awaited=is_async(client))(client, parts)
    made = import_module(package).AsyncClient if is_async(client) else import_module(package).Client
    # Proxies, certificates, limits and hooks are the inner client's; time limits come with each request.
    return made(transport=transport, timeout=client.timeout, follow_redirects=False, trust_env=False)


class _Exchanges:
    """What the transports of both kinds share; `body` makes the body of a response out of an iterator."""

    body: Any

    def __init__(self, client: Any, parts: Parts) -> None:  # noqa: ANN401
        self.client, self.parts = client, parts

    def begun(self, request: Any, body: bytes) -> Begun | Answer | None:  # noqa: ANN401
        """The exchange of a request to a model, None for any other; or why it is not sent."""
        path = request.url.path
        if request.method != "POST":
            return None
        if path.endswith(_NOT_SERVED):  # what runs later at the provider cannot be judged
            return problem(Refused(400, "not-served", "batches cannot be judged; send each request by itself"))
        headers = {name.lower(): value for name, value in request.headers.items()}
        return begin(self.parts, Asked(path, headers, body, CONVERSATION.get()))

    def called(self, request: Any, body: bytes | None = None) -> Any:  # noqa: ANN401
        """The response, or what is awaited for it, of the request without our headers, with another body."""
        left = [(k, v) for k, v in request.headers.multi_items() if not k.lower().startswith(OURS)]
        if body is not None:
            left = [(k, v) for k, v in left if k.lower() not in _NOT_FORWARDED]
        content = request.content if body is None else body
        sent = type(request)(request.method, request.url, headers=left, content=content, extensions=request.extensions)
        return self.client.send(sent, stream=True)

    def answered(self, request: Any, answer: Answer) -> Any:  # noqa: ANN401
        """The answer as a response."""
        return _response(request)(answer.status, headers=dict(answer.headers), content=answer.body, request=request)

    def passed(self, request: Any, came: Any, step: Start | Pass, pieces: Any) -> Any:  # noqa: ANN401
        """What upstream answered, with headers of ours: streamed, as it was read, or as it still comes."""
        sent = [] if came is None else came.headers.multi_items()
        if isinstance(step, Pass) and not came.is_stream_consumed:
            return _response(request)(
                came.status_code, headers=[*sent, *step.headers.items()], stream=pieces, extensions=came.extensions
            )
        headers = [*((k, v) for k, v in sent if k.lower() not in _OF_BODY), *step.headers.items()]
        if isinstance(step, Start):
            return _response(request)(200, headers=headers, stream=pieces)
        return _response(request)(came.status_code, headers=headers, content=came.content)


class _Blocking(_Exchanges):
    """For clients that block."""

    def handle_request(self, request: Any) -> Any:  # noqa: ANN401
        begun = self.begun(request, request.read())
        if isinstance(begun, Answer):
            return self.answered(request, begun)
        send, read, run = partial(self.called, request), methodcaller("read"), self.parts.weaver.sync.run
        flow = BlockingFlow(begun, send, read, run)
        step = flow.answer()
        if isinstance(step, Answer):
            return self.answered(request, step)
        pieces = flow.pieces() if isinstance(step, Start) else flow.came.iter_raw()
        return self.passed(request, flow.came, step, self.body(pieces, flow.close))

    def close(self) -> None:
        self.client.close()


class _Awaited(_Exchanges):
    """For clients that are awaited; the exchange runs on the caller's loop."""

    async def handle_async_request(self, request: Any) -> Any:  # noqa: ANN401
        begun = self.begun(request, await request.aread())
        if isinstance(begun, Answer):
            return self.answered(request, begun)
        flow = Flow(begun, partial(self.called, request), methodcaller("aread"))
        step = await flow.answer()
        if isinstance(step, Answer):
            return self.answered(request, step)
        pieces = flow.pieces() if isinstance(step, Start) else flow.came.aiter_raw()
        return self.passed(request, flow.came, step, self.body(pieces, flow.aclose))

    async def aclose(self) -> None:
        await self.client.aclose()


class _Pieces:
    """A body made of a generator. Closed before it was begun too, which a generator alone would not notice."""

    def __init__(self, pieces: Any, close: Callable[[], Any]) -> None:  # noqa: ANN401
        self._pieces, self._close = pieces, close

    def __iter__(self) -> Iterator[bytes]:
        found: Iterator[bytes] = self._pieces
        return found

    def __aiter__(self) -> AsyncIterator[bytes]:
        found: AsyncIterator[bytes] = self._pieces
        return found

    def close(self) -> None:
        self._pieces.close()
        self._close()

    async def aclose(self) -> None:
        await self._pieces.aclose()
        await self._close()


@lru_cache(4)
def _of(package: str, *, awaited: bool) -> Any:  # noqa: ANN401
    """The transport of a package: its own base classes are what its clients ask for."""
    family = import_module(package)
    kind = _Awaited if awaited else _Blocking
    transport, stream = (
        (family.AsyncBaseTransport, family.AsyncByteStream)
        if awaited
        else (family.BaseTransport, family.SyncByteStream)
    )
    return type("Transport", (kind, transport), {"body": type("Body", (_Pieces, stream), {})})


def _response(request: Any) -> Any:  # noqa: ANN401
    """The class of responses of the package."""
    return import_module(type(request).__module__.partition(".")[0]).Response
