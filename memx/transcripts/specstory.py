"""SpecStory Markdown: turns under `_**User**_` lines, tool use in HTML tags (v2) or fences (before).

A file is saved again whole, so it is read as a document.
"""

from __future__ import annotations

import os
import re

from memx.record import record
from memx.transcripts import clean
from memx.transcripts.exit_code import exit_code_of
from memx.transcripts.markdown import SHELL_LANGUAGES, Fence, Turn, pieces, text_lines
from memx.transcripts.tool import OTHER, action_of

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memx.model import Event
    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source

_TURN = re.compile(r"^_\*\*(User|Assistant|Agent)\b([^*]{0,200})\*\*_\s*$")
_SESSION = re.compile(r"^<!-- [\w .-]{1,60}? Session ([0-9A-Za-z_-]{6,80}) \(([^)]{1,40})\)")
_TITLE = re.compile(r"^# .{0,300}\((\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d)?Z?)[^)]*\)\s*$")
_TIME = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?Z?")
_TOOL_OPEN = re.compile(r'<tool-use\b[^>]*?data-tool-type="([^"]{0,40})"[^>]*?data-tool-name="([^"]{0,80})"')
_INLINE_CODE = re.compile(r"^\s*`([^`\n]+)`\s*$", re.MULTILINE)
_SUMMARY = re.compile(r"<summary>.*?(?:</summary>|\Z)", re.DOTALL)
_MARKUP = re.compile(r"</?(?:details|summary|tool-use|think)\b[^>]{0,300}>")
_READ_FILE = re.compile(r"^(?:Read file|Listed directory|Edited file|Created file): (\S.*)$", re.MULTILINE)
_TOOL_OF_TYPE = {"shell": "bash", "write": "edit", "read": "read", "search": "grep"}


@record
class ToolUse:
    """A `<tool-use>` block: its type, its name and its lines."""

    type: str
    name: str
    lines: tuple[str, ...]


def read(source: Source, session: SessionRead) -> Iterator[Event]:
    """Yield the events of a saved session."""
    _learn_place(source, session)
    turn: Turn | None = None
    fence = Fence()
    tool_open = False
    ruled = False
    for line in text_lines(source, session):
        found = _TURN.match(line.text)
        # File bodies hold such lines too; a rule before it tells a turn from an open fence.
        if found and not tool_open and (not fence.mark or ruled):
            yield from _events(session, turn)
            turn, fence = _begin(found, line.start), Fence()
        elif turn is None:
            _learn(session, line.text)
        else:
            turn.add(line.text)
            tool_open = (tool_open or "<tool-use" in line.text) and "</tool-use>" not in line.text
            fence = fence if tool_open else _fed(fence, line.text)
        ruled = line.text.strip() == "---" or (ruled and not line.text.strip())
    yield from _events(session, turn)


def _fed(fence: Fence, line: str) -> Fence:
    if "</tool-use>" in line:
        return Fence()
    fence.feed(line)
    return fence


def _learn_place(source: Source, session: SessionRead) -> None:
    if source.data is not None:
        return
    folder, _, _ = os.path.abspath(source.path).replace(os.sep, "/").rpartition("/.specstory/")
    session.learn(cwd=folder)


def _learn(session: SessionRead, line: str) -> None:
    found = _SESSION.match(line)
    if found:
        session.learn(session_id=found[1], started=clean.moment(found[2]))
    title = _TITLE.match(line)
    if title:
        session.learn(session_id=title[1], started=clean.moment(title[1]))


def _begin(found: re.Match[str], start: int) -> Turn:
    turn = Turn("user" if found[1] == "User" else "assistant", start)
    stamp = _TIME.search(found[2])
    turn.time = clean.moment(stamp[0]) if stamp else None
    turn.sidechain = "sidechain" in found[2]
    return turn


def _events(session: SessionRead, turn: Turn | None) -> Iterator[Event]:
    if turn is None:
        return
    key = f"@{turn.start}"
    turn.report(session)
    if turn.lines and turn.lines[-1].strip() == "":
        while turn.lines and turn.lines[-1].strip() in ("", "---"):
            turn.lines.pop()
    if turn.role == "user":
        text = "\n".join(turn.lines)
        yield from session.prose("user", text, key=key, time=turn.time, sidechain=turn.sidechain)
        return
    for place, part in enumerate(_parts(turn.lines)):
        part_key = f"{key}#{place}"
        if isinstance(part, ToolUse):
            yield from _tool_events(session, part, part_key, turn)
        else:
            yield from _old_events(session, part, part_key, turn)


