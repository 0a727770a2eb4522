"""Shared stores: which addresses git may be given, and what a clone holds."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from memx.errors import GitError, UsageError
from memx.repo.store_clone import check_address, clone_store, has_own_work, update_clone
from tests.support.git_repo import GitRepo, create_repository

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    "address",
    [
        "",
        "-u",
        "--upload-pack=touch /tmp/x",
        "ext::sh -c touch% x",
        "fd::17",
        "transport::https://example.org/x",
        "http://example.org/x.git",
        "git://example.org/x.git",
        "ssh://-oProxyCommand=touch/x",
        "ssh://-a@example.org/x",
        "-oProxyCommand=x:y",
        "git@-oProxyCommand=x:y",
        "https://user:token@example.org/x.git",
        "https://token@example.org/x.git",
        "https:///x.git",
        "nowhere/at/all",
        "a\nb",
    ],
)
def test_unsafe_address_is_refused(tmp_path: Path, address: str) -> None:
    """What could run a command, leak a token or is no address at all never reaches git."""
    with pytest.raises(UsageError):
        check_address(address, str(tmp_path))


@pytest.mark.parametrize(
    "address",
    [
        "https://example.org/team/memory.git",
        "ssh://git@example.org/team/memory",
        "git@example.org:team/memory.git",
        "file:///srv/memory.git",
    ],
)
def test_plain_address_passes_unchanged(tmp_path: Path, address: str) -> None:
    """The usual forms reach git as they were typed."""
    assert address == check_address(address, str(tmp_path))


def test_local_path_becomes_absolute(tmp_path: Path) -> None:
    """A path is taken from where the command runs, so that a later sync finds it from anywhere."""
    (tmp_path / "team").mkdir()
    assert str(tmp_path / "team") == check_address("team", str(tmp_path))


@pytest.fixture
def team(tmp_path: Path) -> GitRepo:
    """A repository with code, hooks, a link and a store."""
    repo = create_repository(tmp_path / "team")
    repo.write(".memx/bullets/general/a.md", "One lesson\n")
    os.symlink("/etc/passwd", repo.path / ".memx" / "bullets" / "link.md")
    repo.write("code.py", "print()\n")
    repo.git("add", "-A")
    repo.commit("Start")
    return repo


def test_clone_holds_the_store_alone(team: GitRepo, tmp_path: Path) -> None:
    """Only the store is checked out, links as plain files, and no hook will ever run."""
    folder = tmp_path / "clone"
    state = clone_store(str(team.path), str(folder), os.environ, content=".memx")
    assert {".git", ".memx"} == set(os.listdir(folder))
    assert not (folder / ".memx" / "bullets" / "link.md").is_symlink()
    assert GitRepo(folder).git("config", "core.hooksPath") == os.devnull
    assert (state.url, state.commit) == (str(team.path), team.git("rev-parse", "HEAD"))


def test_update_moves_forward(team: GitRepo, tmp_path: Path) -> None:
    """A read-only clone follows its origin."""
    folder = tmp_path / "clone"
    clone_store(str(team.path), str(folder), os.environ, content=".memx")
    newest = team.commit("More", {".memx/bullets/general/b.md": "Another\n"})
    state = update_clone(str(folder), os.environ, pushes=False)
    assert state.commit == newest
    assert (folder / ".memx/bullets/general/b.md").read_text() == "Another\n"


def test_read_only_clone_follows_a_rewritten_origin(team: GitRepo, tmp_path: Path) -> None:
    """Nobody writes into a read-only clone: it becomes what its origin is, and holds no work of its own."""
    folder = str(tmp_path / "clone")
    clone_store(str(team.path), folder, os.environ, content=".memx")
    for message in ("Rewritten", "Once more"):
        team.git("commit", "--quiet", "--amend", "-m", message)
        state = update_clone(folder, os.environ, pushes=False)
        assert state.commit == team.git("rev-parse", "HEAD")
    assert not has_own_work(folder, os.environ, pushes=False)


def test_clone_that_only_fetched_a_rewritten_origin_has_no_own_work(team: GitRepo, tmp_path: Path) -> None:
    """What the origin's branch was before is nobody's work here, and the next update follows."""
    folder = str(tmp_path / "clone")
    clone_store(str(team.path), folder, os.environ, content=".memx")
    team.git("commit", "--quiet", "--amend", "-m", "Rewritten")
    GitRepo(tmp_path / "clone").git("fetch", "--quiet")
    assert not has_own_work(folder, os.environ, pushes=False)
    assert update_clone(folder, os.environ, pushes=False).commit == team.git("rev-parse", "HEAD")


def test_own_commit_is_kept_from_a_rewritten_origin(team: GitRepo, tmp_path: Path) -> None:
    """Where a person has committed into a read-only clone, it stays as it is and git's own words say why."""
    folder = tmp_path / "clone"
    clone_store(str(team.path), str(folder), os.environ, content=".memx")
    mine = GitRepo(folder).commit("Mine", {".memx/bullets/general/c.md": "Mine\n"})
    team.git("commit", "--quiet", "--amend", "-m", "Rewritten")
    with pytest.raises(GitError, match=r"^git merge: "):
        update_clone(str(folder), os.environ, pushes=False)
    assert mine == GitRepo(folder).git("rev-parse", "HEAD")


def test_own_commits_are_own_work(team: GitRepo, tmp_path: Path) -> None:
    """A clone with a commit or a change that is nowhere else says so."""
    folder = tmp_path / "clone"
    clone_store(str(team.path), str(folder), os.environ, content=".memx")
    assert not has_own_work(str(folder), os.environ)
    GitRepo(folder).write(".memx/bullets/general/c.md", "Mine\n")
    assert has_own_work(str(folder), os.environ)
