"""Torn, huge, binary, empty and wrongly encoded logs in every format: counted, passed over, the rest is read."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from memx.errors import TranscriptError
from memx.transcripts import Limits, read_session
from tests.transcripts import samples

if TYPE_CHECKING:
    from pathlib import Path

    from memx.model import Event

names = pytest.mark.parametrize("name", samples.ALL)
FORCED = sorted({name.partition("-")[0] for name in samples.ALL})


def read(
    path: Path, data: bytes, name: str, limits: Limits | None = None
) -> tuple[list[Event], dict[str, int]]:
    """Write a log, read it in the format of the sample and return its events and what was left out."""
    path.write_bytes(data)
    session = read_session(str(path), format=name.partition("-")[0], limits=limits)
    events = list(session)
    for event in events:
        event.text.encode()  # no half character may come through
    return events, dict(session.skipped)


def middle_of_cause(data: bytes) -> int:
    """Return a place inside the words of the cause, which every sample has."""
    return data.index(samples.CAUSE[:12].encode()) + 6


@names
@pytest.mark.parametrize(
    "noise",
    [b"\xe9\xff\xfe", b"\xe6\x97", b"\xed\xa0\xbd", "日".encode("gb18030"), "é".encode("cp1252")],
    ids=["latin-1", "half-a-character", "surrogate", "gb18030", "cp1252"],
)
def test_wrong_encoding_costs_a_character_at_most(name: str, noise: bytes, tmp_path: Path) -> None:
    """Bytes of another encoding become replacement characters; the calls before and after them are read."""
    data = samples.ALL[name]().encode("utf-8", "surrogatepass")
    place = middle_of_cause(data)
    events, _ = read(tmp_path / "log", data[:place] + noise + data[place:], name)
    assert [event.text for event in events if event.kind == "call"] == ["make", "make -j1"]
    assert any("\ufffd" in event.text for event in events)


@names
def test_nul_run_is_passed_over(name: str, tmp_path: Path) -> None:
    """A block that the disk never wrote loses its record at most, and says so."""
    data = samples.ALL[name]().encode("utf-8", "surrogatepass")
    place = middle_of_cause(data)
    whole, _ = read(tmp_path / "log", data, name)
    events, skipped = read(tmp_path / "log", data[:place] + bytes(4096) + data[place:], name)
    assert not any("\0" in event.text for event in events)
    assert events
    assert len(events) == len(whole) or sum(skipped.values())


@names
def test_windows_line_ends_change_nothing(name: str, tmp_path: Path) -> None:
    """A log that a checkout has rewritten with CR LF tells the same story."""
    data = samples.ALL[name]().encode("utf-8", "surrogatepass")
    whole, _ = read(tmp_path / "log", data, name)
    events, _ = read(tmp_path / "log", data.replace(b"\n", b"\r\n"), name)
    kinds = [(event.role, event.kind) for event in whole]
    assert [(event.role, event.kind) for event in events] == kinds
    assert samples.CAUSE in [event.text for event in events]


@names
def test_huge_message_is_bounded(name: str, tmp_path: Path) -> None:
    """Eight megabytes in one message are cut, or left out with a count; what comes after them is read."""
    text = samples.ALL[name]()
    place = text.index(samples.CAUSE[:12])
    data = (text[:place] + "word " * 1_600_000 + text[place:]).encode()
    events, skipped = read(tmp_path / "log", data, name)
    assert sum(skipped.values()) or "make -j1" in [event.text for event in events if event.kind == "call"]
    assert max(len(event.text) for event in events) < 1 << 20


@names
def test_huge_record_is_counted_and_the_rest_read(name: str, tmp_path: Path) -> None:
    """A record over the cap is left out with a count, or cut where the format has no records."""
    text = samples.ALL[name]()
    place = text.index(samples.CAUSE[:12])
    data = (text[:place] + "x" * 300_000 + text[place:]).encode()
    events, skipped = read(tmp_path / "log", data, name, Limits(line_bytes=100_000))
    assert events
    assert sum(skipped.values()) or max(len(event.text) for event in events) < 300_000


@pytest.mark.parametrize("name", FORCED)
@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\n\n \n",
        b"\x7fELF" + bytes(range(256)) * 40,
        b"\x89PNG\r\n\x1a\n" + bytes(5000),
        "今日は".encode("utf-16"),
        b"{" * 5000,
        b"[" * 200_000,
        b'{"messages": [' * 3000,
        b'"' + b"a" * 100_000,
        json.dumps({"type": "user", "message": None, "messages": 7, "trajectory": "x"}).encode(),
    ],
    ids=[
        "empty",
        "blank",
        "elf",
        "png",
        "utf-16",
        "braces",
        "brackets",
        "nested",
        "open-string",
        "odd-types",
    ],
)
def test_what_is_no_log_gives_nothing_and_no_crash(name: str, data: bytes, tmp_path: Path) -> None:
    """Forced into any format, a file that is no log ends in few events or an expected error."""
    try:
        events, _ = read(tmp_path / "log", data, name)
    except TranscriptError:
        return
    assert sum(len(event.text) for event in events) <= 2 * len(data) + 100


@names
def test_log_torn_inside_a_character_keeps_what_came_before(name: str, tmp_path: Path) -> None:
    """A file cut in the middle of a character of its last record gives the whole records before it."""
    text = samples.ALL[name]()
    data = text.encode("utf-8", "surrogatepass")
    place = middle_of_cause(data)
    events, _ = read(tmp_path / "log", data[:place] + "語".encode()[:2], name)
    whole, _ = read(tmp_path / "log", data, name)
    before = [event.text for event in whole[: len(events) - 1]]
    assert events
    assert [event.text for event in events[:-1]] == before
