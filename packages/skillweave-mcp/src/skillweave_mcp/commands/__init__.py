"""Commands of MCP: the server."""

from skillweave.extensions import CommandSpec

MCP = CommandSpec(
    "Serve skills over MCP, to an agent on this machine.", f"{__name__}.mcp", f"{__name__}.output:McpListening"
)
