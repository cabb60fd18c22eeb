"""A change of the skills is told to whoever listens, in the present protocol and in the older one."""

import asyncio
from pathlib import Path

import mcp_types as types
import pytest
from mcp import Client
from mcp.shared.subscriptions import ResourcesListChanged

import skillweave
from skillweave_mcp import Desk, Visitor, serving
from skillweave_mcp.server import make_server
from skillweave_mcp.serving import announcing
from tests.skill_folders import write_skill


async def test_a_change_is_announced_to_a_client_that_listens(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(serving, "LOOK_SECONDS", 0.05)
    desk = Desk(skillweave.open(folder))
    await desk.shelf(Visitor())
    server = make_server(lambda _: (desk, Visitor()))
    async with (
        announcing(server, lambda: (desk,)),
        Client(server.sdk, cache=None) as client,
        client.listen(resources_list_changed=True) as events,
    ):
        write_skill(folder / "new")
        assert await asyncio.wait_for(anext(aiter(events)), 10) == ResourcesListChanged()


async def test_a_change_is_announced_in_a_session_of_the_older_protocol(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LOOK_SECONDS", 0.05)
    desk, heard = Desk(skillweave.open(folder)), asyncio.Event()
    await desk.shelf(Visitor())
    server = make_server(lambda _: (desk, Visitor()))

    async def hear(message: object) -> None:
        if isinstance(message, types.ResourceListChangedNotification):
            heard.set()

    async with (
        announcing(server, lambda: (desk,)),
        Client(server.sdk, mode="legacy", message_handler=hear) as client,
    ):
        await client.list_tools()
        write_skill(folder / "new")
        await asyncio.wait_for(heard.wait(), 10)


async def test_a_source_that_fails_for_a_while_does_not_end_the_looking(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving, "LOOK_SECONDS", 0.05)
    desk, heard = Desk(skillweave.open(folder)), asyncio.Event()
    await desk.shelf(Visitor())
    server = make_server(lambda _: (desk, Visitor()))
    server.bus.subscribe(lambda _: heard.set())
    async with announcing(server, lambda: (desk,)):
        await asyncio.to_thread(folder.rename, folder.with_name("away"))
        await asyncio.sleep(0.3)
        await asyncio.to_thread(folder.with_name("away").rename, folder)
        write_skill(folder / "new")
        await asyncio.wait_for(heard.wait(), 10)
