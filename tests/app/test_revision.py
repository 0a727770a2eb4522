"""Searching the store as it was at a revision."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.app.project import Project
from memx.app.recall import recall
from memx.app.search import SearchRequest
from memx.errors import GitError
from memx.model import Bullet
from memx.store.codec import format_bullet

if TYPE_CHECKING:
    from tests.support.git_repo import GitRepo

NOW = 1_900_000_000.0


def write(repo: GitRepo, name: str, text: str) -> None:
    """Write a bullet into the work tree."""
    folder = repo.path / ".memx" / "bullets" / "general"
    folder.mkdir(parents=True, exist_ok=True)
    bullet = Bullet(id=f"{name:0<10}", text=text, created=1_000_000_000.0, recall_count=1)
    (folder / f"{name}.md").write_bytes(format_bullet(bullet))


def ask(repo: GitRepo, query: str, rev: str = "") -> list[str]:
    """Return the ids of the hits."""
    project = Project(str(repo.path), os.environ, NOW)
    return [hit.id for hit in recall(project, SearchRequest(query, rev=rev)).hits]


def test_old_revision_is_searched_and_nothing_is_touched(git_repo: GitRepo) -> None:
    """The bullets are those of the commit, its own date is now, the work tree stays as it is."""
    write(git_repo, "old", "alpha pool ceiling")
    git_repo.git("add", ".")
    git_repo.git("commit", "-qm", "old")
    (git_repo.path / ".memx" / "bullets" / "general" / "old.md").unlink()
    write(git_repo, "new", "alpha lake shore")
    git_repo.git("add", "-A")
    git_repo.git("commit", "-qm", "new")
    assert ask(git_repo, "alpha pool ceiling", "HEAD~1") == ["old0000000"]
    assert "old0000000" not in ask(git_repo, "alpha pool ceiling")
    assert git_repo.git("status", "--porcelain") in ("", b"")
    project = Project(str(git_repo.path), os.environ, NOW)
    hit = recall(project, SearchRequest("alpha", rev="HEAD~1")).hits[0]
    assert hit.recall_count == 1
    assert hit.decay > recall(project, SearchRequest("alpha")).hits[0].decay


@pytest.mark.parametrize("rev", ["nowhere", "--all", "HEAD~99"])
def test_unknown_revision_is_an_expected_failure(git_repo: GitRepo, rev: str) -> None:
    """Nothing that git would take for a flag either."""
    write(git_repo, "old", "alpha")
    git_repo.git("add", ".")
    git_repo.git("commit", "-qm", "old")
    with pytest.raises(GitError, match=r"not a (commit|revision)"):
        ask(git_repo, "alpha", rev)


def test_broken_file_of_a_revision_is_reported(git_repo: GitRepo) -> None:
    """It hides nothing."""
    write(git_repo, "a", "alpha")
    (git_repo.path / ".memx" / "bullets" / "general" / "b.md").write_text("---\nid: [\n---\nx")
    git_repo.git("add", ".")
    git_repo.git("commit", "-qm", "broken")
    project = Project(str(git_repo.path), os.environ, NOW)
    answer = recall(project, SearchRequest("alpha", rev="HEAD"))
    assert [hit.id for hit in answer.hits] == ["a000000000"]
    assert [problem.path for problem in answer.problems] == ["bullets/general/b.md"]
