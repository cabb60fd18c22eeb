"""Traces: a span for each request, where OpenTelemetry is installed, below that of whoever called."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from skillweave._version import __version__
from skillweave.events.event import Observer
from skillweave_server.watching import seen_in

SCOPE = "skillweave_server"


def has_traces() -> bool:
    """Whether OpenTelemetry is installed."""
    return find_spec("opentelemetry") is not None


def trace_observers() -> Sequence[Observer]:
    """What records turns as spans; nobody without OpenTelemetry."""
    if not has_traces():
        return ()
    from skillweave.telemetry.opentelemetry import OpenTelemetry

    return (OpenTelemetry(),)


class Traced:
    """ASGI middleware with a span around each request, which goes on with a `traceparent` that came with it.

    Its name is the template of the path. The spans of turns are below it. Without an SDK nothing is recorded.
    """

    def __init__(self, app: ASGIApp, tracer_provider: Any = None) -> None:  # noqa: ANN401 - of an optional package
        from opentelemetry import propagate, trace

        self._app = app
        self._extract = propagate.extract
        self._tracer = trace.get_tracer(SCOPE, __version__, tracer_provider)
        self._kind = trace.SpanKind.SERVER
        self._failed = trace.StatusCode.ERROR

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer as the application does."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        method = scope["method"][:20]
        # The first of several: a carrier is a mapping.
        sent = {name.decode("latin-1"): value.decode("latin-1") for name, value in reversed(scope["headers"])}
        context = self._extract(sent)
        attributes = {"http.request.method": method, "url.scheme": scope.get("scheme", "http")}
        with self._tracer.start_as_current_span(method, context, self._kind, attributes) as span:

            async def noting(message: Message) -> None:
                if message["type"] == "http.response.start":
                    status = message["status"]
                    span.set_attribute("http.response.status_code", status)
                    if status >= 500:
                        span.set_status(self._failed)
                await send(message)

            try:
                await self._app(scope, receive, noting)
            finally:
                route = seen_in(scope).route or getattr(scope.get("route"), "path", None)
                if route is not None:
                    span.update_name(f"{method} {route}")
                    span.set_attribute("http.route", route)
