"""Repositories whose bullets have moved on two branches."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

import pytest

from memx.repo.merge_driver import driver_command

if TYPE_CHECKING:
    from tests.support.git_repo import GitRepo

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SCRIPT = os.path.join(ROOT, "memx", "entry", "merge_driver.py")


@pytest.fixture
def plain_repo(git_repo: GitRepo) -> GitRepo:
    """Return a repository without our driver, with git's own text merge."""
    git_repo.git("config", "user.name", "Ada")
    git_repo.git("config", "user.email", "ada@example.org")
    return git_repo


@pytest.fixture
def driver_repo(plain_repo: GitRepo) -> GitRepo:
    """Return a repository in which bullets are merged by our driver."""
    plain_repo.git("config", "merge.memx.driver", driver_command(sys.executable, SCRIPT))
    plain_repo.commit("Attributes", {".gitattributes": ".memx/**/*.md merge=memx\n"})
    return plain_repo
