"""Repositories in every state and commits in every encoding (faults.md part B), through the installed program."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from tests.e2e.conftest import Program

LESSON = "Gotcha: SECRET_KEY must be the same on every replica, or cookies are rejected."
HISTORY_COMMITS = 12_000


def at(program: Program, folder: Path) -> Program:
    """Return the program as started in another folder."""
    return type(program)(folder, program.environ)


def commit_bytes(program: Program, message: bytes, *options: str) -> None:
    """Commit a message byte for byte, without hooks."""
    subprocess.run(
        ["git", "-c", "core.hooksPath=/dev/null", *options, "commit", "-q", "--allow-empty", "-F", "-"],
        cwd=program.folder,
        env=program.environ,
        input=message,
        check=True,
        capture_output=True,
    )


def test_declared_and_undeclared_encodings(store: Program) -> None:
    """Row 17: a declared encoding is read right, an undeclared one with replacements; nothing stops."""
    declared = "Gotcha: le café `CAFE_MODE` exige un déclencheur réglé à zéro, sinon tout s'arrête."
    commit_bytes(store, f"Titre\n\n{declared}\n".encode("latin-1"), "-c", "i18n.commitEncoding=latin-1")
    commit_bytes(store, "表示が壊れる\n\nGotcha: テーブル TABLE_A は必ず先に作る".encode("shift_jis"))
    commit_bytes(store, b"\xff\xfe\x00"[:2] + b"\n\n" + LESSON.encode())
    document = store.json("distill", "--history")
    texts = [candidate["text"] for candidate in document["candidates"]]
    assert declared.removeprefix("Gotcha: ") in texts
    assert LESSON.removeprefix("Gotcha: ") in texts
    assert document["sources"] >= 3


def test_names_of_every_script_reach_every_command(store: Program) -> None:
    """Row 18: bullet and source files named in other scripts, with quotes and spaces, keep their names."""
    store.git("config", "color.ui", "always")
    folder = store.folder / ".memx/bullets/general"
    folder.mkdir(parents=True, exist_ok=True)
    names = ["café.md", '日本 "q".md', "a b.md", "ü;$(x)'.md"]
    for number, name in enumerate(names):
        (folder / name).write_text(
            f"Lesson {number} about whales in `src/café {number}.py`.\n", encoding="utf-8"
        )
    store.commit("Lessons")
    assert {os.path.basename(b["path"]) for b in store.json("list")["bullets"]} == set(names)
    hits = store.json("search", "lesson about whales", "-n", "9")["hits"]
    assert {os.path.basename(hit["path"]) for hit in hits} == set(names)
    for name in names:
        path = f".memx/bullets/general/{name}"
        assert "Lessons" in store.ok("log", path)
        assert "\x1b" not in store.ok("blame", path)
        assert "whales" in store.ok("show", path)
    # A file that was written by hand dates from its first commit, whatever its name is.
    created = {b["created"] for b in store.json("list")["bullets"]}
    assert len(created) == 1
    assert None not in created


def test_unborn_detached_subfolder_and_no_repository(memx: Program, tmp_path: Path) -> None:
    """Row 19: no commit yet, no branch, a folder below, and no git at all."""
    memx.ok("init")
    memx.ok("add", "Whales sleep under the ice")
    assert "Whales" in memx.ok("search", "whales")
    assert memx.json("distill")["sources"] == 0
    assert memx.json("distill", "--history", "--dry-run")["sources"] == 0
    memx.commit(f"First\n\n{LESSON}")
    assert len(memx.json("inbox")["candidates"]) == 1
    memx.git("checkout", "--quiet", "--detach")
    memx.commit("Second\n\nGotcha: never name a column `order`, PostgreSQL reserves it and needs quotes.")
    assert len(memx.json("inbox")["candidates"]) == 2
    below = memx.folder / "deep/er"
    below.mkdir(parents=True)
    assert "Whales" in at(memx, below).ok("search", "whales")
    nowhere = tmp_path / "nowhere"
    nowhere.mkdir()
    outside = at(memx, nowhere)
    for words in (
        ["list"],
        ["search", "x"],
        ["add", "x"],
        ["lint"],
        ["distill"],
        ["show", "a"],
        ["hooks", "install"],
    ):
        done = outside.run(*words)
        assert done.returncode == 1, (words, done.stderr)
        assert b"hint:" in done.stderr, words
    outside.ok("init")
    outside.ok("add", "A lesson without git")
    assert "without git" in outside.ok("search", "lesson")


def test_bare_repository_is_refused_or_distilled(memx: Program, tmp_path: Path) -> None:
    """Row 19: a bare repository has no place for a store, but its history can be read."""
    memx.commit(f"First\n\n{LESSON}")
    memx.git("clone", "--quiet", "--bare", ".", str(tmp_path / "bare.git"))
    bare = at(memx, tmp_path / "bare.git")
    done = bare.run("init")
    assert done.returncode == 1
    assert b"bare" in done.stderr
    assert b"in a clone" in bare.run("list").stderr
    assert bare.json("distill", "--history", "--dry-run")["sources"] == 1
    assert bare.run("list").returncode == 1
    assert bare.run("doctor").returncode == 1


def test_linked_worktree_and_submodule_work_whole(store: Program, tmp_path: Path) -> None:
    """Rows 19, 20: hooks, inbox and search work where `.git` is a file."""
    store.git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "tree"))
    store.git("-c", "protocol.file.allow=always", "submodule", "add", "--quiet", "./", "sub")
    for number, folder in enumerate((tmp_path / "tree", store.folder / "sub")):
        place = at(store, folder)
        place.ok("init")
        place.ok("hooks", "install")
        place.ok("hooks", "status")
        place.ok("add", f"Whales sleep under ice number {number}")
        before = len(place.json("inbox")["candidates"])
        place.commit(
            f"Change\n\nGotcha: SECRET_KEY_{number} must be the same on every replica, or cookies are rejected."
        )
        assert len(place.json("inbox")["candidates"]) == before + 1
        assert "Whales" in place.ok("search", "whales")
        assert place.git("status", "--porcelain") == ""
        place.ok("hooks", "uninstall")
        assert place.run("hooks", "status").returncode == 1


def test_repository_of_another_user_is_explained(store: Program) -> None:
    """Row 16: git's own words and its remedy, exit 1, and a hook that lets the work go on."""
    if os.geteuid() != 0:
        pytest.skip("needs two users")
    store.commit(LESSON)
    for folder, _, files in os.walk(store.folder):
        for path in (folder, *(os.path.join(folder, name) for name in files)):
            os.chown(path, 12345, 12345)
    for words in (["distill", "--history"], ["search", "cookies"], ["list"], ["init"]):
        done = store.run(*words)
        assert done.returncode == 1, words
        assert b"safe.directory" in done.stderr, words
    hook = subprocess.run(
        [".git/hooks/post-commit"], cwd=store.folder, env=store.environ, capture_output=True, check=False
    )
    assert (hook.returncode, hook.stdout) == (0, b"")
    assert hook.stderr.count(b"\n") <= 1


