"""GitHub Copilot CLI: events.jsonl, `{type, data, id, timestamp, parentId}` a line."""

from __future__ import annotations

import re

from memx.transcripts import clean
from memx.transcripts.claude_code import text_of
from memx.transcripts.exit_code import exit_code_of
from memx.transcripts.json_lines import read_objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memx.model import Event
    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source

_PASSED_OVER = re.compile(
    r"(?:session|assistant|hook|subagent|skill|system|tool|user|permission|pending|mcp|model|abort|external_tool)\b"
)
_EXITED = re.compile(r"\s*<exited with exit code -?\d+>\s*\Z")


def read(source: Source, session: SessionRead, offset: int) -> Iterator[Event]:
    """Yield the events of a session from a byte offset on."""
    for record, start in read_objects(source, session, offset):
        facts(session, record)
        kind, data = record.get("type"), record.get("data")
        if not isinstance(kind, str) or not _PASSED_OVER.match(kind):
            session.skip("unknown_type")
            continue
        key = clean.label(record.get("id")) or f"@{start}"
        if isinstance(data, dict) and not session.is_repeated(key):
            yield from _events(session, kind, data, key, clean.moment(record.get("timestamp")))


def facts(session: SessionRead, record: dict[str, Any]) -> None:
    """Learn id, folder, branch and repository from `session.start`."""
    data = record.get("data")
    if record.get("type") != "session.start" or not isinstance(data, dict):
        return
    context = data.get("context")
    context = context if isinstance(context, dict) else {}
    session.learn(
        session_id=data.get("sessionId"),
        cwd=context.get("cwd"),
        branch=context.get("branch"),
        repository_url=_repository(context),
        started=clean.moment(data.get("startTime")) or clean.moment(record.get("timestamp")),
    )


def _repository(context: dict[str, Any]) -> str:
    name = clean.label(context.get("repository"))
    if not name or "://" in name:
        return name
    host = {"ado": "dev.azure.com"}.get(clean.label(context.get("hostType")), "github.com")
    return f"https://{host}/{name}"


def _events(
    session: SessionRead, kind: str, data: dict[str, Any], key: str, time: float | None
) -> Iterator[Event]:
    at: dict[str, Any] = {
        "time": time,
        "sidechain": bool(data.get("parentToolCallId") or data.get("agentId")),
    }
    if kind in ("user.message", "assistant.message"):
        yield from session.prose(kind.partition(".")[0], data.get("content"), key=key, **at)
    elif kind == "tool.execution_start":
        yield from session.call(
            data.get("toolName"), data.get("arguments"), call_id=data.get("toolCallId"), key=key, **at
        )
    elif kind == "tool.execution_complete":
        yield from _result(session, data, key, at)
    elif kind == "session.compaction_complete":
        yield from session.prose("system", data.get("summaryContent"), kind="summary", key=key, **at)


def _result(session: SessionRead, data: dict[str, Any], key: str, at: dict[str, Any]) -> Iterator[Event]:
    result, error = data.get("result"), data.get("error")
    content = result.get("content") if isinstance(result, dict) else result
    text = text_of(content)
    if not text and isinstance(error, dict):
        text = text_of(error.get("message"))
    code = exit_code_of(text)
    success = data.get("success")
    is_error = not success if isinstance(success, bool) else None
    if code is not None:
        is_error = is_error is True or code != 0
    yield from session.result(
        _EXITED.sub("", text),
        call_id=data.get("toolCallId"),
        key=key,
        name=data.get("toolName"),
        is_error=is_error,
        exit_code=code,
        **at,
    )
