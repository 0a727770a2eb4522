"""Logs that are cut, bent and patched at random places: nothing crashes, nothing is lost without a count."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.errors import TranscriptError
from memx.transcripts import Limits, parse_text, read_session
from tests.transcripts import samples

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from memx.model import Event

MANY = 40
NOISES = (
    bytes(40),
    b'"',
    b"\xff\xfe}",
    b"{" * 3000,
    b"[" * 3000,
    b'{"a":' * 2000,
    b"\n" * 50,
    b"\x1b[31m",
    "\ud83d".encode("utf-8", "surrogatepass"),
    b"x" * 9000,
)
LIMITS = Limits(line_bytes=8000)


def gemini(number: int) -> dict[str, object]:
    """Return a Gemini message whose calls begin as messages do."""
    calls = [
        {"id": f"c{number}.{n}", "name": "run_shell_command", "args": {"command": "make"}} for n in (1, 2)
    ]
    kind = "gemini" if number % 2 else "user"
    stamp = "2026-05-01T10:00:00Z"
    return {"id": f"m{number}", "timestamp": stamp, "type": kind, "content": said(number), "toolCalls": calls}


def said(number: int) -> str:
    """Return what the message of this number says."""
    return f"Part {number}: the cache was stale."


def message(number: int) -> dict[str, object]:
    """Return a message as OpenAI and Cline write them."""
    role = "assistant" if number % 2 else "user"
    return {"role": role, "content": [{"type": "text", "text": said(number)}]}


def exported(number: int) -> dict[str, object]:
    """Return a message of an OpenCode export."""
    role = "assistant" if number % 2 else "user"
    part = {"id": f"p{number}", "type": "text", "text": said(number)}
    return {"info": {"id": f"m{number}", "role": role}, "parts": [part]}


def step(number: int) -> dict[str, object]:
    """Return a step of a SWE-agent trajectory."""
    return {"response": "", "thought": said(number), "action": "make", "observation": "ok"}


DOCUMENTS: dict[str, tuple[str, Callable[[int], dict[str, object]], str]] = {
    "gemini": ('{"sessionId": "s", "projectHash": "h", "messages": [', gemini, "]}"),
    "cline": ("[", message, "]"),
    "openai_messages": ('{"id": "s", "messages": [', message, "]}"),
    "opencode": ('{"info": {"id": "s", "projectID": "p"}, "messages": [', exported, "]}"),
    "swe_agent": ('{"environment": "e", "trajectory": [', step, '], "info": {}}'),
}


def document(name: str, indent: int | None) -> list[bytes]:
    """Return a document of MANY items in pieces: the head, each item with what stands before it, the end."""
    head, make, end = DOCUMENTS[name]
    items = [json.dumps(make(number), indent=indent).encode() for number in range(MANY)]
    return [head.encode(), items[0], *(b", " + item for item in items[1:]), end.encode()]


def read(path: Path, data: bytes, name: str) -> tuple[list[Event], dict[str, int]]:
    """Write a log, read it and return its events and what was left out."""
    path.write_bytes(data)
    session = read_session(str(path), format=name.partition("-")[0], limits=LIMITS)
    events = list(session)
    return events, dict(session.skipped)


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", DOCUMENTS)
@pytest.mark.parametrize("noise", NOISES, ids=range(len(NOISES)))
@pytest.mark.parametrize("share", [0.0, 0.3, 0.6, 0.9])
def test_broken_item_of_a_document_costs_no_more_than_its_neighbours(
    name: str, indent: int | None, noise: bytes, share: float, tmp_path: Path
) -> None:
    """Bytes written over a place in one item leave the others: at most the two beside it go, with a count."""
    pieces = document(name, indent)
    broken = MANY // 2
    place = int(len(pieces[broken]) * share)
    pieces[broken] = pieces[broken][:place] + noise + pieces[broken][place + len(noise) :]
    events, skipped = read(tmp_path / "log", b"".join(pieces), name)
    told = {event.text for event in events}
    lost = [number for number in range(MANY) if said(number) not in told]
    assert len(lost) <= 3
    assert len(lost) <= 1 or skipped


@settings(max_examples=120, deadline=None)
@given(data=st.data())
def test_mutilated_log_never_crashes(data: st.DataObject) -> None:
    """Whatever is cut out, repeated or written over: an answer or an expected error, and text that can be stored."""
    name = data.draw(st.sampled_from(sorted(samples.ALL)))
    raw = samples.ALL[name]().encode("utf-8", "surrogatepass")
    for _ in range(data.draw(st.integers(1, 3))):
        start = data.draw(st.integers(0, len(raw)))
        end = min(len(raw), start + data.draw(st.integers(0, 200)))
        patch = data.draw(st.sampled_from((b"", raw[start:end] * 3, *NOISES)))
        raw = raw[:start] + patch + raw[end:]
    try:
        session = parse_text(raw.decode("utf-8", "replace"), name.partition("-")[0], limits=LIMITS)
        events = list(session)
    except TranscriptError:
        return
    for event in events:
        event.text.encode()
    assert events or not raw.strip() or session.skipped or not session.format.startswith(("gemini", "cline"))


@pytest.mark.parametrize("name", DOCUMENTS)
def test_document_whose_list_has_lost_its_name_says_so(name: str, tmp_path: Path) -> None:
    """A document without its list of messages is not an empty session in silence."""
    data = b"".join(document(name, None)).replace(b'"messages"', b'"mess\x00ges"', 1)
    events, skipped = read(tmp_path / "log", data.replace(b'"trajectory"', b'"tra_ectory"', 1), name)
    assert events or skipped


SWOLLEN = b'{"id": "z", "role": "note", "info": [' + b'{"a": 1}, ' * 500_000 + b"0]}"
"""Five megabytes of text that take a hundred as objects."""


@pytest.mark.parametrize("name", DOCUMENTS)
def test_item_of_very_many_values_is_counted_and_the_rest_read(name: str, tmp_path: Path) -> None:
    """An item of half a million objects is left out of a document, and says so."""
    first, *rest = document(name, None)[1:]
    pieces = [document(name, None)[0], first, b", " + SWOLLEN, *rest]
    (tmp_path / "log").write_bytes(b"".join(pieces))
    session = read_session(str(tmp_path / "log"), format=name)
    told = {event.text for event in session}
    assert [number for number in range(MANY) if said(number) not in told] == []
    assert session.skipped["too_many_values"] == 1


@pytest.mark.parametrize(
    "name", ["claude_code", "codex", "gemini-jsonl", "copilot_cli", "openai_messages-jsonl"]
)
def test_line_of_very_many_values_is_counted_and_the_rest_read(name: str, tmp_path: Path) -> None:
    """A line of half a million objects is left out of a log, and says so."""
    data = samples.ALL[name]().encode()
    whole, _ = read(tmp_path / "log", data, name)
    head, tail = data.split(b"\n", 1)
    (tmp_path / "log").write_bytes(head + b"\n" + SWOLLEN + b"\n" + tail)
    session = read_session(str(tmp_path / "log"), format=name.partition("-")[0])
    assert [event.text for event in session] == [event.text for event in whole]
    assert session.skipped == {"too_many_values": 1}
