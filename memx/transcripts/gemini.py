"""Gemini CLI: one JSON object with `messages`, or JSONL where a message is written again when it grows.

A shell command that fails has status "success"; its exit code stands in the output text.
"""

from __future__ import annotations

import re

from memx.transcripts import clean
from memx.transcripts.claude_code import text_of
from memx.transcripts.exit_code import exit_code_of
from memx.transcripts.json_document import read_members
from memx.transcripts.json_lines import parse_line, read_objects
from memx.transcripts.session import SessionRead

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memx.model import Event
    from memx.transcripts.source import Source

_ROLES = {"user": "user", "gemini": "assistant", "model": "assistant"}
_NOTICES = ("info", "error", "warning")
_FINISHED = ("success", "error", "cancelled")
_PROCESS_GROUP = re.compile(
    r"\n?^(?:Process Group PGID|Background PIDs|Signal|Exit Code): [^\n]*$", re.MULTILINE
)
_OUTPUT_LABEL = re.compile(r"\AOutput: ")


def read_document(source: Source, session: SessionRead) -> Iterator[Event]:
    """Yield the events of a session that is one JSON object."""
    for key, value in read_members(source, session, ("messages",)):
        if key == "messages":
            if isinstance(value, dict):
                yield from _message(session, value)
            else:
                session.skip("unknown_type")
        else:
            facts(session, {key: value})


def read_lines(source: Source, session: SessionRead, offset: int) -> Iterator[Event]:
    """Yield the events of a JSONL session from a byte offset on; of each message the last version counts."""
    last, before = _versions(source, session, offset)
    for value, start in read_objects(source, session, offset):
        identifier = _message_id(value)
        if not identifier:
            facts(session, value)
        elif last.get(identifier) in (start, None):
            known = _known_keys(source, session, before.get(identifier))
            yield from (event for event in _message(session, value) if event.key not in known)


def facts(session: SessionRead, value: dict[str, Any]) -> None:
    """Learn id, start and kind from the header; the log holds only a hash of the folder."""
    session.learn(session_id=value.get("sessionId"), started=clean.moment(value.get("startTime")))
    session.sidechain = session.sidechain or value.get("kind") == "subagent"
    directories = value.get("directories")
    if isinstance(directories, list) and directories:
        session.learn(cwd=directories[0])


def _message_id(value: dict[str, Any]) -> str:
    identifier = value.get("id")
    return identifier if isinstance(identifier, str) and isinstance(value.get("type"), str) else ""


def _versions(source: Source, session: SessionRead, offset: int) -> tuple[dict[str, int], dict[str, int]]:
    """Return where each message was written last: in the whole file, and before the offset."""
    quiet = SessionRead(session.format, session.path, session.limits)
    last: dict[str, int] = {}
    before: dict[str, int] = {}
    for value, start in read_objects(source, quiet, 0):
        identifier = _message_id(value)
        if identifier:
            last[identifier] = start
            if start < offset:
                before[identifier] = start
        elif start < offset:
            facts(session, value)
    return last, before


def _known_keys(source: Source, session: SessionRead, start: int | None) -> frozenset[str]:
    """Return the keys of the events that an earlier read took from this message."""
    if start is None:
        return frozenset()
    with source.open() as stream:
        stream.seek(start)
        data = stream.readline(session.limits.line_bytes)
    quiet = SessionRead(session.format, session.path, session.limits)
    objects = parse_line(data).objects
    return frozenset(event.key for value in objects for event in _message(quiet, value))


def _message(session: SessionRead, value: dict[str, Any]) -> Iterator[Event]:
    kind = value.get("type")
    if kind in _NOTICES:
        return
    if not isinstance(kind, str) or kind not in _ROLES:
        session.skip("unknown_type")
        return
    key = clean.label(value.get("id"))
    at: dict[str, Any] = {"time": clean.moment(value.get("timestamp"))}
    if key and session.is_repeated(key):
        return
    yield from session.prose(_ROLES[kind], text_of(value.get("content")), key=key, **at)
    calls = value.get("toolCalls")
    for place, call in enumerate(calls if isinstance(calls, list) else ()):
        if isinstance(call, dict):
            yield from _call(session, call, f"{key}:{place}")


def _call(session: SessionRead, call: dict[str, Any], key: str) -> Iterator[Event]:
    # Identifiers are counted per session and may return, so the message's id stands before them.
    call_id = f"{key}:{clean.label(call.get('id'))}"
    at: dict[str, Any] = {"time": clean.moment(call.get("timestamp"))}
    yield from session.call(call.get("name"), call.get("args"), call_id=call_id, key=f"{key}:call", **at)
    status = call.get("status")
    if status not in _FINISHED:
        return
    text = _result_text(call)
    code = exit_code_of(text)
    body = _OUTPUT_LABEL.sub("", _PROCESS_GROUP.sub("", text))
    body = "" if body.strip() == "(empty)" else body
    is_error = status != "success" or (code is not None and code != 0)
    yield from session.result(
        body, call_id=call_id, key=f"{key}:result", is_error=is_error, exit_code=code, **at
    )


def _result_text(call: dict[str, Any]) -> str:
    parts = call.get("result")
    texts = [_response_text(part) for part in parts] if isinstance(parts, list) else [text_of(parts)]
    text = "\n".join(text for text in texts if text)
    shown = call.get("resultDisplay")
    return text or (shown if isinstance(shown, str) else "")


def _response_text(part: object) -> str:
    if not isinstance(part, dict):
        return part if isinstance(part, str) else ""
    outer = part.get("functionResponse")
    response = outer.get("response") if isinstance(outer, dict) else None
    if not isinstance(response, dict):
        return text_of([part])
    for name in ("output", "error", "content"):
        value = response.get(name)
        if isinstance(value, str):
            return value
    return ""
