"""MCP as a part of `skillweave serve`: at /mcp, behind its keys, each tenant with its own skills."""

from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager

from skillweave import Weaver
from skillweave.extensions import KEY, TENANT, Mount
from skillweave_mcp.answers import Desk, Visitor
from skillweave_mcp.server import Context, make_server
from skillweave_mcp.serving import announcing, visitor_of

PATH = "/mcp"
MOST_DESKS = 64
"""Tenants whose shelves are held at once; of more, those that were asked longest ago are filled again."""


def mount(weaver_of: Callable[[str], Weaver]) -> Mount:
    """Returns the application for these tenants."""
    desks: OrderedDict[str, Desk] = OrderedDict()

    def receive(context: Context) -> tuple[Desk, Visitor]:
        assert context.request is not None  # noqa: S101 - over HTTP each request has one
        tenant = context.request.scope[TENANT]
        weaver, desk = weaver_of(tenant), desks.get(tenant)
        if desk is None or desk.weaver is not weaver:
            desk = desks[tenant] = Desk(weaver)
        desks.move_to_end(tenant)
        while len(desks) > MOST_DESKS:
            desks.popitem(last=False)
        return desk, visitor_of(context)

    server = make_server(receive, "private")
    manager = StreamableHTTPSessionManager(server.sdk)

    async def app(scope: Any, receive: Any, send: Any) -> None:  # noqa: ANN401 - ASGI
        # The SDK lets a session be used with the credential only that began it: here that is the key.
        token = AccessToken(token="", client_id=f"{scope[TENANT]}/{scope[KEY]}", scopes=[])
        await manager.handle_request({**scope, "user": AuthenticatedUser(token)}, receive, send)

    @asynccontextmanager
    async def running() -> AsyncIterator[None]:
        async with announcing(server, lambda: tuple(desks.values())), manager.run():
            yield

    return Mount(PATH, app, running)
