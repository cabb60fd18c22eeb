"""Who calls, whether they may, and what a handler gets to know of it."""

import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Annotated

from fastapi import Header, Request

from skillweave.access import ApiKey, Scope
from skillweave.conversation import LONGEST_ID
from skillweave.disclose.fit import Budget
from skillweave.errors import StoreUnavailable
from skillweave.weaver import Weaver
from skillweave_server.local import require_local
from skillweave_server.problems import Refused, refused_of
from skillweave_server.service import Service
from skillweave_server.watching import seen_in

log = logging.getLogger("skillweave_server")

_CHALLENGE = 'Bearer realm="skillweave"'


IdempotencyKey = Annotated[
    str | None,
    Header(
        alias="Idempotency-Key",
        min_length=1,
        max_length=LONGEST_ID,
        description="The same key again is the same request: it is done once.",
    ),
]


class Admission(StrEnum):
    """When the rate limit is asked: before all else, or by the handler itself, beside a wait that it has anyway."""

    BEFORE = "before"
    BESIDE = "beside"


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

    async def admitted(self) -> None:
        """Count the call; raises Refused for one more than its key may make."""
        if self.key is not None:
            await self.service.rates.admit(self.key.id)


def call_with(scope: Scope, admission: Admission = Admission.BEFORE) -> Callable[[Request], Awaitable[Call]]:
    """What lets a request in that has a key with this scope, for FastAPI's `Depends`."""

    async def call(request: Request) -> Call:
        service: Service = request.app.state.service
        seen = seen_in(request.scope)
        seen.route = request.scope["route"].path
        key = await _key_of(request, service)
        if key is not None:
            seen.key, seen.tenant = key.id, key.tenant
        made = Call(service, request, key)
        if key is not None:
            if not key.may(scope):
                raise _out_of_scope(key, scope)
            service.rates.require_open(key.id)
            if admission is Admission.BEFORE:
                await made.admitted()
        _require_known_parameters(request)
        return made

    return call


async def _key_of(request: Request, service: Service) -> ApiKey | None:
    """The key of the request, None where the service has no keys; raises Refused for a request without a good one."""
    ring = service.ring
    if ring is None:
        require_local(request)
        return None
    spelled = _spelled_in(request)
    address = "" if request.client is None else request.client.host
    # Who came with a good key before is let in, however many others behind the same address guess.
    if not ring.has_opened(spelled):
        await service.rates.require_welcome(address)
    try:
        key = await ring.owner(spelled)
    except StoreUnavailable as error:
        log.warning("a key could not be looked up: %r", str(error))
        # Whoever has no key yet is not told which database the service has, and where.
        raise replace(refused_of(error), detail="keys cannot be looked up now; try again") from None
    if key is None:
        await service.rates.note_refusal(address)
        detail = "send a key that is in use as `Authorization: Bearer sw_...`; make one with `skillweave keys new`"
        # One answer for no key, a broken, an unknown and a revoked one: it tells nobody which of them it was.
        raise Refused(401, "no-key", detail, {"WWW-Authenticate": _CHALLENGE})
    return key


def _spelled_in(request: Request) -> str:
    """The text of the key, empty where the request has none, or several."""
    sent = request.headers.getlist("authorization")
    scheme, _, spelled = sent[0].partition(" ") if len(sent) == 1 else ("", "", "")
    return spelled.strip() if scheme.lower() == "bearer" else ""


def _out_of_scope(key: ApiKey, scope: Scope) -> Refused:
    has = ", ".join(sorted(key.scopes))
    detail = f"this needs a key with the scope `{scope.value}`, and key {key.id} has {has}"
    challenge = f'{_CHALLENGE}, error="insufficient_scope", scope="{scope.value}"'
    return Refused(403, "out-of-scope", detail, {"WWW-Authenticate": challenge})


def _require_known_parameters(request: Request) -> None:
    """Raise Refused for a parameter that the endpoint does not have: ignored, it would change the answer unseen."""
    known = {one.alias for one in request.scope["route"].dependant.query_params}
    unknown = sorted(request.query_params.keys() - known)
    if unknown:
        there = f"it has {', '.join(sorted(known))}" if known else "it has none"
        detail = f"this path has no parameter {unknown[0][:60]!r}; {there}"
        raise Refused(422, "unknown-parameter", detail)
