"""The ASGI application: all endpoints over the parts of one Service."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from html import escape
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware

from skillweave import SkillweaveError, __version__
from skillweave.api import PREFIX
from skillweave_server.approvals import APPROVALS
from skillweave_server.composition import COMPOSITION
from skillweave_server.endpoints import SCOPE, Document, json_bytes, make_routes
from skillweave_server.entities import ENTITIES
from skillweave_server.gateway import GATEWAY
from skillweave_server.graphs import GRAPHS
from skillweave_server.health import add_health
from skillweave_server.ledger import LEDGER, MEMORY
from skillweave_server.middleware import Middleware
from skillweave_server.problems import (
    Refused,
    on_http_error,
    on_invalid_parameter,
    on_refused,
    on_skillweave_error,
    on_unexpected,
)
from skillweave_server.service import Service, escalating
from skillweave_server.skills import AGENTS, SKILLS
from skillweave_server.streams import EVENTS
from skillweave_server.turns import TURNS

GROUPS = (TURNS, LEDGER, MEMORY, SKILLS, AGENTS, COMPOSITION, GRAPHS, ENTITIES, APPROVALS, EVENTS)
"""All endpoints, by their group, in the order of the document."""


def describe() -> Mapping[str, Any]:
    """The OpenAPI document of the service, the same for every service of this version."""
    routes, document = _routes()
    return document.whole(routes)


def create_app(service: Service) -> FastAPI:
    """The application; the Service is made ready when it starts, and closed when it ends."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service:
            await service.make_ready()
            async with escalating(service):
                yield

    app = FastAPI(
        title="skillweave",
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        exception_handlers={
            Refused: on_refused,
            SkillweaveError: on_skillweave_error,
            RequestValidationError: on_invalid_parameter,
            HTTPException: on_http_error,
            Exception: on_unexpected,
        },
    )
    app.state.service = service
    app.add_middleware(Middleware, meters=service.meters)
    if service.options.trusted_proxies:
        app.add_middleware(ProxyHeadersMiddleware, trusted_hosts=list(service.options.trusted_proxies))
    add_health(app, service)
    routes, _ = _routes()
    app.router.routes.extend(routes)
    if service.gateway is not None:
        app.router.routes.insert(0, GATEWAY)  # its requests are the most, and each route before it costs time

    @app.get("/", include_in_schema=False)
    async def top() -> Response:
        return RedirectResponse("/docs")

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return HTMLResponse(described_page(), headers={"Content-Security-Policy": "default-src 'none'"})

    @app.get(f"{PREFIX}/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return Response(_described(), media_type="application/json")

    return app


@cache
def _routes() -> tuple[Sequence[BaseRoute], Document]:
    """The routes of all applications: none of them knows its service, and to make a set takes a tenth of a second."""
    return make_routes(GROUPS)


@cache
def described_page() -> str:
    """The endpoints on one page, which needs nothing from elsewhere."""
    rows = [
        f"<tr><td>{method.upper()}<td><code>{escape(path)}</code><td>{escape(one['summary'])}<td>{one[SCOPE]}"
        for path, methods in describe()["paths"].items()
        for method, one in methods.items()
    ]
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>skillweave {__version__}</title>'
    all_of_it = f'<p>With bodies, answers and problems: <a href="{PREFIX}/openapi.json">openapi.json</a>, OpenAPI 3.1.'
    table = "<table><tr><th>method<th>path<th>what<th>scope of the key"
    return "\n".join((head, f"<h1>skillweave {__version__}</h1>", all_of_it, table, *rows, "</table></html>"))


@cache
def _described() -> bytes:
    return json_bytes(describe())
