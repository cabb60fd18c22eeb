"""A running server: over stdin and stdout, or alone over streamable HTTP on this machine."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from mcp.server.lowlevel.server import NotificationOptions
from mcp.server.streamable_http import MCP_SESSION_ID_HEADER
from starlette.requests import Request

from skillweave import SkillweaveError, Weaver
from skillweave_mcp.answers import Desk, Visitor
from skillweave_mcp.server import Context, SkillServer, make_server

if TYPE_CHECKING:
    from starlette.applications import Starlette

log = logging.getLogger("skillweave_mcp")

LOOK_SECONDS = 5.0
"""How often sources are read again to announce what changed; who asks sees it after a second."""
_LEGACY = NotificationOptions(prompts_changed=True, resources_changed=True)


async def serve_stdio(weaver: Weaver, tools: tuple[str, ...] | None = None, conversation: str | None = None) -> None:
    """Serves one client over stdin and stdout until it hangs up; its process is one conversation."""
    from mcp.server.stdio import stdio_server

    desk, visitor = Desk(weaver), Visitor(conversation or f"mcp-{uuid4().hex}", tools)
    server = make_server(lambda _: (desk, visitor), "public")
    async with announcing(server, lambda: (desk,)), stdio_server() as (incoming, outgoing):
        await server.sdk.run(incoming, outgoing, server.sdk.create_initialization_options(_LEGACY))


def http_app(weaver: Weaver, tools: tuple[str, ...] | None = None, host: str = "127.0.0.1") -> "Starlette":
    """Returns the application that serves the skills at `/mcp`, to this machine alone; it knows no keys.

    A client may say in its URL which tools its agent has: `/mcp?tools=Read,Bash`.
    """
    desk = Desk(weaver)
    server = make_server(lambda context: (desk, visitor_of(context, tools)), "private")
    app = server.sdk.streamable_http_app(host=host)
    inner = app.router.lifespan_context

    @asynccontextmanager
    async def lifespan(one: Any) -> AsyncIterator[Any]:  # noqa: ANN401 - as the SDK has it
        async with announcing(server, lambda: (desk,)), inner(one) as state:
            yield state

    app.router.lifespan_context = lifespan
    return app


def visitor_of(context: Context, tools: tuple[str, ...] | None = None) -> Visitor:
    """Returns who asks: its session, if it has one, is its conversation; the tools are those in its URL, if any."""
    request: Request = context.request  # type: ignore[assignment]  # over HTTP each request has one
    stated = request.query_params.get("tools")
    if stated is not None:
        tools = tuple(one for one in stated.split(",") if one)
    session = request.headers.get(MCP_SESSION_ID_HEADER)
    return Visitor(None if session is None else f"mcp-{session[:64]}", tools)


@asynccontextmanager
async def announcing(server: SkillServer, desks: Callable[[], Iterable[Desk]]) -> AsyncIterator[None]:
    """Looks at the sources again and again while the block runs, and announces what changed."""
    task = asyncio.create_task(_look(server, desks))
    try:
        yield
    finally:
        task.cancel()
        await asyncio.wait([task])


async def _look(server: SkillServer, desks: Callable[[], Iterable[Desk]]) -> None:
    while True:
        await asyncio.sleep(LOOK_SECONDS)
        try:
            changed = [await desk.stock.refresh() for desk in desks()]
            if any(changed):
                await server.announce()
        except SkillweaveError as error:
            # The last good skills are served on; the next look tries again.
            log.warning("skills could not be read again: %s", error)
