"""The program in this process, in a repository with a store: hundreds of calls in a test cost milliseconds each."""

from __future__ import annotations

import io
import json
import os
from contextlib import redirect_stderr, redirect_stdout
from typing import TYPE_CHECKING, Any

import pytest

from memx.entry.cli.main import main
from memx.repo.git import run_git

if TYPE_CHECKING:
    from pathlib import Path

LESSON = "Redis timeouts under load come from the pool ceiling: set MAX_POOL_SIZE to 50"
DAY_ONE = "2026-03-01"


class Clone:
    """One clone, its work tree and the program in it."""

    def __init__(self, folder: Path) -> None:
        """Remember the folder."""
        self.folder = folder
        self.err = ""

    def call(self, *arguments: str) -> tuple[int, str]:
        """Run one command line; return its exit code and standard output."""
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = main(["-C", str(self.folder), *arguments])
        self.err = err.getvalue()
        return code, out.getvalue()

    def ok(self, *arguments: str) -> str:
        """Run a command that must succeed."""
        code, text = self.call(*arguments)
        assert code == 0, (arguments, text, self.err)
        return text

    def search_at(self, now: str, query: str = "redis pool") -> Any:
        """Search at a time that is the clock, not a question about another day: it counts."""
        before = os.environ.get("MEMX_NOW")
        os.environ["MEMX_NOW"] = now
        try:
            return self.json("search", query)
        finally:
            if before is None:
                del os.environ["MEMX_NOW"]
            else:
                os.environ["MEMX_NOW"] = before

    def json(self, *arguments: str) -> Any:
        """Run a command with --json and return its document."""
        return json.loads(self.ok(*arguments, "--json"))

    def git(self, *arguments: str) -> str:
        """Run git in the folder."""
        return run_git(arguments, cwd=str(self.folder), env=dict(os.environ)).decode()

    def commit(self, message: str = "Change") -> None:
        """Commit everything."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "-m", message)

    def add(self, text: str = LESSON, now: str = DAY_ONE, *options: str) -> str:
        """Add a lesson and return its id."""
        return str(self.json("add", text, "--now", now, *options)["id"])

    def recall(self, times: int, query: str = "redis pool", first_day: int = 1) -> None:
        """Search once a day."""
        for day in range(first_day, first_day + times):
            assert self.search_at(f"2026-03-{day:02}T12:00:00Z", query)["hits"]

    def weighed(self, identifier: str, now: str = DAY_ONE) -> Any:
        """Return what decay says of a bullet."""
        rows = self.json("decay", "--now", now)["bullets"]
        return next(row for row in rows if row["id"] == identifier)

    def count(self, identifier: str) -> int:
        """Return the effective count of a bullet."""
        return int(self.weighed(identifier)["recall_count"])

    def file(self, identifier: str, folder: str = "bullets") -> Path:
        """Return a bullet's file."""
        return next((self.folder / ".memx" / folder).glob(f"*/*-{identifier}.md"))

    def file_count(self, identifier: str) -> int:
        """Return the count that stands in the file."""
        text = self.file(identifier).read_text(encoding="utf-8")
        return int(text.partition("recall_count: ")[2].partition("\n")[0])


def make_clone(folder: Path) -> Clone:
    """Return a fresh repository with a committed store."""
    folder.mkdir()
    clone = Clone(folder)
    clone.git("init", "--quiet", "--initial-branch=main")
    clone.ok("init", "--no-hooks")
    clone.commit("Start a store")
    return clone


def make_second(first: Clone, folder: Path, *, driver: bool = True) -> Clone:
    """Clone the first one's repository, with the merge driver or without."""
    first.git("clone", "--quiet", str(first.folder), str(folder))
    second = Clone(folder)
    if driver:
        second.ok("init", "--no-hooks")
    return second


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    """A repository with a store."""
    return make_clone(tmp_path / "one")
