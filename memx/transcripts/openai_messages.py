"""OpenAI-style messages: an array, `{"messages": [...]}`, or one message a line.

No failure flag exists; an exit code is taken where the text of a result states one.
"""

from __future__ import annotations

import re

from memx.transcripts import clean
from memx.transcripts.claude_code import block_events, content_of, text_of
from memx.transcripts.exit_code import exit_code_of
from memx.transcripts.json_document import read_members
from memx.transcripts.json_lines import read_objects

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from memx.model import Event
    from memx.transcripts.session import SessionRead
    from memx.transcripts.source import Source

_ROLES = {"user": "user", "human": "user", "assistant": "assistant", "ai": "assistant", "model": "assistant"}
_OBSERVED = re.compile(
    r"\A\s*<returncode>-?\d+</returncode>\s*(?:<output>)?(.*?)(?:</output>)?\s*\Z", re.DOTALL
)


def read_document(source: Source, session: SessionRead) -> Iterator[Event]:
    """Yield the events of an array of messages or of an object that holds one."""
    place = 0
    for key, value in read_members(source, session, ("messages", "history", "conversation")):
        if key in ("id", "session_id", "conversation_id"):
            session.learn(session_id=value)
        elif key in ("", "messages", "history", "conversation"):
            yield from message_events(session, value, f"m{place}")
            place += 1


def read_lines(source: Source, session: SessionRead, offset: int) -> Iterator[Event]:
    """Yield the events of messages written one a line, from a byte offset on."""
    for value, start in read_objects(source, session, offset):
        messages = value.get("messages")
        if isinstance(messages, list):
            for place, message in enumerate(messages):
                yield from message_events(session, message, f"@{start}.{place}")
        else:
            yield from message_events(session, value, f"@{start}")


def message_events(session: SessionRead, message: object, key: str) -> Iterator[Event]:
    """Yield the events of one message; system prompts and demonstrations give none."""
    if not isinstance(message, dict):
        session.skip("unknown_type")
        return
    if message.get("is_demo") is True or message.get("agent") == "demo":
        return
    role = message.get("role")
    at: dict[str, Any] = {"time": clean.moment(message.get("timestamp", message.get("ts")))}
    content = content_of(message.get("message")) if "message" in message else message.get("content")
    if role in ("tool", "function"):
        yield from _result(session, message, text_of(content), key, at)
    elif isinstance(role, str) and role in _ROLES:
        yield from _turn(session, _ROLES[role], content, key, at)
        if role == "assistant":
            yield from _calls(session, message, key, at)
    elif role not in ("system", "developer"):
        session.skip("unknown_type")


def _turn(session: SessionRead, role: str, content: object, key: str, at: dict[str, Any]) -> Iterator[Event]:
    if isinstance(content, list):
        for place, block in enumerate(content):
            known = isinstance(block, dict) and block.get("type") in ("input_text", "output_text")
            part = {"type": "text", "text": block.get("text")} if known else block
            if not (isinstance(part, dict) and part.get("type") in ("image_url", "input_image", "refusal")):
                yield from block_events(session, role, part, f"{key}#{place}", at)
        return
    if not isinstance(content, str):
        return
    code = exit_code_of(content) if role == "user" else None
    observed = _OBSERVED.match(content) if code is not None else None
    if observed:
        yield from session.result(
            observed[1], call_id="", name="shell", key=key, is_error=code != 0, exit_code=code, **at
        )
        return
    yield from session.prose(role, content, key=key, **at)


def _calls(session: SessionRead, message: dict[str, Any], key: str, at: dict[str, Any]) -> Iterator[Event]:
    calls = message.get("tool_calls")
    requests = [call for call in calls if isinstance(call, dict)] if isinstance(calls, list) else []
    legacy = message.get("function_call")
    if isinstance(legacy, dict):
        requests.append({"id": "", "function": legacy})
    for place, request in enumerate(requests):
        function = request.get("function")
        function = function if isinstance(function, dict) else request
        identifier = clean.label(request.get("id"))
        yield from session.call(
            function.get("name"),
            function.get("arguments"),
            call_id=identifier,
            key=f"{key}:call{place}",
            **at,
        )


def _result(
    session: SessionRead, message: dict[str, Any], text: str, key: str, at: dict[str, Any]
) -> Iterator[Event]:
    code = exit_code_of(text)
    flag = message.get("is_error")
    is_error = flag if isinstance(flag, bool) else None
    yield from session.result(
        text,
        call_id=message.get("tool_call_id"),
        key=key,
        name=message.get("name"),
        is_error=is_error if code is None else code != 0,
        exit_code=code,
        **at,
    )