def test_installed_hooks_are_lf_whatever_git_converts(memx: Program) -> None:
    """Row 29: `core.autocrlf` touches no hook."""
    memx.git("config", "core.autocrlf", "true")
    memx.ok("init")
    hooks = [path for path in (memx.folder / ".git/hooks").iterdir() if path.suffix != ".sample"]
    assert hooks
    assert all(b"\r" not in path.read_bytes() for path in hooks)
    assert all(os.access(path, os.X_OK) for path in hooks)


def test_own_hooks_run_on_and_come_back(memx: Program) -> None:
    """A repository's own hook runs beside memx's, and uninstall puts back its bytes; init twice changes nothing."""
    hook = memx.folder / ".git/hooks/post-commit"
    hook.parent.mkdir(exist_ok=True)
    text = b"#!/bin/sh\necho ran >> own\n"
    hook.write_bytes(text)
    hook.chmod(0o755)
    memx.ok("init")
    state = {p.name: p.read_bytes() for p in hook.parent.iterdir()}
    files = {p: p.read_bytes() for p in (memx.folder / ".memx").rglob("*") if p.is_file()}
    memx.ok("init")
    assert state == {p.name: p.read_bytes() for p in hook.parent.iterdir()}
    assert files == {p: p.read_bytes() for p in (memx.folder / ".memx").rglob("*") if p.is_file()}
    memx.commit(f"First\n\n{LESSON}")
    assert (memx.folder / "own").read_text() == "ran\n"
    assert len(memx.json("inbox")["candidates"]) == 1
    memx.ok("hooks", "uninstall")
    assert hook.read_bytes() == text
    assert not (hook.parent / "post-commit.memx-legacy").exists()


