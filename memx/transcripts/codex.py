"""Codex CLI, IDE and desktop: rollout JSONL, `{timestamp, type, payload}` a line.

Response items hold the conversation; `event_msg` lines repeat it and are read
only in files that have no response items. Failures stand in the output text.
"""

from __future__ import annotations

import json
import re
from hashlib import blake2b

from memx.transcripts import clean
from memx.transcripts.claude_code import text_of
from memx.transcripts.exit_code import exit_code_of, number
from memx.transcripts.json_lines import parse_line, read_objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memx.model import Event
    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source

_ITEMS = frozenset(
    [
        "message",
        "function_call",
        "function_call_output",
        "custom_tool_call",
        "custom_tool_call_output",
        "local_shell_call",
    ]
)
_PASSED_OVER = frozenset(
    [
        "reasoning",
        "web_search_call",
        "ghost_snapshot",
        "turn_context",
        "compacted",
        "event_msg",
        "image_generation_call",
        "compaction",
        "other",
        "world_state",
        "inter_agent_communication",
    ]
)
# Long enough that saying it twice in one session means that a fork copied it.
_LONG_MESSAGE = 80
_FAILURE = re.compile(
    r"(?:apply_patch verification failed|write_stdin failed|exec_command failed|command timed out after"
    r"|failed to parse function arguments|unsupported call|execution error|exec failed|sandbox denied"
    r"|aborted by user|Error: )",
    re.IGNORECASE,
)
_SUCCESS = re.compile(r"(?:Success\. |Done!|Plan updated)")
_RUNNING = re.compile(r"^Process running with session ID", re.MULTILINE)
_PREAMBLE = re.compile(
    r"\A(?:(?:Exit code: -?\d+|Chunk ID: [^\n]*|Wall time: [^\n]*|Process (?:exited|running) with [^\n]*"
    r"|Total output lines: \d+|Original token count: \d+|Total tokens: \d+)\n)+(?:Output:\n?)?"
)


def read(source: Source, session: SessionRead, offset: int) -> Iterator[Event]:
    """Yield the events of a rollout file from a byte offset on."""
    exits: dict[str, int] = {}
    has_items = _has_response_items(source)
    for line, start in read_objects(source, session, offset):
        facts(session, line)
        payload = line.get("payload")
        # The first versions wrote the items themselves, without the envelope.
        item = payload if isinstance(payload, dict) else line
        kind = item.get("type")
        at: dict[str, Any] = {"time": clean.moment(line.get("timestamp"))}
        if line.get("type") == "event_msg":
            _note_exit(exits, item)
            if not has_items:
                yield from _spoken(session, item, start, at)
        elif isinstance(kind, str) and kind in _ITEMS:
            yield from _item(session, item, kind, start, exits, at)
        elif line.get("type") == "compacted":
            yield from session.prose("system", item.get("message"), kind="summary", key=f"@{start}", **at)
        elif not _is_known(line, kind):
            session.skip("unknown_type")


def facts(session: SessionRead, line: dict[str, Any]) -> None:
    """Learn id, folder, branch and remote from the first `session_meta`, or from its old bare form."""
    payload = line.get("payload")
    meta = payload if isinstance(payload, dict) else line
    kind = line.get("type")
    if kind == "session_meta" or (kind is None and "id" in line and "role" not in line):
        if session.session_id:
            return
        git = meta.get("git")
        git = git if isinstance(git, dict) else {}
        session.learn(
            session_id=meta.get("id"),
            cwd=meta.get("cwd"),
            branch=git.get("branch"),
            repository_url=git.get("repository_url"),
            started=clean.moment(meta.get("timestamp")),
        )
        origin = meta.get("source")
        session.sidechain = (isinstance(origin, dict) and "subagent" in origin) or bool(
            meta.get("parent_thread_id")
        )
    elif kind == "turn_context":
        session.learn(cwd=meta.get("cwd"))


def _has_response_items(source: Source) -> bool:
    head = source.head()
    if b'"response_item"' in head or b'"event_msg"' not in head:
        return True
    for data in head.split(b"\n")[:200]:
        if any(value.get("type") in _ITEMS for value in parse_line(data).objects):
            return True
    return False


