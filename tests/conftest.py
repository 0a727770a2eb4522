"""A clean, closed environment for every test, and a real git repository on demand."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from tests.support.git_repo import GitRepo, create_repository

if TYPE_CHECKING:
    from pathlib import Path

FOREIGN_PREFIXES = ("GIT_", "MEMX_", "XDG_")
FOREIGN_NAMES = ("EMAIL", "LANGUAGE", "LC_ALL", "VIRTUAL_ENV")


@pytest.fixture(autouse=True)
def clean_environment(monkeypatch: pytest.MonkeyPatch, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Keep the machine's git settings, identity, home, time zone and memx variables out; returns HOME."""
    home = tmp_path_factory.mktemp("home")
    for name in list(os.environ):
        if name.startswith(FOREIGN_PREFIXES) or name in FOREIGN_NAMES:
            monkeypatch.delenv(name)
    values = {
        "HOME": str(home),
        "USERPROFILE": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_DATA_HOME": str(home / ".local" / "share"),
        "XDG_STATE_HOME": str(home / ".local" / "state"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_AUTHOR_NAME": "Ada Author",
        "GIT_AUTHOR_EMAIL": "ada@example.org",
        "GIT_COMMITTER_NAME": "Cyn Committer",
        "GIT_COMMITTER_EMAIL": "cyn@example.org",
        "TZ": "Asia/Kathmandu",
    }
    for name, value in values.items():
        monkeypatch.setenv(name, value)
    return home


@pytest.fixture
def git_repo(tmp_path: Path) -> GitRepo:
    """Return an empty repository on branch `main` in a folder of its own."""
    return create_repository(tmp_path / "repository")
