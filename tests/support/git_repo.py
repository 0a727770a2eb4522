"""A real repository that a test can drive in one line."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

FIRST_COMMIT_TIME = 1_700_000_000


class GitRepo:
    """A worktree; its commits are dated one minute apart, so that hashes repeat from run to run."""

    def __init__(self, path: Path) -> None:
        """Wrap an existing worktree or bare repository."""
        self.path = path
        self.clock = FIRST_COMMIT_TIME

    def run(
        self, *args: str, env: Mapping[str, str] | None = None, stdin: bytes | None = None, check: bool = True
    ) -> subprocess.CompletedProcess[bytes]:
        """Run git here; fails the test with git's own words unless `check` is false."""
        done = subprocess.run(
            ["git", *args],
            cwd=self.path,
            env=os.environ | (env or {}),
            input=b"" if stdin is None else stdin,
            capture_output=True,
            check=False,
        )
        if check and done.returncode:
            said = (done.stdout + done.stderr).decode("utf-8", "replace")
            raise AssertionError(f"git {' '.join(args)}: {said}")
        return done

    def git(self, *args: str, env: Mapping[str, str] | None = None, stdin: bytes | None = None) -> str:
        """Run git here and return its standard output as text without the last newline."""
        return self.run(*args, env=env, stdin=stdin).stdout.decode("utf-8", "surrogateescape").rstrip("\n")

    def write(self, path: str, content: str | bytes) -> Path:
        """Write a file below the worktree, with its folders."""
        target = self.path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(content.encode() if isinstance(content, str) else content)
        return target

    def commit(
        self, message: str | bytes = "Change", files: Mapping[str, str | bytes | None] | None = None
    ) -> str:
        """Write (None: delete) and stage the files, commit, and return the full hash; hooks run."""
        for path, content in (files or {}).items():
            if content is None:
                self.git("rm", "-q", "--", path)
            else:
                self.write(path, content)
                self.git("add", "--", path)
        self.clock += 60
        stamp = f"{self.clock} +0000"
        data = message.encode() if isinstance(message, str) else message
        self.git(
            "commit",
            "-q",
            "--allow-empty",
            "--allow-empty-message",
            "-F",
            "-",
            env={"GIT_AUTHOR_DATE": stamp, "GIT_COMMITTER_DATE": stamp},
            stdin=data,
        )
        return self.git("rev-parse", "HEAD")


def create_repository(path: Path, *, bare: bool = False) -> GitRepo:
    """Initialise a repository on branch `main`."""
    path.mkdir(parents=True, exist_ok=True)
    repo = GitRepo(path)
    repo.git("init", "-q", "-b", "main", *(["--bare"] if bare else []))
    return repo
