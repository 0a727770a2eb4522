"""`memx mcp`: the server that agents talk to."""

from __future__ import annotations

import os

from memx.entry.cli.command import Command
from memx.errors import EXIT_OK, MemxError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from memx.agents.tools import Tool
    from memx.app.project import Project
    from memx.entry.cli.command import Parameter
    from memx.entry.cli.invocation import Invocation

EXTRA = "git-memx[mcp]"


def run_mcp(invocation: Invocation) -> int:
    """Serve until standard input ends."""
    from memx.agents.session import Session
    from memx.agents.tools import TOOLS

    try:
        from memx.agents.server import serve
    except ImportError as error:
        raise MemxError(
            f"the MCP server needs a package that is not installed here: {error.name}",
            hint=f"pip install '{EXTRA}'",
        ) from error
    folder = invocation.directory

    def open_project() -> Project:
        from memx.entry.cli.invocation import Invocation

        shared = {"directory": folder, "now": invocation.given_now}
        return Invocation(os.environ, **shared).project

    def report_bug(error: Exception, name: str) -> str:
        from memx.entry.bug_report import write_bug_report

        return write_bug_report(error, f"mcp {name}", invocation)

    serve(Session([(tool, declared(tool)) for tool in TOOLS], open_project, report_bug))
    return EXIT_OK


def declared(tool: Tool) -> list[Parameter]:
    """Return what the command line declares about the parameters that a tool takes."""
    from memx.entry.cli.main import find_command

    found = find_command([tool.command])
    if found is None:
        raise KeyError(tool.command)
    parameters = {parameter.name: parameter for parameter in found[0].parameters}
    return [parameters[name] for name in tool.takes]


COMMANDS = (
    Command(
        "mcp",
        f"Serve agents over the Model Context Protocol on standard input and output (pip install '{EXTRA}').",
        run_mcp,
    ),
)
