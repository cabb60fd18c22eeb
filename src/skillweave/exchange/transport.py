"""The door inside the process: a transport around a client's own HTTP client, of `httpx` or `httpx2`."""

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Mapping
from contextvars import ContextVar
from functools import lru_cache
from importlib import import_module
from typing import Any

from skillweave.exchange.identify import OURS
from skillweave.exchange.paths import begin
from skillweave.exchange.run import problem
from skillweave.exchange.steps import Answer, Asked, Parts, Pass, Refused, Relay, Send, Start, Step, Upstream, Write

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

    def begun(self, request: Any, body: bytes) -> AsyncGenerator[Step, Any] | None:  # noqa: ANN401
        """The steps of a request to a model, None for any other."""
        path = request.url.path
        if request.method != "POST":
            return None
        headers = {name.lower(): value for name, value in request.headers.items()}
        found = begin(self.parts, Asked(path, headers, body, CONVERSATION.get()))
        return None if found is None else found.steps

    def refused(self, request: Any) -> Answer | None:  # noqa: ANN401
        """Why a request is not sent: what runs later at the provider cannot be judged."""
        if request.method == "POST" and request.url.path.endswith(_NOT_SERVED):
            return problem(Refused(400, "not-served", "batches cannot be judged; send each request by itself"))
        return None

    def sent(self, request: Any, body: bytes | None = None) -> Any:  # noqa: ANN401
        """The request as it goes upstream: without our headers, with another body."""
        left = [(k, v) for k, v in request.headers.multi_items() if not k.lower().startswith(OURS)]
        if body is not None:
            left = [(k, v) for k, v in left if k.lower() not in _NOT_FORWARDED]
            content: Any = body
        else:
            content = request.content
        kind = type(request)
        return kind(request.method, request.url, headers=left, content=content, extensions=request.extensions)

    def answered(self, request: Any, answer: Answer) -> Any:  # noqa: ANN401
        """The answer as a response."""
        return self.response(request)(answer.status, headers=dict(answer.headers), content=answer.body, request=request)

    def response(self, request: Any) -> Any:  # noqa: ANN401
        """The class of responses of the package."""
        return import_module(type(request).__module__.partition(".")[0]).Response

    def passed(self, request: Any, came: Any, headers: Mapping[str, str], stream: Any) -> Any:  # noqa: ANN401
        """What upstream answered, with headers of ours; `stream` is None where its body was read."""
        if stream is not None:
            raw = [*came.headers.multi_items(), *headers.items()]
            return self.response(request)(came.status_code, headers=raw, stream=stream, extensions=came.extensions)
        raw = [(k, v) for k, v in came.headers.multi_items() if k.lower() not in _OF_BODY]
        return self.response(request)(came.status_code, headers=[*raw, *headers.items()], content=came.content)

    def begin(self, request: Any, came: Any, headers: Mapping[str, str], stream: Any) -> Any:  # noqa: ANN401
        """The beginning of a streamed answer."""
        sent = [] if came is None else came.headers.multi_items()
        raw = [(k, v) for k, v in sent if k.lower() not in _OF_BODY]
        return self.response(request)(200, headers=[*raw, *headers.items()], stream=stream)


def streams(came: Any) -> bool:  # noqa: ANN401
    """Whether a response is a stream of events."""
    return bool(came.status_code < 300 and "text/event-stream" in came.headers.get("content-type", ""))


class _Pieces:
    """A body made of an iterator, which is closed with it."""

    def __init__(self, pieces: Any) -> None:  # noqa: ANN401
        self._pieces = pieces

    def __iter__(self) -> Iterator[bytes]:
        found: Iterator[bytes] = self._pieces
        return found

    def __aiter__(self) -> AsyncIterator[bytes]:
        found: AsyncIterator[bytes] = self._pieces
        return found

    def close(self) -> None:
        self._pieces.close()

    async def aclose(self) -> None:
        await self._pieces.aclose()


