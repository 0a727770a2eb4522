"""Cline and Roo: api_conversation_history.json, one JSON array of messages on one line.

Results are text blocks "[tool for 'argument'] Result:" of the next user
message; older versions also wrote calls as XML inside the assistant's text.
"""

from __future__ import annotations

import os
import re

from memx.record import record
from memx.transcripts import clean
from memx.transcripts.claude_code import text_of
from memx.transcripts.exit_code import exit_code_of
from memx.transcripts.json_document import read_members

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memx.model import Event
    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source

HISTORY_FILE = "api_conversation_history.json"
_WORKING_DIRECTORY = re.compile(r"# Current (?:Working|Workspace) Directory \(([^)\n]{1,400})\)")
_RESULT = re.compile(r"\A\s*\[(?P<tool>[a-z_]\w{0,60})(?P<argument>[^\n]*?)\] Result:\n?", re.DOTALL)
_FAILURE = re.compile(
    r"The tool execution failed with the following error|^Error executing |<error>"
    r"|The user denied this operation"
    r"|^This tool call failed with error|^Command failed\b|^The diff application failed",
    re.MULTILINE,
)
_SUCCESS = re.compile(
    r"^Command executed(?: successfully)?\.?|The content was successfully saved", re.MULTILINE
)
_COMMAND_HEADER = re.compile(r"\A\s*Command (?:executed|failed)[^\n]*\n(?:Output:\n?)?")
_SAYING_TOOLS = {
    "attempt_completion": "result",
    "ask_followup_question": "question",
    "plan_mode_respond": "response",
}
_XML_TOOLS = (
    "execute_command|read_file|write_to_file|replace_in_file|apply_diff|search_files|list_files|insert_content"
    "|list_code_definition_names|attempt_completion|ask_followup_question|browser_action|use_mcp_tool|search_and_replace"
    "|access_mcp_resource|plan_mode_respond|switch_mode|new_task|update_todo_list"
)
# Every pattern ends at the text's end too: a tag left open is walked through once, not once for each try.
_XML_CALL = re.compile(rf"<(?P<tool>{_XML_TOOLS})>(?P<body>.*?)(?:</(?P=tool)>|\Z)", re.DOTALL)
_XML_ARGUMENT = re.compile(r"<(?P<name>[a-z_]{1,40})>(?P<value>.*?)(?:</(?P=name)>|\Z)", re.DOTALL)
_FEEDBACK = re.compile(r"<(feedback|user_message|answer)>(.*?)(?:</\1>|\Z)", re.DOTALL)
_BOILERPLATE = re.compile(
    r"\A\s*(?:\[|# task_progress|<explicit_instructions|<environment_details|<file_content)"
)
_XML_SCANNED = 200_000


@record
class Turn:
    """Where a message stands: its key and what every event of it shares."""

    key: str
    at: dict[str, Any]


class _Pending:
    """The calls of the last assistant message, waiting for their results in order."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def take(self, name: str) -> str:
        """Return the id of the first waiting call of this tool, else an empty string."""
        for place, (tool, call_id) in enumerate(self.calls):
            if tool == name:
                del self.calls[place]
                return call_id
        return ""


def read(source: Source, session: SessionRead) -> Iterator[Event]:
    """Yield the events of a task."""
    session.learn(session_id=os.path.basename(os.path.dirname(source.path)))
    pending = _Pending()
    place = 0
    for key, message in read_members(source, session, ("messages",)):
        if key not in ("", "messages"):
            continue
        if not isinstance(message, dict) or message.get("role") not in ("user", "assistant"):
            session.skip("unknown_type")
            continue
        turn = Turn(f"m{place}", {"time": clean.moment(message.get("ts"))})
        place += 1
        content = message.get("content")
        blocks = content if isinstance(content, list) else [{"type": "text", "text": content}]
        if message["role"] == "assistant":
            pending.calls.clear()
        for number, block in enumerate(blocks):
            part = Turn(f"{turn.key}#{number}", turn.at)
            yield from _block(session, message["role"], block, part, pending)


def _block(session: SessionRead, role: str, block: object, turn: Turn, pending: _Pending) -> Iterator[Event]:
    kind = block.get("type") if isinstance(block, dict) else None
    if not isinstance(block, dict) or kind in ("thinking", "redacted_thinking", "reasoning", "image"):
        return
    if kind == "tool_use":
        yield from _call(
            session, clean.label(block.get("name")), block.get("input"), block.get("id"), turn, pending
        )
    elif kind == "tool_result":
        text = text_of(block.get("content"))
        yield from _result(session, text, clean.label(block.get("tool_use_id")), "", turn)
    elif kind == "text":
        said = block.get("text")
        if isinstance(said, str):
            speak = _assistant if role == "assistant" else _user
            yield from speak(session, said, turn, pending)
    else:
        session.skip("unknown_block")


def _call(
    session: SessionRead, name: str, values: object, call_id: object, turn: Turn, pending: _Pending
) -> Iterator[Event]:
    spoken = _SAYING_TOOLS.get(name)
    if spoken is not None:
        said = values.get(spoken) if isinstance(values, dict) else values
        yield from session.prose("assistant", said, key=turn.key, **turn.at)
        return
    identifier = clean.label(call_id) or turn.key
    pending.calls.append((name, identifier))
    yield from session.call(name, values, call_id=identifier, key=turn.key, **turn.at)


def _assistant(session: SessionRead, text: str, turn: Turn, pending: _Pending) -> Iterator[Event]:
    place = 0
    for found in _XML_CALL.finditer(text[:_XML_SCANNED]):
        yield from session.prose(
            "assistant", text[place : found.start()], key=f"{turn.key}@{place}", **turn.at
        )
        place = found.end()
        values = {
            argument["name"]: argument["value"].strip() for argument in _XML_ARGUMENT.finditer(found["body"])
        }
        part = Turn(f"{turn.key}@{place}", turn.at)
        yield from _call(session, found["tool"], values, None, part, pending)
    yield from session.prose(
        "assistant", text[place:], key=f"{turn.key}@{place}" if place else turn.key, **turn.at
    )


def _user(session: SessionRead, text: str, turn: Turn, pending: _Pending) -> Iterator[Event]:
    folder = _WORKING_DIRECTORY.search(text)
    if folder:
        session.learn(cwd=folder[1])
    found = _RESULT.match(text)
    if found is None:
        words = [match[2] for match in _FEEDBACK.finditer(text)]
        if words or not _BOILERPLATE.match(text):
            yield from session.prose("user", "\n".join(words) or text, key=turn.key, **turn.at)
        return
    name = found["tool"]
    words = [match[2] for match in _FEEDBACK.finditer(text)]
    if name not in _SAYING_TOOLS:
        body = _FEEDBACK.sub("", text[found.end() :]) if words else text[found.end() :]
        yield from _result(session, body, pending.take(name), name, turn)
    for place, said in enumerate(words):
        yield from session.prose("user", said, key=f"{turn.key}:said{place}", **turn.at)


def _result(session: SessionRead, text: str, call_id: str, name: str, turn: Turn) -> Iterator[Event]:
    code = exit_code_of(text)
    if code is None:
        code = exit_code_of(text[:400])
    is_error = None if code is None else code != 0
    if is_error is None:
        is_error = True if _FAILURE.search(text[:600]) else (False if _SUCCESS.search(text[:600]) else None)
    key = f"{turn.key}:result"
    body = _COMMAND_HEADER.sub("", text)
    yield from session.result(
        body, call_id=call_id, name=name, key=key, is_error=is_error, exit_code=code, **turn.at
    )
