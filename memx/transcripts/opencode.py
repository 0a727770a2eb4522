"""OpenCode: `opencode export` JSON, the storage folders of older versions, or the SQLite database."""

from __future__ import annotations

import json
import os

from memx.errors import TranscriptError
from memx.transcripts import clean
from memx.transcripts.exit_code import number
from memx.transcripts.json_document import read_members

TYPE_CHECKING = False
if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Iterator
    from typing import Any

    from memx.model import Event
    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source

_MAX_FILE_BYTES = 8 * 1024 * 1024
_PASSED_OVER = frozenset(
    [
        "step-start",
        "step-finish",
        "reasoning",
        "snapshot",
        "patch",
        "file",
        "agent",
        "subtask",
        "retry",
        "compaction",
    ]
)
_SHELL_TOOLS = ("bash", "shell")


def read_export(source: Source, session: SessionRead) -> Iterator[Event]:
    """Yield the events of an exported session."""
    for key, value in read_members(source, session, ("messages",)):
        if key == "info" and isinstance(value, dict):
            facts(session, value)
        elif key == "messages":
            info, parts = (value.get("info"), value.get("parts")) if isinstance(value, dict) else (None, None)
            if isinstance(info, dict) and isinstance(parts, list):
                yield from _message(session, info, parts)
            else:
                session.skip("unknown_type")


def read_storage(source: Source, session: SessionRead) -> Iterator[Event]:
    """Yield the events of `storage/session/<project>/ses_*.json` and its message and part files."""
    info = _load(source.path, session)
    facts(session, info)
    storage = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(source.path))))
    paths = _files(os.path.join(storage, "message", _component(session.session_id)))
    if not paths:
        session.skip("no_messages")
    for path in paths:
        message = _load(path, session)
        if not message:
            continue
        message.setdefault("id", os.path.basename(path).removesuffix(".json"))
        folder = os.path.join(storage, "part", _component(message["id"]))
        yield from _message(session, message, (_load(part, session) for part in _files(folder)))


def read_database(source: Source, session: SessionRead, session_id: str) -> Iterator[Event]:
    """Yield the events of one session of the database, or of all when no id is given; never writes."""
    import sqlite3

    try:
        with _Database(source.path) as database:
            for identifier, facts_row in _sessions(database, session_id):
                session.session_id = session.cwd = ""
                facts(session, facts_row)
                yield from _database_messages(database, session, identifier)
    except sqlite3.Error as error:
        raise TranscriptError(f"cannot read OpenCode database ({error})", path=source.path) from error


def database_sessions(path: str) -> list[dict[str, Any]]:
    """Return id, directory, projectID and time of each session; raises TranscriptError."""
    import sqlite3

    try:
        with _Database(path) as database:
            return [row for _, row in _sessions(database, "")]
    except sqlite3.Error as error:
        raise TranscriptError(f"cannot read OpenCode database ({error})", path=path) from error


def facts(session: SessionRead, info: dict[str, Any]) -> None:
    """Learn id, folder and start of a session."""
    time = info.get("time")
    created = time.get("created") if isinstance(time, dict) else None
    session.learn(session_id=info.get("id"), cwd=info.get("directory"), started=clean.moment(created))
    session.sidechain = bool(info.get("parentID"))


class _Database:
    """A read-only connection that neither creates files nor waits for a writer."""

    def __init__(self, path: str) -> None:
        self._path = os.path.abspath(path)

    def __enter__(self) -> sqlite3.Connection:
        import sqlite3
        from urllib.parse import quote

        # Without a log of a live writer, `immutable` keeps SQLite from making files of its own.
        mode = "mode=ro" if os.path.exists(f"{self._path}-wal") else "mode=ro&immutable=1"
        self._connection = sqlite3.connect(f"file:{quote(self._path)}?{mode}", uri=True, timeout=2.0)
        # Foreign bytes are no reason to lose a session.
        self._connection.text_factory = lambda data: data.decode("utf-8", "replace")
        return self._connection

    def __exit__(self, *exception: object) -> None:
        self._connection.close()


def _sessions(database: sqlite3.Connection, session_id: str) -> Iterator[tuple[str, dict[str, Any]]]:
    columns = {row[1] for row in database.execute("PRAGMA table_info(session)")}
    wanted = [
        name for name in ("id", "directory", "project_id", "parent_id", "time_created") if name in columns
    ]
    if "id" not in wanted:
        return
    order = "time_created, id" if "time_created" in columns else "id"
    # Column names come from the fixed tuple above.
    query = f"SELECT {', '.join(wanted)} FROM session ORDER BY {order}"  # noqa: S608
    for row in database.execute(query).fetchall():
        values = dict(zip(wanted, row, strict=True))
        if session_id in ("", values["id"]):
            yield (
                str(values["id"]),
                {
                    "id": values["id"],
                    "directory": values.get("directory"),
                    "projectID": values.get("project_id"),
                    "parentID": values.get("parent_id"),
                    "time": {"created": values.get("time_created")},
                },
            )


