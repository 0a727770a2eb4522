"""What two sides of a merge say of the same thing, although git joins their files without a word."""

from __future__ import annotations

import json
import os
import subprocess
import time
from typing import TYPE_CHECKING, Any

import pytest

from memx.app.merge_check import check_merge
from memx.app.project import Project

if TYPE_CHECKING:
    from tests.e2e.conftest import Program

OURS = {
    "aaaaaaaaaa": "Always run the migrations before the workers start",
    "bbbbbbbbbb": "The staging certificate is renewed by hand in March",
}
THEIRS = {
    "cccccccccc": "Never run the migrations before the workers start",
    "dddddddddd": "The staging certificate is renewed by hand in March.",
    "eeeeeeeeee": "Nightly builds need the licence server to be up",
}


def put(program: Program, bullets: dict[str, str]) -> None:
    """Write bullet files by hand and commit them."""
    folder = program.folder / ".memx" / "bullets" / "general"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in bullets.items():
        (folder / f"x-{name}.md").write_text(f"---\nid: {name}\n---\n{text}\n", encoding="utf-8")
    program.git("add", "-A")
    program.git("commit", "-q", "-m", "Bullets")


@pytest.fixture
def sides(store: Program) -> Program:
    """A store with a branch `feature`, both sides with bullets of their own; `main` is checked out."""
    put(store, {"ffffffffff": "Restart the indexer after every schema migration"})
    store.git("branch", "feature")
    put(store, OURS)
    store.git("switch", "-q", "feature")
    put(store, THEIRS)
    store.git("switch", "-q", "main")
    return store


def notes(program: Program) -> dict[tuple[str, str], str]:
    """Return pair → kind of what stands in the notes."""
    path = program.folder / ".git" / "memx" / "merge-notes.json"
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else []
    return {(min(row["a"], row["b"]), max(row["a"], row["b"])): row["kind"] for row in rows}


def wait_for_notes(program: Program) -> dict[tuple[str, str], str]:
    """Return the notes as soon as the detached process has written them."""
    end = time.monotonic() + 40
    while not notes(program) and time.monotonic() < end:
        time.sleep(0.1)
    return notes(program)


EXPECTED = {("aaaaaaaaaa", "cccccccccc"): "contradiction", ("bbbbbbbbbb", "dddddddddd"): "duplicate"}


def merge(program: Program, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    """Run git and return what it said."""
    return subprocess.run(
        ["git", *arguments], cwd=program.folder, env=program.environ, capture_output=True, check=True
    )


@pytest.mark.parametrize(
    "command",
    [("merge", "-q", "--no-edit", "feature"), ("rebase", "-q", "feature")],
    ids=["merge", "rebase"],
)
def test_clean_merge_of_two_sides_notes_what_they_say_of_the_same_thing(
    sides: Program, command: tuple[str, ...]
) -> None:
    """Git sees no conflict; the notes hold the contradiction and the duplicate, and the commands show them."""
    done = merge(sides, *command)
    assert len(done.stderr.splitlines()) <= 1
    assert wait_for_notes(sides) == EXPECTED
    shown = sides.run("conflicts", "--marked", "--json")
    assert shown.returncode == 1
    assert [row["kind"] for row in json.loads(shown.stdout)["merged"]] == ["contradiction", "duplicate"]
    notice = sides.run("inbox").stderr.decode()
    assert "a merge brought together 1 contradiction and 1 duplicate (memx conflicts)" in notice


def test_note_ends_when_one_of_its_bullets_says_something_else(sides: Program) -> None:
    """A note is about two texts: with another text, or in the archive, there is nothing left to tell."""
    merge(sides, "merge", "-q", "--no-edit", "feature")
    wait_for_notes(sides)
    put(sides, {"cccccccccc": "Workers are started by systemd"})
    sides.ok("archive", "dddddddddd")
    assert json.loads(sides.run("conflicts", "--marked", "--json").stdout)["merged"] == []


def test_fast_forward_has_one_side_and_no_notes(sides: Program) -> None:
    """Nothing of ours stands against what a fast-forward brings."""
    project = Project(str(sides.folder), os.environ, time.time())
    assert check_merge(project, "feature^1", "feature") == []
    assert check_merge(project, "feature^1", "feature^2") == []
