"""`skills/list` of public skills, and finding one, beside FastMCP and agentskills-mcp-server; after `make conformance`.

    SKILLWEAVE_SKILLS_SAMPLE=... python benchmarks/mcp_servers.py

All three serve the same copies over streamable HTTP and are asked by the same client in turns. Only ours finds; of the
others the nearest that a client can do is to read the list and then one skill, so that is what stands beside it.
"""

import asyncio
import json
import os
import re
import statistics
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client
from pydantic import ConfigDict

import skillweave
from skillweave_mcp import Desk, Visitor

ROOT = Path(__file__).parents[1]
SUITE = ROOT / "packages/skillweave-mcp/tests/skillweave_mcp/conformance"
sys.path.insert(0, str(SUITE))
from run import OTHERS, free_port, running  # noqa: E402

ROUNDS = 15
REQUEST = "create a terraform module for aws"
URI = "skill://terraform-module-library/SKILL.md"
AGENTSKILLS = """
import asyncio, sys
from pathlib import Path
from agentskills_core import Skill
from agentskills_fs import LocalFileSystemSkillProvider
from agentskills_mcp_server import create_mcp_server
root = Path(sys.argv[1])
provider = LocalFileSystemSkillProvider(root)
async def made():
    skills = []
    for one in sorted(root.iterdir()):
        try:
            await create_mcp_server([Skill(one.name, provider)])
            skills.append(Skill(one.name, provider))
        except Exception as error:
            print(one.name, "is refused:", error, file=sys.stderr)
    return await create_mcp_server(skills, name="agentskills", max_skills=5000, max_total_bytes=1 << 30)
server = asyncio.run(made())
server.run(transport="streamable-http", port=int(sys.argv[2]))
"""


class Anything(types.Result):
    model_config = ConfigDict(extra="allow")


class Listing(types.Request[types.PaginatedRequestParams, str]):
    method: str = "skills/list"


async def whole_list(client: Client) -> int:
    found, cursor = 0, None
    while True:
        answer = await client.session.send_request(
            Listing(params=types.PaginatedRequestParams(cursor=cursor)), Anything
        )
        given: dict[str, Any] = answer.model_extra or {}
        found, cursor = found + len(given["skills"]), given.get("nextCursor")
        if cursor is None:
            return found


async def find(client: Client) -> int:
    return len((await client.call_tool("find_skill", {"request": REQUEST})).content)


async def list_and_read(client: Client) -> int:
    return await whole_list(client) + len((await client.read_resource(URI)).contents)


async def copies(sample: Path, folder: Path) -> int:
    """The sample's skills that all three serve, each in a folder of its name."""
    desk = Desk(skillweave.open(sample))
    served = [one for one in (await desk.shelf(Visitor())).served.values() if _plain(one.frontmatter)]
    for one in served:
        for file in one.manifest.files:
            target = folder / one.name / file.path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(await desk.stock.read(one, file.path) or b"")
    return len(served)


def _plain(front: Mapping[str, object]) -> bool:
    """Whether the other two take it: its values are those that a typed reader of YAML has too."""
    texts = ("name", "description", "license", "compatibility", "allowed-tools")
    known = all(isinstance(front.get(key, ""), str) for key in texts)
    return (
        known
        and all(isinstance(value, str) for value in dict(front.get("metadata") or {}).values())
        and not any(
            isinstance(value, str) and re.fullmatch(r"\d{4}-\d\d?-\d\d?.*", value)
            for value in (*front.values(), *dict(front.get("metadata") or {}).values())
        )
    )


async def timed(work: Callable[[Client], Awaitable[int]], clients: dict[str, Client]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {name: [] for name in clients}
    for _ in range(ROUNDS):
        for name, client in clients.items():
            begin = time.perf_counter()
            await work(client)
            times[name].append(time.perf_counter() - begin)
    return times


async def measure(urls: dict[str, str]) -> None:
    from contextlib import AsyncExitStack

    async with AsyncExitStack() as stack:
        clients = {name: await stack.enter_async_context(Client(url, cache=None)) for name, url in urls.items()}
        print({name: await whole_list(client) for name, client in clients.items()})
        for name, times in (await timed(whole_list, clients)).items():
            print(f"skills/list, all pages: {name:24} {1000 * statistics.median(times):8.1f} ms")
        others = {name: client for name, client in clients.items() if name != "skillweave"}
        for name, times in (await timed(find, {"skillweave": clients["skillweave"]})).items():
            print(f"find_skill:             {name:24} {1000 * statistics.median(times):8.1f} ms")
        for name, times in (await timed(list_and_read, others)).items():
            print(f"list and read one:      {name:24} {1000 * statistics.median(times):8.1f} ms")


def main() -> None:
    with tempfile.TemporaryDirectory() as name, ExitStack() as stack:
        folder = Path(name)
        skills = folder / "skills"
        print(asyncio.run(copies(Path(os.environ["SKILLWEAVE_SKILLS_SAMPLE"]), skills)), "skills")
        (folder / "agentskills.py").write_text(AGENTSKILLS)
        python = str(OTHERS / "bin" / "python")
        ports = [free_port() for _ in range(3)]
        commands = {
            "skillweave": [sys.executable, "-m", "skillweave", "mcp", "--skills", str(skills), "--http", "--port"],
            "FastMCP": [python, str(SUITE / "fastmcp_server.py"), str(skills)],
            "agentskills-mcp-server": [python, str(folder / "agentskills.py"), str(skills)],
        }
        urls = {}
        for (name, command), port in zip(commands.items(), ports, strict=True):
            try:
                urls[name] = stack.enter_context(running([*command, str(port)], port, folder))
            except RuntimeError as error:
                print(f"{name} left out: {json.dumps(str(error)[-600:])}")
        asyncio.run(measure(urls))


if __name__ == "__main__":
    main()