def _database_messages(
    database: sqlite3.Connection, session: SessionRead, session_id: str
) -> Iterator[Event]:
    size = session.limits.line_bytes
    query = (
        "SELECT id, data FROM message WHERE session_id = ? AND length(data) <= ? ORDER BY time_created, id"
    )
    parts_query = "SELECT id, data FROM part WHERE message_id = ? AND length(data) <= ? ORDER BY id"
    for message_id, data in database.execute(query, (session_id, size)):
        info = _parse(data, session)
        if not info:
            continue
        info["id"] = message_id
        rows = database.execute(parts_query, (message_id, size))
        # One by one: an agent at work for a night makes one message of thousands.
        yield from _message(session, info, ({"id": row[0], **_parse(row[1], session)} for row in rows))


def _message(session: SessionRead, info: dict[str, Any], parts: Iterable[Any]) -> Iterator[Event]:
    role = info.get("role")
    if role not in ("user", "assistant"):
        session.skip("unknown_type")
        return
    key = clean.label(info.get("id"))
    path, time = info.get("path"), info.get("time")
    at: dict[str, Any] = {
        "time": clean.moment(time.get("created")) if isinstance(time, dict) else None,
        "cwd": path.get("cwd") if isinstance(path, dict) else "",
    }
    session.learn(cwd=at["cwd"])
    is_summary = (
        info.get("summary") is True or info.get("mode") == "compaction" or info.get("agent") == "compaction"
    )
    for place, part in enumerate(parts):
        if not isinstance(part, dict):
            session.skip("unknown_type")
            continue
        part_key = clean.label(part.get("id")) or f"{key}#{place}"
        kind = part.get("type")
        if kind == "tool":
            yield from _tool(session, part, part_key, at)
        elif kind == "text":
            yield from _text(session, role, part, part_key, at, is_summary=is_summary)
        elif part and kind not in _PASSED_OVER:
            session.skip("unknown_type")


def _text(
    session: SessionRead, role: str, part: dict[str, Any], key: str, at: dict[str, Any], *, is_summary: bool
) -> Iterator[Event]:
    text = part.get("text")
    if part.get("synthetic") is True or part.get("ignored") is True or _is_redacted(text):
        return
    if is_summary:
        yield from session.prose("system", text, kind="summary", key=key, **at)
    elif not session.is_repeated(key):
        yield from session.prose(role, text, key=key, **at)


def _is_redacted(text: object) -> bool:
    return isinstance(text, str) and text.lstrip().startswith("[redacted:")


def _tool(session: SessionRead, part: dict[str, Any], key: str, at: dict[str, Any]) -> Iterator[Event]:
    state = part.get("state")
    if not isinstance(state, dict):
        session.skip("unknown_block")
        return
    name, call_id = part.get("tool"), clean.label(part.get("callID")) or key
    at = {"time": _started(state) or at["time"], "cwd": at["cwd"]}
    yield from session.call(name, state.get("input"), call_id=call_id, key=f"{key}:call", **at)
    status = state.get("status")
    if status not in ("completed", "error"):
        return
    metadata = state.get("metadata")
    code = number(metadata.get("exit")) if isinstance(metadata, dict) and name in _SHELL_TOOLS else None
    is_error = status == "error" or (code is not None and code != 0)
    output = state.get("error") if status == "error" else state.get("output")
    text = "" if _is_redacted(output) else output
    yield from session.result(
        text, call_id=call_id, key=f"{key}:result", is_error=is_error, exit_code=code, **at
    )


def _started(state: dict[str, Any]) -> float | None:
    time = state.get("time")
    return clean.moment(time.get("start")) if isinstance(time, dict) else None


def _component(name: object) -> str:
    """Return a name as one path component; identifiers of a log never lead out of its folder."""
    text = os.path.basename(clean.label(name))
    return text if text not in ("", ".", "..") else "_"


def _files(folder: str) -> list[str]:
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(".json")]


def _load(path: str, session: SessionRead) -> dict[str, Any]:
    try:
        with open(path, "rb") as stream:
            data = stream.read(_MAX_FILE_BYTES + 1)
    except OSError:
        session.skip("unreadable_file")
        return {}
    if len(data) > _MAX_FILE_BYTES:
        session.skip("line_too_long")
        return {}
    return _parse(data, session)


def _parse(data: object, session: SessionRead) -> dict[str, Any]:
    try:
        text = data.decode("utf-8", "replace") if isinstance(data, bytes) else str(data)
        value = json.loads(text, strict=False)
    except (ValueError, RecursionError):
        session.skip("invalid_json")
        return {}
    if not isinstance(value, dict):
        session.skip("invalid_json")
        return {}
    return value
