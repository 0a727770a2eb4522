"""Measure how fast and in how much memory a large session log is read.

Usage: python benchmarks/transcripts.py [MEGABYTES] [FORMAT…]. The logs are invented, written to a temporary folder and
removed afterwards; each format is read by a process of its own, so that its peak is its own.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from functools import cache

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


@cache
def variants(size: int) -> list[str]:
    """Return a few texts of about `size` characters: to invent each anew takes longer than to read it."""
    return [" ".join(random.choices(WORDS, k=max(size // 6, 1))) for _ in range(64)]


def said(size: int) -> str:
    """Return about `size` characters of words."""
    return random.choice(variants(size))


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
        "content": [{"type": "output_text", "text": f"{number} {said(900)}"}],
    }
    if number % 2:
        payload = {
            "type": "function_call_output",
            "call_id": f"c{number}",
            "output": f"Exit code: 1\n{number} {said(3000)}",
        }
    line = {"timestamp": "2026-05-01T10:00:00Z", "type": "response_item", "payload": payload}
    return json.dumps(line) + "\n"


def gemini_message(number: int) -> str:
    """Return a message; every fourth has a call with its result."""
    message = {
        "id": f"m{number}",
        "timestamp": "2026-05-01T10:00:00Z",
        "type": "gemini" if number % 2 else "user",
        "content": said(2000),
    }
    if number % 4 == 1:
        result = [{"functionResponse": {"id": f"c{number}", "response": {"output": said(4000)}}}]
        message["toolCalls"] = [
            {
                "id": f"c{number}",
                "name": "run_shell_command",
                "args": {"command": said(80)},
                "status": "success",
                "result": result,
            }
        ]
    return json.dumps(message)


def gemini(number: int) -> str:
    """Return an item of a session that is one JSON object."""
    head = '{"sessionId": "s", "projectHash": "h", "startTime": "2026-05-01T10:00:00Z", "messages": ['
    return (head if number == 0 else ",\n") + gemini_message(number)


def gemini_lines(number: int) -> str:
    """Return a message line."""
    head = '{"sessionId": "s", "projectHash": "h", "startTime": "2026-05-01T10:00:00Z"}\n'
    return (head if number == 0 else "") + gemini_message(number) + "\n"


def cline(number: int) -> str:
    """Return an item of the one-line array."""
    text = f"[execute_command for 'x'] Result:\n{said(3000)}" if number % 2 else said(500)
    message = {"role": "user" if number % 2 else "assistant", "content": [{"type": "text", "text": text}]}
    return ("[" if number == 0 else ", ") + json.dumps(message)


def openai_messages(number: int) -> str:
    """Return an item of the array: a prompt, a call, its result, an answer."""
    kind = number % 4
    call = {"id": f"c{number}", "function": {"name": "bash", "arguments": json.dumps({"command": said(80)})}}
    message: dict[str, object] = (
        {"role": "user", "content": said(300)},
        {"role": "assistant", "content": None, "tool_calls": [{**call, "type": "function"}]},
        {"role": "tool", "tool_call_id": f"c{number - 1}", "content": said(6000)},
        {"role": "assistant", "content": said(500)},
    )[kind]
    return ("[" if number == 0 else ", ") + json.dumps(message)


def opencode(number: int) -> str:
    """Return a message of an export, every other one with a call."""
    head = '{"info": {"id": "s", "projectID": "p", "directory": "/w"}, "messages": ['
    message = {"info": opencode_info(number), "parts": opencode_parts(number)}
    return (head if number == 0 else ",\n") + json.dumps(message)


def opencode_info(number: int) -> dict[str, object]:
    """Return what is known of a message."""
    role = "assistant" if number % 2 else "user"
    return {"id": f"m{number}", "role": role, "time": {"created": 1_777_630_000_000}}


def opencode_parts(number: int) -> list[dict[str, object]]:
    """Return a message's parts."""
    parts: list[dict[str, object]] = [{"id": f"p{number}", "type": "text", "text": said(600)}]
    if number % 2:
        state = {"status": "completed", "input": {"command": said(80)}, "output": said(4000)}
        parts.append(
            {"id": f"q{number}", "type": "tool", "tool": "bash", "callID": f"c{number}", "state": state}
        )
    return parts


def write_database(path: str, size: int) -> int:
    """Write an OpenCode database of at least `size` bytes of messages; return how many it has."""
    number = written = 0
    with contextlib.closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE session (id, directory, project_id, parent_id, time_created)")
        database.execute("CREATE TABLE message (id, session_id, time_created, data)")
        database.execute("CREATE TABLE part (id, message_id, data)")
        database.execute("CREATE INDEX part_of ON part (message_id)")
        database.execute("INSERT INTO session VALUES ('s', '/w', 'p', NULL, 0)")
        while written < size:
            info = opencode_info(number)
            database.execute(
                "INSERT INTO message VALUES (?, 's', ?, ?)", (info["id"], number, json.dumps(info))
            )
            for part in opencode_parts(number):
                data = json.dumps(part)
                written += len(data)
                database.execute("INSERT INTO part VALUES (?, ?, ?)", (part["id"], info["id"], data))
            number += 1
        database.commit()
    return number