def _is_known(line: dict[str, Any], kind: object) -> bool:
    name = line.get("type")
    return (
        (isinstance(kind, str) and kind in _PASSED_OVER)
        or (isinstance(name, str) and (name in _PASSED_OVER or name == "session_meta"))
        or (name is None and "role" not in line)
    )


def _item(
    session: SessionRead,
    item: dict[str, Any],
    kind: str,
    start: int,
    exits: dict[str, int],
    at: dict[str, Any],
) -> Iterator[Event]:
    if kind == "message":
        yield from _message(session, item, start, at)
        return
    call_id = clean.label(item.get("call_id")) or clean.label(item.get("id")) or f"@{start}"
    is_output = kind.endswith("_output")
    key = f"{'result' if is_output else 'call'}:{call_id}"
    if session.is_repeated(key):
        return
    if is_output:
        yield from _output(session, item.get("output"), call_id, key, exits, at)
        return
    name, arguments = item.get("name"), item.get("arguments", item.get("input"))
    if kind == "local_shell_call":
        name, arguments = "local_shell", item.get("action")
    yield from session.call(name, arguments, call_id=call_id, key=key, **at)


def _message(session: SessionRead, item: dict[str, Any], start: int, at: dict[str, Any]) -> Iterator[Event]:
    role = item.get("role")
    if role not in ("user", "assistant"):
        return
    text = text_of(item.get("content"))
    if not text:
        return
    key = f"{role}:{at['time'] if len(text) < _LONG_MESSAGE and at['time'] else ''}:{_digest(text)}"
    if len(text) < _LONG_MESSAGE and not at["time"]:
        key = f"@{start}"
    events = session.prose(role, text, key=key, **at)
    # Boilerplate is repeated by design and counts as nothing, so only real turns are compared.
    if events and not session.is_repeated(key):
        yield from events


def _digest(text: str) -> str:
    return blake2b(text.encode("utf-8", "replace"), digest_size=8).hexdigest()


def _spoken(session: SessionRead, item: dict[str, Any], start: int, at: dict[str, Any]) -> Iterator[Event]:
    role = {"user_message": "user", "agent_message": "assistant"}.get(str(item.get("type")))
    if role is not None:
        yield from session.prose(role, item.get("message"), key=f"@{start}", **at)


def _note_exit(exits: dict[str, int], item: dict[str, Any]) -> None:
    if item.get("type") == "exec_command_end":
        code = number(item.get("exit_code"))
        if code is not None:
            exits[clean.label(item.get("call_id"))] = code


def _output(
    session: SessionRead, output: object, call_id: str, key: str, exits: dict[str, int], at: dict[str, Any]
) -> Iterator[Event]:
    text, code, flag = _unwrap(output)
    if code is None:
        code = exit_code_of(text) if _PREAMBLE.match(text) else None
    if code is None:
        code = exits.pop(call_id, None)
    is_error = flag
    if code is not None:
        is_error = code != 0
    elif is_error is None:
        is_error = _stated(text)
    body = _PREAMBLE.sub("", text, count=1)
    yield from session.result(body, call_id=call_id, key=key, is_error=is_error, exit_code=code, **at)


def _unwrap(output: object) -> tuple[str, int | None, bool | None]:
    """Return text, exit code and flag of an output: plain, a JSON string, an object, or content parts."""
    if isinstance(output, str) and output.startswith("{"):
        try:
            output = json.loads(output, strict=False)
        except (ValueError, RecursionError):
            return str(output), None, None
        if not (isinstance(output, dict) and "output" in output):
            return json.dumps(output, ensure_ascii=False), None, None
    if isinstance(output, dict):
        metadata = output.get("metadata")
        code = number(metadata.get("exit_code")) if isinstance(metadata, dict) else None
        success = output.get("success")
        body = output.get("output", output.get("content"))
        return text_of(body), code, None if not isinstance(success, bool) else not success
    return text_of(output), None, None


def _stated(text: str) -> bool | None:
    if _RUNNING.search(text[:600]):
        return None
    if _FAILURE.match(text):
        return True
    return False if _SUCCESS.match(text) else None
