"""A conversation as plain Markdown: `## User` and `## Assistant` headings, tools named without output."""

from __future__ import annotations

import re

from memx.transcripts import clean
from memx.transcripts.markdown import Fence, Turn, text_lines

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.model import Event
    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source

USER_WORDS = "User|Human|You|Me|Prompt|用户|用戶|ユーザー|ユーザ|Usuario|Usuaria"
ASSISTANT_WORDS = (
    "Assistant|AI|Agent|Model|Claude|ChatGPT|GPT|Codex|Gemini|Cursor|Copilot|Response"
    "|助手|アシスタント|Asistente"
)
HEADING = re.compile(
    rf"^(?:#{{1,5}}[ \t]+(?:[^\w\s]{{1,4}}[ \t]*)?\**(?P<heading>{USER_WORDS}|{ASSISTANT_WORDS})\**"
    rf"(?:[ \t]*[(:–—-].{{0,120}})?[ \t]*:?"
    rf"|\*\*(?P<bold>{USER_WORDS}|{ASSISTANT_WORDS})(?::\*\*|\*\*:?)[ \t]*)$",
    re.IGNORECASE,
)
_USER = re.compile(rf"(?:{USER_WORDS})$", re.IGNORECASE)
_USED_TOOL = re.compile(r"^[-*] \*\*Used (?P<tool>[\w.:-]{1,80})\*\*(?: on| for|:)?\s*(?P<what>.*)$")
_SESSION_ID = re.compile(
    r"^\|?\s*\**Session(?: ID)?\**:?\s*\|?\s*`?([0-9A-Za-z_-]{6,80})`?\s*\|?\s*$", re.IGNORECASE
)


def role_of(line: str) -> str:
    """Return user or assistant for a heading that opens a turn, else an empty string."""
    found = HEADING.match(line)
    if found is None:
        return ""
    return "user" if _USER.match(found["heading"] or found["bold"]) else "assistant"


def read(source: Source, session: SessionRead) -> Iterator[Event]:
    """Yield the events of a conversation; text without any heading counts as said by a person."""
    turn = Turn("head", 0)
    fence = Fence()
    for line in text_lines(source, session):
        role = "" if fence.mark else role_of(line.text)
        if role:
            yield from _events(session, turn)
            turn, fence = Turn(role, line.start), Fence()
            continue
        fence.feed(line.text)
        if turn.role == "head":
            found = _SESSION_ID.match(line.text)
            session.learn(session_id=found[1] if found else "")
        turn.add(line.text)
    if turn.role == "head":
        turn.role = "user"
    yield from _events(session, turn)


def _events(session: SessionRead, turn: Turn) -> Iterator[Event]:
    key = f"@{turn.start}"
    if turn.role == "head":
        return
    turn.report(session)
    while turn.lines and turn.lines[-1].strip() in ("", "---"):
        turn.lines.pop()
    prose: list[str] = []
    for place, line in enumerate(turn.lines):
        used = _USED_TOOL.match(line) if turn.role == "assistant" else None
        if used is None:
            prose.append(line)
            continue
        yield from session.prose("assistant", "\n".join(prose), key=f"{key}#{place}")
        prose = []
        what = clean.label(used["what"]).strip().strip("`")
        yield from session.call(used["tool"], what, call_id="", key=f"{key}#{place}:call")
    yield from session.prose(turn.role, "\n".join(prose), key=key)