def swe_agent(number: int) -> str:
    """Return a step of a trajectory."""
    step = {
        "response": said(400),
        "thought": said(300),
        "action": f"make {said(60)}",
        "observation": f"{number} {said(3000)}",
        "state": {"working_dir": "/w"},
    }
    return ('{"environment": "e", "trajectory": [' if number == 0 else ",\n") + json.dumps(step)


def copilot_cli(number: int) -> str:
    """Return an event."""
    moment = "2026-05-01T10:00:00Z"
    if number == 0:
        data: dict[str, object] = {"sessionId": "s", "startTime": moment, "context": {"cwd": "/w"}}
        return json.dumps({"type": "session.start", "id": "e0", "timestamp": moment, "data": data}) + "\n"
    kind = "user.message" if number % 2 else "assistant.message"
    data = {"content": said(2000), "messageId": f"m{number}"}
    return json.dumps({"type": kind, "id": f"e{number}", "timestamp": moment, "data": data}) + "\n"


def specstory(number: int) -> str:
    """Return a turn with a call."""
    head = "<!-- Generated by SpecStory, Markdown v2.1.0 -->\n\n" if number == 0 else ""
    return (
        f"{head}_**User (2026-05-01 10:00:00Z)**_\n\n{said(300)}\n\n---\n\n"
        f"_**Agent (model 2026-05-01 10:00:05Z)**_\n\n{said(500)}\n\n"
        '<tool-use data-tool-type="shell" data-tool-name="Bash"><details>\n'
        f"<summary>Tool use: **Bash**</summary>\n\n`make`\n\n```text\n{said(3000)}\n```\n\n"
        "</details></tool-use>\n\n---\n\n"
    )


def plain_md(number: int) -> str:
    """Return a turn of either side."""
    head = "# Conversation\n\n" if number == 0 else ""
    return f"{head}## User (10:00 UTC)\n\n{said(300)}\n\n## Assistant (10:01 UTC)\n\n{said(2000)}\n\n"


def aider(number: int) -> str:
    """Return a turn."""
    head = "\n# aider chat started at 2026-05-01 10:00:00\n\n" if number == 0 else ""
    return f"{head}\n#### {said(100)}  \n\n{said(900)}\n\n> Applied edit to a.py  \n"


FORMATS = {
    "claude_code": (claude_code, ""),
    "codex": (codex, ""),
    "gemini": (gemini, "]}"),
    "gemini_lines": (gemini_lines, ""),
    "cline": (cline, "]"),
    "openai_messages": (openai_messages, "]"),
    "opencode": (opencode, "]}"),
    "opencode_database": (opencode, ""),
    "swe_agent": (swe_agent, '], "info": {"exit_status": "submitted"}}'),
    "copilot_cli": (copilot_cli, ""),
    "specstory": (specstory, ""),
    "plain_md": (plain_md, ""),
    "aider": (aider, ""),
}
"""How a record is written, and what ends the file."""
AT_ONCE = 500


def write_log(path: str, name: str, size: int) -> int:
    """Write a log of at least `size` bytes; return how many records it has."""
    if name == "opencode_database":
        return write_database(path, size)
    write, end = FORMATS[name]
    number = 0
    with open(path, "w", encoding="utf-8") as stream:
        while stream.tell() < size:
            stream.writelines(write(place) for place in range(number, number + AT_ONCE))
            number += AT_ONCE
        stream.write(end)
    return number


def read_log(path: str) -> None:
    """Read a log and print what it took, as JSON."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun = time.process_time()
    session = read_session(path)
    events = sum(1 for _ in session.events)
    seconds = time.process_time() - begun
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    figures = {"format": session.format, "events": events, "seconds": seconds, "peak": peak, "before": before}
    print(json.dumps({**figures, "skipped": sum(session.skipped.values())}))


def main() -> None:
    """Write the logs, read each once, print the table."""
    if sys.argv[1:2] == ["--read"]:
        read_log(sys.argv[2])
        return
    megabytes = int(sys.argv[1]) if len(sys.argv) > 1 else 500
    print(f"{'log':18} {'read as':16} {'MB':>5} {'records':>9} {'events':>9} {'skipped':>8}", end=" ")
    print(f"{'CPU s':>6} {'MB/s':>5} {'peak MB':>8} {'start MB':>9}")
    for name in sys.argv[2:] or FORMATS:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "log")
            records = write_log(path, name, megabytes << 20)
            size = os.path.getsize(path) / 1e6
            command = [sys.executable, __file__, "--read", path]
            found = json.loads(subprocess.run(command, check=True, capture_output=True).stdout)
        print(
            f"{name:18} {found['format']:16} {size:5.0f} {records:9} {found['events']:9} {found['skipped']:8}"
            f" {found['seconds']:6.1f} {size / found['seconds']:5.0f} {found['peak'] / 1024:8.0f}"
            f" {found['before'] / 1024:9.0f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
