"""Commands of MCP: the server, and a plugin of skills."""

from skillweave.extensions import CommandSpec

MCP = CommandSpec(
    "Serve skills over MCP, to an agent on this machine.", f"{__name__}.mcp", f"{__name__}.output:McpListening"
)
EXPORT = CommandSpec("Write skills as an Agent Plugin.", f"{__name__}.export", "skillweave_mcp.plugin:Exported")
