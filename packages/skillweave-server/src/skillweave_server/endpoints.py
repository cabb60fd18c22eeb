"""How an endpoint is declared: its scope, what it takes and answers, and which problems; for server and document."""

import inspect
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import wraps
from typing import Annotated, Any, TypeVar, get_type_hints

from fastapi import APIRouter, Depends, Path, Query
from fastapi.responses import Response
from starlette.routing import BaseRoute

from skillweave.access import Scope
from skillweave.api import PREFIX
from skillweave.api.pages import MOST_LISTED
from skillweave.conversation import LONGEST_ID
from skillweave_server.bodies import body_of
from skillweave_server.calls import Admission, Call, call_with
from skillweave_server.document import Document
from skillweave_server.paths import with_slashes
from skillweave_server.problems import Refused
from skillweave_server.writing import answer

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])


ConversationId = Annotated[
    str, Path(min_length=1, max_length=LONGEST_ID, description="The conversation's id, the same for every turn of it.")
]
TurnId = Annotated[str, Path(min_length=1, max_length=LONGEST_ID, description="The id of the turn.")]
After = Annotated[str, Query(max_length=2000, description="Go on after this entry: `next` of the page before.")]
Limit = Annotated[int, Query(ge=1, le=MOST_LISTED, description="The most entries of the page.")]

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
    admission: Admission = Admission.BEFORE

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
        admission: Admission = Admission.BEFORE,
    ) -> Callable[[Handler], Handler]:
        """Declare what follows as the handler of that method and path.

        With `Admission.BESIDE` the handler waits for `call.admitted()` itself, together with its first other wait, and
        changes nothing before.
        """

        def declare(handler: Handler) -> Handler:
            known = 204 if answers is None and status == 200 else status
            one = Endpoint(
                *(method, path, handler, scope, self.group, takes, answers, known, tuple(problems), media_type),
                or_status=or_status,
                admission=admission,
            )
            self.declared.append(one)
            return handler

        return declare


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
        found = await handler(**{name: _readable(name, value) for name, value in given.items()})
        return found if isinstance(found, Response) else answer(found, endpoint.status)

    hints = get_type_hints(handler, include_extras=True)
    own = {"call": Annotated[Call, Depends(call_with(endpoint.scope, endpoint.admission))]}
    if endpoint.takes is not None:
        own["asked"] = Annotated[Any, Depends(body_of(endpoint.takes))]
    known = {**hints, **own}
    parameters = [
        one.replace(annotation=known[one.name], kind=inspect.Parameter.KEYWORD_ONLY)
        for one in inspect.signature(handler).parameters.values()
    ]
    answering.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    return answering


def _readable(name: str, value: Any) -> Any:  # noqa: ANN401 - whatever a handler is given
    """The parameter as it was sent; raises Refused for a text that no header and no log could show in one line."""
    sent = with_slashes(value)
    if isinstance(sent, str) and not sent.isprintable():
        raise Refused(422, "invalid-parameter", f"`{name}` holds an unprintable character; remove it")
    return sent


def _first_line(handler: Callable[..., object]) -> str:
    return (inspect.getdoc(handler) or "").partition("\n")[0]
