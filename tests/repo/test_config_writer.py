"""The clone's git configuration: one key at a time, nothing else touched."""

from __future__ import annotations

import os
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from memx.app.hooks import register_merge_driver, unregister_merge_driver
from memx.errors import GitError
from memx.repo.config_writer import read_option, set_options, unset_options
from memx.repo.discovery import open_repository
from memx.repo.merge_driver import driver_command

if TYPE_CHECKING:
    from pathlib import Path

    from memx.repo.discovery import Repository
    from tests.support.git_repo import GitRepo

EXTRA = (
    '# a comment\n[alias]\n\tx = "!f() { echo \\"a;b\\"; }; f"\n'
    '[remote "o"]\n\tfetch = +a:b\n\tfetch = +c:d ; note\n'
)


@pytest.fixture
def repository(git_repo: GitRepo) -> Repository:
    """Return a repository whose configuration has comments, quotes and repeated keys."""
    config = git_repo.path / ".git" / "config"
    config.write_text(config.read_text() + EXTRA)
    return open_repository(str(git_repo.path), os.environ)


def test_set_options_adds_once_and_keeps_the_rest(repository: Repository) -> None:
    """The second time nothing changes; comments, quoting and repeated keys stay byte for byte."""
    value = 'if x; then "a b"; else c \\ d; fi # e'
    path = os.path.join(repository.common_dir, "config")
    with open(path, "rb") as stream:
        before = stream.read()
    assert set_options(repository, {"merge.memx.driver": value})
    assert not set_options(repository, {"merge.memx.driver": value})
    assert read_option(repository, "merge.memx.driver") == value
    with open(path, "rb") as stream:
        assert stream.read().startswith(before)


def test_set_options_replaces_an_older_value(repository: Repository) -> None:
    """One value is left, however many there were."""
    for value in ("one", "two"):
        set_options(repository, {"merge.memx.driver": value})
    assert read_option(repository, "merge.memx.driver") == "two"


def test_unset_options_removes_keys_and_their_empty_section(repository: Repository) -> None:
    """Afterwards the file is as it was, and a second time nothing changes."""
    path = os.path.join(repository.common_dir, "config")
    with open(path, "rb") as stream:
        before = stream.read()
    set_options(repository, {"merge.memx.driver": "x", "merge.memx.name": "y"})
    keys = ["merge.memx.driver", "merge.memx.name"]
    assert unset_options(repository, keys)
    assert not unset_options(repository, keys)
    with open(path, "rb") as stream:
        assert stream.read() == before


def test_set_options_unwritable_configuration_is_a_git_error(repository: Repository) -> None:
    """A lock that someone holds is said in git's words."""
    with open(os.path.join(repository.common_dir, "config.lock"), "wb"):
        pass
    with pytest.raises(GitError, match=r"config\.lock|could not lock"):
        set_options(repository, {"merge.memx.driver": "x"})


def test_register_merge_driver_from_a_linked_worktree_serves_all(git_repo: GitRepo, tmp_path: Path) -> None:
    """The driver stands in the common configuration."""
    git_repo.commit("x")
    git_repo.git("worktree", "add", "-q", str(tmp_path / "wt"))
    linked = open_repository(str(tmp_path / "wt"), os.environ)
    assert register_merge_driver(linked)
    assert not register_merge_driver(linked)
    assert sys.executable in git_repo.git("config", "merge.memx.driver")
    assert unregister_merge_driver(linked)


@pytest.mark.parametrize(
    ("body", "clean", "expected"),
    [
        ('cp merged "$5"; exit 0', True, b"merged\n"),
        ("exit 1", False, b"<<<<<<< ours\n2\n=======\n3\n>>>>>>> theirs\n"),
        ("kill -9 $$", False, b"<<<<<<< ours\n2\n=======\n3\n>>>>>>> theirs\n"),
        (None, False, b"<<<<<<< ours\n2\n=======\n3\n>>>>>>> theirs\n"),
    ],
    ids=["runs", "fails", "is killed", "is missing"],
)
def test_driver_command_never_leaves_ours_without_a_mark(
    body: str | None,
    clean: bool,  # noqa: FBT001 (a column of the table)
    expected: bytes,
    git_repo: GitRepo,
    tmp_path: Path,
) -> None:
    """When the driver cannot do its work git's own text merge does it, with both sides in the file."""
    python, script = tmp_path / "it's 100%" / "python", tmp_path / "driver.py"
    python.parent.mkdir()
    (git_repo.path / "merged").write_text("merged\n")
    if body is not None:
        python.write_text(f"#!/bin/sh\n{body}\n")
        python.chmod(0o755)
        script.write_text("")
    git_repo.git("config", "merge.memx.driver", driver_command(str(python), str(script)))
    git_repo.commit("base", {".gitattributes": "*.md merge=memx\n", "a.md": "1\n"})
    git_repo.git("checkout", "-q", "-b", "side")
    git_repo.commit("side", {"a.md": "3\n"})
    git_repo.git("checkout", "-q", "main")
    git_repo.commit("main", {"a.md": "2\n"})
    done = git_repo.run("merge", "-q", "--no-edit", "side", check=False)
    assert (done.returncode == 0) is clean
    assert (git_repo.path / "a.md").read_bytes() == expected
    assert subprocess.run(["git", "diff", "--quiet"], cwd=git_repo.path, check=False).returncode == (
        not clean
    )
