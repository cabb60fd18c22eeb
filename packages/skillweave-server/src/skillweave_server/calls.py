"""One request: who calls, whether they may, and its body, bounded in size and time, as one of the public values."""

import asyncio
import json
import logging
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from ipaddress import ip_address
from math import isfinite
from typing import Annotated, NoReturn, TypeVar
from urllib.parse import urlsplit

from fastapi import Header, Request
from starlette.requests import ClientDisconnect

from skillweave import Budget, StoreUnavailable, Weaver
from skillweave.turns import LONGEST_ID
from skillweave.values import read
from skillweave_server.middleware import SEEN, Seen
from skillweave_server.options import ServiceOptions
from skillweave_server.problems import Refused, refused_of
from skillweave_server.service import Service
from skillweave_server.shares import Share
from skillweave_stores.access import ApiKey, Scope, id_in

log = logging.getLogger("skillweave_server")

_CHALLENGE = 'Bearer realm="skillweave"'
_JSON = "application/json"
_LENGTH = re.compile("[0-9]+")
_LONGEST_LENGTH = 20
_MOST_DIGITS = 300
"""Digits of a whole number: more could not be compared with a number that has a fraction."""

T = TypeVar("T")

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
    """One request of somebody who may make it: `key` is None where the service is open to everybody.

    `tenant` is whose skills and conversations the call is about, `share` what it has of the service, None where that
    is not counted.
    """

    service: Service
    request: Request
    key: ApiKey | None
    tenant: str = ""
    share: Share | None = None

    def weaver(self, budget: Budget | None = None) -> Weaver:
        """The tenant's Weaver, for a turn with that budget where one is given."""
        return self.service.weaver(self.tenant, budget)

    def follow(self) -> None:
        """Count the request as a stream from now on; raises Refused for one too many."""
        if self.share is not None:
            self.request.scope[SEEN].leave = self.share.follow()


def call_with(scope: Scope) -> Callable[[Request], Awaitable[Call]]:
    """What lets a request in that has a key with this scope, for FastAPI's `Depends`."""

    async def call(request: Request) -> Call:
        service: Service = request.app.state.service
        seen: Seen = request.scope.get(SEEN) or Seen()
        seen.route = request.scope["route"].path
        key, share = await admitted(request, service, scope, spelled_in(request))
        _require_known_parameters(request)
        return Call(service, request, key, "" if key is None else key.tenant, share)

    return call


async def admitted(
    request: Request, service: Service, scope: Scope, spelled: str
) -> tuple[ApiKey | None, Share | None]:
    """Returns the key of a request that may do this, and its tenant's share; both None where the service has no keys.

    `spelled` is the text of the key that came with it. The request is counted until it ends. Raises Refused for one
    without a good key, and for one too many.
    """
    ring = service.ring
    if ring is None:
        _require_local(request)
        return None, None
    try:
        key = await ring.owner(spelled)
    except StoreUnavailable as error:
        log.warning("a key could not be looked up: %r", str(error))
        # Whoever has no key yet is not told which database the service has, and where.
        raise replace(refused_of(error), detail="keys cannot be looked up now; try again") from None
    if key is None:
        # Only now: whoever has a good key is let in, however many others behind the same address guess.
        address = "" if request.client is None else request.client.host
        await service.rates.note_refusal(address, id_in(spelled) or "")
        detail = "send a key that is in use as `Authorization: Bearer sw_...`; make one with `skillweave keys new`"
        # One answer for no key, a broken, an unknown and a revoked one: it tells nobody which of them it was.
        raise Refused(401, "no-key", detail, {"WWW-Authenticate": _CHALLENGE})
    seen: Seen = request.scope.get(SEEN) or Seen()
    seen.key, seen.tenant = key.id, key.tenant
    if not key.may(scope):
        raise _out_of_scope(key, scope)
    share = service.shares.of(key.tenant)
    try:
        service.rates.require_open(key.id)
        seen.leave = share.enter()
        await service.rates.admit(key.id)
    except Refused:
        seen.left()
        await share.hold_refusal()
        raise
    return key, share


def spelled_in(request: Request) -> str:
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


def _require_local(request: Request) -> None:
    """Raise Refused for a request that a page of another site may have made a browser send.

    Such a page can have its own name stand for this machine, and is then let in by the browser: what gives it away is
    the name, in `Host`, or in `Origin` where it asks without that.
    """
    names = [f"//{one}" for one in request.headers.getlist("host")] + request.headers.getlist("origin")
    if not all(map(_is_local, names)):
        detail = (
            "this service is open to everybody on its machine, and so answers only as localhost and to no pages of "
            "other sites; make a key with `skillweave keys new` and start it with keys to reach it from elsewhere"
        )
        raise Refused(403, "not-local", detail)


def _is_local(address: str) -> bool:
    """Whether its name can only be one of this machine or its network: nobody elsewhere has one without a dot."""
    try:
        # A page that has no origin of its own says `null`, which names no host.
        name = urlsplit(address).hostname or "nowhere.invalid"
    except ValueError:
        return False
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return "." not in name or name.endswith(".localhost")


def body_of(shape: type[T]) -> Callable[[Request], Awaitable[T]]:
    """What reads the body of a request as that value, for FastAPI's `Depends`.

    It raises Refused for one that is too large, too slow, or no JSON.
    """

    async def body(request: Request) -> T:
        declared = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if declared != _JSON:
            raise Refused(415, "not-json", f"send the body as {_JSON}, not as {declared[:60]!r}")
        coding = request.headers.get("content-encoding", "identity").strip().lower()
        if coding not in ("", "identity"):
            raise Refused(415, "packed", f"send the body as it is, not packed as {coding[:60]!r}")
        options: ServiceOptions = request.app.state.service.options
        most = options.most_body_bytes
        length = request.headers.get("content-length", "")
        if _LENGTH.fullmatch(length) and int(length[:_LONGEST_LENGTH]) > most:
            raise _too_large(most)
        content = bytearray()
        try:
            async with asyncio.timeout(options.body_seconds):
                async for part in request.stream():
                    content += part
                    if len(content) > most:
                        raise _too_large(most)
        except TimeoutError:
            detail = f"the body did not come within {options.body_seconds:g} seconds; send it at once"
            raise Refused(408, "slow-body", detail, {"Connection": "close"}) from None
        except ClientDisconnect:
            raise Refused(400, "broken-off", "the client went away before the body was there") from None
        try:
            data: object = _STRICT.decode(content.decode("utf-8"))
        except (ValueError, RecursionError) as error:
            raise Refused(400, "not-json", f"the body is no JSON: {error}"[:500]) from None
        return read(data, shape)

    return body


def _too_large(most: int) -> Refused:
    detail = f"the body has more than {most:,} bytes; send a shorter transcript, or null for none"
    return Refused(413, "body-too-large", detail, {"Connection": "close"})


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def _whole(digits: str) -> int:
    if len(digits) > _MOST_DIGITS:
        raise ValueError(f"{digits[:40]}… is too large a number")
    return int(digits)


def _number(digits: str) -> float:
    number = float(digits)
    if not isfinite(number):
        raise ValueError(f"{digits[:40]} is too large a number")
    return number


def _object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    # Of a key that stands twice, somebody before us may have checked the other value than the one that would count.
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"the key {twice[:60]!r} stands twice in one object")
    return found


_STRICT = json.JSONDecoder(
    parse_constant=_refuse_constant, parse_int=_whole, parse_float=_number, object_pairs_hook=_object
)
