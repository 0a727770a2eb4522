"""Every format gives the same story, whatever happens to its file."""

from __future__ import annotations

import contextlib
import json
import os
from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from memx.errors import TranscriptError
from memx.transcripts import FORMATS, Limits, normalize_format, parse_text, read_session
from tests.transcripts import samples

if TYPE_CHECKING:
    from pathlib import Path

    from memx.model import Event

HAS_FLAGS = {"claude_code", "codex", "gemini-json", "gemini-jsonl", "cline", "opencode", "copilot_cli"}
names = pytest.mark.parametrize("name", samples.ALL)


def facts(event: Event) -> tuple[str, str, str]:
    """Return what a test compares of an event."""
    return event.role, event.kind, event.text


def written(folder: Path, text: str) -> str:
    """Write a log and return its path."""
    path = folder / "log"
    path.write_bytes(text.encode("utf-8", "surrogatepass"))
    return str(path)


@names
def test_each_format_is_recognised_by_content(name: str) -> None:
    """No file name is needed to tell the format."""
    assert parse_text(samples.ALL[name]()).format == name.partition("-")[0]


@names
def test_each_format_tells_the_story(name: str) -> None:
    """Question, failed command, cause and working command come out in order, nothing else does."""
    events = list(parse_text(samples.ALL[name]()))
    texts = [event.text for event in events]
    assert samples.CAUSE in texts
    if name != "swe_agent":
        assert facts(events[0]) == ("user", "text", samples.QUESTION)
    calls = [event for event in events if event.kind == "call"]
    assert [call.text for call in calls] == ["make", "make -j1"]
    assert {call.action for call in calls} == {"shell"}
    if name != "plain_md":
        results = [event for event in events if event.kind == "result"]
        expected = [
            f"{samples.FAILURE}\nExit code: 2" if "openai" in name else samples.FAILURE,
            samples.SUCCESS,
        ]
        assert [result.text for result in results] == expected
        assert [result.call_id for result in results] == [call.call_id for call in calls]
        assert {result.action for result in results} == {"shell"}


@pytest.mark.parametrize("name", sorted(HAS_FLAGS))
def test_each_flag_of_failure_is_read(name: str) -> None:
    """The failed command is marked with its exit code, the other one as good."""
    failed, worked = (event for event in parse_text(samples.ALL[name]()) if event.kind == "result")
    assert (failed.is_error, failed.exit_code) == (True, 2)
    assert worked.is_error is False


@names
def test_a_clean_log_skips_nothing(name: str) -> None:
    """What is passed over by design is not reported as a loss."""
    session = parse_text(samples.ALL[name]())
    list(session)
    assert {reason for reason in session.skipped if reason != "duplicate"} == set()


@names
def test_each_turn_is_read_once(name: str, tmp_path: Path) -> None:
    """A second read from `next_offset` gives nothing while the file is the same."""
    path = written(tmp_path, samples.ALL[name]())
    first = read_session(path)
    assert list(first)
    assert list(read_session(path, offset=first.next_offset)) == []


@pytest.mark.parametrize(
    "name", ["claude_code", "codex", "copilot_cli", "gemini-jsonl", "openai_messages-jsonl"]
)
def test_a_growing_file_gives_each_event_once(name: str, tmp_path: Path) -> None:
    """Cut anywhere, read, then completed and read on: together the events of the whole, each once."""
    text = samples.ALL[name]().encode()
    whole = [facts(event) for event in parse_text(text.decode())]
    path = tmp_path / "log"
    base = name.partition("-")[0]
    for size in range(0, len(text), 97):
        path.write_bytes(text[:size])
        first = read_session(str(path), format=base)
        events = [facts(event) for event in first]
        path.write_bytes(text)
        events += [facts(event) for event in read_session(str(path), format=base, offset=first.next_offset)]
        assert events == whole, size


@names
def test_truncation_anywhere_keeps_the_earlier_events(name: str) -> None:
    """The events of a torn log begin the events of the whole one, except for the very last."""
    text = samples.ALL[name]()
    base = name.partition("-")[0]
    whole = [facts(event) for event in parse_text(text, base)]
    previous = 0
    for size in range(0, len(text), 41):
        events = [facts(event) for event in parse_text(text[:size], base)]
        common = max(len(events) - 1, 0)
        assert events[:common] == whole[:common], size
        assert len(events) >= previous - 1, size
        previous = len(events)


