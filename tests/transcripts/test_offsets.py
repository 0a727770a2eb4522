"""How far a log was read survives the process and notices another file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from memx.transcripts import Offsets

if TYPE_CHECKING:
    from pathlib import Path


def test_offsets_survive_saving(tmp_path: Path) -> None:
    """A new process goes on where the last one stopped; sessions of one database are apart."""
    log = tmp_path / "log"
    log.write_text("some record\n")
    state = tmp_path / "state"
    offsets = Offsets(str(state))
    assert offsets.offset_of(str(log)) == 0
    offsets.advance(str(log), 12)
    offsets.advance(str(log), 3, session_id="ses_2")
    offsets.save()
    log.write_text("some record\nmore\n")
    again = Offsets(str(state))
    assert again.offset_of(str(log)) == 12
    assert again.offset_of(str(log), "ses_2") == 3
    assert [entry.name for entry in state.iterdir()] == ["sessions.json"]
    again.forget(str(log))
    assert again.offset_of(str(log)) == 0


def test_a_file_written_anew_starts_again(tmp_path: Path) -> None:
    """Other first bytes mean another log under the old name."""
    log = tmp_path / "log"
    log.write_text("first session\n")
    offsets = Offsets(str(tmp_path))
    offsets.advance(str(log), 14)
    log.write_text("other session, longer than before\n")
    assert offsets.offset_of(str(log)) == 0


def test_a_log_that_grew_is_read_from_the_last_turn(tmp_path: Path) -> None:
    """What an agent did before a read and says after it stands together; an unchanged log gives nothing again."""
    log = tmp_path / "log"
    log.write_text("question\nfailure\n")
    offsets = Offsets(str(tmp_path))
    offsets.advance(str(log), 17, turn_offset=9)
    assert offsets.offset_of(str(log)) == 17
    log.write_text("question\nfailure\nanswer\n")
    assert offsets.offset_of(str(log)) == 9


def test_a_database_keeps_its_mark_while_it_changes(tmp_path: Path) -> None:
    """The first bytes of SQLite count its changes, so they are not compared."""
    log = tmp_path / "opencode.db"
    log.write_bytes(b"SQLite format 3\0" + b"\1" * 100)
    offsets = Offsets(str(tmp_path))
    offsets.advance(str(log), 5)
    log.write_bytes(b"SQLite format 3\0" + b"\2" * 100)
    assert offsets.offset_of(str(log)) == 5


def test_damaged_state_means_nothing_was_read(tmp_path: Path) -> None:
    """Whatever stands in the state file, reading goes on."""
    log = tmp_path / "log"
    log.write_text("x")
    for content in (
        b"",
        b"[]",
        b"\xff",
        b'{"version": 9}',
        b'{"version": 1, "sessions": {"a": [1], "b": 2}}',
    ):
        (tmp_path / "sessions.json").write_bytes(content)
        offsets = Offsets(str(tmp_path))
        assert offsets.offset_of(str(log)) == 0
        offsets.save()
