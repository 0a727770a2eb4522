"""The life of one file: its commits through renames, and who wrote each line."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.errors import GitError
from memx.repo.discovery import open_repository
from memx.repo.provenance import read_blame, read_revisions
from tests.support.git_repo import FIRST_COMMIT_TIME

if TYPE_CHECKING:
    from memx.repo.discovery import Repository
    from tests.support.git_repo import GitRepo

OLD, NEW = ".memx/bullets/general/café.md", '.memx/archive/debugging/日本 "q".md'


@pytest.fixture
def repository(git_repo: GitRepo) -> Repository:
    """Return a repository in which a bullet was added, edited and moved."""
    git_repo.commit("Add", {OLD: "one\ntwo\nthree\nfour\nfive\n"})
    git_repo.git("config", "i18n.commitEncoding", "latin-1")
    git_repo.commit("Ändern".encode("latin-1"), {OLD: "one\n2\nthree\nfour\nfive\n", "other": "x"})
    (git_repo.path / NEW).parent.mkdir(parents=True)
    git_repo.git("mv", OLD, NEW)
    git_repo.commit("Move")
    git_repo.git("config", "color.ui", "always")
    return open_repository(str(git_repo.path), os.environ)


def test_read_revisions_follows_a_file_through_its_rename(repository: Repository) -> None:
    """Every commit with the name of its time, the newest first, and declared encodings right."""
    found = list(read_revisions(repository, NEW))
    assert [(one.commit.message, one.path, one.old_path, one.status) for one in found] == [
        ("Move", NEW, OLD, "R"),
        ("Ändern", OLD, "", "M"),
        ("Add", OLD, "", "A"),
    ]
    assert [line for line in found[1].diff if line[:1] in "+-"] == ["-two", "+2"]
    assert [line for line in found[2].diff if line[:1] == "+"] == ["+one", "+two", "+three", "+four", "+five"]


def test_read_revisions_of_an_unborn_branch_and_an_unknown_file_are_empty(git_repo: GitRepo) -> None:
    """Nothing happened to what was never committed."""
    repo = open_repository(str(git_repo.path), os.environ)
    assert list(read_revisions(repo, "x")) == []
    git_repo.commit("x")
    assert list(read_revisions(repo, "x")) == []


def test_read_blame_names_commit_author_and_time_of_each_line(repository: Repository) -> None:
    """A line edited later has another commit; renames do not count."""
    lines = read_blame(repository, NEW)
    assert [line.text for line in lines] == ["one", "2", "three", "four", "five"]
    assert [line.authored for line in lines[:3]] == [FIRST_COMMIT_TIME + n for n in (60.0, 120.0, 60.0)]
    assert [line.line for line in lines] == [1, 2, 3, 4, 5]
    assert {line.author for line in lines} == {"Ada Author"}


def test_read_blame_of_an_unknown_file_is_a_git_error(repository: Repository) -> None:
    """Git's own words, not an exception of the library."""
    with pytest.raises(GitError, match="no such path"):
        read_blame(repository, "nothing.md")
