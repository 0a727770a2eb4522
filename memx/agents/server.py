"""The MCP server over standard input and output; the only importer of the MCP SDK.

While it serves, the SDK keeps the wire on descriptors of its own: standard output is standard error for
everybody else, and standard input is empty, so that neither a stray print nor a child of ours touches the
protocol. Tools run in a worker thread, one at a time: the protocol stays responsive meanwhile.
"""

from __future__ import annotations

import anyio
import anyio.to_thread
import mcp_types as wire
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage
from pydantic import ValidationError

from memx import __version__
from memx.agents.schema import input_schema
from memx.agents.surrogates import mend_surrogates
from memx.agents.tools import INSTRUCTIONS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from memx.agents.session import Answer, Session

PROMPT = wire.Prompt(
    name="context",
    description="What is worth knowing about this repository now, or about a question.",
    arguments=[
        wire.PromptArgument(name="query", description="What it is about.", required=False),
        wire.PromptArgument(name="path", description="A file at hand.", required=False),
    ],
)


def make_server(session: Session) -> Server[Any]:
    """Return a server for a session's tools and its prompt, not yet connected to anything."""
    one_at_a_time = anyio.CapacityLimiter(1)

    async def run(act: Callable[..., Answer], *arguments: Any) -> Answer:
        return await anyio.to_thread.run_sync(act, *arguments, limiter=one_at_a_time)

    async def list_tools(_: Any, __: Any) -> wire.ListToolsResult:
        return wire.ListToolsResult(tools=[_tool(*declared) for declared in session.tools.values()])

    async def call_tool(context: Any, params: wire.CallToolRequestParams) -> wire.CallToolResult:
        answer = await run(session.call, params.name, params.arguments or {}, _agent(context))
        content = wire.TextContent(text=answer.text)
        return wire.CallToolResult(content=[content], is_error=answer.is_error)

    async def list_prompts(_: Any, __: Any) -> wire.ListPromptsResult:
        return wire.ListPromptsResult(prompts=[PROMPT])

    async def get_prompt(_: Any, params: wire.GetPromptRequestParams) -> wire.GetPromptResult:
        if params.name != PROMPT.name:
            raise MCPError(wire.INVALID_PARAMS, f"the only prompt is {PROMPT.name}")
        answer = await run(session.context, params.arguments or {})
        if answer.is_error:
            raise MCPError(wire.INVALID_PARAMS, answer.text)
        message = wire.PromptMessage(role="user", content=wire.TextContent(text=answer.text))
        return wire.GetPromptResult(description=PROMPT.description, messages=[message])

    return Server(
        "memx",
        version=__version__,
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
    )


def serve(session: Session) -> None:
    """Serve until the client closes standard input."""
    anyio.run(_serve, session)


async def _serve(session: Session) -> None:
    server = make_server(session)
    sender, receiver = anyio.create_memory_object_stream[SessionMessage | Exception](0)
    async with stdio_server() as (read, write), anyio.create_task_group() as tasks:
        tasks.start_soon(_relay, read, sender)
        await server.run(receiver, write, server.create_initialization_options())


async def _relay(read: Any, sender: Any) -> None:
    """Pass messages on; one that does not parse for half a character is mended, or its sender would wait for ever."""
    async with sender:
        async for item in read:
            await sender.send(_mended(item) if isinstance(item, ValidationError) else item)


def _mended(error: ValidationError) -> SessionMessage | Exception:
    line = error.errors()[0].get("input")
    if not isinstance(line, str):
        return error
    try:
        return SessionMessage(
            wire.jsonrpc_message_adapter.validate_json(mend_surrogates(line), by_name=False)
        )
    except ValidationError:
        return error


def _tool(tool: Any, parameters: Any) -> wire.Tool:
    return wire.Tool(
        name=tool.name,
        description=tool.description,
        input_schema=input_schema(parameters),
        annotations=wire.ToolAnnotations(
            read_only_hint=tool.reads_only, destructive_hint=False, open_world_hint=False
        ),
    )


def _agent(context: Any) -> str:
    """Return the name that the client gave itself, empty when it gave none."""
    params = getattr(context.session, "client_params", None)
    info = getattr(params, "client_info", None)
    return str(getattr(info, "name", "") or "")
