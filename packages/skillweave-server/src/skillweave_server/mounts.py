"""Applications of other distributions that the service answers with, such as MCP: behind its keys, for its tenants."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager

from starlette.requests import Request
from starlette.routing import BaseRoute, Route
from starlette.types import Receive, Send
from starlette.types import Scope as AsgiScope

from skillweave import Weaver
from skillweave.extensions import KEY, TENANT, Extensions, Mount
from skillweave_server.calls import admitted, spelled_in
from skillweave_server.middleware import SEEN, Seen
from skillweave_server.service import Service
from skillweave_stores.access import Scope

MOUNTS: Extensions[Callable[[Callable[[str], Weaver]], Mount]] = Extensions("mounts", "mount")
"""The value is a function that takes what gives a tenant's Weaver."""
GRACE_SECONDS = 2.0
"""How long a request may go on when the service is about to end: standing streams would go on for ever."""


def mounts_of(service: Service) -> tuple[Mount, ...]:
    """Returns what installed distributions bring; raises SkillweaveError for one that cannot be loaded."""
    return tuple(MOUNTS.make(name, lambda make: make(service.weaver)) for name in MOUNTS.names())


def routes_of(mounts: Sequence[Mount]) -> list[BaseRoute]:
    """Returns a route for each, which lets in who has a key with the scope `weave`."""
    return [Route(one.path, _Guarded(one), methods=None, include_in_schema=False) for one in mounts]


@asynccontextmanager
async def running(mounts: Sequence[Mount]) -> AsyncIterator[None]:
    """Has them at work while the block runs, in one task: what a mount enters may be left only where it was entered."""
    begun, ended = asyncio.Event(), asyncio.Event()
    task = asyncio.create_task(_hold(mounts, begun, ended))
    waiting = asyncio.create_task(begun.wait())
    await asyncio.wait({task, waiting}, return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if task.done():
        await task
    try:
        yield
    finally:
        ended.set()
        await task


async def _hold(mounts: Sequence[Mount], begun: asyncio.Event, ended: asyncio.Event) -> None:
    async with AsyncExitStack() as stack:
        for one in mounts:
            await stack.enter_async_context(one.running())
        begun.set()
        await ended.wait()


class _Guarded:
    """A mount whose requests name the tenant and the key that they are let in with."""

    def __init__(self, mount: Mount) -> None:
        self._mount = mount

    async def __call__(self, scope: AsgiScope, receive: Receive, send: Send) -> None:
        """Answers a request; raises Refused for one that is not let in."""
        request = Request(scope, receive)
        service: Service = request.app.state.service
        seen: Seen = scope.get(SEEN) or Seen()
        seen.route = self._mount.path
        key, share = await admitted(request, service, Scope.WEAVE, spelled_in(request))
        if share is not None and request.method == "GET":
            seen.leave = share.follow()  # a standing stream
        named = {**scope, TENANT: "" if key is None else key.tenant, KEY: "" if key is None else key.id}
        work = asyncio.ensure_future(self._mount.app(named, receive, send))
        leaving = asyncio.ensure_future(service.leaving.wait())
        try:
            await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not work.done():
                await asyncio.wait({work}, timeout=GRACE_SECONDS)
            if work.done():
                await work
        finally:
            leaving.cancel()
            work.cancel()
            await asyncio.wait({work})
