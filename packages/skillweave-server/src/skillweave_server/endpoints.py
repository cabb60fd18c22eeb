"""Endpoints: how one is declared, the routes that answer, and the OpenAPI document that describes them."""

import inspect
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import wraps
from http import HTTPStatus
from typing import Annotated, Any, TypeVar, get_type_hints

from fastapi import APIRouter, Depends, Path, Query
from fastapi.openapi.utils import get_openapi
from fastapi.responses import Response
from starlette.routing import BaseRoute

from skillweave import __version__
from skillweave.api import MEDIA_TYPE, MOST_LISTED, PREFIX, Problem
from skillweave.turns import LONGEST_ID
from skillweave.values import Definitions, Portable, Purpose, write
from skillweave_server.calls import Call, body_of, call_with
from skillweave_server.middleware import SLASH
from skillweave_server.problems import Refused
from skillweave_server.shares import Share
from skillweave_stores.access import Scope

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])


ConversationId = Annotated[
    str, Path(min_length=1, max_length=LONGEST_ID, description="The conversation's id, the same for every turn of it.")
]
TurnId = Annotated[str, Path(min_length=1, max_length=LONGEST_ID, description="The id of the turn.")]
After = Annotated[str, Query(max_length=2000, description="Go on after this entry: `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="The most entries of the page.")]

_PLACE = "#/components/schemas/"
SCOPE = "x-scope"
"""Where an operation says which scope a key needs for it."""
ALWAYS = (401, 403, 422, 429, 503)
"""Statuses of problems that every endpoint has."""
WITH_BODY = (400, 408, 413, 415)
"""Statuses of problems that every endpoint with a body has."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One endpoint: `takes` is the type of its body, `answers` that of its answer, None where it has none.

    `problems` are the statuses of problems beside those that every endpoint has, `or_status` is another status that the
    answer may have.
    """

    method: str
    path: str
    handler: Callable[..., Awaitable[Any]]
    scope: Scope
    group: str
    takes: Any = None
    answers: Any = None
    status: int = 200
    problems: tuple[int, ...] = ()
    media_type: str = "application/json"
    or_status: int | None = None

    @property
    def statuses(self) -> tuple[int, ...]:
        """The statuses of all problems that it may answer."""
        return tuple(sorted({*ALWAYS, *(WITH_BODY if self.takes is not None else ()), *self.problems}))


@dataclass(slots=True)
class Endpoints:
    """The endpoints of one group, each declared by a decorator at its handler.

    A handler's first parameter is `call`; one named `asked` is the body, read as the type that the endpoint `takes`.
    What it returns is the answer: a public value, a list or mapping of them, None, or a finished Response.
    """

    group: str
    declared: list[Endpoint] = field(default_factory=list)

    def at(
        self,
        method: str,
        path: str,
        *,
        scope: Scope,
        takes: Any = None,  # noqa: ANN401 - a type, as annotations have it
        answers: Any = None,  # noqa: ANN401 - as above
        status: int = 200,
        problems: Sequence[int] = (),
        media_type: str = "application/json",
        or_status: int | None = None,
    ) -> Callable[[Handler], Handler]:
        """Declare what follows as the handler of that method and path."""

        def declare(handler: Handler) -> Handler:
            known = 204 if answers is None and status == 200 else status
            one = Endpoint(
                *(method, path, handler, scope, self.group, takes, answers, known, tuple(problems), media_type),
                or_status=or_status,
            )
            self.declared.append(one)
            return handler

        return declare


@dataclass(slots=True)
class Document:
    """What endpoints take and answer, in the words of OpenAPI; the schemas of all of them stand in one place.

    The same class is described twice where a request may leave out what an answer always has: as `Turn`, and as
    `TurnInput` of requests.
    """

    written: Definitions = field(default_factory=lambda: Definitions(place=_PLACE))
    taken: Definitions = field(default_factory=lambda: Definitions(Purpose.READ, _PLACE, "Input"))

    def responses(self, endpoint: Endpoint) -> dict[int | str, dict[str, Any]]:
        """By status, the answer and all problems."""
        problem = {MEDIA_TYPE: {"schema": self.written.add(Problem)}}
        told: dict[int | str, dict[str, Any]] = {
            one: {"description": HTTPStatus(one).phrase, "content": problem} for one in endpoint.statuses
        }
        done: dict[str, Any] = {"description": HTTPStatus(endpoint.status).phrase}
        if endpoint.answers is not None:
            done["content"] = {endpoint.media_type: {"schema": self.written.add(endpoint.answers)}}
        other = endpoint.or_status
        also: dict[int | str, Any] = {}
        if other is not None:
            also[other] = {**done, "description": HTTPStatus(other).phrase}
        return {endpoint.status: done, **also, **told}

    def additions(self, endpoint: Endpoint) -> dict[str, Any]:
        """What FastAPI cannot know: the scope, and the body."""
        extra: dict[str, Any] = {SCOPE: endpoint.scope.value, "security": [{"key": []}]}
        if endpoint.takes is not None:
            content = {"application/json": {"schema": self.taken.add(endpoint.takes)}}
            extra["requestBody"] = {"required": True, "content": content}
        return extra

    def whole(self, routes: Sequence[BaseRoute]) -> Mapping[str, Any]:
        """The document of these routes."""
        described = get_openapi(
            title="skillweave",
            version=__version__,
            description="Puts the right skill into an agent's context: once, inside a token budget, explained.",
            routes=routes,
        )
        keys = {"type": "http", "scheme": "bearer", "description": "An API key, as `skillweave keys new` prints it."}
        # The framework describes the choices of parameters; our own description of the same class goes before it.
        theirs = described.get("components", {}).get("schemas", {})
        schemas = {**theirs, **self.written.schemas, **self.taken.schemas}
        components = {"schemas": dict(sorted(schemas.items())), "securitySchemes": {"key": keys}}
        return {**described, "components": components}


def make_routes(groups: Iterable[Endpoints]) -> tuple[Sequence[BaseRoute], Document]:
    """A route for each of these, for any number of applications, and the document that describes them."""
    router, document = APIRouter(prefix=PREFIX), Document()
    for endpoint in (one for group in groups for one in group.declared):
        router.add_api_route(
            endpoint.path,
            _answering(endpoint),
            methods=[endpoint.method],
            tags=[endpoint.group],
            operation_id=endpoint.handler.__name__,
            summary=_first_line(endpoint.handler),
            description=inspect.getdoc(endpoint.handler),
            status_code=endpoint.status,
            response_model=None,
            response_class=Response,
            responses=document.responses(endpoint),
            openapi_extra=document.additions(endpoint),
        )
    return router.routes, document


def _answering(endpoint: Endpoint) -> Callable[..., Awaitable[Response]]:
    """The handler as FastAPI calls it: with the call, the body as a value, and its answer as a Response."""
    handler = endpoint.handler

    @wraps(handler)
    async def answering(**given: Any) -> Response:  # noqa: ANN401 - what the handler's signature says
        for name, value in given.items():
            if isinstance(value, str):
                given[name] = value.replace(SLASH, "/")
                if not given[name].isprintable():  # no header and no log could show it in one line
                    raise Refused(422, "invalid-parameter", f"`{name}` holds an unprintable character; remove it")
        share: Share | None = given["call"].share
        if share is None:
            found = await handler(**given)
        else:
            async with share.places:
                found = await handler(**given)
        return found if isinstance(found, Response) else answer(found, endpoint.status)

    hints = get_type_hints(handler, include_extras=True)
    own = {"call": Annotated[Call, Depends(call_with(endpoint.scope))]}
    if endpoint.takes is not None:
        own["asked"] = Annotated[Any, Depends(body_of(endpoint.takes))]
    known = {**hints, **own}
    parameters = [
        one.replace(annotation=known[one.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for one in inspect.signature(handler).parameters.values()
    ]
    answering.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return answering


def _first_line(handler: Callable[..., object]) -> str:
    return (inspect.getdoc(handler) or "").partition("\n")[0]


def json_bytes(data: object) -> bytes:
    """Compact JSON in ASCII, which carries every text, also half of a surrogate pair."""
    return json.dumps(data, separators=(",", ":"), allow_nan=False).encode("ascii")


def written(value: Any) -> object:  # noqa: ANN401 - whatever an endpoint answers
    """The JSON data of an answer: a value, or lists and mappings of values."""
    if isinstance(value, Portable):
        return write(value)
    if isinstance(value, list | tuple):
        return [written(one) for one in value]
    if isinstance(value, dict):
        return {key: written(one) for key, one in value.items()}
    return value


def answer(value: Any, status: int = 200) -> Response:  # noqa: ANN401 - whatever an endpoint answers
    """The HTTP answer; None has no content."""
    if value is None:
        return Response(status_code=204)
    data = write(value) if isinstance(value, Portable) else written(value)
    return Response(json_bytes(data), status, media_type="application/json")
