"""A store behind a link, a repository inside of another, and one around others."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.e2e.conftest import Program

if TYPE_CHECKING:
    from pathlib import Path

LESSON = "The pool is small on purpose: acquire never blocks"
GOTCHA = "Change\n\nGotcha: {}_KEY must be the same on every replica, or cookies are rejected."
LINKS = {"inside": "notes", "outside": "../elsewhere", "dangling": "nowhere", "loop": ".memx"}


@pytest.fixture(params=LINKS)
def linked(memx: Program, request: pytest.FixtureRequest) -> Program:
    """Return a repository whose `.memx` is a link; where it leads to a folder, that holds a bullet."""
    target = LINKS[request.param]
    if request.param in ("inside", "outside"):
        folder = (memx.folder / target).resolve() / "bullets" / "general"
        folder.mkdir(parents=True)
        (folder / "w.md").write_text("Whales sleep under the ice\n")
    (memx.folder / ".memx").symlink_to(target)
    memx.git("add", "-A")
    memx.git("commit", "--quiet", "-m", "Link")
    return memx


@pytest.mark.parametrize(
    "words",
    [
        ["init"],
        ["list"],
        ["search", "whales"],
        ["context"],
        ["show", "w"],
        ["lint"],
        ["export"],
        ["add", LESSON],
        ["edit", "w"],
        ["decay"],
        ["maintain"],
        ["config", "set", "--team", "generator.max_results", "3"],
    ],
    ids=lambda words: words[0],
)
def test_store_behind_a_link_is_refused_by_name(linked: Program, words: list[str]) -> None:
    """A committed link could lead anywhere: nothing is read or written through it, and the error says what to do."""
    before = sorted(linked.folder.parent.rglob("*.md")), linked.git("status", "--porcelain")
    done = linked.run(*words)
    assert (done.returncode, b"the store must not be a link" in done.stderr) == (1, True)
    assert b"hales" not in done.stdout
    assert (sorted(linked.folder.parent.rglob("*.md")), linked.git("status", "--porcelain")) == before


def test_configuration_behind_a_link_is_not_read(memx: Program, tmp_path: Path) -> None:
    """A link leads to no settings either."""
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "config.yml").write_text("generator:\n  max_results: 3\n")
    (memx.folder / ".memx").symlink_to("../elsewhere")
    assert memx.json("config", "get", "generator.max_results")["value"] == 5


def test_hooks_do_nothing_behind_a_link(memx: Program) -> None:
    """Where a store has become a link, commits go on without a word."""
    memx.ok("init")
    (memx.folder / ".memx").rename(memx.folder / "notes")
    (memx.folder / ".memx").symlink_to("notes")
    assert memx.commit(GOTCHA.format("POOL")) == ""


def at(folder: Path) -> Program:
    """Return the program in another folder."""
    return Program(folder, dict(os.environ))


@pytest.fixture
def nested(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[Program, Program]:
    """Return a repository with a store, and the submodule `lib` in it that has a store of its own."""
    monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
    monkeypatch.setenv("GIT_CONFIG_KEY_0", "protocol.file.allow")
    monkeypatch.setenv("GIT_CONFIG_VALUE_0", "always")
    for name in ("origin", "app"):
        (tmp_path / name).mkdir()
        at(tmp_path / name).git("init", "--quiet", "--initial-branch=main")
        at(tmp_path / name).ok("init")
    origin, app = at(tmp_path / "origin"), at(tmp_path / "app")
    (origin.folder / "pool.py").write_text("def acquire():\n    return 1\n")
    origin.ok("add", LESSON, "--anchor", "pool.py:acquire")
    origin.commit("Lib")
    app.git("submodule", "--quiet", "add", str(origin.folder), "lib")
    app.ok("add", "The harbour crane needs calm wind", "--anchor", "lib/pool.py:acquire")
    app.commit("Lib in app")
    return app, at(app.folder / "lib")


def test_each_repository_answers_from_its_own_store(nested: tuple[Program, Program]) -> None:
    """Inside of the submodule its lessons, outside of it the others; neither counts the other's files as its own."""
    app, lib = nested
    assert [one["text"] for one in app.json("list")["bullets"]] == ["The harbour crane needs calm wind"]
    assert [one["text"] for one in lib.json("list")["bullets"]] == [LESSON]
    assert "calm wind" in app.ok("search", "crane")
    assert LESSON in lib.ok("search", "pool")
    assert at(lib.folder / ".memx").json("list")["bullets"][0]["text"] == LESSON
    assert app.git("status", "--porcelain") == lib.git("status", "--porcelain") == ""


