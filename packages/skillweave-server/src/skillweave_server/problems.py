"""Errors as problem documents: which status each has, and what it is called (RFC 9457)."""

import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from math import ceil

from fastapi import Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import Response
from starlette.exceptions import HTTPException
from starlette.routing import Route

from skillweave import Diagnostic, SkillNotFound, SkillweaveError, StoreUnavailable
from skillweave.api import MEDIA_TYPE, TYPES, Problem, code_of
from skillweave.approvals import AlreadyDecided, ApprovalNotFound
from skillweave.entities import AmbiguousEntity, EntityNotFound
from skillweave.errors import (
    AgentNotFound,
    ArtifactNotFound,
    CheckpointNotFound,
    Contended,
    InvalidVerdict,
    MissingExtra,
    NoEmbedder,
    SourceUnavailable,
    UnreadableState,
    VersionNotFound,
)
from skillweave.events import EventRefused, StreamGap
from skillweave.ledger import MemoryTooLarge
from skillweave.tools import SpawnRejected

log = logging.getLogger("skillweave_server")

SAFE: Mapping[str, str] = {"Cache-Control": "no-store", "X-Content-Type-Options": "nosniff"}
"""Headers of every answer that does not say otherwise: nobody on the way keeps it, no browser guesses another type."""
RETRY_SECONDS = 1
"""What a client is told to wait where nothing better is known."""

MOST_CHOICES = 100
"""Ids that a problem names of those that one of is meant."""

_STATUS: Mapping[type[SkillweaveError], int] = {
    SkillNotFound: 404,
    ArtifactNotFound: 404,
    VersionNotFound: 404,
    AgentNotFound: 404,
    CheckpointNotFound: 404,
    ApprovalNotFound: 404,
    EntityNotFound: 404,
    AmbiguousEntity: 409,
    InvalidVerdict: 409,
    AlreadyDecided: 409,
    EventRefused: 409,
    Contended: 409,
    StreamGap: 410,
    MemoryTooLarge: 413,
    MissingExtra: 501,
    NoEmbedder: 501,
    UnreadableState: 409,
    StoreUnavailable: 503,
    SourceUnavailable: 503,
}
"""By the kind of error, the status; an error of another kind is a mistake in the request, 422."""


@dataclass(eq=False)
class Refused(Exception):
    """A request that is not done: `code` is the problem's type, `detail` says what to do instead."""

    status: int
    code: str
    detail: str
    headers: Mapping[str, str] = field(default_factory=dict)
    place: str = ""
    findings: tuple[Diagnostic, ...] = ()
    choices: tuple[str, ...] = ()
    rejected: SpawnRejected | None = None


def answer_to(refused: Refused) -> Response:
    """The problem document."""
    # In ASCII, which carries every text, also half of a surrogate pair.
    content = json.dumps(problem_of(refused).to_dict(), allow_nan=False)
    return Response(content, refused.status, media_type=MEDIA_TYPE, headers=dict(refused.headers))


def problem_of(refused: Refused) -> Problem:
    """What the refusal says."""
    title = HTTPStatus(refused.status).phrase
    told = refused.place, refused.findings, refused.choices, refused.rejected
    return Problem(f"{TYPES}{refused.code}", title, refused.status, refused.detail, *told)


def refused_of(error: SkillweaveError) -> Refused:
    """The refusal that stands for one of skillweave's own errors."""
    kind = next((one for one in type(error).__mro__ if one in _STATUS), None)
    status = 422 if kind is None else _STATUS[kind]
    headers: dict[str, str] = {}
    if status == 503 or isinstance(error, Contended):
        seconds = getattr(error, "retry_after", None)
        headers["Retry-After"] = str(max(RETRY_SECONDS, ceil(seconds or 0)))
    return Refused(
        status,
        code_of(type(error)),
        str(error),
        headers,
        getattr(error, "place", ""),
        tuple(one for one in getattr(error, "findings", ()) if isinstance(one, Diagnostic)),
        error.ids[:MOST_CHOICES] if isinstance(error, AmbiguousEntity) else (),
    )


async def on_refused(_: Request, error: Exception) -> Response:
    """A refusal of our own."""
    assert isinstance(error, Refused)  # noqa: S101 - FastAPI's handlers are typed for every exception
    return answer_to(error)


async def on_skillweave_error(_: Request, error: Exception) -> Response:
    """An error of skillweave's."""
    assert isinstance(error, SkillweaveError)  # noqa: S101 - as above
    refused = refused_of(error)
    if refused.status >= 500:
        log.warning("%s: %r", refused.code, refused.detail)
    return answer_to(refused)


async def on_invalid_parameter(_: Request, error: Exception) -> Response:
    """A parameter of the path, the query or a header that is not what it must be."""
    assert isinstance(error, RequestValidationError)  # noqa: S101 - as above
    found = [f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors()]
    return answer_to(Refused(422, "invalid-parameter", "; ".join(found)[:2000]))


async def on_http_error(request: Request, error: Exception) -> Response:
    """A path that is not there, or a method that it does not have."""
    assert isinstance(error, HTTPException)  # noqa: S101 - as above
    code = {404: "no-such-path", 405: "no-such-method"}.get(error.status_code, "http-error")
    detail = f"{error.detail}; /api/v1/openapi.json has all paths; a `/` of an id is written as %2F"
    headers = dict(error.headers or {})
    if error.status_code == 405:  # the framework names the methods of one route, and a path may have several
        routes = [one for one in request.app.routes if isinstance(one, Route) and one.matches(request.scope)[0].value]
        headers["Allow"] = ", ".join(sorted({method for one in routes for method in one.methods or ()}))
    return answer_to(Refused(error.status_code, code, detail, headers))


async def on_unexpected(request: Request, error: Exception) -> Response:
    """A mistake of the service: told in its log with the trace, and to the client without any detail."""
    log.error("%s %r failed", request.method, request.url.path, exc_info=error)
    detail = "the service failed at this request; its log has the reason"
    # The framework sends this answer outside of all middleware.
    return answer_to(Refused(500, "internal-error", detail, SAFE))
