"""The one entry: choose the reader of a log and bring both kinds of offset under one number.

Append-only formats (JSON lines, Aider) count bytes; formats that are written
again whole count the events already read.
"""

from __future__ import annotations

import itertools
import os

from memx.errors import TranscriptError
from memx.transcripts import (
    aider,
    claude_code,
    cline,
    codex,
    copilot_cli,
    gemini,
    openai_messages,
    opencode,
    plain_md,
    specstory,
    swe_agent,
)
from memx.transcripts.detect import detect_format, history_beside, is_document, normalize_format
from memx.transcripts.json_lines import read_objects
from memx.transcripts.session import Limits, SessionRead, opens_turn
from memx.transcripts.source import Source

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from memx.model import Event

_DOCUMENTS: dict[str, Callable[[Source, SessionRead], Iterator[Event]]] = {
    "gemini": gemini.read_document,
    "cline": cline.read,
    "openai_messages": openai_messages.read_document,
    "specstory": specstory.read,
    "swe_agent": swe_agent.read,
    "plain_md": plain_md.read,
}
_STREAMS: dict[str, Callable[[Source, SessionRead, int], Iterator[Event]]] = {
    "claude_code": claude_code.read,
    "codex": codex.read,
    "copilot_cli": copilot_cli.read,
    "gemini": gemini.read_lines,
    "openai_messages": openai_messages.read_lines,
    "aider": aider.read,
}
_FACTS = {"claude_code": claude_code.facts, "codex": codex.facts, "copilot_cli": copilot_cli.facts}
_FACT_RECORDS = 40


def read_session(
    path: str,
    *,
    format: str | None = None,  # noqa: A002 (the word of the command line)
    offset: int = 0,
    limits: Limits | None = None,
    session_id: str = "",
    seen: set[int] | None = None,
) -> SessionRead:
    """Open a session log and return it, its events still unread.

    `offset` is the `next_offset` of an earlier read. `session_id` picks one
    session of a database. Sessions that share a `seen` set give each record
    once, also when a resume or a fork copied it. Raises TranscriptError, also
    while the events are read if the file goes away.
    """
    place = os.fspath(path)
    if format is None or format == "cline":
        place = history_beside(place)
    if os.path.exists(place) and not os.path.isfile(place):
        # Reading a pipe or a device might never end.
        raise TranscriptError("not a regular file, so not a session log", path=place)
    return _open(Source(place), format, offset, limits or Limits(), session_id, seen)


def parse_text(
    text: str,
    format: str | None = None,  # noqa: A002
    *,
    limits: Limits | None = None,
) -> SessionRead:
    """Return a session whose log is given as text; raises TranscriptError.

    Bare prose in no format counts as said by a person.
    """
    source = Source("", text.encode("utf-8", "surrogatepass"))
    try:
        return _open(source, format or None, 0, limits or Limits(), "", None)
    except TranscriptError:
        if format or text.lstrip()[:1] in ("", "{", "["):
            raise
        return _open(source, "plain_md", 0, limits or Limits(), "", None)


def _open(
    source: Source, name: str | None, offset: int, limits: Limits, session_id: str, seen: set[int] | None
) -> SessionRead:
    if source.data is None:
        source.open().close()
    chosen = normalize_format(name) if name is not None else ""
    if not chosen and source.size() == 0:
        session = SessionRead("", source.path, limits, seen)
        session.skip("empty_file")
        return session
    chosen = chosen or detect_format(source)
    session = SessionRead(chosen, source.path, limits, seen)
    if chosen == "opencode":
        session.events = _counted(session, _opencode(source, session, session_id), offset)
        session.turn_offset = offset
    elif chosen in _DOCUMENTS and (chosen not in _STREAMS or is_document(source, chosen)):
        session.events = _counted(session, _DOCUMENTS[chosen](source, session), offset)
        session.turn_offset = offset
    else:
        # A shorter file is another file: somebody wrote it anew.
        start = offset if 0 <= offset <= source.size() else 0
        _learn_facts(source, session)
        session.next_offset = session.turn_offset = start
        session.events = _with_turns(session, _STREAMS[chosen](source, session, start))
    return session


def _opencode(source: Source, session: SessionRead, session_id: str) -> Iterator[Event]:
    head = source.head(4096)
    if head.startswith(b"SQLite format 3\0"):
        if source.data is not None:
            raise TranscriptError("a database cannot be given as text", hint="give the path of opencode.db")
        return opencode.read_database(source, session, session_id)
    if b'"messages"' not in source.head() and source.data is None:
        return opencode.read_storage(source, session)
    return opencode.read_export(source, session)


def _learn_facts(source: Source, session: SessionRead) -> None:
    """Read the facts from the first records, so that they are known before and whatever the offset."""
    learn = _FACTS.get(session.format)
    if learn is None:
        return
    quiet = SessionRead(session.format, session.path, session.limits)
    for record, _ in itertools.islice(read_objects(source, quiet, 0), _FACT_RECORDS):
        learn(session, record)
        if session.session_id and session.cwd:
            return


def _counted(session: SessionRead, events: Iterator[Event], offset: int) -> Iterator[Event]:
    """Yield the events behind the first `offset`; keep the facts of the whole."""
    for number, event in enumerate(events):
        if number >= offset:
            session.next_offset = number
            if opens_turn(event):
                session.turn_offset = number
            yield event
        session.next_offset = number + 1


def _with_turns(session: SessionRead, events: Iterator[Event]) -> Iterator[Event]:
    """Note where each turn of a person begins: at that moment `next_offset` still stands before it."""
    for event in events:
        if opens_turn(event) and session.format != "aider":
            session.turn_offset = session.next_offset
        yield event
