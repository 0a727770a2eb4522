"""Folders that cannot be written, checkouts without a store, and what a killed process left behind."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from memx.errors import IndexUnavailableError
from memx.index.lexical import _guard

if TYPE_CHECKING:
    from tests.e2e.conftest import Program

ADDED = "Set MAX_POOL_SIZE to 50 because 10 is not enough under load"
NOWHERE = dict.fromkeys(("XDG_STATE_HOME", "XDG_CACHE_HOME", "XDG_DATA_HOME"), "/dev/null/x")


@pytest.fixture
def closed(store: Program) -> Program:
    """A store with one bullet, where neither git's folder nor the user's takes any state."""
    store.ok("add", ADDED)
    state = store.folder / ".git" / "memx"
    state.rename(state.with_name("away"))
    state.write_text("a file, so that nothing can be written below it")
    store.environ.update(NOWHERE)
    return store


def test_recall_that_cannot_be_counted_is_said_once(closed: Program) -> None:
    """The hits are printed; one line says that they were not counted, none does where nobody asked for it."""
    done = closed.run("search", "MAX_POOL_SIZE")
    assert done.returncode == 0
    assert b"MAX_POOL_SIZE" in done.stdout
    assert done.stderr.count(b"the recall could not be counted") == 1
    assert b"could not be counted" not in closed.run("search", "--no-recall", "MAX_POOL_SIZE").stderr
    problems = json.loads(closed.run("search", "--json", "MAX_POOL_SIZE").stdout)["problems"]
    assert [problem["message"] for problem in problems] == ["the recall could not be counted"]


def test_doctor_where_nothing_can_be_written_hints_at_what_helps(closed: Program) -> None:
    """A rebuild cannot succeed there, so it is not proposed."""
    done = closed.run("doctor")
    assert done.returncode == 1
    said = done.stdout.decode()
    folders = said[said.index("folders") :].splitlines()
    assert "not writable" in folders[0]
    assert "hint: make it writable" in folders[1]
    assert "--rebuild" not in said


def test_quiet_says_problems_without_hints(store: Program) -> None:
    """A broken file is never overlooked; what to do about it is a notice."""
    path = store.folder / ".memx" / "bullets" / "general" / "open.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("---\nid: a\n")
    loud, quiet = (store.run("search", *flags, "pool").stderr.decode() for flags in ((), ("--quiet",)))
    assert "hint: " in loud
    assert quiet.splitlines() == ["memx: the front matter is never closed: bullets/general/open.md:1"]


def test_sparse_checkout_without_the_store_names_the_way_to_it(store: Program) -> None:
    """The commit has a store: making another one is no help."""
    store.commit("Add code", src__a_py="x = 1\n")
    store.git("sparse-checkout", "set", "src")
    assert not (store.folder / ".memx").exists()
    for command in (("search", "pool"), ("list",), ("add", ADDED)):
        done = store.run(*command)
        assert done.returncode == 1
        assert b"no store here" in done.stderr
        assert b"hint: git sparse-checkout add .memx" in done.stderr
    store.git("sparse-checkout", "add", ".memx")
    store.ok("search", "pool")


def test_store_removed_from_the_work_tree_names_the_way_back(store: Program) -> None:
    """Without a sparse checkout, git brings it back in another way."""
    os.rename(store.folder / ".memx", store.folder / ".git" / "away")
    assert b"hint: git checkout HEAD -- .memx" in store.run("search", "pool").stderr


def test_doctor_counts_archived_bullets_apart(store: Program) -> None:
    """What the index holds beyond the live bullets is said."""
    store.ok("add", ADDED)
    store.ok("add", "Run the linter before each push, for CI refuses the rest")
    folder = store.folder / ".memx" / "bullets"
    path = next(path for path in folder.rglob("*.md") if "MAX_POOL" in path.read_text())
    target = store.folder / ".memx" / "archive" / path.relative_to(folder)
    target.parent.mkdir(parents=True, exist_ok=True)
    path.rename(target)
    said = store.run("doctor").stdout.decode()
    assert "1 bullet in " in said
    assert "2 bullets (1 archived) in " in said


def test_reindex_removes_generations_that_a_killed_rebuild_left(store: Program) -> None:
    """Older and newer ones alike, but none while another process holds the lock."""
    store.ok("add", ADDED)
    store.ok("reindex")
    cache = store.folder / ".git" / "memx" / "cache"
    current = (cache / "CURRENT").read_text().strip()
    for name in ("gen-0", "gen-77"):
        (cache / name / "part").mkdir(parents=True)
    if os.name == "posix":
        import fcntl

        with (cache / "lock").open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            store.run("reindex")
            assert (cache / "gen-77").exists()
    store.ok("reindex")
    assert [path.name for path in cache.iterdir() if path.name.startswith("gen-")] == [current]


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ('IoError { io_error: Custom { kind: StorageFull, error: "x" }, filepath: "y" }', "the disk is full"),
        ('Os { code: 28, message: "No space left on device (os error 28)" }', "the disk is full"),
        ('OpenWriteError(FileAlreadyExists("meta.json"))', "an interrupted write; it is rebuilt"),
        ('Other { inner: Some("x") }', "is damaged"),
    ],
)
def test_errors_of_the_library_are_told_in_words(said: str, words: str) -> None:
    """No structure of Rust reaches a reader."""

    def fail() -> None:
        raise ValueError(said)

    with pytest.raises(IndexUnavailableError, match=words) as caught:
        _guard(fail)
    assert "{" not in caught.value.message
