"""FastMCP's client against a server: every file of every skill it lists, verified, and a tool; prints what it saw."""

import asyncio
import base64
import hashlib
import json
import sys

from fastmcp import Client
from fastmcp.skills.client import SkillsClientExtension


async def main(url: str) -> None:
    async with Client(url, extensions=[SkillsClientExtension()]) as client:
        skills = list(await client.list_skills())
        wrong = files = 0
        for skill in skills:
            for one in skill.resources:
                content = (await client.read_resource(one.uri))[0]
                data = content.text.encode() if hasattr(content, "text") else base64.b64decode(content.blob)
                files += 1
                wrong += f"sha256:{hashlib.sha256(data).hexdigest()}" != one.digest
        answer = await client.call_tool("find_skill", {"request": "fill a pdf form"})
        print(json.dumps({"skills": len(skills), "files": files, "wrong": wrong, "tool": bool(answer.content[0].text)}))


asyncio.run(main(sys.argv[1]))
