"""A server that says whatever a test wants, on a real socket, and notes what it was asked."""

import asyncio
import base64
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

import mcp_types as types
from mcp.server.lowlevel.server import Server
from tests.skillweave_mcp.serving_in_tests import listening

from skillweave_mcp.server import UriParams

SKILL = "skill://greeting/SKILL.md"
FORM = "skill://greeting/references/form.md"
TEXT = "---\nname: greeting\ndescription: Greets.\nallowed-tools: Read Bash\n---\n\nSay hello.\n"


def file_of(uri: str, data: bytes) -> dict[str, Any]:
    return {"uri": uri, "digest": f"sha256:{sha256(data).hexdigest()}", "size": len(data)}


def entry_of(uri: str = SKILL, files: Mapping[str, bytes] | None = None, **changed: Any) -> dict[str, Any]:
    """A correct entry of `greeting`, or of another skill, in which some things are changed."""
    contents = {SKILL: TEXT.encode(), FORM: b"a form"} if files is None else files
    front = {"name": "greeting", "description": "Greets.", "allowed-tools": "Read Bash"}
    resources = [file_of(one, data) for one, data in contents.items()]
    return {"uri": uri, "frontmatter": front, "resources": resources, **changed}


@dataclass(slots=True)
class Hostile:
    """What it lists, page by page; what it gives; how long it waits; and what it was asked, as (method, uri)."""

    pages: Callable[[int], tuple[Sequence[object], str | None]] = lambda _: ([entry_of()], None)
    contents: dict[str, bytes] = field(default_factory=lambda: {SKILL: TEXT.encode(), FORM: b"a form"})
    extension: bool = True
    wait: float = 0.0
    asked: list[tuple[str, str]] = field(default_factory=list)

    async def skills_list(self, _: Any, params: types.PaginatedRequestParams) -> dict[str, Any]:
        self.asked.append(("skills/list", params.cursor or ""))
        await asyncio.sleep(self.wait)
        skills, following = self.pages(int(params.cursor or 0))
        more = {} if following is None else {"nextCursor": following}
        return {"resultType": "complete", "skills": list(skills), "ttlMs": 0, "cacheScope": "public", **more}

    async def skills_get(self, _: Any, params: UriParams) -> dict[str, Any]:
        self.asked.append(("skills/get", params.uri))
        skills, _following = self.pages(0)
        return {"resultType": "complete", "skill": skills[0], "ttlMs": 0, "cacheScope": "public"}

    async def read(self, _: Any, params: types.ReadResourceRequestParams) -> types.ReadResourceResult:
        self.asked.append(("resources/read", str(params.uri)))
        blob = base64.b64encode(self.contents[str(params.uri)]).decode()
        return types.ReadResourceResult(contents=[types.BlobResourceContents(uri=str(params.uri), blob=blob)])

    async def nothing(self, _: Any, __: Any) -> types.ListResourcesResult:
        return types.ListResourcesResult(resources=[])


@asynccontextmanager
async def hostile_at(hostile: Hostile) -> AsyncIterator[str]:
    """The address of the server, as a source names it."""
    server: Server[Any] = Server("hostile", on_read_resource=hostile.read, on_list_resources=hostile.nothing)
    if hostile.extension:
        server.extensions = {"io.modelcontextprotocol/skills": {}}
    server.add_request_handler("skills/list", types.PaginatedRequestParams, hostile.skills_list)
    server.add_request_handler("skills/get", UriParams, hostile.skills_get)
    async with listening(server.streamable_http_app(json_response=True)) as address:
        yield address.removeprefix("http://") + "/mcp"
