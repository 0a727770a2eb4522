"""Recalls counted beside the store."""

from __future__ import annotations

import multiprocessing
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memx.errors import StoreError
from memx.store import journal as module
from memx.store.journal import Journal, Recalls

TYPE_CHECKING = False
if TYPE_CHECKING:
    from pathlib import Path

A, B = "a123456789", "b123456789"


@pytest.fixture
def journal(tmp_path: Path) -> Journal:
    """Return an empty journal."""
    return Journal(str(tmp_path))


def test_repeat_within_the_window_counts_once(journal: Journal) -> None:
    """The window runs from the recall that counted, its end exclusive."""
    for minute in (0, 30, 59.9, 60, 100, 121):
        assert journal.record([A], minute * 60, 60)
    assert journal.pending() == {A: 3}


def test_window_of_zero_counts_every_recall(journal: Journal) -> None:
    """With no window a repeat in the same second counts."""
    journal.record([A, B], 5, 0)
    journal.record([A], 5, 0)
    assert journal.pending() == {A: 2, B: 1}


def test_shown_is_not_recalled(journal: Journal) -> None:
    """What a hook injected is kept apart."""
    journal.record([A], 0, 60, kind="shown")
    assert (journal.pending(), journal.pending("shown")) == ({}, {A: 1})


def test_nothing_recalled_writes_nothing(journal: Journal, tmp_path: Path) -> None:
    """A search without hits leaves no file."""
    assert journal.record([], 0, 60)
    assert os.listdir(tmp_path) == []


def test_fold_returns_what_lags_and_empties_pending(journal: Journal) -> None:
    """The file's own value plus what was pending; a file that a crash left behind comes back."""
    for hour in range(3):
        journal.record([A, B], hour * 3600, 60)
    assert journal.fold({A: 4}) == {A: Recalls(7, 7200.0)}
    assert journal.pending() == {B: 3}
    assert journal.effective({A: 4, B: 1}) == {A: 7, B: 4}
    assert journal.fold({A: 4}) == {A: Recalls(7, 7200.0)}
    assert journal.unfolded() == {A, B}
    journal.settle([A])
    assert journal.fold({A: 7}) == {}
    assert journal.unfolded() == {B}


def test_fold_on_another_branch_adds_its_own_share(journal: Journal) -> None:
    """What the merge driver adds up afterwards is every recall once; meanwhile nothing is lost here."""
    for hour in range(3):
        journal.record([A], hour * 3600, 60)
    assert journal.fold({A: 0})[A].count == 3
    journal.settle([A])
    journal.record([A], 4 * 3600, 60)
    assert journal.effective({A: 0}) == {A: 4}
    assert journal.fold({A: 0})[A].count == 1
    journal.settle([A])
    assert journal.effective({A: 1}) == journal.effective({A: 3}) == {A: 4}
    assert journal.fold({A: 1}) == {}
    assert journal.fold({A: 1}, catch_up=True)[A].count == 4


def test_repeat_just_after_a_fold_does_not_count(journal: Journal) -> None:
    """A fold does not open a new window."""
    journal.record([A], 0, 60)
    journal.fold({A: 0})
    journal.record([A], 60, 60)
    assert journal.pending() == {}


def test_torn_and_foreign_lines_are_skipped(journal: Journal, tmp_path: Path) -> None:
    """A crash in the middle of a line costs that line alone."""
    journal.record([A], 0, 60)
    with open(tmp_path / "journal", "ab") as file:
        file.write(b"x y\n\xff\0\nR a\nr 1 2 .\nr nan x a .\nr 9999 3600 a12")
    journal.record([B], 0, 60)
    assert journal.pending() == {A: 1, B: 1}


@given(st.lists(st.tuples(st.sampled_from([A, B]), st.integers(0, 400), st.booleans()), max_size=30))
@settings(max_examples=50, deadline=None)
def test_folds_and_compactions_change_no_total(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[str, int, bool]]
) -> None:
    """However often the file is compacted or folded, the effective counts are those of the events alone."""
    plain = Journal(str(tmp_path_factory.mktemp("plain")))
    folded = Journal(str(tmp_path_factory.mktemp("folded")))
    counts = {A: 0, B: 0}
    minute = 0
    for identifier, gap, is_fold in steps:
        minute += gap
        plain.record([identifier], minute * 60, 60)
        folded.record([identifier], minute * 60, 60)
        if is_fold:
            counts |= {key: recalls.count for key, recalls in folded.fold(counts).items()}
            folded.settle(counts)
        else:
            folded.compact()
    assert folded.effective(counts) == plain.effective({A: 0, B: 0})