def test_readers_take_no_lock_of_gits(store: Program) -> None:
    """Row 28: while memx reads all the time, no commit finds the index locked."""
    store.ok("add", "Whales sleep under the ice")
    store.commit("A bullet")
    store.git("config", "core.hooksPath", "/dev/null")
    loop = (
        "while :; do for c in 'search whales' list 'distill --dry-run' doctor; do %s -m memx $c; done; done"
    )
    reader = subprocess.Popen(
        ["sh", "-c", loop % sys.executable],
        cwd=store.folder,
        env=store.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        for number in range(80):
            (store.folder / "file").write_text(str(number))
            store.git("commit", "--quiet", "-a", "--allow-empty", "-m", f"Change {number}")
    finally:
        os.killpg(reader.pid, signal.SIGKILL)
        reader.wait()


def import_history(program: Program, count: int) -> None:
    """Make a history of lessons, empty messages and bad encodings with fast-import."""
    parts = []
    for number in range(count):
        message = (b"", b"caf\xe9 %d" % number, b"Bump %d" % number)[number % 3]
        if number % 20 == 0:
            message = b"Fix\n\nGotcha: KEY_%d must be the same on every replica, or logins fail." % number
        parts.append(
            b"commit refs/heads/main\nmark :%d\ncommitter A <a@x> %d +0000\ndata %d\n%s\n"
            % (number + 1, 1_500_000_000 + number, len(message), message)
            + (b"from :%d\n" % number if number else b"")
        )
    subprocess.run(
        ["git", "fast-import", "--quiet"],
        cwd=program.folder,
        env=program.environ,
        input=b"".join(parts),
        check=True,
    )


def _size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_interrupted_history_goes_on_and_loses_nothing(memx: Program, ending: signal.Signals) -> None:
    """A run that is stopped in the middle, even killed, is made up for by the next; no worker is left behind."""
    import_history(memx, HISTORY_COMMITS)
    memx.git("reset", "--quiet", "--hard")
    memx.ok("init", "--no-hooks")
    run = subprocess.Popen(
        [sys.executable, "-m", "memx", "distill", "--history", "--top", "0"],
        cwd=memx.folder,
        env=memx.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    state = memx.folder / ".git/memx"
    deadline = time.monotonic() + 30
    # The file is there a moment before its first batch is in it.
    while not _size(state / "distilled") and time.monotonic() < deadline:
        time.sleep(0.005)
    os.kill(run.pid, ending)
    # Workers hold the pipe: its end means that they are gone as well.
    said, _ = run.communicate(timeout=30)
    assert run.returncode == (130 if ending == signal.SIGINT else -signal.SIGKILL), said
    read = (state / "distilled").stat().st_size // 20
    assert 0 < read < HISTORY_COMMITS
    rest = memx.json("distill", "--history", "--top", "0")
    assert 0 < rest["sources"] <= HISTORY_COMMITS - read
    assert len(memx.json("inbox")["candidates"]) == HISTORY_COMMITS / 20
    assert not (state / "distilling.jsonl").exists()
    assert memx.json("distill", "--history")["sources"] == 0


@pytest.mark.parametrize("words", [["archive", "--yes"], ["mv", "workflow"]], ids=["archive", "mv"])
def test_emptied_section_is_no_renamed_folder_to_git(store: Program, words: list[str]) -> None:
    """A section emptied on one side and a lesson added to it on the other merge without a word from git."""
    texts = ["Whales sing in C++ only when the moon is full", "Cranes must not turn above 60 km/h of wind"]
    paths = []
    for text in texts:
        store.ok("add", text, "--section", "tools")
        paths = sorted((store.folder / ".memx/bullets/tools").glob("*.md"))
    store.commit("Two lessons")
    store.git("switch", "--quiet", "-c", "topic")
    store.ok("add", "Label printers drop a ZPL job that does not end with ^XZ", "--section", "tools")
    store.commit("A third")
    store.git("switch", "--quiet", "main")
    for path in paths:
        reference = os.path.relpath(path, store.folder)
        store.ok(words[0], reference, *words[1:])
    store.commit("Emptied")
    store.git("merge", "--quiet", "--no-edit", "topic")
    assert store.git("status", "--porcelain") == ""
    assert [path.suffix for path in sorted((store.folder / ".memx/bullets/tools").glob("*.md"))] == [".md"]
    assert store.run("lint").returncode == 0


def test_log_and_blame_follow_a_file_that_is_not_committed_where_it_lies(store: Program) -> None:
    """Before the first commit there is nothing to tell; after a move the committed file is the bullet's."""
    identifier = store.json("add", "Whales sing in C++ only when the moon is full", "--section", "tools")[
        "id"
    ]
    done = store.run("log", identifier)
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"not committed yet" in done.stderr
    assert b"not committed yet" in store.run("blame", identifier).stderr
    store.commit("One lesson")
    store.ok("mv", identifier, "workflow")
    assert "One lesson" in store.ok("log", identifier)
    assert "Whales" in store.ok("blame", identifier)
