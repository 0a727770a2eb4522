"""What agents call: the MCP server."""
