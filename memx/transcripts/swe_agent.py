"""SWE-agent .traj: `trajectory` steps of thought, action and observation; `history` as a fallback."""

from __future__ import annotations

from memx.transcripts.exit_code import exit_code_of
from memx.transcripts.json_document import read_members
from memx.transcripts.openai_messages import message_events

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from memx.model import Event
    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source


def read(source: Source, session: SessionRead) -> Iterator[Event]:
    """Yield the events of the steps, or of the messages when there are no steps."""
    chosen = ""
    place = 0
    for key, value in read_members(source, session, ("trajectory", "history", "messages")):
        if key == "environment":
            session.learn(session_id=value)
        if key not in ("trajectory", "history", "messages") or chosen not in ("", key):
            continue
        chosen = key
        if key == "trajectory":
            yield from _step(session, value, f"s{place}")
        else:
            yield from message_events(session, value, f"m{place}")
        place += 1


def _step(session: SessionRead, step: object, key: str) -> Iterator[Event]:
    if not isinstance(step, dict):
        session.skip("unknown_type")
        return
    yield from session.prose("assistant", step.get("thought") or step.get("response"), key=f"{key}:thought")
    action = step.get("action")
    if not isinstance(action, str) or not action.strip():
        return
    yield from session.call("shell", {"command": action.strip()}, call_id=key, key=f"{key}:call")
    observation = step.get("observation")
    text = observation if isinstance(observation, str) else ""
    code = exit_code_of(text)
    is_error = None if code is None else code != 0
    yield from session.result(text, call_id=key, key=f"{key}:result", is_error=is_error, exit_code=code)
