"""Rare records of each format, and what stands in the way of reading."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from memx.errors import StoreError, TranscriptError
from memx.transcripts import Offsets, discover_sessions, parse_text, read_session
from memx.transcripts.exit_code import exit_code_of, number
from tests.transcripts import samples
from tests.transcripts.test_formats import claude, database, storage

if TYPE_CHECKING:
    from pathlib import Path


def test_codex_exit_codes_from_notices_and_old_shells() -> None:
    """A notice tells the code that the output leaves out; old shell calls and summaries are read."""
    log = samples.lines(
        [
            {"type": "session_meta", "payload": {"id": "sub", "source": {"subagent": {}}}},
            {"type": "turn_context", "payload": {"cwd": "/late"}},
            {"type": "compacted", "payload": {"message": "was done"}},
            {"type": "compacted", "message": "done before"},
            {"type": "event_msg", "payload": {"type": "exec_command_end", "call_id": "c", "exit_code": 4}},
            {
                "type": "response_item",
                "payload": {"type": "local_shell_call", "call_id": "c", "action": {"command": ["ls", "x"]}},
            },
            {
                "type": "response_item",
                "payload": {"type": "function_call_output", "call_id": "c", "output": "no x"},
            },
            {
                "type": "response_item",
                "payload": {"type": "function_call_output", "call_id": "d", "output": "{torn"},
            },
            {
                "type": "response_item",
                "payload": {"type": "function_call_output", "call_id": "e", "output": '{"a": 1}'},
            },
            {"type": "response_item", "payload": {"type": "message", "role": "user", "content": []}},
            {"type": "response_item", "payload": {"type": "brand_new_item"}},
            {"type": "brand_new_line", "payload": {"type": "x"}},
        ]
    )
    session = parse_text(log)
    events = list(session)
    assert (session.cwd, session.sidechain) == ("/late", True)
    assert [(event.kind, event.text) for event in events] == [
        ("summary", "was done"),
        ("summary", "done before"),
        ("call", "ls x"),
        ("result", "no x"),
        ("result", "{torn"),
        ("result", '{"a": 1}'),
    ]
    assert (events[3].is_error, events[3].exit_code) == (True, 4)
    assert session.skipped == {"unknown_type": 2}


def test_blocks_of_unexpected_shape_are_counted() -> None:
    """A block that is text, a number or of a new type costs only itself."""
    log = {
        "type": "user",
        "uuid": "u",
        "sessionId": "s",
        "message": {"content": ["plain", 5, {"type": "hologram"}]},
    }
    session = parse_text(json.dumps(log) + "\n")
    assert [event.text for event in session] == ["plain"]
    assert session.skipped == {"unknown_block": 2}
    assert claude({"type": "user", "message": {"content": None}}) == []


def test_cline_new_results_questions_and_unknown_roles() -> None:
    """Result blocks with an id, questions of the agent and foreign messages are understood."""
    history: list[Any] = [
        {"role": "assistant", "content": [samples.use("a", "list_files", {"path": "src"})]},
        {
            "role": "user",
            "content": [
                samples.answer("a", "Error executing list_files: none"),
                {"type": "hologram"},
                {"type": "text", "text": "[ERROR] You did not use a tool"},
                {"type": "text", "text": "<environment_details>\nx\n</environment_details>"},
            ],
        },
        {"role": "assistant", "content": [samples.use("b", "ask_followup_question", {"question": "Which?"})]},
        {"role": "narrator", "content": "?"},
    ]
    session = parse_text(json.dumps(history), "cline")
    call, result, question = session
    assert (call.path, result.call_id, result.is_error) == ("src", "a", True)
    assert question.text == "Which?"
    assert session.skipped == {"unknown_block": 1, "unknown_type": 1}


def test_gemini_replies_of_every_shape() -> None:
    """An error, plain parts and a display text give the result's text; the folder may be in the header."""

    def call(number: int, **more: Any) -> dict[str, Any]:
        return {
            "id": f"c{number}",
            "name": "read_file",
            "args": {"absolute_path": "/w/a"},
            "status": "success",
            **more,
        }

    calls = [
        call(1, status="error", result=[{"functionResponse": {"response": {"error": "no such file"}}}]),
        call(2, result=["shown ", {"text": "parts"}]),
        call(3, result="one text"),
        call(4, resultDisplay="display"),
        call(5, result=[{"functionResponse": {"response": {"other": 1}}}]),
        "no call",
    ]
    message = {"id": "m", "timestamp": "x", "type": "gemini", "content": "", "toolCalls": calls}
    head = {**samples.GEMINI_HEAD, "directories": ["/w"]}
    session = parse_text(json.dumps({**head, "messages": [message, message, "no message", {"type": "new"}]}))
    texts = [event.text for event in session if event.kind == "result"]
    assert texts == ["no such file", "shown \nparts", "one text", "display", ""]
    assert session.cwd == "/w"
    assert session.skipped == {"duplicate": 1, "unknown_type": 2}


