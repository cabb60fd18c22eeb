"""The OpenAPI document: FastAPI's account of paths and parameters, with the published schemas of our values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from skillweave._version import __version__
from skillweave.api.problem import MEDIA_TYPE, Problem
from skillweave.schemas import Definitions, Purpose

if TYPE_CHECKING:
    from skillweave_server.endpoints import Endpoint

_PLACE = "#/components/schemas/"
SCOPE = "x-scope"
"""Where an operation says which scope a key needs for it."""


@dataclass(slots=True)
class Document:
    """What endpoints take and answer, in the words of OpenAPI; the schemas of all of them stand in one place.

    The same class is described twice where a request may leave out what an answer always has: as `Turn`, and as
    `TurnInput` of requests.
    """

    written: Definitions = field(default_factory=lambda: Definitions(place=_PLACE))
    taken: Definitions = field(default_factory=lambda: Definitions(Purpose.READ, _PLACE, "Input"))

    def responses(self, endpoint: "Endpoint") -> dict[int | str, dict[str, Any]]:
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

    def additions(self, endpoint: "Endpoint") -> dict[str, Any]:
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
