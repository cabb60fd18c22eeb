"""The ASGI application: all endpoints over the parts of one Service."""

from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import cache
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import BaseRoute

from skillweave._version import __version__
from skillweave.api import PREFIX
from skillweave.errors import SkillweaveError
from skillweave.service.agents import AGENTS
from skillweave.service.approvals import APPROVALS
from skillweave.service.composition import COMPOSITION
from skillweave.service.document import Document
from skillweave.service.endpoints import make_routes
from skillweave.service.entities import ENTITIES
from skillweave.service.graphs import GRAPHS
from skillweave.service.headers import SafeHeaders
from skillweave.service.health import add_health
from skillweave.service.ledger import LEDGER
from skillweave.service.memory import MEMORY
from skillweave.service.paths import SlashesInIds
from skillweave.service.problems import (
    Refused,
    on_http_error,
    on_invalid_parameter,
    on_refused,
    on_skillweave_error,
    on_unexpected,
)
from skillweave.service.service import Service
from skillweave.service.skills import SKILLS
from skillweave.service.spans import Traced, has_traces
from skillweave.service.streams import EVENTS
from skillweave.service.turns import TURNS
from skillweave.service.verdicts import escalating
from skillweave.service.watching import Watched
from skillweave.service.writing import json_bytes

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
    app.add_middleware(SlashesInIds)
    app.add_middleware(SafeHeaders)
    if has_traces():
        app.add_middleware(Traced)
    app.add_middleware(Watched, meters=service.meters)
    add_health(app, service)
    routes, _ = _routes()
    app.router.routes.extend(routes)

    @app.get(f"{PREFIX}/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return Response(_described(), media_type="application/json")

    return app


@cache
def _routes() -> tuple[Sequence[BaseRoute], Document]:
    """The routes of all applications: none of them knows its service, and to make a set takes a tenth of a second."""
    return make_routes(GROUPS)


@cache
def _described() -> bytes:
    return json_bytes(describe())