def test_opencode_errors_summaries_and_gaps(tmp_path: Path) -> None:
    """A failed tool, a compaction summary and unknown parts; missing files are no failure."""
    state = {"status": "error", "input": {}, "error": "denied"}
    parts = [
        {"type": "tool", "tool": "bash", "callID": "c", "state": state},
        {"type": "tool", "tool": "bash", "callID": "d", "state": {"status": "running", "input": {}}},
        {"type": "tool", "tool": "bash"},
        {"type": "hologram"},
        7,
    ]
    summary = {"info": {"role": "assistant", "summary": True}, "parts": [{"type": "text", "text": "so far"}]}
    export = {
        "info": {"id": "s", "parentID": "p"},
        "messages": [{"info": {"role": "assistant"}, "parts": parts}, summary],
    }
    export["messages"] += [5, {"info": {"role": "narrator"}, "parts": []}]  # type: ignore[operator]
    session = parse_text(json.dumps(export))
    events = list(session)
    assert [(event.kind, event.is_error) for event in events] == [
        ("call", None),
        ("result", True),
        ("call", None),
        ("summary", None),
    ]
    assert all(event.sidechain for event in events)
    assert session.skipped == {"unknown_block": 1, "unknown_type": 4}
    path = storage(tmp_path)
    (tmp_path / "storage" / "message" / "ses_1" / "msg_3.json").write_text("[]")
    shutil.rmtree(tmp_path / "storage" / "part" / "msg_2")
    torn = read_session(path)
    assert [event.text for event in torn] == [samples.QUESTION]
    assert torn.skipped == {"invalid_json": 1}


def test_databases_are_discovered_session_by_session(tmp_path: Path) -> None:
    """One file holds the sessions of many repositories; a damaged one hides nothing else."""
    base = tmp_path / ".local" / "share" / "opencode"
    base.mkdir(parents=True)
    path = database(base)
    (session,) = discover_sessions(str(tmp_path), {}, ["/home/dev/mill"])
    assert (session.path, session.session_id, session.format) == (path, "ses_1", "opencode")
    (base / "opencode.db").write_bytes(b"SQLite format 3\0 torn")
    assert discover_sessions(str(tmp_path), {"LOCALAPPDATA": str(base.parent)}, ["/home/dev/mill"]) == []


def test_gemini_folders_with_a_readable_name(tmp_path: Path) -> None:
    """Newer versions write the root beside the chats; the hash in the log serves, too."""
    folder = tmp_path / ".gemini" / "tmp" / "mill"
    (folder / "chats" / "parent").mkdir(parents=True)
    (folder / ".project_root").write_text("/home/dev/mill\n")
    (folder / "chats" / "session-1.jsonl").write_text(samples.gemini_jsonl())
    (folder / "chats" / "parent" / "sub.json").write_text(samples.gemini_json())
    main, sub = discover_sessions(str(tmp_path), {}, ["/home/dev/mill"])
    assert (main.session_id, main.cwd, main.sidechain, sub.sidechain) == (
        "gemini-1",
        "/home/dev/mill",
        False,
        True,
    )


def test_a_file_that_goes_away_is_a_transcript_error(tmp_path: Path) -> None:
    """Also while the events are being read."""
    path = tmp_path / "log"
    path.write_text(samples.claude_code())
    session = read_session(str(path))
    path.unlink()
    with pytest.raises(TranscriptError, match="cannot read"):
        list(session)


def test_offsets_that_cannot_be_saved_are_an_error(tmp_path: Path) -> None:
    """A file where the folder should be is reported with its path; a lost log keeps nothing."""
    (tmp_path / "state").write_text("")
    offsets = Offsets(str(tmp_path / "state"))
    offsets.advance(str(tmp_path / "none"), 4)
    assert offsets.offset_of(str(tmp_path / "none")) == 4
    with pytest.raises(StoreError, match="cannot save"):
        offsets.save()


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Exit code 3\nx", 3),
        ("x\n<exited with exit code 9>", 9),
        ("log\nExit Code: 1\nProcess Group PGID: 7", 1),
        ("[Process exited with code 5]", 5),
        ("the exit code 5 is documented", None),
        ("Exit code: 99999999999999", None),
    ],
)
def test_exit_codes_stand_at_the_edges(text: str, code: int | None) -> None:
    """Only the tool's own line counts, not a mention in a body."""
    assert exit_code_of(text) == code


@pytest.mark.parametrize(
    ("value", "code"), [(True, None), ("x", None), ("7", 7), (2**40, None), (None, None)]
)
def test_exit_codes_from_json_are_checked(value: object, code: int | None) -> None:
    """A value of another type is no exit code."""
    assert number(value) == code
