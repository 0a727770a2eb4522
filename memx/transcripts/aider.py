"""Aider: .aider.chat.history.md, append-only, many chats in one file.

`#### ` begins the person's lines, `> ` those of the program, anything else is
the model's. Nothing is escaped, so a quotation is taken for program output.
"""

from __future__ import annotations

import os
import re

from memx.transcripts import clean
from memx.transcripts.markdown import Turn, text_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.model import Event
    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source

HISTORY_FILE = ".aider.chat.history.md"
_CHAT = re.compile(r"^# aider chat started at (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)")
_LOOK_BACK_BYTES = 256 * 1024
_NOISE = re.compile(
    r"(?:aider\b|Aider v|Model: |Main model: |Weak model: |Editor model: |Git repo: |Repo-map: |Tokens: "
    r"|Cost: |Added \S+ to the chat|Added \d+ lines? of output to the chat|Add .* to the chat\?|Restored previous"
    r"|Use /help|Multiline mode|Run shell command\?|Add command output to the chat\?|Only \d+ reflections"
    r"|Using \S+ model|Dropping |Removed |Creating empty file|\S+ is already in the chat|https?://"
    r"|VSCode terminal detected|Commit [0-9a-f]{7,40} )"
)
_APPLIED = re.compile(r"Applied edit to (\S.*)$")
_EDIT_FAILED = re.compile(r"SEARCH/REPLACE blocks? failed to match|litellm\.\w*Error|Can't edit ")
_SPOKEN_COMMAND = re.compile(r"/(?:ask|code|architect|help|chat-mode)\s+")
_SHELL_COMMAND = re.compile(r"(?:/(?:run|test|git|lint)\s+|!)")
_FILE_NAME = re.compile(r"^[\w./\\-]{1,200}\.\w{1,10}$")


def read(source: Source, session: SessionRead, offset: int) -> Iterator[Event]:
    """Yield the events of a history file from a byte offset on."""
    session.learn(cwd=os.path.dirname(os.path.abspath(source.path)) if source.data is None else "")
    turn = Turn("assistant", offset)
    started = _chat_before(source, session, offset)
    edited: set[str] = set()
    after_blank = False
    for line in text_lines(source, session, offset):
        chat = _CHAT.match(line.text)
        role = "start" if chat else _role(line.text)
        is_blank = not line.text.strip()
        # A blank line belongs to whatever stands around it, but it ends what a person typed.
        if not is_blank and (role != turn.role or (role == "user" and after_blank)):
            yield from _events(session, turn, edited)
            turn = Turn(role, line.start)
            turn.time = started
        if chat:
            session.session_id = chat[1].replace(" ", "T")
            started = clean.moment(chat[1])
            session.learn(started=started)
        else:
            turn.add(_stripped(line.text, role))
        after_blank = is_blank
    yield from _events(session, turn, edited)


def _chat_before(source: Source, session: SessionRead, offset: int) -> float | None:
    """Learn the chat that an offset lies in from the header before it; return when it started."""
    if not offset:
        return None
    with source.open() as stream:
        stream.seek(max(offset - _LOOK_BACK_BYTES, 0))
        text = stream.read(min(offset, _LOOK_BACK_BYTES)).decode("utf-8", "replace")
    headers = [match for line in text.split("\n") if (match := _CHAT.match(line))]
    if not headers:
        return None
    session.session_id = headers[-1][1].replace(" ", "T")
    return clean.moment(headers[-1][1])


def _role(line: str) -> str:
    if line.startswith("#### "):
        return "user"
    return "tool" if line.startswith("> ") or line.rstrip() == ">" else "assistant"


def _stripped(line: str, role: str) -> str:
    if role == "user":
        return line[5:].rstrip()
    return line[2:].rstrip() if role == "tool" else line.rstrip()


def _events(session: SessionRead, turn: Turn, edited: set[str]) -> Iterator[Event]:
    key = f"{session.session_id}@{turn.start}"
    turn.report(session)
    if turn.role == "user":
        yield from _said(session, turn, key)
    elif turn.role == "tool":
        yield from _output(session, turn, key, edited)
    elif turn.role == "assistant":
        yield from _answered(session, turn, key, edited)


def _said(session: SessionRead, turn: Turn, key: str) -> Iterator[Event]:
    text = "\n".join(turn.lines).strip()
    command = _SHELL_COMMAND.match(text)
    if command:
        words = text[command.end() :] if not text.startswith(("/git", "/test", "/lint")) else text[1:]
        yield from session.call(
            "shell", {"command": words}, call_id=_last_call(session), key=key, time=turn.time
        )
        return
    spoken = _SPOKEN_COMMAND.match(text)
    if text.startswith("/") and spoken is None:
        return
    session.turn_offset = turn.start
    yield from session.prose("user", text[spoken.end() :] if spoken else text, key=key, time=turn.time)


def _last_call(session: SessionRead) -> str:
    return f"run:{session.session_id}"


def _output(session: SessionRead, turn: Turn, key: str, edited: set[str]) -> Iterator[Event]:
    kept = [line for line in turn.lines if line and not _NOISE.match(line)]
    for place, line in enumerate(kept):
        applied = _APPLIED.match(line)
        # The block that the model wrote was given already, with its lines.
        if applied and applied[1] not in edited:
            part = f"{key}#{place}"
            yield from session.call("edit", {"path": applied[1]}, call_id="", key=part, time=turn.time)
    text = "\n".join(line for line in kept if not _APPLIED.match(line))
    if not text:
        return
    is_error = True if _EDIT_FAILED.search(text) else None
    call_id = "" if is_error else _last_call(session)
    yield from session.result(text, call_id=call_id, name="aider", key=key, is_error=is_error, time=turn.time)


def _answered(session: SessionRead, turn: Turn, key: str, edited: set[str]) -> Iterator[Event]:
    """Yield the model's prose and, apart from it, its SEARCH/REPLACE blocks as edits."""
    prose: list[str] = []
    edits: list[dict[str, str]] = []
    side = ""
    for line in turn.lines:
        if line.startswith("<<<<<<< SEARCH"):
            side = "old_string"
            edits.append({"path": _take_file_name(prose), "old_string": "", "new_string": ""})
        elif side and line.startswith("======="):
            side = "new_string"
        elif side and line.startswith(">>>>>>> REPLACE"):
            side = ""
        elif side:
            edits[-1][side] += line + "\n"
        elif not (line == "```" and edits and prose and not prose[-1]):
            prose.append(line)
    yield from session.prose("assistant", "\n".join(prose), key=key, time=turn.time)
    edited.clear()
    edited.update(edit["path"] for edit in edits)
    for place, edit in enumerate(edits):
        yield from session.call("edit", edit, call_id="", key=f"{key}#edit{place}", time=turn.time)


def _take_file_name(prose: list[str]) -> str:
    """Remove the fence and the file name that stand before a block, and return the name."""
    if prose and prose[-1].startswith("```"):
        prose.pop()
    if prose and _FILE_NAME.match(prose[-1]):
        name = prose.pop()
        prose.append("")
        return name
    prose.append("")
    return ""
