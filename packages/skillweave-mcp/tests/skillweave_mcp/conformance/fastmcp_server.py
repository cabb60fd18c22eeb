"""FastMCP's own server over a folder of skills, in the environment of `make conformance`: FOLDER PORT."""

import sys
import warnings

warnings.simplefilter("ignore")

from fastmcp import FastMCP  # noqa: E402
from fastmcp.server.providers.skills import SkillsDirectoryProvider  # noqa: E402

server = FastMCP("fastmcp", providers=[SkillsDirectoryProvider(sys.argv[1], experimental_skills=True)])
server.run(transport="http", host="127.0.0.1", port=int(sys.argv[2]), show_banner=False)
