"""What is special in each format."""

from __future__ import annotations

import json
import sqlite3
from typing import TYPE_CHECKING, Any

import pytest

from memx.errors import TranscriptError
from memx.transcripts import parse_text, read_session
from memx.transcripts.opencode import database_sessions
from tests.transcripts import samples

if TYPE_CHECKING:
    from pathlib import Path

    from memx.model import Event


def claude(*records: dict[str, Any]) -> list[Event]:
    """Return the events of Claude Code records with the common keys added."""
    common = {"sessionId": "s", "cwd": "/w", "timestamp": "2026-05-01T10:00:00Z"}
    numbered = [{**common, "uuid": f"u{number}", **record} for number, record in enumerate(records)]
    return list(parse_text(samples.lines(numbered), "claude_code"))


def codex(*payloads: dict[str, Any]) -> list[Event]:
    """Return the events of Codex response items."""
    return list(
        parse_text(samples.lines([{"type": "response_item", "payload": item} for item in payloads]), "codex")
    )


def codex_output(output: Any) -> Event:
    """Return the result event of a Codex call with this output."""
    call = {
        "type": "function_call",
        "name": "shell_command",
        "arguments": '{"command": "make"}',
        "call_id": "c",
    }
    _, result = codex(call, {"type": "function_call_output", "call_id": "c", "output": output})
    return result


def test_claude_human_text_is_told_from_the_rest() -> None:
    """Meta turns, commands, API errors and thoughts are nobody's words; a summary is marked as such."""
    events = claude(
        {"type": "user", "isMeta": True, "message": {"content": "meta"}},
        {"type": "user", "message": {"content": "<command-name>/x</command-name>"}},
        {"type": "assistant", "isApiErrorMessage": True, "message": {"content": "API error"}},
        {"type": "user", "isCompactSummary": True, "message": {"content": "what was done"}},
        {"type": "user", "isSidechain": True, "message": {"content": [{"type": "text", "text": "sub task"}]}},
        {"type": "user", "message": "spoken"},
        {"type": "user", "message": {"0": "a", "1": "b", "10": "d", "2": "c"}},
    )
    assert [(event.role, event.kind, event.text, event.sidechain) for event in events] == [
        ("system", "summary", "what was done", False),
        ("user", "text", "sub task", True),
        ("user", "text", "spoken", False),
        ("user", "text", "abcd", False),
    ]


def test_claude_absent_flag_means_success() -> None:
    """Only is_error true is a failure; lists of text are joined, images left out."""
    content = [{"type": "text", "text": "a"}, {"type": "image", "source": {}}, {"type": "text", "text": "b"}]
    block = {"type": "tool_result", "tool_use_id": "t", "content": content}
    denied = {**block, "is_error": True, "content": "<tool_use_error>not read yet</tool_use_error>"}
    good, bad = claude({"type": "user", "message": {"content": [block, denied]}})
    assert (good.is_error, good.exit_code, good.text) == (False, None, "a\nb")
    assert (bad.is_error, bad.exit_code, bad.text) == (True, None, "not read yet")


def test_claude_copies_of_a_resume_are_counted() -> None:
    """A record with a known uuid is dropped; unknown record and block types are counted."""
    log = samples.claude_code()
    session = parse_text(log + log + '{"type": "brand-new", "uuid": "n"}\n')
    assert len(list(session)) == 6
    assert session.skipped == {"duplicate": 7, "unknown_type": 1}


def test_claude_facts_come_from_the_first_records() -> None:
    """Session, folder, branch and start are known before the first event is taken."""
    session = parse_text(samples.claude_code())
    assert (session.session_id, session.cwd, session.branch) == ("claude-1", "/home/dev/mill", "main")
    assert session.started == 1_777_629_601.0


@pytest.mark.parametrize(
    ("output", "is_error", "code", "text"),
    [
        (json.dumps({"output": "x", "metadata": {"exit_code": 3}}), True, 3, "x"),
        ("Exit code: 1\nWall time: 0.1 seconds\nOutput:\nx", True, 1, "x"),
        ("Chunk ID: a1\nWall time: 0.1 seconds\nProcess exited with code 0\nOutput:\nx", False, 0, "x"),
        (
            "Chunk ID: a1\nWall time: 9 seconds\nProcess running with session ID 5\nOutput:\nx",
            None,
            None,
            "x",
        ),
        ("apply_patch verification failed: no", True, None, "apply_patch verification failed: no"),
        ("command timed out after 10 milliseconds", True, None, "command timed out after 10 milliseconds"),
        ([{"type": "input_text", "text": "x"}], None, None, "x"),
        ({"content": "x", "success": False}, True, None, "x"),
        ("Exit code is 5 in the docs", None, None, "Exit code is 5 in the docs"),
        (None, None, None, ""),
    ],
)
def test_codex_outputs_are_understood(
    output: Any,
    is_error: bool | None,  # noqa: FBT001 (a column of the table)
    code: int | None,
    text: str,
) -> None:
    """All forms of an output give flag, code and text."""
    result = codex_output(output)
    assert (result.is_error, result.exit_code, result.text) == (is_error, code, text)


