"""End-to-end tests drive the installed program as a process, in a repository of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path


class Program:
    """The program `memx` in one folder."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        """Remember where it runs."""
        self.folder = folder
        self.environ = environ

    def run(
        self,
        *arguments: str,
        stdin: str | bytes = b"",
        environ: dict[str, str] | None = None,
        cwd: Path | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        """Run one command line and return what came of it."""
        data = stdin.encode() if isinstance(stdin, str) else stdin
        return subprocess.run(
            [sys.executable, "-m", "memx", *arguments],
            cwd=cwd or self.folder,
            env={**self.environ, **(environ or {})},
            input=data,
            capture_output=True,
            check=False,
            timeout=60,
        )

    def ok(self, *arguments: str, stdin: str = "") -> str:
        """Run a command that must succeed and return its standard output."""
        done = self.run(*arguments, stdin=stdin)
        assert done.returncode == 0, (arguments, done.stdout.decode(), done.stderr.decode())
        return done.stdout.decode()

    def json(self, *arguments: str, stdin: str = "") -> Any:
        """Run a command with --json and return its one document."""
        return json.loads(self.ok(*arguments, "--json", stdin=stdin))

    def git(self, *arguments: str) -> str:
        """Run git in the folder."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, (arguments, done.stderr.decode())
        return done.stdout.decode()

    def commit(self, message: str, **files: str) -> str:
        """Write files (`__` in a name is a slash, `_` a dot), commit them and return git's standard error."""
        for name, content in files.items():
            path = self.folder / name.replace("__", "/").replace("_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8")
        self.git("add", "-A")
        done = subprocess.run(
            ["git", "commit", "--quiet", "--allow-empty", "-m", message],
            cwd=self.folder,
            env=self.environ,
            capture_output=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr.decode()
        return done.stderr.decode()


@pytest.fixture
def memx(tmp_path: Path) -> Program:
    """The program in a fresh repository without a store."""
    folder = tmp_path / "repo"
    folder.mkdir()
    program = Program(folder, dict(os.environ))
    program.git("init", "--quiet", "--initial-branch=main")
    return program


@pytest.fixture
def store(memx: Program) -> Program:
    """The program in a fresh repository with a committed store."""
    memx.ok("init")
    memx.git("add", "-A")
    memx.git("commit", "--quiet", "-m", "Start a store")
    return memx
