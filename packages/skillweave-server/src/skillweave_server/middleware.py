"""What stands around every request: it is noted and traced, its path may name ids with slashes, its answer is safe."""

import json
import logging
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any
from urllib.parse import unquote_to_bytes

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skillweave import Observer, __version__
from skillweave.exchange import Begun
from skillweave_server.meters import Meters
from skillweave_server.problems import SAFE, Refused, answer_to

log = logging.getLogger("skillweave.access")

TRACER = "skillweave_server"
SEEN = "skillweave.seen"
"""Where the Seen of a request stands in its scope."""
_BROKEN_OFF = 499
"""The status in the log of a request whose client went away before any answer, as proxies write it."""
SLASH = "\uf02f"
"""Stands for a slash of an id while a path is matched; no id can hold it, as it is not printable."""
_NO_UTF_8 = answer_to(
    Refused(422, "invalid-parameter", "the path holds bytes that are no text in UTF-8, or none that an id can hold")
)


@dataclass(slots=True)
class Seen:
    """What is known of a request: the template of its path, its key's id and tenant, and the answer's status.

    `exchange` is what passes through the gateway, None for any other request.
    """

    route: str | None = None
    key: str | None = None
    tenant: str | None = None
    status: int | None = None
    exchange: Begun | None = None
    leave: Callable[[], None] | None = None
    """What gives back the part of its tenant's share that the request has."""

    def left(self) -> None:
        """Give it back, once."""
        leave, self.leave = self.leave, None
        if leave is not None:
            leave()


def records_spans() -> bool:
    """Returns whether OpenTelemetry has an SDK in this process; without one a span costs time and goes nowhere."""
    from opentelemetry import trace

    return not isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider)


def trace_observers() -> Sequence[Observer]:
    """Returns what records turns as spans and metrics, if an SDK takes either as the service starts."""
    if find_spec("opentelemetry") is None:
        return ()
    from opentelemetry import metrics

    # The API's own provider of meters records nothing, and has no public name.
    if not records_spans() and type(metrics.get_meter_provider()).__module__.startswith("opentelemetry.metrics"):
        return ()
    from skillweave.telemetry import OpenTelemetry

    return (OpenTelemetry(),)


class Middleware:
    """ASGI middleware around all endpoints.

    It counts each request and writes its line to the log `skillweave.access`, without a path, a secret or a body. If
    OpenTelemetry records, each request is a span that goes on with a `traceparent` that came with it. `%2F` in a path
    is a slash of an id, as conversations of sub-agents have. No answer is kept on the way.
    """

    def __init__(self, app: ASGIApp, meters: Meters, tracer_provider: Any = None) -> None:  # noqa: ANN401 - optional
        self._app = app
        self._meters = meters
        self._provider = tracer_provider
        self._has_traces = find_spec("opentelemetry") is not None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begun, seen = time.perf_counter(), Seen()
        scope[SEEN] = seen

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in SAFE.items():
                    headers.setdefault(name, value)
            await send(message)

        app, traced = self._app, self._provider is not None or (self._has_traces and records_spans())
        if b"%" in (scope.get("raw_path") or b""):
            path = _path_of(scope["raw_path"])
            app, scope = (_NO_UTF_8, scope) if path is None else (app, {**scope, "path": path})
        try:
            with self._span(scope, seen) if traced else nullcontext():
                await app(scope, receive, noting)
        except Exception:
            seen.status = seen.status or 500
            raise
        finally:
            if seen.leave is not None:
                seen.left()
            # A path that is not there may be anything; a template is nobody's words.
            route, status = seen.route or getattr(scope.get("route"), "path", None), seen.status or _BROKEN_OFF
            seconds = time.perf_counter() - begun
            self._meters.answered(scope["method"], route, status, seconds)
            if seen.exchange is not None:
                self._meters.exchange_over(seen.exchange.facts)
            if log.isEnabledFor(logging.INFO):
                method, ms = scope["method"][:20], round(seconds * 1000, 2)
                line: Mapping[str, Any] = {"method": method, "route": route, "status": status, "ms": ms}
                line = {**line, "key": seen.key, "tenant": seen.tenant}
                log.info(json.dumps(line), extra={"request": line})

    @contextmanager
    def _span(self, scope: Scope, seen: Seen) -> Iterator[None]:
        """A span that is named after the template of the path; those of turns are below it."""
        from opentelemetry import propagate, trace

        method = scope["method"][:20]
        # The first of several: a carrier is a mapping.
        sent = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}
        attributes = {"http.request.method": method, "url.scheme": scope.get("scheme", "http")}
        tracer = trace.get_tracer(TRACER, __version__, self._provider)
        kind, above = trace.SpanKind.SERVER, propagate.extract(sent)
        with tracer.start_as_current_span(method, above, kind, attributes) as span:
            try:
                yield
            finally:
                if seen.exchange is not None:
                    facts = dict(seen.exchange.facts)
                    span.set_attribute("gen_ai.conversation.id", facts.pop("conversation"))
                    span.set_attributes({f"skillweave.exchange.{name}": one for name, one in facts.items()})
                if seen.status is not None:
                    span.set_attribute("http.response.status_code", seen.status)
                    if seen.status >= 500:
                        span.set_status(trace.StatusCode.ERROR)
                route = seen.route or getattr(scope.get("route"), "path", None)
                if route is not None:
                    span.update_name(f"{method} {route}")
                    span.set_attribute("http.route", route)


def _path_of(raw: bytes) -> str | None:
    """Returns the path with slashes of ids apart from its own; None for what is no text that an id can hold."""
    try:
        parts = [unquote_to_bytes(part).decode() for part in raw.split(b"/")]
    except UnicodeDecodeError:
        return None
    return None if any(SLASH in part for part in parts) else "/".join(part.replace("/", SLASH) for part in parts)