def test_codex_patches_are_edits() -> None:
    """A patch names its file, whether it came as a tool of its own or through the shell."""
    patch = "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-old\n+new\n*** End Patch"
    arguments = json.dumps({"command": ["apply_patch", patch]})
    events = codex(
        {"type": "custom_tool_call", "name": "apply_patch", "input": patch, "call_id": "1"},
        {"type": "function_call", "name": "shell", "arguments": arguments, "call_id": "2"},
    )
    assert [(event.action, event.path) for event in events] == [("edit", "src/a.rs")] * 2


def test_codex_old_files_without_envelope_are_read() -> None:
    """The first versions wrote the items and the facts bare."""
    log = samples.lines(
        [
            {
                "id": "old-1",
                "timestamp": "2025-06-01T10:00:00Z",
                "instructions": None,
                "git": {"branch": "dev"},
            },
            {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hello there"}]},
            {"record_type": "state"},
        ]
    )
    session = parse_text(log)
    assert (session.format, session.session_id, session.branch) == ("codex", "old-1", "dev")
    assert [event.text for event in session] == ["hello there"]


def test_codex_files_of_notices_only_still_speak() -> None:
    """Where no response items exist, the repeated conversation is the only one."""
    log = samples.lines(
        [
            {"type": "event_msg", "payload": {"type": "user_message", "message": "hi"}},
            {"type": "event_msg", "payload": {"type": "agent_message", "message": "ho"}},
        ]
    )
    assert [(event.role, event.text) for event in parse_text(log)] == [("user", "hi"), ("assistant", "ho")]


def test_codex_copied_history_of_a_fork_is_dropped() -> None:
    """A long message or a call that was already read comes once."""
    item = {
        "type": "message",
        "role": "assistant",
        "content": [{"type": "output_text", "text": "long " * 30}],
    }
    call = {"type": "function_call", "name": "shell_command", "arguments": "{}", "call_id": "c"}
    assert len(codex(item, call, item, call)) == 2


def test_gemini_grown_messages_give_only_what_is_new(tmp_path: Path) -> None:
    """A message that got its tool call after the last read gives the call, not its text again."""
    early = {"id": "m1", "timestamp": "2026-05-01T10:00:00Z", "type": "gemini", "content": "I run it."}
    grown = {**early, "toolCalls": samples.gemini_messages()[1]["toolCalls"]}
    path = tmp_path / "session.jsonl"
    path.write_text(samples.lines([samples.GEMINI_HEAD, early]))
    first = read_session(str(path))
    assert [event.text for event in first] == ["I run it."]
    path.write_text(samples.lines([samples.GEMINI_HEAD, early, grown]))
    second = read_session(str(path), offset=first.next_offset)
    assert [event.text for event in second] == ["make", samples.FAILURE]


def test_gemini_denied_and_running_calls() -> None:
    """A denied call failed; a running one has no result yet; a sub-agent is a sidechain."""
    calls = [
        {"id": "a", "name": "run_shell_command", "args": {}, "status": "error", "resultDisplay": "denied"},
        {"id": "b", "name": "run_shell_command", "args": {}, "status": "executing"},
    ]
    message = {
        "id": "m",
        "timestamp": "2026-05-01T10:00:00Z",
        "type": "gemini",
        "content": "",
        "toolCalls": calls,
    }
    events = list(parse_text(json.dumps({**samples.GEMINI_HEAD, "kind": "subagent", "messages": [message]})))
    assert [(event.kind, event.is_error) for event in events] == [
        ("call", None),
        ("result", True),
        ("call", None),
    ]
    assert all(event.sidechain for event in events)


def test_cline_xml_calls_feedback_and_completion() -> None:
    """Old XML calls become calls, feedback inside a result the person's words, the completion prose."""
    xml = "Look:\n<execute_command>\n<command>npm test</command>\n</execute_command>"
    denied = (
        "[execute_command for 'npm test'] Result:\nThe user denied this operation.\n"
        "The user provided the following feedback:\n<feedback>\nuse pnpm\n</feedback>"
    )
    done = samples.use("d", "attempt_completion", {"result": "All good."})
    history = [
        {"role": "assistant", "content": xml},
        {"role": "user", "content": [{"type": "text", "text": denied}]},
        {"role": "assistant", "content": [done]},
    ]
    events = list(parse_text(json.dumps(history), "roo"))
    assert [(event.role, event.kind, event.text) for event in events][:2] == [
        ("assistant", "text", "Look:"),
        ("assistant", "call", "npm test"),
    ]
    assert (events[2].kind, events[2].is_error, events[2].tool) == ("result", True, "execute_command")
    assert [(event.role, event.text) for event in events[3:]] == [
        ("user", "use pnpm"),
        ("assistant", "All good."),
    ]


def test_cline_folder_is_learnt_from_the_details() -> None:
    """The working folder stands only in the text that is cut out."""
    session = parse_text(samples.cline())
    list(session)
    assert session.cwd == "/home/dev/mill"


def test_cline_ui_messages_lead_to_the_history(tmp_path: Path) -> None:
    """Named by its display log, a task is read from the file beside it."""
    (tmp_path / "ui_messages.json").write_text("[]")
    (tmp_path / "api_conversation_history.json").write_text(samples.cline())
    assert len(list(read_session(str(tmp_path / "ui_messages.json")))) == 6


def storage(folder: Path) -> str:
    """Write a session in OpenCode's storage folders and return its path."""
    root = folder / "storage"
    session = root / "session" / "global" / "ses_1.json"
    session.parent.mkdir(parents=True)
    session.write_text(json.dumps(samples.OPENCODE_INFO))
    for info, parts in samples.opencode_parts():
        message = root / "message" / "ses_1" / f"{info['id']}.json"
        message.parent.mkdir(parents=True, exist_ok=True)
        message.write_text(json.dumps(info))
        for part in parts:
            place = root / "part" / info["id"] / f"{part['id']}.json"
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_text(json.dumps(part))
    return str(session)


def database(folder: Path) -> str:
    """Write a session into an OpenCode database and return its path."""
    path = str(folder / "opencode.db")
    connection = sqlite3.connect(path)
    connection.executescript(
        "CREATE TABLE session (id TEXT, project_id TEXT, parent_id TEXT, directory TEXT, time_created INT);"
        "CREATE TABLE message (id TEXT, session_id TEXT, time_created INT, data TEXT);"
        "CREATE TABLE part (id TEXT, message_id TEXT, session_id TEXT, data TEXT);"
    )
    connection.execute("INSERT INTO session VALUES ('ses_0', 'p', 'ses_1', '/elsewhere', 2)")
    connection.execute("INSERT INTO session VALUES ('ses_1', 'p', NULL, '/home/dev/mill', 1)")
    for number, (info, parts) in enumerate(samples.opencode_parts()):
        row = (info["id"], "ses_1", number, json.dumps(info))
        connection.execute("INSERT INTO message VALUES (?, ?, ?, ?)", row)
        for part in parts:
            connection.execute(
                "INSERT INTO part VALUES (?, ?, 'ses_1', ?)", (part["id"], info["id"], json.dumps(part))
            )
    connection.execute("INSERT INTO message VALUES ('msg_9', 'ses_1', 9, 'no json')")
    connection.commit()
    connection.close()
    return path


def test_opencode_layouts_give_the_same_events(tmp_path: Path) -> None:
    """Export, storage folders and database hold one conversation."""
    expected = list(parse_text(samples.opencode()))
    assert list(read_session(storage(tmp_path))) == expected
    session = read_session(database(tmp_path), session_id="ses_1")
    assert list(session) == expected
    assert session.skipped == {"invalid_json": 1}


def test_opencode_database_is_only_read(tmp_path: Path) -> None:
    """Nothing is written, not even a lock file, and every session is listed with its folder."""
    path = database(tmp_path)
    before = {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()}
    assert len(list(read_session(path))) == 6
    assert [(row["id"], row["directory"]) for row in database_sessions(path)] == [
        ("ses_1", "/home/dev/mill"),
        ("ses_0", "/elsewhere"),
    ]
    assert {entry.name: entry.read_bytes() for entry in tmp_path.iterdir()} == before


def test_opencode_damaged_database_is_refused(tmp_path: Path) -> None:
    """A torn database is an error that names it, not a crash."""
    path = tmp_path / "opencode.db"
    path.write_bytes(b"SQLite format 3\0" + b"\xff" * 500)
    with pytest.raises(TranscriptError, match="database"):
        list(read_session(str(path)))


def test_opencode_sanitised_export_says_nothing() -> None:
    """Texts that an export removed are no texts."""
    export = json.loads(samples.opencode())
    export["messages"][0]["parts"][0]["text"] = "[redacted:text:prt_1]"
    assert samples.QUESTION not in [event.text for event in parse_text(json.dumps(export))]


def test_copilot_compaction_and_failed_tool() -> None:
    """A summary is marked; a failure without text gives the message of its error."""
    log = samples.lines(
        [
            {"type": "session.compaction_complete", "id": "1", "data": {"summaryContent": "so far"}},
            {
                "type": "tool.execution_complete",
                "id": "2",
                "data": {"toolCallId": "c", "success": False, "error": {"message": "denied"}},
            },
            {"type": "hook.start", "id": "3", "data": {}},
        ]
    )
    summary, failed = parse_text(log)
    assert (summary.kind, summary.text) == ("summary", "so far")
    assert (failed.is_error, failed.text) == (True, "denied")


def test_aider_edits_commands_and_noise() -> None:
    """Blocks become edits once, /ask is speech, other commands and listings are noise."""
    log = (
        "# aider chat started at 2026-05-01 10:00:00\n\n#### /add a.py  \n> Added a.py to the chat  \n\n"
        "#### /ask why is it slow?  \n\nHere:\n\na.py\n```python\n<<<<<<< SEARCH\nx = 1\n=======\nx = 2\n"
        ">>>>>>> REPLACE\n```\n\n> Applied edit to a.py  \n> Commit 1234567 fix: x  \n> Applied edit to b.py  \n"
    )
    events = list(parse_text(log))
    assert [(event.kind, event.path or event.text) for event in events] == [
        ("text", "why is it slow?"),
        ("text", "Here:"),
        ("call", "a.py"),
        ("call", "b.py"),
    ]
    assert events[2].text == "a.py\n-x = 1\n+x = 2"
    assert {event.time for event in events} == {1_777_629_600.0}


def test_specstory_turns_inside_file_bodies_are_text() -> None:
    """A log that shows a log does not change the speaker; an open fence does not swallow the rest."""
    log = samples.specstory().replace(samples.SUCCESS, f"{samples.SUCCESS}\n_**User**_\nnot said")
    events = list(parse_text(log))
    assert [event.role for event in events].count("user") == 1
    open_fence = log + "_**User**_\n\nsee\n\n```\nopen\n\n---\n\n_**User**_\n\nlast words\n"
    assert list(parse_text(open_fence))[-1].text == "last words"


def test_specstory_old_files_pair_fences() -> None:
    """A shell fence and the bare fence behind it are a command and its output."""
    log = (
        "<!-- Generated by SpecStory -->\r\n\r\n# Slow build (2026-05-01 10:00:00)\r\n\r\n"
        "_**User**_\r\n\r\nfix it\r\n\r\n---\r\n\r\n"
        "_**Assistant**_\r\n\r\n<details>\r\n"
        "<summary>Searched</summary>\r\nhidden\r\n</details>\r\n\r\nRead file: a.c\r\n\r\n"
        "Running.\r\n\r\n```bash\r\nmake\r\n```\r\n\r\n```\r\nError 2\r\n```\r\n"
    )
    session = parse_text(log)
    assert [(event.kind, event.text) for event in session] == [
        ("text", "fix it"),
        ("text", "Running."),
        ("call", "make"),
        ("result", "Error 2"),
    ]
    assert session.started == 1_777_629_600.0


def test_openai_observations_and_demonstrations() -> None:
    """A return code in a user message is a result; demonstrations and legacy calls are understood."""
    messages = [
        {"role": "user", "content": "demo", "is_demo": True},
        {
            "role": "assistant",
            "content": "",
            "function_call": {"name": "bash", "arguments": '{"command": "ls"}'},
        },
        {"role": "user", "content": "<returncode>1</returncode>\n<output>\nno such file\n</output>"},
    ]
    call, result = parse_text(json.dumps(messages))
    assert call.text == "ls"
    assert (result.kind, result.is_error, result.exit_code, result.text) == (
        "result",
        True,
        1,
        "no such file",
    )


def test_swe_agent_history_is_the_fallback() -> None:
    """Without steps the messages are read, without the demonstrations."""
    history = [
        {"role": "user", "content": "demo", "agent": "main", "is_demo": True},
        {"role": "user", "content": "Fix the bug.", "agent": "main"},
    ]
    events = list(parse_text(json.dumps({"environment": "e", "trajectory": [], "history": history})))
    assert [event.text for event in events] == ["Fix the bug."]


def test_plain_markdown_in_other_languages() -> None:
    """Headings in four languages and in bold open turns; headings in a fence do not."""
    log = "**Usuario:**\n\nhola\n\n### アシスタント\n\n```\n## User\n```\n\n## 用户\n\n好\n"
    assert [(event.role, event.text) for event in parse_text(log)] == [
        ("user", "hola"),
        ("assistant", "```\n## User\n```"),
        ("user", "好"),
    ]