@settings(max_examples=60, deadline=None)
@given(data=st.binary(max_size=400), name=st.sampled_from(FORMATS))
def test_arbitrary_bytes_raise_nothing_else(data: bytes, name: str) -> None:
    """Any bytes, forced into any format, give events or a TranscriptError."""
    text = data.decode("utf-8", "surrogateescape")
    for chosen in (name, None):
        with contextlib.suppress(TranscriptError):
            list(parse_text(text, chosen))


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
def test_damaged_logs_raise_nothing(data: st.DataObject) -> None:
    """A log with a random piece replaced by random characters is read as far as it goes."""
    name = data.draw(st.sampled_from(sorted(samples.ALL)))
    text = samples.ALL[name]()
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, min(start + 60, len(text))))
    noise = data.draw(st.text(max_size=20))
    for event in parse_text(text[:start] + noise + text[end:], name.partition("-")[0]):
        event.text.encode()


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner, max_size=3),
    max_leaves=6,
)
KEYS = [
    "type",
    "message",
    "content",
    "role",
    "payload",
    "data",
    "id",
    "uuid",
    "timestamp",
    "toolCalls",
    "parts",
    "info",
    "state",
    "input",
    "arguments",
    "output",
    "tool_calls",
    "name",
    "call_id",
    "result",
    "status",
    "metadata",
    "text",
    "messages",
]


@settings(max_examples=80, deadline=None)
@given(st.lists(st.dictionaries(st.sampled_from(KEYS), values, max_size=6), max_size=4), st.data())
def test_unknown_shapes_raise_nothing(records: list[dict[str, object]], data: st.DataObject) -> None:
    """Known keys with values of any type never stop a reader."""
    kinds = [
        "user",
        "assistant",
        "response_item",
        "message",
        "function_call",
        "gemini",
        "tool.execution_complete",
    ]
    for record in records:
        record.setdefault("type", data.draw(st.sampled_from(kinds)))
    for name in FORMATS:
        list(parse_text("".join(json.dumps(record) + "\n" for record in records), name))
        list(parse_text(json.dumps({"messages": records, "trajectory": records}), name))


def test_an_empty_file_is_counted(tmp_path: Path) -> None:
    """A log that was only just created is no failure."""
    session = read_session(written(tmp_path, ""))
    assert list(session) == []
    assert session.skipped == {"empty_file": 1}


def test_a_binary_file_is_refused_with_a_hint(tmp_path: Path) -> None:
    """A picture is no session."""
    path = tmp_path / "x.png"
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20)
    with pytest.raises(TranscriptError, match="known format") as caught:
        read_session(str(path))
    assert caught.value.hint


def test_utf16_is_refused_with_a_hint(tmp_path: Path) -> None:
    """A log that a shell redirected in another encoding is named as such."""
    path = tmp_path / "log"
    path.write_bytes(samples.claude_code().encode("utf-16"))
    with pytest.raises(TranscriptError, match="UTF-16"):
        read_session(str(path))


def test_missing_files_and_pipes_are_refused(tmp_path: Path) -> None:
    """Neither a missing file nor a pipe can hang or crash a reader."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    for path in (tmp_path / "none", tmp_path, pipe):
        with pytest.raises(TranscriptError):
            read_session(str(path))


def test_a_byte_order_mark_is_ignored() -> None:
    """An editor's mark at the start changes nothing."""
    for name in samples.ALL:
        assert list(parse_text("\ufeff" + samples.ALL[name]())) != []


def test_bare_prose_is_said_by_a_person() -> None:
    """Text without any format is one turn; an unknown JSON document is refused all the same."""
    session = parse_text("The cache was stale, so the build failed.")
    assert [(event.role, event.text) for event in session] == [
        ("user", "The cache was stale, so the build failed.")
    ]
    with pytest.raises(TranscriptError):
        parse_text('{"name": "package", "version": 1}')


def test_names_of_formats_are_forgiving() -> None:
    """The words that people use are understood, others are refused with the list."""
    assert normalize_format("Claude-Code") == "claude_code"
    assert normalize_format("roo") == "cline"
    with pytest.raises(TranscriptError) as caught:
        normalize_format("emacs")
    assert "codex" in (caught.value.hint or "")


def test_the_first_line_alone_does_not_decide() -> None:
    """A foreign first line, or one image of 400 kB, does not hide the format."""
    image = {"type": "user", "uuid": "u0", "sessionId": "s", "message": {"content": "A" * 400_000}}
    for first in (
        '{"unknown": 1}',
        '{"type": "summary", "summary": "x", "leafUuid": "y"}',
        json.dumps(image),
        "torn {",
    ):
        assert parse_text(first + "\n" + samples.claude_code()).format == "claude_code"


