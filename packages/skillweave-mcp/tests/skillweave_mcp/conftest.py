"""What tests of MCP share: a folder of two skills, and servers over it."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from mcp import Client
from tests.skillweave_mcp.serving_in_tests import in_own_task, served

import skillweave
from skillweave_mcp import Desk, Visitor
from skillweave_mcp.server import make_server
from tests.skill_folders import skill_text, write_skill


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Skills: `greeting` with files of several kinds, and `invoices` that names tools."""
    root = tmp_path / "skills"
    text = skill_text("greeting", "Greets people in French, by bonjour.", "Say bonjour to $ARGUMENTS.", license="MIT")
    write_skill(root / "greeting", text, {"references/forms.md": "A form.\r\n", "references/more/é x.txt": "deep"})
    (root / "greeting" / "logo.bin").write_bytes(b"\0\xff\x00")
    named = skill_text("invoices", "Checks invoices and their totals.", "Add.", **{"allowed-tools": "Read Bash(bc:*)"})
    write_skill(root / "invoices", named)
    return root


@pytest_asyncio.fixture
async def client(folder: Path) -> AsyncIterator[Client]:
    """A client of the present protocol, in this process."""
    desk = Desk(skillweave.open(folder))
    server = make_server(lambda _: (desk, Visitor()), "public")
    async with in_own_task(Client(server.sdk, cache=None)) as one:
        yield one


@pytest_asyncio.fixture
async def address(folder: Path) -> AsyncIterator[str]:
    """The address of a server over HTTP, on a real socket."""
    async with in_own_task(served(folder)) as found:
        yield found