def test_hooks_of_a_submodule_fill_its_own_inbox(nested: tuple[Program, Program]) -> None:
    """A commit in the submodule teaches there; moving it in the repository around teaches and breaks nothing."""
    app, lib = nested
    lib.ok("init")
    lib.commit(GOTCHA.format("POOL"))
    app.commit(GOTCHA.format("CRANE"))
    assert ["POOL_KEY" in one["text"] for one in lib.json("inbox")["candidates"]] == [True]
    assert ["CRANE_KEY" in one["text"] for one in app.json("inbox")["candidates"]] == [True]
    assert app.json("diff", "HEAD~1")["changes"] == []
    assert app.json("distill", "--history", "--dry-run")["sources"] == 2


def test_anchor_in_a_submodule_is_followed_where_it_is_checked_out(
    nested: tuple[Program, Program], tmp_path: Path
) -> None:
    """A symbol that went away is orphaned; a submodule that is not checked out says nothing about its files."""
    app, lib = nested
    assert app.json("verify")["fresh"] == 1
    (lib.folder / "pool.py").write_text("def release():\n    return 1\n")
    assert app.run("verify").returncode == 1
    lib.git("checkout", "--quiet", "--", "pool.py")
    for words in (("clone", "--quiet", "."), ("worktree", "add", "--quiet", "-b", "topic")):
        folder = tmp_path / words[0]
        app.git(*words, str(folder))
        there = at(folder)
        (report,) = there.json("verify")["anchors"]
        assert (report["state"], report["reason"]) == ("fresh", "its submodule is not checked out")
        done = there.run("add", "The crane is rusty", "--anchor", "lib/pool.py:acquire")
        assert b"anchor" not in done.stderr
        there.git("submodule", "--quiet", "update", "--init")
        assert there.json("verify")["anchors"][0]["reason"] is None
        assert LESSON in at(folder / "lib").ok("search", "pool")


def test_worktree_of_a_submodule_shares_its_inbox(nested: tuple[Program, Program], tmp_path: Path) -> None:
    """A linked work tree of a submodule has its own files and index, and the submodule's inbox."""
    _, lib = nested
    lib.ok("init")
    lib.commit(GOTCHA.format("POOL"))
    lib.git("worktree", "add", "--quiet", "-b", "topic", str(tmp_path / "tree"))
    tree = at(tmp_path / "tree")
    tree.ok("add", "Penguins stand in the second tree")
    assert "Penguins" in tree.ok("search", "penguins")
    assert lib.json("search", "penguins")["hits"] == []
    assert len(tree.json("inbox")["candidates"]) == 1
    tree.commit(GOTCHA.format("TREE"))
    assert len(lib.json("inbox")["candidates"]) == 2


def test_store_that_is_a_submodule_is_read_and_written(
    tmp_path: Path, nested: tuple[Program, Program]
) -> None:
    """`.memx` may be a repository of its own: found, added to, and a commit of either side goes through."""
    app, _ = nested
    (tmp_path / "memory/bullets/general").mkdir(parents=True)
    (tmp_path / "memory/bullets/general/w.md").write_text("Whales sleep under the ice\n")
    memory = at(tmp_path / "memory")
    memory.git("init", "--quiet", "--initial-branch=main")
    memory.commit("Memory")
    (tmp_path / "outer").mkdir()
    outer = at(tmp_path / "outer")
    outer.git("init", "--quiet", "--initial-branch=main")
    outer.git("submodule", "--quiet", "add", str(tmp_path / "memory"), ".memx")
    outer.ok("init")
    outer.commit("Use the memory")
    assert "Whales" in outer.ok("search", "whales")
    outer.ok("add", LESSON)
    inner = at(outer.folder / ".memx")
    inner.commit("A lesson")
    outer.commit(GOTCHA.format("OUTER"))
    assert len(outer.json("list")["bullets"]) == 2
    assert len(outer.json("inbox")["candidates"]) == 1
    assert next(check for check in outer.json("doctor")["checks"] if check["name"] == "store")["ok"]
    assert outer.json("verify")["anchors"] == []
    assert app.git("status", "--porcelain") == ""
