"""The gateway: a client's requests to its model go through here, and the skills it needs go with them (spec 12.7)."""

import asyncio
import json
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from uuid import UUID, uuid5

import httpx
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from skillweave import ApprovalVerdict, StoreUnavailable, ToolCall, Weaver
from skillweave.adapters.approval import Reply
from skillweave.approvals import ApprovalCase, ApprovalRequest, ApprovalStatus
from skillweave.errors import Contended
from skillweave.exchange import (
    Answer,
    Asked,
    Begun,
    Flow,
    Parts,
    Question,
    Scope,
    Start,
    begin,
    problem,
)
from skillweave.exchange import Refused as NotSent
from skillweave.stores import insertions_of
from skillweave.values import finished
from skillweave_server.calls import admitted
from skillweave_server.gateways import Gateway
from skillweave_server.middleware import SEEN, Seen
from skillweave_server.piped import Streamed
from skillweave_server.problems import Refused
from skillweave_server.service import Service, apply_waiting, desk_of
from skillweave_server.upstreams import (
    CREDENTIALS,
    KEY_BEGINS,
    MOST_BODY_BYTES,
    Provider,
    given_back,
    too_large,
    unpacked,
)
from skillweave_stores.access import Scope as KeyScope

PREFIX = "/gateway"
LONGEST_REPLY_BYTES = 64 * 1024 * 1024
BODY_SECONDS = 60.0
_LOOK_EVERY_SECONDS = 0.3
_QUESTIONS = UUID("b0b60b4e-6d0a-4d4b-9a55-5c3a1e0f5e11")
_KEY = "x-skillweave-key"


async def _endpoint(request: Request) -> Response:
    service: Service = request.app.state.service
    gateway = service.gateway
    assert gateway is not None  # noqa: S101 - else it has no route
    named = request.path_params["upstream"]
    seen: Seen = request.scope.get(SEEN) or Seen()
    seen.route = f"{PREFIX}/{{upstream}}/{{path}}"
    provider = gateway.providers.get(named)
    if provider is None:
        raise Refused(
            404, "no-such-upstream", f"there is no upstream {named[:40]!r}; there is {', '.join(gateway.providers)}"
        )
    if provider.key is not None and service.ring is None:
        detail = "the server holds the key of this upstream, so it answers to keys alone; make one: skillweave keys new"
        raise Refused(401, "no-key", detail)
    spelled = _spelled_in(request, held=provider.key is not None)
    key, share = await admitted(request, service, KeyScope.WEAVE, spelled)
    if share is not None:
        seen.leave = share.follow()  # a model may answer for minutes
    url = provider.target(request.method, request.path_params["path"])
    body = await _body(request)
    tenant = "" if key is None else key.tenant
    return await Passage(service, gateway, provider, request, seen, tenant, url, body).answer()


