"""Servers on real sockets, and questions of the extension as a plain client asks them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any, TypeVar

import mcp_types as types
import uvicorn
from mcp import Client
from pydantic import ConfigDict

import skillweave
from skillweave_mcp.server import FolderParams, UriParams
from skillweave_mcp.serving import http_app

T = TypeVar("T")


class Anything(types.Result):
    """A result as it came."""

    model_config = ConfigDict(extra="allow")


Listing = types.Request[types.PaginatedRequestParams, str]
One = types.Request[UriParams, str]
Inside = types.Request[FolderParams, str]


async def listed(client: Client, cursor: str | None = None) -> dict[str, Any]:
    """The answer to `skills/list`."""
    request = Listing(method="skills/list", params=types.PaginatedRequestParams(cursor=cursor))
    return (await client.session.send_request(request, Anything)).model_extra or {}


async def entry_at(client: Client, uri: str) -> dict[str, Any]:
    """The answer to `skills/get`."""
    request = One(method="skills/get", params=UriParams(uri=uri))
    return (await client.session.send_request(request, Anything)).model_extra or {}


async def children_at(client: Client, uri: str, cursor: str | None = None) -> dict[str, Any]:
    """The answer to `resources/directory/read`."""
    request = Inside(method="resources/directory/read", params=FolderParams(uri=uri, cursor=cursor))
    return (await client.session.send_request(request, Anything)).model_extra or {}


async def told(client: Client, tool: str, **arguments: str) -> str:
    """The text that a tool answers with."""
    content = (await client.call_tool(tool, arguments)).content[0]
    assert isinstance(content, types.TextContent)
    return content.text


@asynccontextmanager
async def in_own_task(context: AbstractAsyncContextManager[T]) -> AsyncIterator[T]:
    """What the context gives, entered and left in one task: a fixture is left in another than it was entered in."""
    entered: asyncio.Future[T] = asyncio.get_running_loop().create_future()
    done = asyncio.Event()

    async def hold() -> None:
        async with context as value:
            entered.set_result(value)
            await done.wait()

    task = asyncio.create_task(hold())
    await asyncio.wait({task, asyncio.ensure_future(entered)}, return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        await task
    try:
        yield await entered
    finally:
        done.set()
        await task


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[str]:
    """The address of a server over the folder."""
    async with listening(http_app(skillweave.open(folder))) as address:
        yield f"{address}/mcp"


@asynccontextmanager
async def listening(app: Callable[..., Any]) -> AsyncIterator[str]:
    """The address of any ASGI application on a real socket of this machine."""
    config = uvicorn.Config(app, port=0, log_config=None, timeout_graceful_shutdown=1)
    config.load()
    server = uvicorn.Server(config)
    server.lifespan = config.lifespan_class(config)
    await server.startup()
    try:
        (own,) = server.servers
        yield f"http://127.0.0.1:{own.sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        await asyncio.wait_for(server.shutdown(), 10)
