"""The ASGI application: all endpoints over the parts of one Service."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import cache

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from skillweave._version import __version__
from skillweave.errors import SkillweaveError
from skillweave.service.endpoints import PREFIX, add_endpoints
from skillweave.service.problems import (
    Refused,
    on_http_error,
    on_invalid_parameter,
    on_refused,
    on_skillweave_error,
    on_unexpected,
)
from skillweave.service.service import Service
from skillweave.service.streams import EVENTS
from skillweave.service.turns import TURNS
from skillweave.service.writing import json_bytes

GROUPS = (TURNS, EVENTS)
"""All endpoints, by their group, in the order of the document."""


def create_app(service: Service) -> FastAPI:
    """The application; the Service is made ready when it starts, and closed when it ends."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        async with service:
            await service.make_ready()
            yield

    app = FastAPI(
        title="skillweave",
        version=__version__,
        lifespan=lifespan,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        exception_handlers={
            Refused: on_refused,
            SkillweaveError: on_skillweave_error,
            RequestValidationError: on_invalid_parameter,
            HTTPException: on_http_error,
            Exception: on_unexpected,
        },
    )
    app.state.service = service
    document = add_endpoints(app, GROUPS)
    described = cache(lambda: json_bytes(document.whole(app)))

    @app.get(f"{PREFIX}/openapi.json", include_in_schema=False)
    async def openapi() -> Response:
        return Response(described(), media_type="application/json")

    return app