class _Blocking(_Exchanges):
    """Runs the exchange on the weaver's own loop, and everything of HTTP in the caller's thread."""

    def handle_request(self, request: Any) -> Any:  # noqa: ANN401
        body = request.read()
        refused = self.refused(request)
        if refused is not None:
            return self.answered(request, refused)
        steps = self.begun(request, body)
        if steps is None:
            return self._raw(self.client.send(self.sent(request), stream=True), request, {})
        came = None
        try:
            step, came = self._advanced(steps, request, came)
            if isinstance(step, Start):
                return self.begin(request, came, step.headers, self.body(self._written(steps, request, came)))
            self._end(steps)
        except BaseException:
            self._end(steps)
            raise
        if isinstance(step, Answer):
            return self.answered(request, step)
        assert isinstance(step, Pass)  # noqa: S101 - nothing else ends an exchange
        return self._raw(came, request, step.headers)

    def _written(self, steps: AsyncGenerator[Step, Any], request: Any, came: Any) -> Iterator[bytes]:  # noqa: ANN401
        try:
            while True:
                step, came = self._advanced(steps, request, came)
                if step is None:
                    return
                if isinstance(step, Relay):
                    yield from filter(None, map(step.feed, came.iter_bytes()))
                elif isinstance(step, Write) and step.data:
                    yield step.data
        finally:
            if came is not None:
                came.close()
            self._end(steps)

    def _advanced(self, steps: AsyncGenerator[Step, Any], request: Any, came: Any) -> tuple[Step | None, Any]:  # noqa: ANN401
        """The next step that is about the client, with everything sent upstream that comes before it."""
        sent: Upstream | None = None
        while isinstance(step := self._next(steps, sent), Send):
            if came is not None:
                came.close()
            came = self.client.send(self.sent(request, step.body), stream=True)
            body = None if streams(came) else b"" if came.status_code >= 300 else came.read()
            sent = Upstream(came.status_code, dict(came.headers), body)
        return step, came

    def _raw(self, came: Any, request: Any, headers: Mapping[str, str]) -> Any:  # noqa: ANN401
        return self.passed(request, came, headers, None if came.is_stream_consumed else self.body(_raw_pieces(came)))

    def _next(self, steps: AsyncGenerator[Step, Any], sent: Any) -> Step | None:  # noqa: ANN401
        found: Step | None = self.parts.weaver.sync.run(_next_of(steps, sent))
        return found

    def _end(self, steps: AsyncGenerator[Step, Any]) -> None:
        self.parts.weaver.sync.run(_ended(steps))

    def close(self) -> None:
        self.client.close()


class _Awaited(_Exchanges):
    """Runs the exchange on the caller's loop."""

    async def handle_async_request(self, request: Any) -> Any:  # noqa: ANN401
        body = await request.aread()
        refused = self.refused(request)
        if refused is not None:
            return self.answered(request, refused)
        steps = self.begun(request, body)
        if steps is None:
            return self._raw(await self.client.send(self.sent(request), stream=True), request, {})
        came = None
        try:
            step, came = await self._advanced(steps, request, came)
            if isinstance(step, Start):
                return self.begin(request, came, step.headers, self.body(self._written(steps, request, came)))
            await steps.aclose()
        except BaseException:
            await steps.aclose()
            raise
        if isinstance(step, Answer):
            return self.answered(request, step)
        assert isinstance(step, Pass)  # noqa: S101 - nothing else ends an exchange
        return self._raw(came, request, step.headers)

    async def _written(self, steps: AsyncGenerator[Step, Any], request: Any, came: Any) -> AsyncIterator[bytes]:  # noqa: ANN401
        try:
            while True:
                step, came = await self._advanced(steps, request, came)
                if step is None:
                    return
                if isinstance(step, Relay):
                    async for piece in came.aiter_bytes():
                        if made := step.feed(piece):
                            yield made
                elif isinstance(step, Write) and step.data:
                    yield step.data
        finally:
            if came is not None:
                await came.aclose()
            await steps.aclose()

    async def _advanced(self, steps: AsyncGenerator[Step, Any], request: Any, came: Any) -> tuple[Step | None, Any]:  # noqa: ANN401
        """The next step that is about the client, with everything sent upstream that comes before it."""
        sent: Upstream | None = None
        while isinstance(step := await _next_of(steps, sent), Send):
            if came is not None:
                await came.aclose()
            came = await self.client.send(self.sent(request, step.body), stream=True)
            body = None if streams(came) else b"" if came.status_code >= 300 else await came.aread()
            sent = Upstream(came.status_code, dict(came.headers), body)
        return step, came

    def _raw(self, came: Any, request: Any, headers: Mapping[str, str]) -> Any:  # noqa: ANN401
        return self.passed(request, came, headers, None if came.is_stream_consumed else self.body(_araw_pieces(came)))

    async def aclose(self) -> None:
        await self.client.aclose()


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


def _raw_pieces(came: Any) -> Iterator[bytes]:  # noqa: ANN401
    try:
        yield from came.iter_raw()
    finally:
        came.close()


async def _araw_pieces(came: Any) -> AsyncIterator[bytes]:  # noqa: ANN401
    try:
        async for piece in came.aiter_raw():
            yield piece
    finally:
        await came.aclose()


async def _next_of(steps: AsyncGenerator[Step, Any], sent: Any) -> Step | None:  # noqa: ANN401
    """The next step, None at the end."""
    try:
        return await steps.asend(sent)
    except StopAsyncIteration:
        return None


async def _ended(steps: AsyncGenerator[Step, Any]) -> None:
    await steps.aclose()
