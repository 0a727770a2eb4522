"""Git's index, touched only when a person asked for it."""

from __future__ import annotations

import os

from memx.repo.discovery import run_in

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from memx.repo.discovery import Repository

_BATCH = 500
"""Paths a git process: command lines are limited to 32 KB on Windows."""


def stage(repo: Repository, paths: Sequence[str]) -> None:
    """Make the index of these paths what the work tree is: content, or absence. Raises GitError."""
    for start in range(0, len(paths), _BATCH):
        batch = paths[start : start + _BATCH]
        known = set(
            _paths(run_in(repo, ["--literal-pathspecs", "ls-files", "-z", "--full-name", "--", *batch]))
        )
        present = [path for path in batch if os.path.lexists(os.path.join(repo.worktree, path))]
        chosen = sorted(known.union(present))
        if chosen:
            run_in(repo, ["--literal-pathspecs", "add", "--all", "--", *chosen])


def list_unstaged(repo: Repository, paths: Sequence[str]) -> list[str]:
    """Return those of these paths whose work tree differs from the index."""
    found: list[str] = []
    for start in range(0, len(paths), _BATCH):
        batch = paths[start : start + _BATCH]
        found += _paths(run_in(repo, ["--literal-pathspecs", "diff", "--name-only", "-z", "--", *batch]))
    return found


def list_changed(repo: Repository) -> list[str]:
    """Return the files that the work tree or the index has changed since HEAD; raises GitError without a HEAD."""
    return _paths(run_in(repo, ["diff", "--name-only", "--no-renames", "-z", "HEAD", "--"]))


def _paths(answer: bytes) -> list[str]:
    return [os.fsdecode(path) for path in answer.split(b"\0") if path]
