"""Repositories with memx's hooks installed, and what the inbox holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.repo.discovery import open_repository
from memx.repo.hooks import install
from memx.store.inbox import Inbox

if TYPE_CHECKING:
    from pathlib import Path

    from tests.support.git_repo import GitRepo

LESSONS = {
    "alpha": "Run the migrations before the workers start, because old workers lock the jobs table.",
    "beta": "The Redis pool needs MAX_POOL_SIZE 50: 10 connections time out under load.",
    "gamma": "Use `pnpm install --frozen-lockfile` in CI, since npm rewrites the lock file.",
    "delta": "Set GOMAXPROCS from the cgroup limit, otherwise the scheduler throttles the service.",
}
KEYWORDS = {"alpha": "migrations", "beta": "MAX_POOL_SIZE", "gamma": "pnpm", "delta": "GOMAXPROCS"}


def lesson_message(name: str) -> str:
    """Return a commit message that teaches one lesson in a trailer."""
    return f"Change {name}\n\nLearned: {LESSONS[name]}\n"


def taught(repo: GitRepo) -> list[str]:
    """Return the names of the lessons in the inbox, sorted, each as often as it is there."""
    common = open_repository(str(repo.path), os.environ).common_dir
    texts = [candidate.text for candidate in Inbox(os.path.join(common, "memx")).all()]
    return sorted(next((name for name, word in KEYWORDS.items() if word in text), text) for text in texts)


@pytest.fixture(autouse=True)
def quiet_sessions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Keep detached work out of tests that do not ask for it, and the dates fixed."""
    monkeypatch.setenv("MEMX_HOOKS_DISTILL_SESSIONS", "false")


def with_hooks(repo: GitRepo) -> GitRepo:
    """Make a store and install the hooks."""
    (repo.path / ".memx" / "bullets" / "general").mkdir(parents=True, exist_ok=True)
    install(open_repository(str(repo.path), os.environ))
    return repo


@pytest.fixture
def hooked_repo(git_repo: GitRepo) -> GitRepo:
    """Return a repository with a store, hooks and one commit."""
    git_repo.commit("Start", {"a.txt": "1\n", ".memx/.gitignore": "\n"})
    return with_hooks(git_repo)


@pytest.fixture
def bullet() -> str:
    """Return the text of a valid bullet file."""
    return "---\nid: k3v9q2m7xa\nsection: general\ntype: knowledge\n---\nThe pool needs 50 connections.\n"


def is_executable(path: Path) -> bool:
    """Tell whether git would run a file."""
    return os.access(path, os.X_OK)