def test_large_journal_is_compacted(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is summed up when it grows beyond its limit, and counts stay."""
    monkeypatch.setattr(module, "COMPACT_ABOVE_BYTES", 2000)
    for hour in range(200):
        journal.record([A, B], hour * 3600, 60)
    assert (tmp_path / "journal").stat().st_size < 2100
    assert journal.pending() == {A: 200, B: 200}


def test_long_sums_are_not_written_with_each_recall(
    journal: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where thousands of bullets were recalled, a recall still appends one line."""
    monkeypatch.setattr(module, "COMPACT_ABOVE_BYTES", 2000)
    names = [f"k{number:09d}" for number in range(200)]
    journal.record(names, 0, 60)
    journal.compact()
    files = set()
    for hour in range(1, 101):
        journal.record([A], hour * 3600, 60)
        files.add((tmp_path / "journal").stat().st_ino)
    assert len(files) == 1
    assert journal.pending() == dict.fromkeys(names, 1) | {A: 100}


def test_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    """Recall works where it cannot be counted, and the caller learns of it."""
    (tmp_path / "file").write_text("")
    journal = Journal(str(tmp_path / "file"))
    assert journal.record([A], 0, 60) is False
    with pytest.raises(StoreError):
        journal.fold({A: 0})


def _record(folder: str, worker: int) -> None:
    journal = Journal(folder)
    for number in range(50):
        while not journal.record([A, f"w{worker}"], (worker * 50 + number) * 3600, 60):
            pass
        if number % 10 == 0:
            journal.compact()


def test_many_processes_lose_no_recall(tmp_path: Path) -> None:
    """Appends and compactions of eight processes all count."""
    with multiprocessing.get_context("spawn").Pool(8) as pool:
        pool.starmap(_record, [(str(tmp_path), worker) for worker in range(8)])
    assert Journal(str(tmp_path)).pending() == {A: 400} | {f"w{worker}": 50 for worker in range(8)}


def test_recording_imports_nothing_heavy(tmp_path: Path) -> None:
    """The hot path pays for os and fcntl alone."""
    code = (
        "import sys; before = set(sys.modules)\n"
        "from memx.store.journal import Journal\n"
        f"Journal({str(tmp_path)!r}).record(['a123456789'] * 5, 0, 60)\n"
        "print(*sorted(m for m in set(sys.modules) - before if not m.startswith('memx')))"
    )
    environ = os.environ | {"PYTHONPATH": os.getcwd()}
    run = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env=environ
    )
    assert run.stdout.split() == ["__future__", "fcntl"]


@pytest.fixture
def folders(tmp_path: Path) -> tuple[str, str]:
    """Return the folder in git and the one that stands in for it, the first with two recalls, one of them folded."""
    real, other = str(tmp_path / "git"), str(tmp_path / "state")
    journal = Journal(real)
    journal.record([A], 0, 0)
    journal.fold({A: 0})
    journal.settle([A])
    journal.record([A], 10, 0)
    return real, other


def test_read_only_repository_counts_on_beside_its_journal(folders: tuple[str, str]) -> None:
    """What was counted in both is what counts, though one of them can only be read."""
    real, other = folders
    second = Journal(other, beside=real)
    second.record([A, B], 20, 0)
    assert second.effective({A: 1, B: 0}) == {A: 3, B: 1}
    assert Journal(real, beside=other, takes_over=True).effective({A: 1, B: 0}) == {A: 3, B: 1}


def test_next_writer_takes_the_second_journal_over(folders: tuple[str, str]) -> None:
    """Its counts are in the first, the second is gone, and a repeat of the same moves nothing twice."""
    real, other = folders
    Journal(other, beside=real).record([A, B], 20, 0)
    with open(os.path.join(other, "journal"), "rb") as file:
        left_by_a_crash = file.read()
    first = Journal(real, beside=other, takes_over=True)
    first.record([B], 30, 0)
    assert not os.path.exists(os.path.join(other, "journal"))
    expected = {A: 3, B: 2}
    assert Journal(real).effective({A: 1, B: 0}) == expected
    with open(os.path.join(other, "journal"), "wb") as file:
        file.write(left_by_a_crash)
    assert first.effective({A: 1, B: 0}) == expected
    first.record([B], 40, 0)
    assert Journal(real).effective({A: 1, B: 0}) == {A: 3, B: 3}


def test_folds_of_both_journals_count_once(folders: tuple[str, str]) -> None:
    """A fold elsewhere takes what was counted there; the rest is folded by who may write the first."""
    real, other = folders
    second = Journal(other, beside=real)
    second.record([A], 20, 0)
    assert second.fold({A: 1}) == {A: Recalls(2, 20.0)}
    second.settle([A])
    assert second.effective({A: 2}) == {A: 3}
    first = Journal(real, beside=other, takes_over=True)
    assert first.fold({A: 2}) == {A: Recalls(3, 20.0)}
    first.settle([A])
    assert first.effective({A: 3}) == {A: 3}
    assert first.pending() == {}
