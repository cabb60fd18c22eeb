"""Who calls, whether they may, and what a handler gets to know of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Annotated

from fastapi import Header, Request

from skillweave.access import ApiKey, Scope
from skillweave.conversation import LONGEST_ID
from skillweave.disclose.fit import Budget
from skillweave.service.problems import Refused
from skillweave.service.service import Service
from skillweave.weaver import Weaver

IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=LONGEST_ID,
        description="The same key again is the same request: it is done once.",
    ),
]


@dataclass(frozen=True, slots=True)
class Call:
    """One request of somebody who may make it: `key` is None where the service is open to everybody."""

    service: Service
    request: Request
    key: ApiKey | None

    @property
    def tenant(self) -> str:
        """Whose skills and conversations the call is about."""
        return "" if self.key is None else self.key.tenant

    def weaver(self, budget: Budget | None = None) -> Weaver:
        """The tenant's Weaver, for a turn with that budget where one is given."""
        return self.service.weaver(self.tenant, budget)


def call_with(scope: Scope) -> Callable[[Request], Awaitable[Call]]:
    """What lets a request in that has a key with this scope, for FastAPI's `Depends`."""

    async def call(request: Request) -> Call:
        service: Service = request.app.state.service
        _require_known_parameters(request)
        return Call(service, request, None)

    return call


def _require_known_parameters(request: Request) -> None:
    """Raise Refused for a parameter that the endpoint does not have: ignored, it would change the answer unseen."""
    known = {one.alias for one in request.scope["route"].dependant.query_params}
    unknown = sorted(request.query_params.keys() - known)
    if unknown:
        there = f"it has {', '.join(sorted(known))}" if known else "it has none"
        detail = f"this path has no parameter {unknown[0][:60]!r}; {there}"
        raise Refused(422, "unknown-parameter", detail)
