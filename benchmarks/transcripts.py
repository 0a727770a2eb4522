"""Measure how fast and in how much memory a large session log is read.

Usage: python benchmarks/transcripts.py [MEGABYTES] [claude_code|codex|gemini|cline|aider]. The log is invented,
written to a temporary folder and removed afterwards.
"""

from __future__ import annotations

import json
import os
import random
import resource
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

from memx.transcripts import read_session

WORDS = [
    "build",
    "failed",
    "because",
    "the",
    "cache",
    "holds",
    "a",
    "stale",
    "lock",
    "file",
    "so",
    "the",
    "worker",
    "waits",
    "for",
    "error",
    "retry",
    "fixed",
    "port",
]


def said(size: int) -> str:
    """Return about `size` characters of words."""
    return " ".join(random.choices(WORDS, k=max(size // 6, 1)))


def claude_code(number: int) -> str:
    """Return a record: a tool result, a short answer, or an image."""
    shared = {"uuid": f"u{number}", "sessionId": "s", "cwd": "/w", "timestamp": "2026-05-01T10:00:00Z"}
    kind = number % 4
    if kind == 0:
        block: dict[str, object] = {"type": "tool_result", "tool_use_id": f"c{number}", "content": said(6000)}
    elif kind == 1:
        block = {"type": "tool_use", "id": f"c{number + 3}", "name": "Bash", "input": {"command": said(80)}}
    else:
        block = {"type": "text", "text": said(400)}
    if number % 400 == 0:
        block = {"type": "image", "source": {"type": "base64", "data": "QUJD" * 90_000}}
    role = "assistant" if kind else "user"
    return json.dumps({"type": role, **shared, "message": {"role": role, "content": [block]}}) + "\n"


def codex(number: int) -> str:
    """Return a response item."""
    payload = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": said(900)}],
    }
    if number % 2:
        payload = {
            "type": "function_call_output",
            "call_id": f"c{number}",
            "output": "Exit code: 1\n" + said(3000),
        }
    line = {"timestamp": "2026-05-01T10:00:00Z", "type": "response_item", "payload": payload}
    return json.dumps(line) + "\n"


def gemini(number: int) -> str:
    """Return a message line."""
    message = {
        "id": f"m{number}",
        "timestamp": "2026-05-01T10:00:00Z",
        "type": "gemini",
        "content": said(2000),
    }
    return json.dumps(message) + "\n"


def cline(number: int) -> str:
    """Return an item of the one-line array."""
    text = f"[execute_command for 'x'] Result:\n{said(3000)}" if number % 2 else said(500)
    message = {"role": "user" if number % 2 else "assistant", "content": [{"type": "text", "text": text}]}
    return ("[" if number == 0 else ", ") + json.dumps(message)


def aider(number: int) -> str:
    """Return a turn."""
    head = "\n# aider chat started at 2026-05-01 10:00:00\n\n" if number == 0 else ""
    return f"{head}\n#### {said(100)}  \n\n{said(900)}\n\n> Applied edit to a.py  \n"


def main() -> None:
    """Write the log, read it once, print the figures."""
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    name = sys.argv[2] if len(sys.argv) > 2 else "claude_code"
    write = {"claude_code": claude_code, "codex": codex, "gemini": gemini, "cline": cline, "aider": aider}[
        name
    ]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "log")
        with open(path, "w", encoding="utf-8") as stream:
            number = 0
            while stream.tell() < megabytes << 20:
                stream.writelines(write(place) for place in range(number, number + 500))
                number += 500
        size = os.path.getsize(path)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        begun = time.perf_counter()
        session = read_session(path)
        events = sum(1 for _ in session.events)
        seconds = time.perf_counter() - begun
        after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{session.format}: {size / 1e6:.0f} MB, {number} records, {events} events, skipped {session.skipped}"
    )
    print(
        f"{seconds:.1f} s, {size / 1e6 / seconds:.0f} MB/s, peak {after // 1024} MB ({before // 1024} MB before)"
    )


if __name__ == "__main__":
    main()
