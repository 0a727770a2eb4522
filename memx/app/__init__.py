"""The use cases: what the command line, the hooks, MCP and the web all call."""
