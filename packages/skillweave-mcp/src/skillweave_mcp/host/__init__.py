"""The host's side: skills of other MCP servers as a source, verified on each read and bound to their manifest."""
