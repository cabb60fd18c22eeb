"""The host as the conformance suite runs it: list, approve, open each SKILL.md; the URL is the last argument."""

import asyncio
import sys
import tempfile
from pathlib import Path

from skillweave.errors import ArtifactNotFound
from skillweave_mcp.host.approvals import Approvals
from skillweave_mcp.host.connection import Server
from skillweave_mcp.host.source import McpSource


async def main(url: str, scenario: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source = McpSource(Server(url), approvals=Approvals(Path(folder) / "approvals.json"))
        loaded = await source.load()
        for found in loaded.diagnostics:
            print(found.message, file=sys.stderr)
        for skill in loaded.skills:
            print(f"listed {skill.id}", file=sys.stderr)
            if scenario.endswith("no-prefetch"):
                continue
            source.approve(skill)
            try:
                print(f"read {len(await source.read(skill, 'SKILL.md'))} bytes", file=sys.stderr)
            except ArtifactNotFound as error:
                print(error, file=sys.stderr)


if __name__ == "__main__":
    import os

    asyncio.run(main(sys.argv[-1], os.environ.get("MCP_CONFORMANCE_SCENARIO", "")))