def test_a_long_line_is_skipped_and_the_rest_read() -> None:
    """A line over the cap costs its own event only, in lines and in arrays."""
    limits = Limits(line_bytes=2000)
    long_line = (
        json.dumps({"type": "user", "uuid": "x", "sessionId": "s", "message": {"content": "b" * 9000}}) + "\n"
    )
    session = parse_text(long_line + samples.claude_code(), "claude_code", limits=limits)
    assert samples.CAUSE in [event.text for event in session]
    assert session.skipped["line_too_long"] == 1
    messages = [{"role": "user", "content": 'c\\"[{' * 40_000}, *samples.openai_list()]
    session = parse_text(json.dumps(messages), "openai_messages", limits=limits)
    assert samples.CAUSE in [event.text for event in session]
    assert session.skipped["line_too_long"] == 1


def test_joined_torn_and_empty_lines_are_counted() -> None:
    """Two objects on a line are both read; a torn line and a run of NULs cost nothing else."""
    records = samples.claude_code().splitlines()
    log = "\n".join(
        [
            records[0],
            records[1][:70],
            "\0" * 50,
            records[1] + records[2],
            records[3][:40] + records[4],
            *records[5:],
        ]
    )
    session = parse_text(log)
    texts = [event.text for event in session]
    assert texts[:2] == [samples.QUESTION, "make"]
    assert samples.CAUSE in texts
    assert session.skipped == {"invalid_json": 2}


def test_a_torn_last_line_is_read_the_next_time(tmp_path: Path) -> None:
    """The offset stays before a line that its writer has not finished, cut inside a character."""
    text = samples.claude_code().replace("build ok", "gebäut").encode()
    path = tmp_path / "log"
    path.write_bytes(text[: text.index("ä".encode()) + 1])
    first = read_session(str(path))
    assert len(list(first)) == 5
    assert first.skipped == {"torn_last_line": 1}
    path.write_bytes(text)
    assert [event.text for event in read_session(str(path), offset=first.next_offset)] == ["gebäut"]


def test_lone_surrogates_become_replacement_characters() -> None:
    """An escaped half of a pair can be written, hashed and indexed afterwards."""
    log = json.dumps(
        {
            "type": "user",
            "uuid": "\ud83d",
            "sessionId": "s\ud83d",
            "cwd": "/\udc00",
            "message": {"content": "a\ud83db"},
        }
    )
    (event,) = parse_text(log, "claude_code")
    assert event.text == "a\ufffdb"
    for value in (event.session_id, event.cwd, event.key):
        value.encode()


def test_a_rewritten_shorter_file_is_read_from_its_start(tmp_path: Path) -> None:
    """An offset behind the end means that it belongs to another file."""
    path = written(tmp_path, samples.claude_code())
    assert len(list(read_session(path, offset=10_000_000))) == 6


def test_sessions_that_share_records_give_them_once(tmp_path: Path) -> None:
    """A resumed session's file begins with a copy of the first one's records."""
    path = written(tmp_path, samples.claude_code())
    seen: set[int] = set()
    assert len(list(read_session(path, seen=seen))) == 6
    copy = read_session(path, seen=seen)
    assert list(copy) == []
    assert copy.skipped == {"duplicate": 7}


@names
def test_the_last_turn_of_a_person_can_be_read_again(name: str, tmp_path: Path) -> None:
    """From `turn_offset` on comes the unfinished turn with all that followed it."""
    path = written(tmp_path, samples.ALL[name]())
    first = read_session(path)
    events = list(first)
    again = list(read_session(path, offset=first.turn_offset))
    assert [facts(event) for event in again] == [facts(event) for event in events]
    assert first.turn_offset <= first.next_offset


def test_finished_turns_come_once_in_a_growing_log(tmp_path: Path) -> None:
    """Read at any moment and again later, every turn comes whole and once, the open one when it is closed."""
    closing = {"type": "user", "uuid": "u9", "sessionId": "claude-1", "message": {"content": "thanks"}}
    text = samples.claude_code() + json.dumps(closing) + "\n"
    whole = [facts(event) for event in parse_text(text)]
    path = tmp_path / "log"
    for size in range(0, len(text), 211):
        path.write_text(text[:size])
        first = read_session(str(path), format="claude_code")
        assert list(first.finished()) == []
        path.write_text(text)
        second = read_session(str(path), format="claude_code", offset=first.next_offset)
        assert [facts(event) for batch in second.batches(finished=True) for event in batch] == whole[:-1]
        rest = read_session(str(path), format="claude_code", offset=second.next_offset)
        assert [facts(event) for event in rest] == whole[-1:]


def test_a_turn_without_end_is_not_held_back() -> None:
    """The events waiting for the end of a turn are bounded."""
    assert len(list(parse_text(samples.claude_code()).finished(most=2))) == 4


def test_batches_cover_all_events_and_overlap() -> None:
    """Every event is in a batch, and a seam is seen whole in one of them."""
    session = parse_text(samples.claude_code())
    batches = list(session.batches(size=3, overlap=1))
    assert [len(batch) for batch in batches] == [3, 3, 2]
    assert batches[0][-1] == batches[1][0]
