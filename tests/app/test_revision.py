"""Searching the store as it was at a revision."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.app.project import Project
from memx.app.recall import recall
from memx.app.search import SearchRequest
from memx.errors import GitError, StoreError
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


@pytest.mark.parametrize(
    "rev", ["nowhere", "--all", "-x", "HEAD~99", "HEAD..HEAD", "HEAD:.memx", ":/nowhere"]
)
def test_unknown_revision_is_an_expected_failure(git_repo: GitRepo, rev: str) -> None:
    """Nothing that git would take for a flag either."""
    write(git_repo, "old", "alpha")
    git_repo.git("add", ".")
    git_repo.git("commit", "-qm", "old")
    with pytest.raises(GitError, match=r"not a (commit|revision)"):
        ask(git_repo, "alpha", rev)


@pytest.mark.parametrize("rev", [":/first", "HEAD^{/first}", "@~1", "main~1"])
def test_revision_is_named_as_git_names_it(git_repo: GitRepo, rev: str) -> None:
    """By what its message says, too."""
    write(git_repo, "old", "alpha pool")
    git_repo.git("add", ".")
    git_repo.git("commit", "-qm", "first")
    git_repo.git("commit", "-qm", "second", "--allow-empty")
    git_repo.git("branch", "-M", "main")
    assert ask(git_repo, "alpha pool", rev) == ["old0000000"]


def test_revision_before_the_store_says_so(git_repo: GitRepo) -> None:
    """No bullet about that would be another answer; a store without a bullet is one."""
    git_repo.git("commit", "-qm", "nothing", "--allow-empty")
    (git_repo.path / ".memx").mkdir()
    (git_repo.path / ".memx" / "config.yml").write_text("schema: 1\n")
    git_repo.git("add", ".")
    git_repo.git("commit", "-qm", "store")
    with pytest.raises(StoreError, match="there was no store at HEAD~1"):
        ask(git_repo, "alpha", "HEAD~1")
    assert ask(git_repo, "alpha", "HEAD") == []


def test_named_clock_counts_at_a_revision_too(git_repo: GitRepo) -> None:
    """`--now` is the clock of whatever is searched."""
    write(git_repo, "old", "alpha pool")
    git_repo.git("add", ".")
    git_repo.git("commit", "-qm", "old")
    weights = []
    for is_what_if in (False, True):
        project = Project(str(git_repo.path), os.environ, NOW)
        project.is_what_if = is_what_if
        weights.append(recall(project, SearchRequest("alpha pool", rev="HEAD")).hits[0].decay)
    assert weights[1] < weights[0]


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