@dataclass(slots=True)
class Passage:
    """One request on its way through."""

    service: Service
    gateway: Gateway
    provider: Provider
    request: Request
    seen: Seen
    tenant: str
    url: str
    body: bytes

    async def answer(self) -> Response:
        """What the client gets."""
        asked = Asked(self.request.url.path, {k.lower(): v for k, v in self.request.headers.items()}, self.body)
        exchange = begin(self._parts(), asked) if self.request.method == "POST" else None
        self.seen.exchange = exchange
        flow = Flow(exchange, self._called, _read)
        work = asyncio.ensure_future(self._begun(exchange, flow))
        gone = asyncio.ensure_future(_hung_up(self.request))
        try:
            await asyncio.wait({work, gone}, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return await work
            await finished(_given_up(work, flow))
            return Response(status_code=499)  # nobody reads it
        except NotSent as error:
            return _response(problem(error))
        except BaseException:
            await finished(_given_up(work, flow))
            raise
        finally:
            gone.cancel()

    async def _begun(self, exchange: Begun | None, flow: Flow) -> Response:
        """Follows the steps until the answer begins."""
        step = await flow.answer()
        if exchange is not None:
            self.service.meters.exchanged(exchange.form, exchange.way, exchange.overhead)
        if isinstance(step, Answer):
            return _response(step)
        headers = {**_given_back(flow.came), **step.headers}
        if isinstance(step, Start) and exchange is not None:
            alive, seconds = exchange.keep_alive, self.gateway.keep_alive_seconds
            status = flow.came.status_code if flow.came else 200
            return Streamed(flow.pieces(), status, headers, flow.aclose, alive=alive, seconds=seconds)
        if flow.came.is_stream_consumed:
            return Response(flow.came.content, flow.came.status_code, headers)
        return Streamed(flow.came.aiter_bytes(), flow.came.status_code, headers, flow.aclose)

    async def _called(self, body: bytes | None) -> httpx.Response:
        """The answer of the upstream, of which only the headers were read. Raises NotSent where there is none."""
        sent = [(k.decode("latin-1"), v.decode("latin-1")) for k, v in self.request.headers.raw]
        headers = self.provider.headers(sent, anthropic="/messages" in self.url)
        query = self.request.url.query
        url = f"{self.url}?{query}" if query else self.url
        out = self.gateway.client.build_request(
            self.request.method, url, headers=headers, content=self.body if body is None else body
        )
        try:
            return await self.gateway.client.send(out, stream=True)
        except httpx.TimeoutException as error:
            raise NotSent(504, "upstream-silent", f"{self.provider.name} did not answer in time") from error
        except httpx.HTTPError as error:
            detail = f"{self.provider.name} cannot be reached ({type(error).__name__}); see whether it runs"
            raise NotSent(502, "upstream-unreachable", detail) from error

    def _parts(self) -> Parts:
        weaver = self.service.weaver(self.tenant)
        credential = "" if self.provider.key else "".join(self.request.headers.get(one, "") for one in CREDENTIALS)
        return Parts(
            weaver,
            insertions_of(weaver.ledger.store),
            Scope.of(self.tenant, self.provider.name, credential),
            approve=self._asker(weaver),
            require_conversation=self.gateway.require_conversation,
            before=partial(apply_waiting, self.service, self.tenant),
            seen=self.service.meters.turn,
        )

    def _asker(self, weaver: Weaver) -> Callable[[Question], Awaitable[Reply | None]] | None:
        if not hasattr(self.service.approvals, "count_pending"):
            return None  # the service keeps no approvals

        async def ask(about: Question) -> Reply | None:
            cases = [
                await self._opened(weaver, about, one.skill_id, one.name, one.reviewer) for one in about.checkpoints
            ]
            with suppress(TimeoutError):
                async with asyncio.timeout(self.gateway.approval_seconds):
                    while waiting := [one for one in cases if one.status is ApprovalStatus.PENDING]:
                        await asyncio.sleep(_LOOK_EVERY_SECONDS)
                        known = {one.id: await self._looked_up(one) for one in waiting}
                        cases = [known.get(one.id, one) for one in cases]
            return _reply_of(cases)

        return ask

    async def _opened(
        self, weaver: Weaver, about: Question, skill: str, name: str, reviewer: str | None
    ) -> ApprovalCase:
        call = ToolCall(about.call.id, about.call.name, about.call.arguments or {})
        tenant = weaver.ledger.tenant
        # The same request of any replica asks the same question.
        asked = json.dumps([tenant, about.conversation, about.turn_id, call.content, call.id, skill, name])
        request = ApprovalRequest(about.conversation, skill, name, call, reviewer=reviewer or "")
        return await desk_of(self.service, self.tenant).ask(str(uuid5(_QUESTIONS, asked)), request)

    async def _looked_up(self, case: ApprovalCase) -> ApprovalCase:
        with suppress(StoreUnavailable, Contended):
            found = await self.service.approvals.get(case.id, tenant=self.tenant)
            if found.applied or found.status is ApprovalStatus.PENDING:
                return found
            # It counts from when the conversation has it, and who said it may have ended before that.
            await desk_of(self.service, self.tenant).apply_waiting(case.request.conversation)
        return case


def _response(answer: Answer) -> Response:
    return Response(answer.body, answer.status, dict(given_back(list(answer.headers.items()))))


def _reply_of(cases: list[ApprovalCase]) -> Reply | None:
    """What was said to all questions about one call: a no of one is a no; None where one is open."""
    said = sorted(cases, key=lambda one: one.status is not ApprovalStatus.REJECTED)
    if not said or any(one.status is ApprovalStatus.PENDING for one in said):
        return None
    chosen = next((one for one in said if one.arguments is not None), said[0])
    arguments = None if chosen.arguments is None else dict(chosen.arguments)
    return Reply(ApprovalVerdict(chosen.status.value), chosen.by, chosen.note, "", arguments)


async def _given_up(work: "asyncio.Future[Response]", flow: Flow) -> None:
    """Ends a request whose client went away; cancelled once, as more would end the closing of its connection."""
    work.cancel()
    await asyncio.wait({work})
    await flow.aclose()


async def _read(came: httpx.Response) -> bytes:
    """The whole body of an answer, within its limit."""
    content = bytearray()
    try:
        async for piece in came.aiter_bytes():
            content += piece
            if len(content) > LONGEST_REPLY_BYTES:
                raise NotSent(502, "reply-too-large", f"the reply has more than {LONGEST_REPLY_BYTES:,} bytes")
    except httpx.HTTPError as error:
        raise NotSent(502, "upstream-broke-off", f"the upstream broke off ({type(error).__name__})") from error
    came._content = bytes(content)  # noqa: SLF001 - as `aread` keeps it, which has no limit
    return bytes(content)


def _given_back(came: httpx.Response | None) -> dict[str, str]:
    return {} if came is None else dict(given_back(came.headers.multi_items()))


async def _hung_up(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _spelled_in(request: Request, *, held: bool) -> str:
    """The text of our key: in its own header, or where the server holds the provider's, in the client's."""
    ours = request.headers.get(_KEY, "")
    found = [request.headers.get(one, "").removeprefix("Bearer ").strip() for one in CREDENTIALS] if held else []
    return ours or next((one for one in found if one.startswith(KEY_BEGINS)), "")


async def _body(request: Request) -> bytes:
    content = bytearray()
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for part in request.stream():
                content += part
                if len(content) > MOST_BODY_BYTES:
                    raise too_large(MOST_BODY_BYTES)
    except TimeoutError:
        raise Refused(408, "slow-body", f"the body did not come within {BODY_SECONDS:g} seconds") from None
    except ClientDisconnect:
        raise Refused(400, "broken-off", "the client went away before the body was there") from None
    coding = request.headers.get("content-encoding", "")
    return await asyncio.to_thread(unpacked, bytes(content), coding) if coding else bytes(content)


GATEWAY = Route(f"{PREFIX}/{{upstream}}/{{path:path}}", _endpoint, methods=["GET", "POST"])
