"""Claude Code: JSONL under projects/<slug>/, one content block a line.

Only user and assistant records hold the conversation; the other types come
and go with each version and are passed over.
"""

from __future__ import annotations

import re

from memx.transcripts import clean
from memx.transcripts.exit_code import exit_code_of
from memx.transcripts.json_lines import read_objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memx.model import Event
    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source

_PASSED_OVER = frozenset(
    [
        "progress",
        "attachment",
        "queue-operation",
        "file-history-snapshot",
        "system",
        "last-prompt",
        "permission-mode",
        "mode",
        "summary",
        "ai-title",
        "custom-title",
        "agent-name",
        "agent-color",
        "agent-setting",
        "pr-link",
        "worktree-state",
        "frame-link",
        "relocated",
        "bridge-session",
        "started",
        "result",
        "tag",
        "speculation-accept",
        "content-replacement",
    ]
)
_EXIT_CODE_LINE = re.compile(r"\AExit code -?\d+\n?")
_ERROR_TAG = re.compile(r"</?tool_use_error>")


def read(source: Source, session: SessionRead, offset: int) -> Iterator[Event]:
    """Yield the events of a session file from a byte offset on."""
    for record, start in read_objects(source, session, offset):
        facts(session, record)
        kind = record.get("type")
        if kind not in ("user", "assistant"):
            if not isinstance(kind, str) or kind not in _PASSED_OVER:
                session.skip("unknown_type")
            continue
        key = clean.label(record.get("uuid")) or f"@{start}"
        if not session.is_repeated(key):
            yield from _events(session, record, kind, key)


def facts(session: SessionRead, record: dict[str, Any]) -> None:
    """Learn id, folder and branch from any record."""
    session.learn(
        session_id=record.get("sessionId"),
        cwd=record.get("cwd"),
        branch=record.get("gitBranch"),
        started=clean.moment(record.get("timestamp")),
    )


def content_of(message: object) -> object:
    """Return a message's content; some versions wrote a string, or characters under numeric keys."""
    if not isinstance(message, dict):
        return message
    if "content" in message:
        return message["content"]
    if message and all(isinstance(key, str) and key.isdigit() for key in message):
        return "".join(str(message[key]) for key in sorted(message, key=lambda key: (len(key), key)))
    return None


def text_of(content: object) -> str:
    """Return the text of a string or of a list of blocks; images and unknown blocks are left out."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    texts = [block if isinstance(block, str) else _block_text(block) for block in content]
    return "\n".join(text for text in texts if text)


def _block_text(block: object) -> str:
    text = block.get("text") if isinstance(block, dict) else None
    return text if isinstance(text, str) else ""


def _events(session: SessionRead, record: dict[str, Any], role: str, key: str) -> Iterator[Event]:
    if record.get("isMeta") is True or record.get("isApiErrorMessage") is True:
        return
    at: dict[str, Any] = {
        "time": clean.moment(record.get("timestamp")),
        "cwd": record.get("cwd"),
        "branch": record.get("gitBranch"),
        "sidechain": record.get("isSidechain") is True,
    }
    content = content_of(record.get("message"))
    if record.get("isCompactSummary") is True:
        yield from session.prose("system", text_of(content), kind="summary", key=key, **at)
    elif isinstance(content, str):
        yield from session.prose(role, content, key=key, **at)
    elif isinstance(content, list):
        for place, block in enumerate(content):
            yield from block_events(session, role, block, f"{key}#{place}" if place else key, at)
    else:
        session.skip("no_content")


def block_events(
    session: SessionRead, role: str, block: object, key: str, at: dict[str, Any]
) -> Iterator[Event]:
    """Yield the events of one content block; images and thoughts give none."""
    if isinstance(block, str):
        yield from session.prose(role, block, key=key, **at)
        return
    if not isinstance(block, dict):
        session.skip("unknown_block")
        return
    kind = block.get("type")
    if kind == "text":
        yield from session.prose(role, block.get("text"), key=key, **at)
    elif kind == "tool_use":
        yield from session.call(block.get("name"), block.get("input"), call_id=block.get("id"), key=key, **at)
    elif kind == "tool_result":
        yield from _result(session, block, key, at)
    elif kind not in ("thinking", "redacted_thinking", "image", "document", "tool_reference"):
        session.skip("unknown_block")


def _result(session: SessionRead, block: dict[str, Any], key: str, at: dict[str, Any]) -> Iterator[Event]:
    text = text_of(block.get("content"))
    # Success is written as false or, mostly, not at all.
    is_error = block.get("is_error") is True
    code = exit_code_of(text) if is_error and text.startswith("Exit code ") else None
    body = _ERROR_TAG.sub("", _EXIT_CODE_LINE.sub("", text) if code is not None else text)
    yield from session.result(
        body, call_id=block.get("tool_use_id"), key=key, is_error=is_error, exit_code=code, **at
    )
