"""Traces of the service, as a real SDK records them: the turn below the request, the request below its caller."""

from pathlib import Path

import httpx
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from tests.skillweave_server.parts import service_in

from skillweave.telemetry.opentelemetry import OpenTelemetry
from skillweave_server.app import create_app
from skillweave_server.gateways import Gateway
from skillweave_server.meters import Meters
from skillweave_server.middleware import Middleware, trace_observers
from skillweave_server.upstreams import providers_of
from skillweave_testing.hosts import Script
from tests.recording.server import RecordingServer

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
HEADERS = {"traceparent": f"00-{TRACE}-{CALLER}-01"}


async def recorded(
    folder: Path, method: str, path: str, body: object = None, upstream: str = ""
) -> dict[str, ReadableSpan]:
    """The spans of one request, by their names."""
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    service = service_in(folder, observers=[OpenTelemetry(provider)])
    service.gateway = Gateway(providers_of([f"p={upstream}"], [], {})) if upstream else None
    app = create_app(service)
    # The process's own provider can be set only once, for all tests.
    (traced,) = [one for one in app.user_middleware if one.cls is Middleware]  # type: ignore[comparison-overlap, redundant-expr]
    traced.kwargs["tracer_provider"] = provider
    transport = httpx.ASGITransport(app)
    async with (
        app.router.lifespan_context(app),
        httpx.AsyncClient(transport=transport, base_url="http://here") as http,
    ):
        await http.request(method, path, json=body, headers=HEADERS)
    return {span.name: span for span in exporter.get_finished_spans()}


async def test_a_turn_stands_below_its_request_which_stands_below_its_caller(tmp_path: Path) -> None:
    turn = {"id": "t1", "message": "Let us release."}
    spans = await recorded(tmp_path, "POST", "/api/v1/conversations/c/turns", turn)
    request, woven = spans["POST /api/v1/conversations/{conversation}/turns"], spans["skillweave.turn"]
    assert request.parent is not None
    assert woven.parent is not None
    assert f"{request.parent.span_id:016x}" == CALLER
    assert f"{request.context.trace_id:032x}" == f"{woven.context.trace_id:032x}" == TRACE
    assert woven.parent.span_id == request.context.span_id
    (given,) = [event for event in woven.events if event.name == "skill.injected"]
    assert given.attributes is not None
    assert given.attributes["gen_ai.skill.id"] == given.attributes["gen_ai.skill.name"] == "release"
    assert given.attributes["gen_ai.skill.outcome"] == "injected"
    assert woven.attributes is not None
    assert woven.attributes["gen_ai.conversation.id"] == "c"


async def test_a_request_at_the_gateway_says_what_became_of_it_and_stands_above_its_turns(tmp_path: Path) -> None:
    body = {"model": "m", "messages": [{"role": "user", "content": "Let us release."}], "stream": True}
    with RecordingServer(Script()) as server:
        spans = await recorded(tmp_path, "POST", "/gateway/p/v1/chat/completions", body, server.anthropic)
    request, woven = spans["POST /gateway/{upstream}/{path}"], spans["skillweave.turn"]
    assert woven.parent is not None
    assert woven.parent.span_id == request.context.span_id
    assert request.attributes is not None
    assert woven.attributes is not None
    assert request.attributes["gen_ai.conversation.id"] == woven.attributes["gen_ai.conversation.id"]
    found = {name: one for name, one in request.attributes.items() if name.startswith("skillweave.exchange.")}
    assert found == {
        "skillweave.exchange.form": "chat",
        "skillweave.exchange.way": "new",
        "skillweave.exchange.rounds": 0,
        "skillweave.exchange.given": ("release",),
        "skillweave.exchange.passed": False,
    }


async def test_without_an_sdk_there_are_no_spans_and_nobody_makes_any() -> None:
    assert trace_observers() == ()
    seen: list[bool] = []

    async def application(*_: object) -> None:
        seen.append(trace.get_current_span() is trace.INVALID_SPAN)

    for provider in (None, TracerProvider()):
        scope: dict[str, object] = {"type": "http", "method": "GET", "headers": []}
        await Middleware(application, Meters(), provider)(scope, _nothing, _nowhere)
    assert seen == [True, False]


async def _nothing() -> dict[str, object]:
    return {}


async def _nowhere(_: object) -> None:
    """Nothing is sent."""


async def test_a_span_says_how_the_request_was_answered(tmp_path: Path) -> None:
    spans = await recorded(tmp_path, "GET", "/nowhere/secret")
    (span,) = spans.values()
    assert span.name == "GET"
    assert span.attributes == {
        "http.request.method": "GET",
        "url.scheme": "http",
        "http.response.status_code": 404,
    }