def _parts(lines: list[str]) -> Iterator[ToolUse | list[str]]:
    """Split an agent's turn into tool uses and runs of other lines, without thoughts and folded lists."""
    run: list[str] = []
    inside: list[str] = []
    opened: re.Match[str] | None = None
    hidden = ""
    for line in lines:
        if opened is not None:
            inside.append(line)
            if "</tool-use>" in line:
                yield ToolUse(opened[1], opened[2], tuple(inside))
                opened = None
        elif hidden:
            hidden = "" if hidden in line else hidden
        elif found := _TOOL_OPEN.search(line):
            yield run
            run, inside, opened = [], [line], found
        elif "<think>" in line or line.lstrip().startswith("<details"):
            closing = "</think>" if "<think>" in line else "</details>"
            hidden = "" if closing in line else closing
        else:
            run.append(line)
    if opened is not None:
        yield ToolUse(opened[1], opened[2], tuple(inside))
    yield run


def _tool_events(session: SessionRead, use: ToolUse, key: str, turn: Turn) -> Iterator[Event]:
    kind = use.type if use.type in _TOOL_OF_TYPE else ""
    body = _SUMMARY.sub("", "\n".join(use.lines))
    named = _INLINE_CODE.search(body)
    fences = [piece for piece in pieces(_MARKUP.sub("", body).split("\n")) if piece.language is not None]
    head = named[1] if named else ""
    arguments: object = {"path": head} if head else _MARKUP.sub("", body).strip()
    output = fences[0].text if fences else ""
    if kind == "shell":
        if not head and fences:
            head, output = fences[0].text, fences[1].text if len(fences) > 1 else ""
        arguments = {"command": head}
    elif kind == "write":
        arguments, output = {"path": head, "diff": output}, ""
    # The tool's own name may be one that is not known here; its type always says what it does.
    name = use.name if use.type not in _TOOL_OF_TYPE else _known_name(use.name, _TOOL_OF_TYPE[kind])
    at: dict[str, Any] = {"time": turn.time, "sidechain": turn.sidechain}
    yield from session.call(name, arguments, call_id=key, key=f"{key}:call", **at)
    if output:
        code = exit_code_of(output)
        is_error = None if code is None else code != 0
        yield from session.result(
            output, call_id=key, key=f"{key}:result", is_error=is_error, exit_code=code, **at
        )


def _known_name(name: str, fallback: str) -> str:
    return name if action_of(name) not in ("", OTHER) else fallback


def _old_events(session: SessionRead, lines: list[str], key: str, turn: Turn) -> Iterator[Event]:
    """Yield prose, and a shell fence with the fence behind it as a call and its result."""
    at: dict[str, Any] = {"time": turn.time, "sidechain": turn.sidechain}
    prose: list[str] = []
    call_id = ""
    for place, piece in enumerate(pieces(lines)):
        if piece.language in SHELL_LANGUAGES:
            yield from _flush(session, prose, f"{key}.{place}", turn)
            call_id = f"{key}.{place}"
            yield from session.call(
                "bash", {"command": piece.text}, call_id=call_id, key=f"{call_id}:call", **at
            )
        elif call_id and piece.language in ("", "text", "console", "output"):
            yield from session.result(piece.text, call_id=call_id, key=f"{call_id}:result", **at)
            call_id = ""
        elif piece.language is None:
            call_id = call_id if not piece.text.strip() else ""
            prose.append(_READ_FILE.sub("", piece.text))
        else:
            prose.append(f"```{piece.language}\n{piece.text}\n```")
    yield from _flush(session, prose, key, turn)


def _flush(session: SessionRead, prose: list[str], key: str, turn: Turn) -> Iterator[Event]:
    text = _MARKUP.sub("", "\n".join(prose))
    prose.clear()
    yield from session.prose("assistant", text, key=key, time=turn.time, sidechain=turn.sidechain)
